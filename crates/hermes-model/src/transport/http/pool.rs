//! Connections between two requests. A handshake with a far server takes longer than the first words of an answer.

use crate::Origin;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a connection is kept. Servers close idle ones after a minute or more.
const MAX_IDLE: Duration = Duration::from_secs(45);
/// Maximum number of kept connections: one for the main model, and one for each auxiliary one.
const MAX_KEPT: usize = 4;

/// The sending side of a connection.
pub(super) type Sender = SendRequest<Full<Bytes>>;

/// Kept connections, oldest first.
#[derive(Debug, Default)]
pub(super) struct Pool {
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    origin: Origin,
    sender: Sender,
    since: Instant,
}

impl Pool {
    /// Takes a connection to `origin` that seems to be open.
    pub(super) fn take(&self, origin: &Origin) -> Option<Sender> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|connection| !connection.sender.is_closed() && connection.since.elapsed() < MAX_IDLE);
        let place = kept.iter().rposition(|connection| connection.origin == *origin)?;
        Some(kept.remove(place).sender)
    }

    /// Keeps a connection.
    pub(super) fn keep(&self, origin: Origin, sender: Sender) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push(Kept { origin, sender, since: Instant::now() });
    }
}
