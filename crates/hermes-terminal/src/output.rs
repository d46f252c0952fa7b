//! Long output: written to stdout as it comes, or to a pager once it is longer than the screen.

use crate::{Line, TerminalError, Ui};
use anstream::{AutoStream, ColorChoice};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The pager if `PAGER` is not set: exits on short texts, passes colours through, leaves the text on the screen.
const LESS: [&str; 2] = ["less", "-FRX"];

/// Exit codes of a shell for a program that it can't run or can't find.
const NOT_RUN: [i32; 2] = [126, 127];

/// Writes a long text. Only the first screen is kept in memory, until it is known whether there is more.
pub struct Output {
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
    },
    Pager(Pager),
}

struct Pager {
    child: Child,
    name: String,
}

impl Output {
    /// Returns an output to stdout without a pager.
    pub fn plain(ui: &Ui) -> Self {
        Self { choice: ui.choice(&io::stdout()), target: Target::Stdout }
    }

    /// Returns an output to the pager command `pager`, used if stdout is a terminal and the text is longer than its screen.
    ///
    /// `None` is `less`; an empty command or `cat` is no pager.
    pub fn paged(ui: &Ui, pager: Option<OsString>) -> Self {
        let is_wanted = pager.as_ref().is_none_or(|pager| !pager.is_empty() && pager != "cat");
        let target = match ui.screen().filter(|_| is_wanted) {
            Some(screen) => Target::Held { text: String::new(), lines: 0, screen, pager },
            None => Target::Stdout,
        };
        Self { choice: ui.choice(&io::stdout()), target }
    }

    /// Writes lines.
    ///
    /// # Errors
    /// If they can't be written, the reader is gone, or the pager can't be run.
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
        if let Target::Held { text, lines, screen, pager } = &mut self.target {
            text.push_str(more);
            *lines += count;
            // The shell prompt takes one line of the screen.
            if *lines < *screen {
                return Ok(());
            }
            let held = std::mem::take(text);
            self.target = Pager::start(pager.take()).map_or(Target::Stdout, Target::Pager);
            return self.send(&held);
        }
        self.send(more)
    }

    fn send(&mut self, text: &str) -> Result<(), TerminalError> {
        let sent = match &mut self.target {
            Target::Pager(pager) => return pager.send(text),
            Target::Stdout | Target::Held { .. } => {
                let mut out = AutoStream::new(io::stdout().lock(), self.choice);
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
        };
        sent.map_err(TerminalError::output)
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
            Target::Pager(pager) => pager.end(),
            Target::Stdout | Target::Held { .. } => Ok(()),
        }
    }
}

impl Pager {
    /// Starts the pager command, or `less`. Returns `None` if it can't be started.
    fn start(pager: Option<OsString>) -> Option<Self> {
        let mut command = match &pager {
            Some(pager) => shell(pager),
            None => {
                let mut command = Command::new(LESS[0]);
                command.args(&LESS[1..]);
                command
            }
        };
        // `PAGER=less` without options gets colours as well, and exits on a text that fits.
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        let child = match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => {
                tracing::debug!(%error, "pager not started; writing to stdout");
                return None;
            }
        };
        ignore_interrupts();
        let name = pager.unwrap_or_else(|| LESS[0].into()).to_string_lossy().into_owned();
        Some(Self { child, name })
    }

    fn send(&mut self, text: &str) -> Result<(), TerminalError> {
        let sent = self.child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(text.as_bytes()));
        match sent {
            // The person quit the pager, unless it could not be run at all.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.end()?;
                Err(TerminalError::output(error))
            }
            sent => sent.map_err(TerminalError::output),
        }
    }

    /// Closes the pager's input and waits until it exits.
    fn end(&mut self) -> Result<(), TerminalError> {
        drop(self.child.stdin.take());
        let code = self.wait().and_then(|status| status.code());
        if code.is_some_and(|code| NOT_RUN.contains(&code)) {
            return Err(TerminalError::Pager(self.name.clone()));
        }
        Ok(())
    }

    /// Waits until the pager exits. Returns `None` if that can't be waited for.
    fn wait(&mut self) -> Option<ExitStatus> {
        self.child.wait().inspect_err(|error| tracing::warn!(%error, "pager not waited for")).ok()
    }
}

impl Drop for Pager {
    /// Waits for the pager: it owns the terminal, so nothing else, not even an error, may be printed before it exits.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // How it exited was reported by `end`, or an error is reported instead.
        _ = self.wait();
    }
}

/// Returns a command that runs `PAGER` through the shell, because it may have arguments.
#[cfg(unix)]
fn shell(pager: &OsString) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager);
    command
}

#[cfg(not(unix))]
fn shell(pager: &OsString) -> Command {
    Command::new(pager)
}

/// Ignores Ctrl-C, which is for the pager. If it ended this process, the shell and the pager would both read the keys.
fn ignore_interrupts() {
    #[cfg(unix)]
    {
        let noticed = std::sync::Arc::default();
        if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGINT, noticed) {
            tracing::warn!(%error, "Ctrl-C not ignored while the pager runs");
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
