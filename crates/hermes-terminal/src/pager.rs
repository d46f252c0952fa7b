//! Programs that show a text page by page: the pager and `man`.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The pager if `PAGER` is not set: exits on short texts, passes colours through, leaves the text on the screen.
const LESS: [&str; 2] = ["less", "-FRX"];

/// Exit codes of a shell for a program that it can't run or can't find.
const NOT_RUN: [i32; 2] = [126, 127];

/// Once more than this was sent, the pager has read some of it, so it runs: a pipe holds at most 1 MiB on Linux.
const MAX_PIPE_BYTES: usize = 1 << 20;

pub(crate) struct Pager {
    child: Child,
    name: String,
    /// Text sent so far, until it is certain that the pager runs.
    sent: Option<String>,
}

/// Why a text did not reach the pager.
pub(crate) enum NotPaged {
    /// The pager could not be run.
    NotRun {
        /// The command.
        name: String,
        /// Everything that was sent to it.
        text: String,
    },
    /// The text could not be written; a broken pipe if the person quit the pager.
    Output(io::Error),
}

impl Pager {
    /// Starts the pager command, or `less`. Returns `None` if it can't be started. `less` shows the line `first` at the
    /// top, counted from 1; other pagers begin with the first line.
    pub(crate) fn start(pager: Option<OsString>, first: usize) -> Option<Self> {
        let mut command = match &pager {
            Some(pager) => shell(pager),
            None => {
                let mut command = Command::new(LESS[0]);
                command.args(&LESS[1..]);
                command
            }
        };
        // `PAGER=less` without options gets colours as well, and exits on a text that fits.
        let mut options = std::env::var_os("LESS").unwrap_or_else(|| "FRX".into());
        if first > 1 {
            options.push(format!(" +{first}g"));
        }
        command.env("LESS", options);
        let child = match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => {
                tracing::debug!(%error, "pager not started; writing to stdout");
                return None;
            }
        };
        ignore_interrupts();
        let name = pager.unwrap_or_else(|| LESS[0].into()).to_string_lossy().into_owned();
        Some(Self { child, name, sent: Some(String::new()) })
    }

    /// Sends text to the pager.
    pub(crate) fn send(&mut self, text: &str) -> Result<(), NotPaged> {
        if let Some(sent) = &mut self.sent {
            sent.push_str(text);
        }
        let outcome = self.child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(text.as_bytes()));
        match outcome {
            Ok(()) => {
                self.sent.take_if(|sent| sent.len() > MAX_PIPE_BYTES);
                Ok(())
            }
            // The person quit the pager, unless it could not be run at all.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.end()?;
                Err(NotPaged::Output(error))
            }
            Err(error) => Err(NotPaged::Output(error)),
        }
    }

    /// Closes the pager's input and waits until it exits.
    pub(crate) fn end(&mut self) -> Result<(), NotPaged> {
        drop(self.child.stdin.take());
        let code = self.wait().and_then(|status| status.code());
        match self.sent.take() {
            Some(text) if code.is_some_and(|code| NOT_RUN.contains(&code)) => {
                Err(NotPaged::NotRun { name: self.name.clone(), text })
            }
            _ => Ok(()),
        }
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

/// Shows a manual page in roff with `man`, which has its own pager. Returns whether it was shown: `false` if there is
/// no `man`, or if it failed, as one does that can't read from a pipe.
pub fn show_manual(roff: &str) -> bool {
    let mut child = match Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            tracing::debug!(%error, "man not started");
            return false;
        }
    };
    ignore_interrupts();
    // If the page can't be sent, man fails, which its exit code shows.
    let sent = child.stdin.take().map(|mut stdin| stdin.write_all(roff.as_bytes()));
    let status = child.wait();
    tracing::debug!(?sent, ?status, "man ended");
    status.is_ok_and(|status| status.success())
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
