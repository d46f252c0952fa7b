//! The printer: the only writer to stdout and stderr.

use crate::layout::width_of;
use crate::{Line, TerminalError, Visible, sanitize};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use hermes_config::{Environment, env};
use hermes_session::shortened;
use std::io::{self, IsTerminal as _, Write as _};

/// The width in columns where there is no terminal and `COLUMNS` is not set.
const DEFAULT_WIDTH: usize = 80;
/// Maximum number of characters of a line on stderr. Errors repeat what was typed, such as a path, which may be long.
const MAX_MESSAGE: usize = 2_000;
/// The least width in columns. Below it nothing can be laid out.
const LEAST_WIDTH: usize = 20;

/// Style of the labels of notes and hints.
const NOTE: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));

/// The width in columns of output that nothing limits: every table fits.
pub const UNLIMITED: usize = usize::MAX;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// At a terminal.
    Auto,
    /// Always, also in a pipe or a file.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Returns what the environment says: `NO_COLOR` takes precedence over `FORCE_COLOR`.
    pub fn of(environment: &Environment) -> Self {
        let is_set = |name| environment.raw(name).is_some_and(|value| !value.is_empty());
        match () {
            () if is_set(env::NO_COLOR) => Self::Never,
            () if is_set(env::FORCE_COLOR) && environment.raw(env::FORCE_COLOR) != Some("0".as_ref()) => Self::Always,
            () => Self::Auto,
        }
    }
}

/// Prints text, and knows the width of the terminal and whether colours and notes are wanted.
#[derive(Debug, Clone)]
pub struct Ui {
    color: Color,
    is_quiet: bool,
    width: usize,
    /// Whether `COLUMNS` gives the width.
    has_given_width: bool,
}

impl Ui {
    /// Reads colours and width from the environment, and the width from the terminal if `COLUMNS` is not set.
    pub fn new(environment: &Environment) -> Self {
        let given = environment.text(env::COLUMNS).ok().flatten().and_then(|text| text.parse::<usize>().ok());
        let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let given = given.filter(|width| *width > 0);
        let width = given.or_else(asked).unwrap_or(DEFAULT_WIDTH);
        let color = Color::of(environment);
        Self { color, is_quiet: false, width: width.max(LEAST_WIDTH), has_given_width: given.is_some() }
    }

    /// Returns the printer with other colours than the environment says.
    #[must_use]
    pub fn with_color(self, color: Color) -> Self {
        Self { color, ..self }
    }

    /// Returns the printer without notes and progress if `is_quiet`.
    #[must_use]
    pub fn with_quiet(self, is_quiet: bool) -> Self {
        Self { is_quiet, ..self }
    }

    /// Returns whether notes, progress and confirmations are left out.
    pub const fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Returns the width of the terminal in columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the width for tables on stdout: that of the terminal, or [`UNLIMITED`] if stdout is not a terminal and
    /// `COLUMNS` is not set, so that the next program of a pipe gets whole titles.
    pub fn table_width(&self) -> usize {
        if self.has_given_width || io::stdout().is_terminal() { self.width } else { UNLIMITED }
    }

