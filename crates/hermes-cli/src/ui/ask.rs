//! Asks a person before something is done that can't be undone.

use super::{Line, Ui};
use crate::error::{CliError, Kind};
use std::io::{self, IsTerminal as _, Write as _};

impl Ui {
    /// Goes on if consent was given on the command line, or by a person who is shown what it is about and says yes.
    ///
    /// # Errors
    /// If it was not given: the person said something else, or nobody is there who could.
    pub(crate) fn consent(&self, is_given: bool, about: Vec<Line>, question: &str) -> Result<(), CliError> {
        if is_given {
            return Ok(());
        }
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let text = format!("{question} Nobody is here to answer that");
            return Err(CliError::new(Kind::User, text, "give --yes to do it without being asked"));
        }
        self.stderr(about);
        self.ask(question);
        let mut answer = String::new();
        // An answer that can't be read is none.
        let is_read = io::stdin().read_line(&mut answer).is_ok();
        if !answer.ends_with('\n') {
            self.stderr([Line::default()]);
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" if is_read => Ok(()),
            _ => Err(CliError::new(Kind::User, "cancelled, nothing was changed", "answer y to go on, or give --yes")),
        }
    }

    /// Asks on stdout and takes the line that comes; nothing if none comes any more.
    pub(crate) fn answer(&self, question: &str) -> Result<Option<String>, CliError> {
        let mut out = io::stdout().lock();
        let line = Line::plain_text(question).plain();
        write!(out, "{line}").and_then(|()| out.flush()).map_err(CliError::output)?;
        let mut answer = String::new();
        let count = io::stdin().read_line(&mut answer).unwrap_or(0);
        // Only a terminal shows the end of the line that was typed.
        if count == 0 || !io::stdin().is_terminal() {
            writeln!(out).map_err(CliError::output)?;
        }
        Ok((count > 0).then_some(answer))
    }

    fn ask(&self, question: &str) {
        let line = Line::plain_text(question).text(" [y/N] ");
        _ = write!(io::stderr(), "{}", line.plain()).and_then(|()| io::stderr().flush());
    }
}
