//! Errors of writing to a terminal.

use std::io;

/// Why output was not written, or the terminal could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The reader of the output is gone (a broken pipe). Nothing is wrong: a program ends quietly.
    #[error("could not write the output")]
    Closed(#[source] io::Error),
    /// The output could not be written.
    #[error("could not write the output")]
    Output(#[source] io::Error),
    /// The terminal can't be drawn on.
    #[error("could not use the terminal")]
    Screen(#[source] io::Error),
}

impl TerminalError {
    /// Returns the error for output that could not be written.
    pub(crate) fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed(error),
            _ => Self::Output(error),
        }
    }
}
