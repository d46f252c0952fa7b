//! Where a long text goes: to stdout as it comes, or into a pager once it is longer than the screen.

use super::{Line, Ui};
use crate::error::{CliError, Kind};
use anstream::{AutoStream, ColorChoice};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};

/// What people read with who have not said otherwise: it leaves what it showed on the screen, and lets our colours through.
const LESS: [&str; 2] = ["less", "-FRX"];

/// What a shell answers for a program that it can't find, or can't run.
const NOT_RUN: [i32; 2] = [126, 127];

/// A text on its way out. Nothing is kept of it but the first screen, until it is known whether there is more.
pub(crate) struct Output {
    choice: ColorChoice,
    target: Target,
}

enum Target {
    Stdout,
    /// It may still fit on the screen.
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
    /// To stdout.
    pub(crate) fn plain(ui: &Ui) -> Self {
        Self { choice: ui.choice(&io::stdout()), target: Target::Stdout }
    }

    /// Into the pager that `PAGER` names, if somebody sits at a terminal and the text is longer than its screen.
    pub(crate) fn paged(ui: &Ui, pager: Option<OsString>) -> Self {
        let is_wanted = pager.as_ref().is_none_or(|pager| !pager.is_empty() && pager != "cat");
        let target = match ui.screen().filter(|_| is_wanted) {
            Some(screen) => Target::Held { text: String::new(), lines: 0, screen, pager },
            None => Target::Stdout,
        };
        Self { choice: ui.choice(&io::stdout()), target }
    }

    /// Writes lines.
    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = Line>) -> Result<(), CliError> {
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

    fn write(&mut self, more: &str, count: usize) -> Result<(), CliError> {
        if let Target::Held { text, lines, screen, pager } = &mut self.target {
            text.push_str(more);
            *lines += count;
            // The prompt takes a line of the screen.
            if *lines < *screen {
                return Ok(());
            }
            let held = std::mem::take(text);
            self.target = Pager::start(pager.take()).map_or(Target::Stdout, Target::Pager);
            return self.send(&held);
        }
        self.send(more)
    }

    fn send(&mut self, text: &str) -> Result<(), CliError> {
        let sent = match &mut self.target {
            Target::Pager(pager) => return pager.send(text),
            Target::Stdout | Target::Held { .. } => {
                let mut out = AutoStream::new(io::stdout().lock(), self.choice);
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
        };
        sent.map_err(CliError::output)
    }

    /// Writes what is held back, and waits for whoever reads in the pager.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
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
    /// Starts what `PAGER` says, or less; nothing if there is none.
    fn start(pager: Option<OsString>) -> Option<Self> {
        let mut command = match &pager {
            Some(pager) => shell(pager),
            None => {
                let mut command = Command::new(LESS[0]);
                command.args(&LESS[1..]);
                command
            }
        };
        // Whoever names less alone still gets colours, and no pager for a text that fits.
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        let child = command.stdin(Stdio::piped()).spawn().ok()?;
        ignore_interrupts();
        let name = pager.unwrap_or_else(|| LESS[0].into()).to_string_lossy().into_owned();
        Some(Self { child, name })
    }

    fn send(&mut self, text: &str) -> Result<(), CliError> {
        let sent = self.child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(text.as_bytes()));
        match sent {
            // Whoever reads has seen enough, unless there was nobody.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.end()?;
                Err(CliError::output(error))
            }
            sent => sent.map_err(CliError::output),
        }
    }

    /// Lets the pager know that this was all, and waits until it is left.
    fn end(&mut self) -> Result<(), CliError> {
        drop(self.child.stdin.take());
        let code = self.child.wait().ok().and_then(|status| status.code());
        if code.is_some_and(|code| NOT_RUN.contains(&code)) {
            let hint = "set PAGER to a program that is there, or give --no-pager";
            return Err(CliError::new(Kind::User, format!("could not run the pager {:?}", self.name), hint));
        }
        Ok(())
    }
}

impl Drop for Pager {
    /// The pager has the terminal: it is left before anything else is printed, also an error.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        _ = self.child.wait();
    }
}

/// `PAGER` may have arguments, as the shell takes them.
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

/// Ctrl-C is for the pager, which stops searching and goes on. If it ended us, the shell and the pager would both read the keys.
fn ignore_interrupts() {
    #[cfg(unix)]
    {
        let noticed = std::sync::Arc::default();
        _ = signal_hook::flag::register(signal_hook::consts::SIGINT, noticed);
    }
}

/// A JSON object that is written piece by piece.
pub(crate) struct JsonOutput(Output);

impl JsonOutput {
    pub(crate) fn new(ui: &Ui) -> Self {
        Self(Output::plain(ui))
    }

    /// Writes a piece that ends between values.
    pub(crate) fn piece(&mut self, json: &str) -> Result<(), CliError> {
        self.0.send(&super::sanitize::escaped_json(json))
    }

    /// Ends the line.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.0.send("\n")
    }
}
