//! Eight threads of one process append to one session concurrently. Counts lost and duplicate messages, and errors.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_session::{
    MessageRequest, NewMessage, NewSession, Request, Role, SessionId, SessionStore as _, Source, Timestamp,
};
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::Runtime;

const THREADS: usize = 8;
const EACH: usize = 250;

/// Appends, then compares the acknowledged messages with the stored ones.
pub(crate) fn run(runtime: &Runtime, file: &str) -> Result<Value, Anything> {
    let store = Arc::new(crate::open(file)?);
    let watch = Stopwatch::start();
    let threads: Vec<_> = (0..THREADS)
        .map(|name| {
            let (store, runtime) = (Arc::clone(&store), runtime.handle().clone());
            std::thread::spawn(move || runtime.block_on(append(&store, name)))
        })
        .collect();
    let (mut promised, mut errors) = (Vec::new(), 0);
    for thread in threads {
        match thread.join().map_err(|_| "a writer panicked")? {
            Ok(acknowledged) => promised.extend(acknowledged),
            Err(_) => errors += 1,
        }
    }
    let seconds = watch.seconds();
    let stored = runtime.block_on(store.messages(&SessionId::parse("threads")?, &MessageRequest::first(100_000)))?;
    let mut found: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for message in &stored {
        found.entry(message.body.plain_text().into_owned()).or_default().push(message.id.0);
    }
    let lost = promised.iter().filter(|(id, text)| found.get(text).is_none_or(|ids| !ids.contains(id))).count();
    let doubled = found.values().filter(|ids| ids.len() > 1).count();
    Ok(json!({
        "threads": THREADS, "acknowledged": promised.len(), "stored": stored.len(), "lost": lost, "doubled": doubled,
        "errors": errors, "per_second": promised.len() as f64 / seconds,
    }))
}

async fn append(store: &SqliteStore, name: usize) -> Result<Vec<(i64, String)>, Anything> {
    let at = Request::at(Timestamp::from_seconds(1.0)?);
    let id = SessionId::parse("threads")?;
    store.ensure(&NewSession::new(id.clone(), Source::parse("bench")?), &at).await?;
    let mut acknowledged = Vec::with_capacity(EACH);
    for number in 0..EACH {
        let text = format!("{name}/{number}");
        let ids = store.append(&id, &[NewMessage::new(Role::User, text.as_str())], &at).await?;
        acknowledged.push((ids[0].0, text));
    }
    Ok(acknowledged)
}