    /// Returns the height in lines of the terminal that stdout is connected to. `None` if it is no terminal.
    pub(crate) fn screen(&self) -> Option<usize> {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return None;
        }
        terminal_size::terminal_size().map(|(_, height)| usize::from(height.0)).filter(|height| *height > 0)
    }

    /// Returns when output is coloured.
    pub const fn color(&self) -> Color {
        self.color
    }

    /// Returns whether colours are wanted.
    pub fn has_color(&self) -> bool {
        self.color != Color::Never
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

    /// Writes a piece of an export to stdout: byte by byte, except on a terminal, where JSON is escaped as in
    /// [`Ui::json`].
    pub fn export(&self, piece: &str) -> Result<(), TerminalError> {
        let mut out = io::stdout().lock();
        let safe = if out.is_terminal() { sanitize::escaped_json(piece) } else { piece.to_owned() };
        out.write_all(safe.as_bytes()).and_then(|()| out.flush()).map_err(TerminalError::output)
    }

    /// Prints a warning and a hint on stderr.
    pub fn warn(&self, text: &str, hint: &str) {
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        self.print_error(self.labelled("warning:", yellow, text).into_iter().chain(self.hint(hint)));
    }

    /// Prints a finding about a place in a file on stderr.
    pub fn finding(&self, place: &str, text: &str) {
        self.print_error([Line::styled(place, Style::new().bold()).text(": ").text(message(text))]);
    }

    /// Prints a note on stderr, unless the printer is quiet.
    pub fn note(&self, text: &str) {
        if self.is_quiet {
            return;
        }
        self.print_error(self.labelled("note:", NOTE, text));
    }

    /// Prints a note that ends with a command, unless the printer is quiet. The command stays on one line, so that it
    /// can be copied.
    pub fn note_command(&self, text: &str, command: &str) {
        if self.is_quiet {
            return;
        }
        let (whole, command) = (format!("{text}: {command}"), Visible::line(command));
        let lines = if "note: ".len() + width_of(&whole) <= self.message_width() {
            self.labelled("note:", NOTE, &whole)
        } else {
            let text = self.labelled("note:", NOTE, &format!("{text}:"));
            text.into_iter().chain([Line::plain_text(command)]).collect()
        };
        self.print_error(lines);
    }

    /// Prints an error on stderr: its text, lines of details, then hints.
    pub fn error(&self, text: &str, details: &[Line], hints: &[String]) {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let lines = self.labelled("error:", red, text).into_iter().chain(details.iter().cloned());
        self.print_error(lines.chain(hints.iter().flat_map(|hint| self.hint(hint))));
    }

    /// Prints lines on stderr. An error is ignored: there is no other place to report it.
    pub fn print_error(&self, lines: impl IntoIterator<Item = Line>) {
        let stderr = io::stderr();
        let mut out = AutoStream::new(stderr.lock(), self.choice(&stderr));
        let _ = out.write_all(rendered(lines).as_bytes()).and_then(|()| out.flush());
    }

    fn hint(&self, text: &str) -> Vec<Line> {
        self.labelled("hint:", NOTE, text)
    }

    /// Returns the width of messages on stderr.
    fn message_width(&self) -> usize {
        if self.is_watched() { self.width } else { UNLIMITED }
    }

    /// Returns the lines of a message for stderr. They are as wide as the terminal; in a pipe, a message is one line.
    fn labelled(&self, label: &str, style: Style, text: &str) -> Vec<Line> {
        let mut lines = words(&message(text), self.message_width(), label.len() + 1).into_iter();
        let first = Line::styled(label, style).text(" ").text(lines.next().unwrap_or_default());
        [first].into_iter().chain(lines.map(Line::plain_text)).collect()
    }

    fn stdout(&self, text: &str) -> Result<(), TerminalError> {
        let stdout = io::stdout();
        let mut out = AutoStream::new(stdout.lock(), self.choice(&stdout));
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(TerminalError::output)
    }

    /// Returns whether styles are written to a stream.
    pub(crate) fn choice<S: anstream::stream::RawStream>(&self, stream: &S) -> ColorChoice {
        match self.color {
            Color::Auto => AutoStream::choice(stream),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

/// Returns the first line of an error.
pub fn error_line(text: &Visible) -> Line {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    Line::styled("error:", red).text(" ").text(text.clone())
}

/// Returns the text of an error, a note or a hint. The middle of a long one is left out.
fn message(text: &str) -> Visible {
    Visible::line(&shortened(text, MAX_MESSAGE))
}

/// Breaks a text at spaces into lines of at most `columns`, of which `used` are taken on the first line. A longer word
/// is left to the terminal, and a command in backquotes is not broken, so that it can be copied.
fn words(text: &Visible, columns: usize, used: usize) -> Vec<Visible> {
    let (mut lines, mut used) = (vec![String::new()], used);
    let mut is_quoted = false;
    let unbroken = text.as_str().split(|char| {
        is_quoted ^= char == '`';
        char == ' ' && !is_quoted
    });
    for word in unbroken {
        let size = width_of(word);
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if used + 1 + size <= columns => {
                line.push(' ');
                line.push_str(word);
                used += 1;
            }
            _ => {
                lines.push(word.to_owned());
                used = 0;
            }
        }
        used += size;
    }
    lines.into_iter().map(Visible::of_parts).collect()
}

fn rendered(lines: impl IntoIterator<Item = Line>) -> String {
    lines.into_iter().fold(String::new(), |mut out, line| {
        line.render(&mut out);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_broken_between_words_only() {
        let check = |columns: usize, expect: &[&str]| {
            let lines = words(&"two were added: /a/long/path/to/state.db now".into(), columns, 6);
            assert_eq!(lines.iter().map(Visible::as_str).collect::<Vec<_>>(), expect, "{columns}");
        };
        check(UNLIMITED, &["two were added: /a/long/path/to/state.db now"]);
        check(21, &["two were added:", "/a/long/path/to/state.db", "now"]);
        check(20, &["two were", "added:", "/a/long/path/to/state.db", "now"]);
        let lines = words(&"run `hermes sessions list` first".into(), 12, 6);
        let lines: Vec<_> = lines.iter().map(Visible::as_str).collect();
        assert_eq!(lines, ["run", "`hermes sessions list`", "first"], "a command is not broken");
    }

    #[test]
    fn the_environment_forbids_colours_before_it_forces_them() {
        let color = |variables: &[(&str, &str)]| Color::of(&Environment::new(variables.iter().copied(), None));
        assert_eq!(color(&[]), Color::Auto);
        assert_eq!(color(&[("FORCE_COLOR", "1")]), Color::Always);
        assert_eq!((color(&[("FORCE_COLOR", "")]), color(&[("FORCE_COLOR", "0")])), (Color::Auto, Color::Auto));
        assert_eq!(color(&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]), Color::Never);
        assert_eq!(color(&[("FORCE_COLOR", "1"), ("NO_COLOR", "")]), Color::Always);
    }
}
