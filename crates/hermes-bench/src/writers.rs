//! Eight threads, then eight processes, append to one session at once. What counts: lost, doubled, errors.

use crate::Anything;
use hermes_session::{
    ListRequest, MessageRequest, NewMessage, NewSession, Request, Role, SessionId, SessionStore as _, Source, Timestamp,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;

const WRITERS: usize = 8;
const EACH: usize = 250;

/// Runs both rounds.
pub(crate) fn all(runtime: &Runtime, file: &str) -> Result<Value, Anything> {
    let start = Instant::now();
    let store = Arc::new(crate::open(file)?);
    let mut promised = Vec::new();
    let mut errors = 0;
    let threads: Vec<_> = (0..WRITERS)
        .map(|name| {
            let (store, runtime) = (Arc::clone(&store), runtime.handle().clone());
            std::thread::spawn(move || runtime.block_on(append(&store, "threads", &name.to_string(), EACH)))
        })
        .collect();
    for thread in threads {
        match thread.join().map_err(|_| "a writer panicked")? {
            Ok(acknowledged) => promised.extend(acknowledged),
            Err(_) => errors += 1,
        }
    }
    let threads = verdict(runtime, &store, "threads", promised, errors, start)?;
    drop(store);

    let start = Instant::now();
    let (mut promised, mut errors) = (Vec::new(), 0);
    let children: Vec<_> = (0..WRITERS)
        .map(|name| {
            let arguments = ["writer", file, &name.to_string(), &EACH.to_string()].map(str::to_owned);
            Command::new(std::env::current_exe()?).args(arguments).stdout(Stdio::piped()).spawn()
        })
        .collect::<Result<_, _>>()?;
    for child in children {
        let output = child.wait_with_output()?;
        if output.status.success() {
            promised.extend(serde_json::from_slice::<Vec<(i64, String)>>(&output.stdout)?);
        } else {
            errors += 1;
        }
    }
    let store = crate::open(file)?;
    let processes = verdict(runtime, &store, "processes", promised, errors, start)?;
    Ok(json!({"threads": threads, "processes": processes}))
}

/// One of the processes: appends and prints what was acknowledged.
pub(crate) async fn one(file: &str, name: &str, count: usize) -> Result<Value, Anything> {
    let store = crate::open(file)?;
    Ok(json!(append(&store, "processes", name, count).await?))
}

async fn append(
    store: &hermes_sqlite::SqliteStore,
    session: &str,
    name: &str,
    count: usize,
) -> Result<Vec<(i64, String)>, Anything> {
    let at = Request::at(Timestamp::from_seconds(1.0)?);
    let id = SessionId::parse(session)?;
    store.ensure(&NewSession::new(id.clone(), Source::parse("bench")?), &at).await?;
    let mut acknowledged = Vec::with_capacity(count);
    for number in 0..count {
        let text = format!("{name}/{number}");
        let ids = store.append(&id, &[NewMessage::new(Role::User, text.as_str())], &at).await?;
        acknowledged.push((ids[0].0, text));
    }
    Ok(acknowledged)
}

fn verdict(
    runtime: &Runtime,
    store: &hermes_sqlite::SqliteStore,
    session: &str,
    promised: Vec<(i64, String)>,
    errors: usize,
    start: Instant,
) -> Result<Value, Anything> {
    let seconds = start.elapsed().as_secs_f64();
    let stored = runtime.block_on(store.messages(&SessionId::parse(session)?, &MessageRequest::first(100_000)))?;
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for message in &stored {
        *found.entry(message.body.plain_text().into_owned()).or_default() += 1;
    }
    let lost = promised
        .iter()
        .filter(|(id, text)| !stored.iter().any(|message| message.id.0 == *id && message.body.plain_text() == *text))
        .count();
    let doubled = found.values().filter(|count| **count > 1).count();
    runtime.block_on(store.list(&ListRequest::default()))?;
    Ok(
        json!({"writers": WRITERS, "acknowledged": promised.len(), "stored": stored.len(), "lost": lost, "doubled": doubled, "errors": errors,
        "acknowledged_per_second": promised.len() as f64 / seconds}),
    )
}
