//! A simulated user at a terminal, and the screen that the user sees.

use crate::Run;
use crate::terminal::a_terminal_of;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr as _;

/// Time limit of every step, so that a test fails instead of waiting forever.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// The sequence that leaves the alternate screen.
pub(super) const LEFT: &str = "\u{1b}[?1049l";

/// A user at a terminal.
pub(super) struct Sitting {
    pub(super) child: Child,
    master: std::fs::File,
    sent: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    pub(super) screen: Screen,
}

/// A minimal terminal emulator. A wide character takes its own cell and a blank behind it. As in tmux, the two letters
/// of a flag take a cell each.
pub(super) struct Screen {
    cells: BTreeMap<(usize, usize), char>,
    /// Line and column, from 1.
    at: (usize, usize),
    /// Whether the next character joins the previous one.
    is_joining: bool,
    rest: String,
}

impl Screen {
    const fn new() -> Self {
        Self { cells: BTreeMap::new(), at: (1, 1), is_joining: false, rest: String::new() }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.rest.push_str(&String::from_utf8_lossy(bytes));
        let text = std::mem::take(&mut self.rest);
        let mut characters = text.char_indices();
        while let Some((start, character)) = characters.next() {
            if character != '\u{1b}' {
                self.put(character);
                continue;
            }
            let sequence = &text[start..];
            let Some(end) = sequence.find(|last: char| last.is_ascii_alphabetic()) else {
                self.rest = sequence.to_owned();
                return;
            };
            if let Some(place) = sequence[2..end].split_once(';').filter(|_| sequence[end..].starts_with('H')) {
                self.at = (place.0.parse().unwrap(), place.1.parse().unwrap());
            }
            match &sequence[2..=end] {
                "2J" => self.cells.clear(),
                "K" => {
                    let (line, column) = self.at;
                    self.cells.retain(|(row, x), _| *row != line || *x < column);
                }
                _ => {}
            }
            (0..end).for_each(|_| _ = characters.next());
        }
    }

    fn put(&mut self, character: char) {
        let is_joined = std::mem::replace(&mut self.is_joining, character == '\u{200d}');
        match character.to_string().width() {
            _ if character == '\n' => self.at.0 += 1,
            _ if character == '\r' => self.at.1 = 1,
            0 => {}
            _ if is_joined => {}
            width => {
                (0..width).for_each(|column| _ = self.cells.remove(&(self.at.0, self.at.1 + column)));
                self.cells.insert(self.at, character);
                self.at.1 += width;
            }
        }
    }

    pub(super) fn text(&self) -> String {
        let mut lines: BTreeMap<usize, String> = BTreeMap::new();
        for ((row, column), character) in &self.cells {
            let line = lines.entry(*row).or_default();
            let missing = (column - 1).saturating_sub(line.chars().count());
            line.extend(std::iter::repeat_n(' ', missing));
            line.push(*character);
        }
        lines.into_values().collect::<Vec<_>>().join("\n")
    }
}

impl Sitting {
    /// Starts the command at a terminal of 24 lines.
    pub(super) fn down(run: Run<'_>, columns: u16) -> Self {
        Self::down_at(run, (columns, 24))
    }

    /// Starts the command at a terminal of this size, in columns and lines.
    pub(super) fn down_at(mut run: Run<'_>, (columns, lines): (u16, u16)) -> Self {
        let (master, terminal) = a_terminal_of(columns, lines);
        let other = || terminal.try_clone().unwrap();
        let command = run.command.stdin(other()).stdout(other()).stderr(other());
        let child = command.spawn().unwrap();
        // The command itself keeps the terminal open.
        drop((run, terminal));
        let master = std::fs::File::from(master);
        let (sender, sent) = channel();
        let mut watched = master.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = watched.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, master, sent, raw: Vec::new(), screen: Screen::new() }
    }

    /// Waits until `text` is on the screen.
    #[track_caller]
    pub(super) fn see(&mut self, text: &str) -> &mut Self {
        self.see_until(&format!("{text:?}"), |screen| screen.contains(text))
    }

    #[track_caller]
    fn see_until(&mut self, what: &str, is_seen: impl Fn(&str) -> bool) -> &mut Self {
        let end = Instant::now() + PATIENCE;
        while !is_seen(&self.screen.text()) {
            match self.sent.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => {
                    self.screen.take(&bytes);
                    self.raw.extend(bytes);
                }
                Err(error) => panic!("{what} did not come ({error}):\n{}", self.screen.text()),
            }
        }
        self
    }

    /// Resizes the window, as dragging its corner does.
    pub(super) fn resize(&mut self, (columns, lines): (u16, u16)) -> &mut Self {
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, size).unwrap();
        // It is not the controlling terminal of the process, so the kernel does not send the signal.
        kill_process(Pid::from_child(&self.child), Signal::WINCH).unwrap();
        self
    }

    /// Waits until `text` is no longer on the screen.
    #[track_caller]
    pub(super) fn see_no(&mut self, text: &str) -> &mut Self {
        self.see_until(&format!("no {text:?}"), |screen| !screen.contains(text))
    }

    pub(super) fn press(&mut self, keys: &str) -> &mut Self {
        self.master.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Returns all output and the exit code.
    #[track_caller]
    pub(super) fn end(mut self) -> (String, i32) {
        while let Ok(bytes) = self.sent.recv_timeout(PATIENCE) {
            self.raw.extend(bytes);
        }
        let code = self.child.wait().unwrap().code().unwrap();
        (String::from_utf8(std::mem::take(&mut self.raw)).unwrap().replace("\r\n", "\n"), code)
    }
}

impl Drop for Sitting {
    /// Kills the process, so that a failed test leaves none behind.
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
