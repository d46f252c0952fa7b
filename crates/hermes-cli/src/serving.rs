//! Shared by commands that serve other programs: reading stdin, and detecting when to end.

use crate::stop::{note_asked, note_interrupted};
use std::io::{self, Read as _};
use std::os::unix::process::parent_id;
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Bytes of stdin that are read ahead.
const AHEAD: usize = 256 * 1024;
/// Interval between checks whether the parent process still exists.
const PARENT_CHECK: Duration = Duration::from_secs(1);

/// Returns stdin, read by its own thread, so that a blocked read does not keep the process from ending.
pub(crate) fn stdin() -> DuplexStream {
    let (ours, mut theirs) = duplex(AHEAD);
    let runtime = Handle::current();
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(size) => {
                    // The other end is dropped when serving ends.
                    if runtime.block_on(theirs.write_all(&buffer[..size])).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!(%error, "stdin can't be read; serving ends as at its end");
                    break;
                }
            }
        }
    });
    ours
}

/// The reasons to stop a server besides the end of its input: a signal, or the end of its parent process.
pub(crate) struct ServerStop {
    terminate: Signal,
    parent: u32,
    // A terminal sends these to all its processes. A server that a program started ignores them: the parent process
    // decides.
    others: [Signal; 2],
}

impl ServerStop {
    /// Catches the signals from now on.
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            parent: parent_id(),
            others: [signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?],
        })
    }

    /// Returns when the process is asked to end, or its parent process is gone. The store is then closed without
    /// indexing its backlog.
    pub(crate) async fn asked(mut self) {
        loop {
            match tokio::time::timeout(PARENT_CHECK, self.terminate.recv()).await {
                Ok(_) => {
                    tracing::info!("asked to end by a signal");
                    break;
                }
                // The end of stdin is not enough: other children of the parent may hold it open.
                Err(_) if parent_id() != self.parent => {
                    tracing::info!(parent = self.parent, "the program that started this one is gone");
                    break;
                }
                Err(_) => {}
            }
        }
        note_asked();
    }

    /// Returns also when a person at the terminal interrupts. For servers that a person starts.
    pub(crate) async fn asked_or_interrupted(mut self) {
        let [interrupt, hangup] = &mut self.others;
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        note_asked();
    }

    /// Returns also on Ctrl-C and on hangup: for a server whose stdin is a terminal. Ctrl-C is noted as an
    /// interruption.
    pub(crate) async fn asked_at_terminal(mut self) {
        let [interrupt, hangup] = &mut self.others;
        tokio::select! {
            _ = interrupt.recv() => note_interrupted(),
            _ = self.terminate.recv() => note_asked(),
            _ = hangup.recv() => note_asked(),
        }
    }
}
