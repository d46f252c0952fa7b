//! Deletes the conversations of some sessions, as pruning does.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_session::{Deleted, Maintenance as _, Request, SessionId, SessionStore as _, Timestamp};
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};
use std::path::Path;

/// Prunes, then does what was put off; the CPU time is that of all of it.
pub(crate) async fn run(file: &str, ids: &Path) -> Result<Value, Anything> {
    let ids: Vec<String> = serde_json::from_slice(&std::fs::read(ids)?)?;
    let ids: Vec<SessionId> = ids.into_iter().map(SessionId::parse).collect::<Result<_, _>>()?;
    let store = crate::open(file)?;
    let watch = Stopwatch::start();
    let deleted = prune(&store, &ids).await?;
    let seconds = watch.seconds();
    crate::settle(store).await?;
    Ok(json!({
        "sessions": deleted.sessions, "messages": deleted.messages, "seconds": seconds,
        "seconds_settled": watch.seconds(), "cpu_seconds": watch.cpu_seconds(),
    }))
}

async fn prune(store: &SqliteStore, ids: &[SessionId]) -> Result<Deleted, Anything> {
    let request = Request::at(Timestamp::from_seconds(0.0)?);
    let mut all = Deleted { sessions: 0, messages: 0 };
    for id in ids {
        // It may have gone with another of its conversation.
        if store.session(id).await?.is_some() {
            let one = store.delete_conversation(id, &request).await?;
            all.sessions += one.sessions;
            all.messages += one.messages;
        }
    }
    Ok(all)
}
