//! A server beside a file, in one run: carried there and back, appends by many connections, lists, searches.

use crate::Anything;
use crate::stopwatch::{Stopwatch, percentiles};
use crate::{corpus, find, reads};
use hermes_conformance::servers::Postgres;
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::transfer::{TransferOptions, copy, prove};
use hermes_session::{NewMessage, NewSession, Request, SessionId, Source, Store, Timestamp};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// How many writers append at once, each on a connection of its own.
const CONNECTIONS: [usize; 3] = [1, 8, 32];

/// Measures both, on a throw-away server that brings every commit to disk.
pub(crate) fn run(runtime: &Runtime, path: &Path, file: &str, queries: &Path, seconds: f64) -> Result<Value, Anything> {
    let server = Postgres::start(&["fsync=on", "synchronous_commit=on", "shared_buffers=512MB"]);
    let folder = tempfile::tempdir()?;
    let options = |schema: &str| PostgresOptions {
        schema: Some(schema.to_owned()),
        max_connections: 40,
        ..PostgresOptions::default()
    };
    let open = |schema: &str| runtime.block_on(PostgresStore::open(&server.url(), &options(schema)));
    let here: Arc<dyn Store> = Arc::new(crate::open(file)?);
    let there: Arc<dyn Store> = Arc::new(open("corpus")?);
    let back: Arc<dyn Store> = Arc::new(SqliteStore::open(&folder.path().join("back.db"), &SqliteOptions::default())?);
    let mut figures = Map::new();
    figures.insert("to_server".into(), runtime.block_on(carry(&*here, &*there))?);
    figures.insert("to_file".into(), runtime.block_on(carry(&*there, &*back))?);
    drop(back);
    server.sql("VACUUM ANALYZE");
    let said = said(path)?;
    let appended: Arc<dyn Store> = Arc::new(open("appends")?);
    let file_of_appends = folder.path().join("appends.db");
    let beside: Arc<dyn Store> = Arc::new(SqliteStore::open(&file_of_appends, &SqliteOptions::default())?);
    for (name, store, writers) in [("postgresql", &there, &appended), ("sqlite", &here, &beside)] {
        let mut own = Map::new();
        for connections in CONNECTIONS {
            let rate = runtime.block_on(append(writers, &said, connections, seconds))?;
            own.insert(format!("append_{connections}"), rate);
        }
        own.insert("reads".into(), reads::lists(runtime, &**store)?);
        own.insert("find".into(), find::ask(runtime, &**store, queries)?);
        let room = runtime.block_on(store.room())?;
        own.insert("bytes".into(), json!({"all": room.bytes, "indexes": room.indexes}));
        figures.insert(name.into(), Value::Object(own));
    }
    Ok(Value::Object(figures))
}

/// Carries everything from one to the other, and proves it.
async fn carry(from: &dyn Store, to: &dyn Store) -> Result<Value, Anything> {
    let mut watch = |_| ControlFlow::Continue(());
    let stopwatch = Stopwatch::start();
    let report = copy(from, to, &TransferOptions::default(), &mut watch).await?;
    let seconds = stopwatch.seconds();
    let proof = prove(from, to, &report.conflicts, &mut watch).await?;
    Ok(json!({
        "sessions": report.sessions, "messages": report.messages, "seconds": seconds, "seconds_proven": stopwatch.seconds(),
        "per_second": report.messages as f64 / seconds, "cpu_seconds": stopwatch.cpu_seconds(), "findings": report.found,
        "equal": proof.equal, "mismatches": proof.mismatches, "queries": proof.queries.len(), "holds": proof.holds(),
    }))
}

/// Messages of the corpus to append.
fn said(path: &Path) -> Result<Vec<NewMessage>, Anything> {
    let mut said = Vec::new();
    for session in corpus::sessions(path)?.take(40) {
        for message in session?["messages"].as_array().into_iter().flatten() {
            said.push(corpus::message(message)?);
        }
    }
    Ok(said)
}

/// Appends one message after the other on each connection, for so many seconds.
async fn append(
    store: &Arc<dyn Store>,
    said: &[NewMessage],
    connections: usize,
    seconds: f64,
) -> Result<Value, Anything> {
    let at = Request::at(Timestamp::from_seconds(1_767_225_600.0)?);
    let watch = Arc::new(Stopwatch::start());
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..connections {
        let id = SessionId::parse(format!("{connections}-{writer}"))?;
        store.create(&NewSession::new(id.clone(), Source::parse("bench")?), &at).await?;
        let (store, at, watch) = (Arc::clone(store), at.clone(), Arc::clone(&watch));
        let said: Vec<NewMessage> = said.iter().skip(writer * 7).step_by(3).cloned().collect();
        writers.spawn(async move {
            let mut samples = Vec::new();
            for message in said.iter().cycle() {
                if watch.seconds() > seconds {
                    break;
                }
                let one = Stopwatch::start();
                store.append(&id, std::slice::from_ref(message), &at).await?;
                samples.push(one.seconds() * 1e3);
            }
            Ok::<_, hermes_session::StoreError>(samples)
        });
    }
    let mut samples = Vec::new();
    while let Some(writer) = writers.join_next().await {
        samples.extend(writer??);
    }
    let rate = samples.len() as f64 / watch.seconds();
    let mut figures = percentiles(samples);
    figures["per_second"] = json!(rate);
    Ok(figures)
}
