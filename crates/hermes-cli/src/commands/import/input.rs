//! Files read one after the other as one input. On a request to stop, it ends between two lines.

use super::kind;
use crate::error::{CliError, Kind};
use crate::stop::Stop;
use crate::ui::changes::Place;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Bytes at the start of a file that determine its kind.
const HEAD: usize = 64 << 10;
/// Interval between checks for a request to stop, while waiting for input.
const LOOK: Duration = Duration::from_millis(50);

/// The input that is still to be read.
pub(super) struct Input {
    waiting: VecDeque<(String, Box<dyn BufRead + Send>)>,
    current: Option<Box<dyn BufRead + Send>>,
    /// Each file begun so far, with the number of lines before it.
    begun: Vec<(u64, String)>,
    lines: u64,
    is_line_start: bool,
    size: u64,
    stop: Stop,
}

impl Input {
    /// Opens the files and checks whether they can be exports.
    ///
    /// # Errors
    /// If one can't be read, or is not an export.
    pub(super) fn open(files: &[PathBuf], stop: &Stop) -> Result<Self, CliError> {
        let mut waiting: VecDeque<(String, Box<dyn BufRead + Send>)> = VecDeque::new();
        let (mut size, mut is_known) = (0, true);
        for path in files {
            if path.as_os_str() == "-" {
                is_known = false;
                waiting.push_back(("stdin".into(), Box::new(Piped::stdin(stop))));
                continue;
            }
            let (file, length) = open_file(path)?;
            size += length;
            waiting.push_back((path.display().to_string(), Box::new(BufReader::with_capacity(HEAD, file))));
        }
        let mut input = Self {
            waiting: VecDeque::new(),
            current: None,
            begun: Vec::new(),
            lines: 0,
            is_line_start: true,
            size: if is_known { size } else { 0 },
            stop: stop.clone(),
        };
        for (name, mut reader) in waiting {
            let head = reader.fill_buf().map_err(|error| unreadable(&name, &error))?;
            if let Some((why, hint)) = kind::refusal(head) {
                return Err(CliError::new(Kind::User, format!("{name} {why}"), hint));
            }
            input.waiting.push_back((name, reader));
        }
        Ok(input)
    }

    /// Returns the total size in bytes, or 0 if it is unknown.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the file and line of a line number that counts from 1 over all files.
    pub(super) fn place(&self, line: u64) -> Place {
        let begun = self.begun.iter().rev().find(|(before, _)| *before < line).or(self.begun.first());
        match begun {
            Some((before, file)) => Place { file: file.clone(), line: line - before },
            None => Place { file: self.waiting.front().map_or_else(String::new, |(name, _)| name.clone()), line },
        }
    }

    /// Returns the position of the last line read.
    pub(super) fn last(&self) -> Place {
        self.place(self.lines)
    }

    /// Moves to the first file with data left. Returns whether there is one. A missing line break at the end of the
    /// previous file is added first.
    fn advance(&mut self) -> io::Result<bool> {
        loop {
            if self.is_line_start && self.stop.asked().is_some() {
                return Ok(false);
            }
            if let Some(current) = &mut self.current {
                if !current.fill_buf()?.is_empty() || !self.is_line_start {
                    return Ok(true);
                }
                self.current = None;
            }
            let Some((name, next)) = self.waiting.pop_front() else { return Ok(false) };
            self.begun.push((self.lines, name));
            self.current = Some(next);
        }
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.advance()? {
            return Ok(&[]);
        }
        let rest = self.current.as_mut().map_or(Ok(&[][..]), BufRead::fill_buf)?;
        Ok(if rest.is_empty() { b"\n" } else { rest })
    }

    fn consume(&mut self, count: usize) {
        let Some(current) = &mut self.current else { return };
        let taken = current.fill_buf().map_or(&[][..], |rest| &rest[..count.min(rest.len())]);
        if count == 0 {
            return;
        }
        if taken.is_empty() {
            // The line break that the file lacks.
            self.lines += 1;
            self.is_line_start = true;
            return;
        }
        self.lines += taken.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.is_line_start = taken.ends_with(b"\n");
        current.consume(count);
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.consume(count);
        Ok(count)
    }
}

fn open_file(path: &Path) -> Result<(File, u64), CliError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    let found = file.metadata().map_err(|error| unreadable(&name, &error))?;
    if found.is_dir() {
        return Err(CliError::new(Kind::User, format!("{name} is a folder"), "give the files in it"));
    }
    Ok((file, found.len()))
}

fn unreadable(name: &str, error: &io::Error) -> CliError {
    let hint = "give the path of a file that you may read, or - for stdin";
    CliError::new(Kind::User, format!("could not read {name}: {error}"), hint)
}

/// Stdin, read line by line in a thread, because a blocked read would not notice a request to stop.
struct Piped {
    lines: Receiver<io::Result<Vec<u8>>>,
    line: Vec<u8>,
    used: usize,
    stop: Stop,
}

impl Piped {
    fn stdin(stop: &Stop) -> Self {
        let (sender, lines) = sync_channel(1);
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                let mut line = Vec::new();
                let read = match input.read_until(b'\n', &mut line) {
                    Ok(0) => return,
                    Ok(_) => Ok(line),
                    Err(error) => Err(error),
                };
                let is_over = read.is_err();
                if sender.send(read).is_err() || is_over {
                    return;
                }
            }
        });
        Self { lines, line: Vec::new(), used: 0, stop: stop.clone() }
    }
}

impl BufRead for Piped {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.used == self.line.len() {
            match self.lines.recv_timeout(LOOK) {
                // The last line may be incomplete: the program that writes it may have got the signal too.
                Ok(_) if self.stop.asked().is_some() => return Ok(&[]),
                Ok(line) => (self.line, self.used) = (line?, 0),
                Err(RecvTimeoutError::Disconnected) => return Ok(&[]),
                Err(RecvTimeoutError::Timeout) if self.stop.asked().is_some() => return Ok(&[]),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        Ok(&self.line[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used = (self.used + count).min(self.line.len());
    }
}

impl Read for Piped {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.consume(count);
        Ok(count)
    }
}
