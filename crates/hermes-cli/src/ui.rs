//! What commands print: a view for each kind of answer, and the printer with the errors and questions of a command line.
//!
//! Everything generic (text, layout, tables, Markdown, transcripts, the pager) is in `hermes-terminal`.

pub(crate) mod adopted;
pub(crate) mod changes;
pub(crate) mod checks;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod hits;
pub(crate) mod insights;
pub(crate) mod json;
pub(crate) mod pins_and_tags;
pub(crate) mod repaired;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod statistics;
pub(crate) mod store;
pub(crate) mod trash;

use crate::error::{CliError, Kind};
use hermes_config::Environment;
use hermes_terminal::{Confirmation, Line, Visible};
use std::ops::Deref;

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

    /// Prints lines on stdout.
    pub(crate) fn print(&self, lines: impl IntoIterator<Item = Line>) -> Result<(), CliError> {
        Ok(self.0.print(lines)?)
    }

    /// Prints a JSON value on stdout, as one line.
    pub(crate) fn json(&self, json: &str) -> Result<(), CliError> {
        Ok(self.0.json(json)?)
    }

    /// Prints the words that a shell may complete, each with its description.
    pub(crate) fn candidates(&self, candidates: &[(String, String)]) -> Result<(), CliError> {
        Ok(self.0.candidates(candidates)?)
    }

    /// Prints text of the program itself, which holds nothing that is stored or typed.
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
            Confirmation::No => {
                Err(CliError::new(Kind::User, "cancelled, nothing was changed", "answer y to go on, or give --yes"))
            }
            Confirmation::NoTerminal => {
                let text = format!("{question} Nobody is here to answer that");
                Err(CliError::new(Kind::User, text, "give --yes to do it without being asked"))
            }
        }
    }

    /// Prints an error on stderr, with its details and hints.
    pub(crate) fn error(&self, error: &CliError) {
        self.0.error(&error.text(), error.details(), error.hints());
    }

    /// Prints the answer of the argument parser: help and version on stdout, usage errors on stderr with sanitised arguments.
    pub(crate) fn usage(&self, error: &clap::Error) -> Result<(), CliError> {
        if error.use_stderr() {
            let text = error.render().to_string();
            self.0.print_error(Visible::lines(text.trim_end()).into_iter().map(Line::plain_text));
            return Ok(());
        }
        self.help(&error.render())
    }

    /// Prints help, which holds nothing that was typed or stored.
    pub(crate) fn help(&self, text: &clap::builder::StyledStr) -> Result<(), CliError> {
        self.script(&text.ansi().to_string())
    }
}
