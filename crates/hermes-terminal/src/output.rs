//! Long output: written to stdout as it comes, or to a pager once it is longer than the screen.

use crate::pager::{NotPaged, Pager};
use crate::{Line, TerminalError, Ui};
use anstream::{AutoStream, ColorChoice};
use std::ffi::OsString;
use std::io::{self, Write as _};

/// Writes a long text. Only the first screen is kept in memory, until it is known whether there is more.
pub struct Output {
    ui: Ui,
    choice: ColorChoice,
    target: Target,
}

enum Target {
    Stdout,
    /// The text may still fit on the screen.
    Held {
        text: String,
        lines: usize,
        screen: usize,
        pager: Option<OsString>,
        /// The line that the pager shows first, from 1.
        first: usize,
    },
    Pager(Pager),
}

impl Output {
    /// Returns an output to stdout without a pager.
    pub fn plain(ui: &Ui) -> Self {
        Self { ui: ui.clone(), choice: ui.choice(&io::stdout()), target: Target::Stdout }
    }

    /// Returns an output to the pager command `pager`, used if stdout is a terminal and the text is longer than its
    /// screen.
    ///
    /// `None` is `less`; an empty command or `cat` is no pager. If the pager can't be run, the text goes to stdout,
    /// with a note.
    pub fn paged(ui: &Ui, pager: Option<OsString>) -> Self {
        let is_wanted = pager.as_ref().is_none_or(|pager| !pager.is_empty() && pager != "cat");
        let target = match ui.screen().filter(|_| is_wanted) {
            Some(screen) => Target::Held { text: String::new(), lines: 0, screen, pager, first: 1 },
            None => Target::Stdout,
        };
        Self { ui: ui.clone(), choice: ui.choice(&io::stdout()), target }
    }

    /// Makes the pager, if it is `less`, show this line first, counted from 1. Has no effect once it was started.
    pub const fn open_at(&mut self, line: usize) {
        if let Target::Held { first, .. } = &mut self.target {
            *first = line;
        }
    }

    /// Writes lines.
    ///
    /// # Errors
    /// If they can't be written, or the reader is gone.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = Line>) -> Result<(), TerminalError> {
        let mut count = 0;
        let text = lines.into_iter().fold(String::new(), |mut out, line| {
            count += 1;
            match self.choice {
                ColorChoice::Never => out.push_str(&format!("{}\n", line.plain())),
                _ => line.render(&mut out),
            }
            out
        });
        self.write(&text, count)
    }

    fn write(&mut self, more: &str, count: usize) -> Result<(), TerminalError> {
        if let Target::Held { text, lines, screen, pager, first } = &mut self.target {
            text.push_str(more);
            *lines += count;
            // The shell prompt takes one line of the screen.
            if *lines < *screen {
                return Ok(());
            }
            let held = std::mem::take(text);
            self.target = Pager::start(pager.take(), *first).map_or(Target::Stdout, Target::Pager);
            return self.send(&held);
        }
        self.send(more)
    }

    fn send(&mut self, text: &str) -> Result<(), TerminalError> {
        match &mut self.target {
            Target::Pager(pager) => {
                let sent = pager.send(text);
                self.without_pager(sent)
            }
            Target::Stdout | Target::Held { .. } => {
                let mut out = AutoStream::new(io::stdout().lock(), self.choice);
                out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(TerminalError::output)
            }
        }
    }

    /// Writes to stdout what a pager that could not be run was sent, and everything after it.
    fn without_pager(&mut self, sent: Result<(), NotPaged>) -> Result<(), TerminalError> {
        match sent {
            Ok(()) => Ok(()),
            Err(NotPaged::Output(error)) => Err(TerminalError::output(error)),
            Err(NotPaged::NotRun { name, text }) => {
                self.target = Target::Stdout;
                self.send(&text)?;
                self.ui.note(&format!("the pager {name:?} could not be run; set PAGER to another program"));
                Ok(())
            }
        }
    }

    /// Writes the text that is held back, and waits until the pager exits.
    ///
    /// # Errors
    /// As [`Output::lines`].
    pub fn finish(mut self) -> Result<(), TerminalError> {
        if let Target::Held { text, .. } = &mut self.target {
            let held = std::mem::take(text);
            return self.send(&held);
        }
        match &mut self.target {
            Target::Pager(pager) => {
                let ended = pager.end();
                self.without_pager(ended)
            }
            Target::Stdout | Target::Held { .. } => Ok(()),
        }
    }
}

/// Writes a JSON object to stdout piece by piece.
pub struct JsonOutput(Output);

impl JsonOutput {
    /// Returns an output to stdout.
    pub fn new(ui: &Ui) -> Self {
        Self(Output::plain(ui))
    }

    /// Writes a piece that ends between values. Characters that could control a terminal are escaped.
    ///
    /// # Errors
    /// If it can't be written, or the reader is gone.
    pub fn piece(&mut self, json: &str) -> Result<(), TerminalError> {
        self.0.send(&crate::sanitize::escaped_json(json))
    }

    /// Ends the line.
    ///
    /// # Errors
    /// As [`JsonOutput::piece`].
    pub fn finish(mut self) -> Result<(), TerminalError> {
        self.0.send("\n")
    }
}
