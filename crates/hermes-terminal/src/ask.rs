//! Questions to a person at the terminal.

use crate::{Line, TerminalError, Ui};
use std::io::{self, IsTerminal as _, Write as _};

/// The answer to a question that is answered with yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// The person confirmed.
    Yes,
    /// The person answered something else, or closed the input.
    No,
    /// Stdin or stderr is no terminal, so nobody could be asked.
    NoTerminal,
}

impl Ui {
    /// Shows `about` on stderr and asks the person there to confirm it.
    pub fn confirm(&self, about: Vec<Line>, question: &str) -> Confirmation {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Confirmation::NoTerminal;
        }
        self.print_error(about);
        self.ask(question);
        let mut answer = String::new();
        let is_read = io::stdin().read_line(&mut answer).is_ok();
        if !answer.ends_with('\n') {
            self.print_error([Line::default()]);
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" if is_read => Confirmation::Yes,
            _ => Confirmation::No,
        }
    }

    /// Asks on stdout and returns the next line of stdin. `None` at the end of the input.
    ///
    /// # Errors
    /// If the question can't be written.
    pub fn answer(&self, question: &str) -> Result<Option<String>, TerminalError> {
        let mut out = io::stdout().lock();
        let line = Line::plain_text(question).plain();
        write!(out, "{line}").and_then(|()| out.flush()).map_err(TerminalError::output)?;
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        let count = read.inspect_err(|error| tracing::debug!(%error, "no answer: stdin can't be read")).unwrap_or(0);
        // Only a terminal echoes the line break that was typed.
        if count == 0 || !io::stdin().is_terminal() {
            writeln!(out).map_err(TerminalError::output)?;
        }
        Ok((count > 0).then_some(answer))
    }

    fn ask(&self, question: &str) {
        let line = Line::plain_text(question).text(" [y/N] ");
        // A question that can't be shown gets no answer, which counts as no.
        _ = write!(io::stderr(), "{}", line.plain()).and_then(|()| io::stderr().flush());
    }
}
