//! Output of commands: a view for each kind of answer, and the printer with the errors and prompts of a command line.
//!
//! Everything generic (text, layout, tables, Markdown, transcripts, the pager) is in `hermes-terminal`.

pub(crate) mod adopted;
pub(crate) mod archive;
pub(crate) mod changes;
pub(crate) mod checks;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod hits;
pub(crate) mod insights;
pub(crate) mod json;
pub(crate) mod owners;
pub(crate) mod pins_and_tags;
pub(crate) mod repaired;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod stacked;
pub(crate) mod statistics;
pub(crate) mod store;
pub(crate) mod trash;

use crate::error::{CliError, Kind};
use crate::program::called;
use hermes_config::Environment;
use hermes_session::shortened;
use hermes_terminal::{Color, Confirmation, Line, Visible, error_line};
use std::ops::Deref;

/// Maximum number of characters of a line of a usage error. Usage lines that name every argument fit.
const MAX_USAGE_LINE: usize = 500;

/// The printer of a command: that of `hermes-terminal`, with errors that have exit codes and hints.
#[derive(Debug, Clone)]
pub(crate) struct Ui(hermes_terminal::Ui);

impl Deref for Ui {
    type Target = hermes_terminal::Ui;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Ui {
    /// Reads colours and width from the environment and the terminal.
    pub(crate) fn new(environment: &Environment) -> Self {
        Self(hermes_terminal::Ui::new(environment))
    }

    /// Returns the printer with the colours that were asked for; `None` leaves them to the environment.
    pub(crate) fn with_color(self, color: Option<impl Into<Color>>) -> Self {
        match color {
            Some(color) => Self(self.0.with_color(color.into())),
            None => self,
        }
    }

    /// Returns the printer without notes, progress and confirmations if `is_quiet`.
    pub(crate) fn with_quiet(self, is_quiet: bool) -> Self {
        Self(self.0.with_quiet(is_quiet))
    }

    /// Prints lines on stdout that only confirm what was done, unless the printer is quiet.
    pub(crate) fn print_done(&self, lines: impl IntoIterator<Item = Line>) -> Result<(), CliError> {
        if self.is_quiet() { Ok(()) } else { self.print(lines).map_err(CliError::after_change) }
    }

    /// Breaks sentences for stdout between words, so that they fit the terminal.
    pub(crate) fn sentences(&self, lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
        let columns = self.0.table_width();
        lines.into_iter().flat_map(|line| line.broken(columns)).collect()
    }

    /// Prints lines on stdout.
    pub(crate) fn print(&self, lines: impl IntoIterator<Item = Line>) -> Result<(), CliError> {
        Ok(self.0.print(lines)?)
    }

    /// Returns the outcome of a check. Its findings set the exit code even if the report could not be printed; a
    /// failure other than a closed pipe is a warning then.
    pub(crate) fn found(&self, printed: Result<(), CliError>, outcome: Result<(), CliError>) -> Result<(), CliError> {
        if let (Err(error), Err(_)) = (&printed, &outcome) {
            if error.kind() != Kind::Closed {
                self.warn(&error.text(), error.hints().first().map_or("", String::as_str));
            }
            return outcome;
        }
        printed.and(outcome)
    }

    /// Prints a JSON value on stdout, as one line, that reports a change.
    pub(crate) fn json_done(&self, json: &str) -> Result<(), CliError> {
        self.json(json).map_err(CliError::after_change)
    }

    /// Prints a JSON value on stdout, as one line.
    pub(crate) fn json(&self, json: &str) -> Result<(), CliError> {
        Ok(self.0.json(json)?)
    }

    /// Prints the words that a shell may complete, each with its description.
    pub(crate) fn candidates(&self, candidates: &[(String, String)]) -> Result<(), CliError> {
        Ok(self.0.candidates(candidates)?)
    }

    /// Prints text of the program itself. It must not contain stored or typed text.
    pub(crate) fn script(&self, text: &str) -> Result<(), CliError> {
        Ok(self.0.script(text)?)
    }

    /// Writes a piece of an export to stdout.
    pub(crate) fn export(&self, piece: &str) -> Result<(), CliError> {
        Ok(self.0.export(piece)?)
    }

    /// Returns if `--yes` was given, or if the person confirms after `about` was shown.
    ///
    /// # Errors
    /// If the person does not confirm, or nobody can be asked.
    pub(crate) fn consent(&self, is_given: bool, about: Vec<Line>, question: &str) -> Result<(), CliError> {
        if is_given {
            return Ok(());
        }
        match self.0.confirm(about, question) {
            Confirmation::Yes => Ok(()),
            Confirmation::No => Err(CliError::declined()),
            Confirmation::NoTerminal => {
                let text = format!("confirmation needed, but stdin or stderr is not a terminal: {question}");
                Err(CliError::new(Kind::User, text, "pass --yes to confirm"))
            }
        }
    }

    /// Prints on stderr that the person answered no.
    pub(crate) fn declined(&self) {
        self.0.print_error([Line::plain_text("Nothing was changed.")]);
    }

    /// Prints an error on stderr, with its details and hints.
    pub(crate) fn error(&self, error: &CliError) {
        let hints: Vec<String> = error.hints().iter().map(|hint| called(hint).into_owned()).collect();
        self.0.error(&error.text(), error.details(), &hints);
    }

    /// Prints a note on stderr.
    pub(crate) fn note(&self, text: &str) {
        self.0.note(&called(text));
    }

    /// Prints a note that ends with a command on stderr.
    pub(crate) fn note_command(&self, text: &str, command: &str) {
        self.0.note_command(&called(text), &called(command));
    }

    /// Prints a warning and a hint on stderr.
    pub(crate) fn warn(&self, text: &str, hint: &str) {
        self.0.warn(&called(text), &called(hint));
    }

    /// Prints the answer of the argument parser: help and version on stdout, usage errors with sanitised arguments on
    /// stderr.
    pub(crate) fn usage(&self, error: &clap::Error) -> Result<(), CliError> {
        if error.use_stderr() {
            let text = error.render().to_string();
            // The parser repeats arguments, which may be long.
            let lines = text.trim_end().lines().map(|line| shortened(line, MAX_USAGE_LINE)).collect::<Vec<_>>();
            let line = |line: Visible| match line.as_str().strip_prefix("error: ") {
                Some(text) => error_line(&text.into()),
                None => Line::plain_text(line),
            };
            self.0.print_error(Visible::lines(&lines.join("\n")).into_iter().map(line));
            return Ok(());
        }
        self.help(&error.render())
    }

    /// Prints help, which contains no typed or stored text.
    pub(crate) fn help(&self, text: &clap::builder::StyledStr) -> Result<(), CliError> {
        self.script(&text.ansi().to_string())
    }
}
