//! The printer: the only writer to stdout and stderr.

use crate::{Line, TerminalError, Visible, sanitize};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use hermes_config::{Environment, env};
use std::io::{self, IsTerminal as _, Write as _};

/// The width in columns where there is no terminal and `COLUMNS` is not set.
const DEFAULT_WIDTH: usize = 80;
/// The least width in columns. Below it nothing can be laid out.
const LEAST_WIDTH: usize = 20;

/// Prints text, and knows the width of the terminal and whether colours are wanted.
#[derive(Debug, Clone)]
pub struct Ui {
    color: bool,
    width: usize,
}

impl Ui {
    /// Reads colours and width from the environment, and the width from the terminal if `COLUMNS` is not set.
    pub fn new(environment: &Environment) -> Self {
        let color = environment.raw(env::NO_COLOR).is_none_or(|value| value.is_empty());
        let given = environment.text(env::COLUMNS).ok().flatten().and_then(|text| text.parse::<usize>().ok());
        let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = given.filter(|width| *width > 0).or_else(asked).unwrap_or(DEFAULT_WIDTH);
        Self { color, width: width.max(LEAST_WIDTH) }
    }

    /// Returns the width of the terminal in columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the height in lines of the terminal that stdout is connected to. `None` if it is no terminal.
    pub(crate) fn screen(&self) -> Option<usize> {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return None;
        }
        terminal_size::terminal_size().map(|(_, height)| usize::from(height.0)).filter(|height| *height > 0)
    }

    /// Returns whether colours are wanted.
    pub const fn has_color(&self) -> bool {
        self.color
    }

    /// Returns whether the reader of stdout sees styles.
    pub fn is_styled(&self) -> bool {
        self.choice(&io::stdout()) != ColorChoice::Never
    }

    /// Returns whether a person sees stderr as it is written.
    pub fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Prints lines on stdout.
    ///
    /// # Errors
    /// If they can't be written, or the reader is gone. The same holds for the other methods that return a `Result`.
    pub fn print(&self, lines: impl IntoIterator<Item = Line>) -> Result<(), TerminalError> {
        self.stdout(&rendered(lines))
    }

    /// Prints a JSON value on stdout, as one line. Characters that could control a terminal are escaped.
    pub fn json(&self, json: &str) -> Result<(), TerminalError> {
        self.stdout(&format!("{}\n", sanitize::escaped_json(json)))
    }

    /// Prints the words that a shell may complete, each with its description. Words that can't be typed are left out.
    pub fn candidates(&self, candidates: &[(String, String)]) -> Result<(), TerminalError> {
        let is_plain = |word: &str| Visible::line(word).as_str() == word;
        let plain = candidates.iter().filter(|(word, _)| is_plain(word));
        let line = |(word, what): &(String, String)| format!("{word}\t{}\n", Visible::line(what));
        self.stdout(&plain.map(line).collect::<String>())
    }

    /// Prints text of the program itself, such as help or a script for a shell, as it is.
    ///
    /// It must hold nothing that is stored or typed, because it is not sanitised.
    pub fn script(&self, text: &str) -> Result<(), TerminalError> {
        self.stdout(text)
    }

    /// Writes a piece of an export to stdout: byte by byte, except on a terminal, where JSON is escaped as in [`Ui::json`].
    pub fn export(&self, piece: &str) -> Result<(), TerminalError> {
        let mut out = io::stdout().lock();
        let safe = if out.is_terminal() { sanitize::escaped_json(piece) } else { piece.to_owned() };
        out.write_all(safe.as_bytes()).and_then(|()| out.flush()).map_err(TerminalError::output)
    }

    /// Prints a warning and a hint on stderr.
    pub fn warn(&self, text: &str, hint: &str) {
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        self.print_error([Line::styled("warning:", yellow).text(" ").text(text), self.hint(hint)]);
    }

    /// Prints a finding about a place in a file on stderr.
    pub fn finding(&self, place: &str, text: &str) {
        self.print_error([Line::styled(place, Style::new().bold()).text(": ").text(text)]);
    }

    /// Prints a note on stderr.
    pub fn note(&self, text: &str) {
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        self.print_error([Line::styled("note:", cyan).text(" ").text(text)]);
    }

    /// Prints an error on stderr: its text, lines of details, then hints.
    pub fn error(&self, text: &str, details: &[Line], hints: &[String]) {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let first = Line::styled("error:", red).text(" ").text(text);
        let details = details.iter().cloned();
        self.print_error([first].into_iter().chain(details).chain(hints.iter().map(|hint| self.hint(hint))));
    }

    /// Prints lines on stderr. An error is ignored: there is no other place to report it.
    pub fn print_error(&self, lines: impl IntoIterator<Item = Line>) {
        let stderr = io::stderr();
        let mut out = AutoStream::new(stderr.lock(), self.choice(&stderr));
        let _ = out.write_all(rendered(lines).as_bytes()).and_then(|()| out.flush());
    }

    fn hint(&self, text: &str) -> Line {
        Line::styled("hint:", Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()))).text(" ").text(text)
    }

    fn stdout(&self, text: &str) -> Result<(), TerminalError> {
        let stdout = io::stdout();
        let mut out = AutoStream::new(stdout.lock(), self.choice(&stdout));
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(TerminalError::output)
    }

    /// Returns whether styles are written to a stream.
    pub(crate) fn choice<S: anstream::stream::RawStream>(&self, stream: &S) -> ColorChoice {
        if self.color { AutoStream::choice(stream) } else { ColorChoice::Never }
    }
}

fn rendered(lines: impl IntoIterator<Item = Line>) -> String {
    lines.into_iter().fold(String::new(), |mut out, line| {
        line.render(&mut out);
        out
    })
}
