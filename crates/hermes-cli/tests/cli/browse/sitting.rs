//! Somebody at a terminal, and what they see.

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

/// How long anything may take before a test fails instead of waiting for ever.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// What gives the terminal back.
pub(super) const LEFT: &str = "\u{1b}[?1049l";

/// Somebody at a terminal.
pub(super) struct Sitting {
    pub(super) child: Child,
    master: std::fs::File,
    sent: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    pub(super) screen: Screen,
}

/// As much of a terminal as is needed to see what a person sees: a wide character is one, with a blank behind it.
pub(super) struct Screen {
    cells: BTreeMap<(usize, usize), char>,
    /// Line and column, from 1.
    at: (usize, usize),
    /// What comes belongs to the character before.
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
            if &sequence[2..=end] == "2J" {
                self.cells.clear();
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
    /// Starts browsing at a terminal of 24 lines.
    pub(super) fn down(run: Run<'_>, columns: u16) -> Self {
        Self::down_at(run, (columns, 24))
    }

    /// The same, at a terminal of so many columns and lines.
    pub(super) fn down_at(mut run: Run<'_>, (columns, lines): (u16, u16)) -> Self {
        let (master, terminal) = a_terminal_of(columns, lines);
        let other = || terminal.try_clone().unwrap();
        let command = run.command.stdin(other()).stdout(other()).stderr(other());
        let child = command.spawn().unwrap();
        // The command keeps the terminal open as long as it lives.
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

    /// Waits until this is on the screen.
    #[track_caller]
    pub(super) fn see(&mut self, text: &str) -> &mut Self {
        let end = Instant::now() + PATIENCE;
        while !self.screen.text().contains(text) {
            match self.sent.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => {
                    self.screen.take(&bytes);
                    self.raw.extend(bytes);
                }
                Err(error) => panic!("{text:?} did not come ({error}):\n{}", self.screen.text()),
            }
        }
        self
    }

    /// Gives the window another size, as dragging its corner does.
    pub(super) fn resize(&mut self, (columns, lines): (u16, u16)) -> &mut Self {
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, size).unwrap();
        // It is no terminal of its own session's, so that nobody else tells it.
        kill_process(Pid::from_child(&self.child), Signal::WINCH).unwrap();
        self
    }

    pub(super) fn press(&mut self, keys: &str) -> &mut Self {
        self.master.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Everything that was sent, and the exit code.
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
    /// A test that fails leaves nobody sitting.
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
