//! The only writer to stdout and stderr.
//!
//! What is printed is made of [`Visible`] text, so that nothing stored or typed can send a control character; colours are added here alone.

pub(crate) mod adopted;
mod ask;
mod bars;
pub(crate) mod changes;
pub(crate) mod checks;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod document;
pub(crate) mod erase;
pub(crate) mod hits;
pub(crate) mod insights;
pub(crate) mod json;
pub(crate) mod layout;
pub(crate) mod markdown;
pub(crate) mod marked;
pub(crate) mod marks;
pub(crate) mod output;
pub(crate) mod paint;
mod progress;
pub(crate) mod recap;
pub(crate) mod repaired;
mod sanitize;
pub(crate) mod screen;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod shell;
pub(crate) mod statistics;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod transcript;
pub(crate) mod trash;

pub(crate) use progress::Progress;
pub(crate) use sanitize::Visible;

use crate::error::CliError;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use hermes_config::{Environment, env};
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

/// The width where there is no terminal and nobody says.
const DEFAULT_WIDTH: usize = 80;
/// Below this nothing can be laid out.
const LEAST_WIDTH: usize = 20;

/// A line of pieces, each in its style.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line(Vec<(Visible, Style)>);

impl Line {
    /// A line of plain text.
    pub(crate) fn plain_text(text: impl Into<Visible>) -> Self {
        Self::default().text(text)
    }

    /// A line in one style.
    pub(crate) fn styled(text: impl Into<Visible>, style: Style) -> Self {
        Self::default().with(text, style)
    }

    /// The same line with plain text behind it.
    pub(crate) fn text(self, text: impl Into<Visible>) -> Self {
        self.with(text, Style::new())
    }

    /// The same line with a styled piece behind it.
    pub(crate) fn with(mut self, text: impl Into<Visible>, style: Style) -> Self {
        self.0.push((text.into(), style));
        self
    }

    /// The text without styles.
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }

    fn render(&self, out: &mut String) {
        for (text, style) in &self.0 {
            let _ = if *style == Style::new() { write!(out, "{text}") } else { write!(out, "{style}{text}{style:#}") };
        }
        out.push('\n');
    }
}

/// Where output goes, and how wide it may be.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    color: bool,
    width: usize,
}

impl Ui {
    /// Asks the environment and the terminal.
    pub(crate) fn new(environment: &Environment) -> Self {
        let color = environment.raw(env::NO_COLOR).is_none_or(|value| value.is_empty());
        let given = environment.text(env::COLUMNS).ok().flatten().and_then(|text| text.parse::<usize>().ok());
        let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = given.filter(|width| *width > 0).or_else(asked).unwrap_or(DEFAULT_WIDTH);
        Self { color, width: width.max(LEAST_WIDTH) }
    }

    /// The columns of the terminal.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The lines of the terminal that stdout is; nothing if it is none.
    fn screen(&self) -> Option<usize> {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return None;
        }
        terminal_size::terminal_size().map(|(_, height)| usize::from(height.0)).filter(|height| *height > 0)
    }

    /// Whether colours are wanted.
    pub(crate) const fn has_color(&self) -> bool {
        self.color
    }

    /// Whether styles reach whoever reads stdout.
    pub(crate) fn is_styled(&self) -> bool {
        self.choice(&io::stdout()) != ColorChoice::Never
    }

    /// Prints lines on stdout.
    pub(crate) fn print(&self, lines: impl IntoIterator<Item = Line>) -> Result<(), CliError> {
        self.stdout(&rendered(lines))
    }

    /// Prints a JSON value on stdout, as one line.
    pub(crate) fn json(&self, json: &str) -> Result<(), CliError> {
        self.stdout(&format!("{}\n", sanitize::escaped_json(json)))
    }

    /// Prints what a shell may complete a word with, each with what it is.
    pub(crate) fn candidates(&self, candidates: &[(String, String)]) -> Result<(), CliError> {
        // A word with anything in it that would have to be shown instead could not be typed either.
        let is_plain = |word: &str| Visible::line(word).as_str() == word;
        let plain = candidates.iter().filter(|(word, _)| is_plain(word));
        let line = |(word, what): &(String, String)| format!("{word}\t{}\n", Visible::line(what));
        self.stdout(&plain.map(line).collect::<String>())
    }

    /// Prints a script for a shell, which holds nothing that is stored.
    pub(crate) fn script(&self, text: &str) -> Result<(), CliError> {
        self.stdout(text)
    }

    /// Writes a piece of an export to stdout: exactly as it is, but on a terminal JSON in a spelling of it that does no harm there.
    pub(crate) fn export(&self, piece: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        let safe = if out.is_terminal() { sanitize::escaped_json(piece) } else { piece.to_owned() };
        out.write_all(safe.as_bytes()).and_then(|()| out.flush()).map_err(CliError::output)
    }

    /// Says on stderr that something is odd, and what can be done.
    pub(crate) fn warn(&self, text: &str, hint: &str) {
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        self.stderr([Line::styled("warning:", yellow).text(" ").text(text), self.hint(hint)]);
    }

    /// Says on stderr what was found in a place of a file.
    pub(crate) fn finding(&self, place: &str, text: &str) {
        self.stderr([Line::styled(place, Style::new().bold()).text(": ").text(text)]);
    }

    /// Says on stderr what is worth knowing.
    pub(crate) fn note(&self, text: &str) {
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        self.stderr([Line::styled("note:", cyan).text(" ").text(text)]);
    }

    /// Whether somebody sees what is said on stderr when it is said.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Says on stderr why it did not work, and what can be done.
    pub(crate) fn error(&self, error: &CliError) {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let first = Line::styled("error:", red).text(" ").text(error.text());
        let details = error.details().iter().cloned();
        self.stderr([first].into_iter().chain(details).chain(error.hints().iter().map(|hint| self.hint(hint))));
    }

    /// Prints what the argument parser has to say: help and version as they are, complaints without what was typed doing any harm.
    pub(crate) fn usage(&self, error: &clap::Error) -> Result<(), CliError> {
        if error.use_stderr() {
            let text = error.render().to_string();
            self.stderr(Visible::lines(text.trim_end()).into_iter().map(Line::plain_text));
            return Ok(());
        }
        self.help(&error.render())
    }

    /// Prints help, which holds nothing that was typed or stored.
    pub(crate) fn help(&self, text: &clap::builder::StyledStr) -> Result<(), CliError> {
        self.stdout(&text.ansi().to_string())
    }

    fn hint(&self, text: &str) -> Line {
        Line::styled("hint:", Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()))).text(" ").text(text)
    }

    fn stdout(&self, text: &str) -> Result<(), CliError> {
        let stdout = io::stdout();
        let mut out = AutoStream::new(stdout.lock(), self.choice(&stdout));
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CliError::output)
    }

    /// Nobody is left to be told when stderr is gone.
    fn stderr(&self, lines: impl IntoIterator<Item = Line>) {
        let stderr = io::stderr();
        let mut out = AutoStream::new(stderr.lock(), self.choice(&stderr));
        let _ = out.write_all(rendered(lines).as_bytes()).and_then(|()| out.flush());
    }

    fn choice<S: anstream::stream::RawStream>(&self, stream: &S) -> ColorChoice {
        if self.color { AutoStream::choice(stream) } else { ColorChoice::Never }
    }
}

fn rendered(lines: impl IntoIterator<Item = Line>) -> String {
    lines.into_iter().fold(String::new(), |mut out, line| {
        line.render(&mut out);
        out
    })
}
