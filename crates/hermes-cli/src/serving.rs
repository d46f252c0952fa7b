//! What commands that serve other programs share: reading stdin, and knowing when to end.

use crate::stop::note_asked;
use std::io::{self, Read as _};
use std::os::unix::process::parent_id;
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How many bytes of stdin are read ahead.
const AHEAD: usize = 256 * 1024;
/// How often it is checked whether the program that started this one is still there.
const PARENT_CHECK: Duration = Duration::from_secs(1);

/// Returns stdin, read by a thread of its own: a read that waits must not keep the process from ending.
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

/// The reasons to stop a server besides the end of its input: a signal, or the end of the program that started it.
pub(crate) struct ServerStop {
    terminate: Signal,
    parent: u32,
    // A terminal sends these to every process in it. They are caught and ignored: the program that started the server decides.
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

    /// Returns when the process is asked to end, or the program that started it is gone. The store is then closed without indexing its backlog.
    pub(crate) async fn asked(mut self) {
        loop {
            match tokio::time::timeout(PARENT_CHECK, self.terminate.recv()).await {
                Ok(_) => {
                    tracing::info!("asked to end by a signal");
                    break;
                }
                // Stdin may be held open by other children of that program.
                Err(_) if parent_id() != self.parent => {
                    tracing::info!(parent = self.parent, "the program that started this one is gone");
                    break;
                }
                Err(_) => {}
            }
        }
        note_asked();
    }

    /// Returns also when a person at the terminal interrupts: for servers that a person started.
    pub(crate) async fn asked_or_interrupted(mut self) {
        let [interrupt, hangup] = &mut self.others;
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        note_asked();
    }
}
