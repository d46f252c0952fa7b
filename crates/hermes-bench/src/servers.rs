//! Servers compared with a file, in one run: copies from one to the next and back, appends on many connections, lists,
//! searches.

use crate::Anything;
use crate::stopwatch::{Stopwatch, percentiles};
use crate::{corpus, find, reads};
use hermes_conformance::servers::{Mariadb, Postgres};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::transfer::{Proving, TransferOptions, copy, prove};
use hermes_session::{NewMessage, NewSession, Request, SessionId, Source, Store, Timestamp};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Numbers of concurrent writers, each on a connection of its own.
const CONNECTIONS: [usize; 3] = [1, 8, 32];

/// The stores of one kind: one with the corpus, one to append to.
struct Side {
    name: &'static str,
    corpus: Arc<dyn Store>,
    appends: Arc<dyn Store>,
}

/// Measures all three. The throw-away servers sync every commit to disk, as the file does.
pub(crate) fn run(runtime: &Runtime, path: &Path, file: &str, queries: &Path, seconds: f64) -> Result<Value, Anything> {
    let postgresql = Postgres::start(&["fsync=on", "synchronous_commit=on", "shared_buffers=512MB"]);
    let mysql = Mariadb::start(&[
        "innodb_flush_log_at_trx_commit=1",
        "innodb_buffer_pool_size=512M",
        "innodb_log_file_size=512M",
        "max_allowed_packet=64M",
    ]);
    let folder = tempfile::tempdir()?;
    let open_file = |name: &str| SqliteStore::open(&folder.path().join(name), &SqliteOptions::default());
    let open_postgresql = |schema: &str| {
        let schema = Some(schema.to_owned());
        let options = PostgresOptions { schema, max_connections: 40, ..PostgresOptions::default() };
        runtime.block_on(PostgresStore::open(&postgresql.url(), &options))
    };
    let open_mysql = |database: &str| {
        mysql.sql(&format!("CREATE DATABASE {database}"));
        let options = MysqlOptions { max_connections: 40, ..MysqlOptions::default() };
        runtime.block_on(MysqlStore::open(&mysql.url_of(database), &options))
    };
    let side = |name, corpus, appends| Side { name, corpus, appends };
    let sides = [
        side("sqlite", Arc::new(crate::open(file)?), Arc::new(open_file("appends.db")?)),
        side("postgresql", Arc::new(open_postgresql("corpus")?), Arc::new(open_postgresql("appends")?)),
        side("mysql", Arc::new(open_mysql("corpus")?), Arc::new(open_mysql("appends")?)),
    ];
    let [here, there, beyond] = sides.each_ref().map(|side| &side.corpus);
    let back: Arc<dyn Store> = Arc::new(open_file("back.db")?);
    let mut figures = Map::new();
    for (way, from, to) in [("to_postgresql", here, there), ("to_mysql", there, beyond), ("to_file", beyond, &back)] {
        figures.insert(way.into(), runtime.block_on(carry(&**from, &**to))?);
    }
    let mut watch = |_| ControlFlow::Continue(());
    let whole = runtime.block_on(prove(&**here, &*back, Proving::but(&BTreeSet::new()), &mut watch))?;
    figures.insert(
        "there_and_back".into(),
        json!({"equal": whole.equal, "mismatches": whole.mismatches, "holds": whole.holds()}),
    );
    drop(back);
    postgresql.sql("VACUUM ANALYZE");
    mysql.sql("ANALYZE TABLE corpus.sessions, corpus.messages, corpus.hx_session, corpus.hx_search");
    let said = said(path)?;
    for Side { name, corpus: store, appends: writers } in &sides {
        let mut own = Map::new();
        for connections in CONNECTIONS {
            let rate = runtime.block_on(append(writers, &said, connections, seconds))?;
            own.insert(format!("append_{connections}"), rate);
        }
        own.insert("reads".into(), reads::lists(runtime, &**store)?);
        own.insert("find".into(), find::ask(runtime, &**store, queries)?);
        let room = runtime.block_on(store.room())?;
        own.insert("bytes".into(), json!({"all": room.bytes, "indexes": room.indexes}));
        figures.insert((*name).into(), Value::Object(own));
    }
    Ok(Value::Object(figures))
}

/// Copies everything from one store to the other, and proves the copy.
async fn carry(from: &dyn Store, to: &dyn Store) -> Result<Value, Anything> {
    let mut watch = |_| ControlFlow::Continue(());
    let stopwatch = Stopwatch::start();
    let report = copy(from, to, &TransferOptions::default(), &mut watch).await?;
    let seconds = stopwatch.seconds();
    let proof = prove(from, to, Proving::but(&report.conflicts), &mut watch).await?;
    Ok(json!({
        "sessions": report.sessions, "messages": report.messages, "seconds": seconds, "seconds_proven": stopwatch.seconds(),
        "per_second": report.messages as f64 / seconds, "cpu_seconds": stopwatch.cpu_seconds(), "findings": report.found,
        "equal": proof.equal, "mismatches": proof.mismatches, "queries": proof.queries.len(), "holds": proof.holds(),
    }))
}

/// Returns messages of the corpus to append.
fn said(path: &Path) -> Result<Vec<NewMessage>, Anything> {
    let mut said = Vec::new();
    for session in corpus::sessions(path)?.take(40) {
        for message in session?["messages"].as_array().into_iter().flatten() {
            said.push(corpus::message(message)?);
        }
    }
    Ok(said)
}

/// Appends one message after the other on each connection, for `seconds`.
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
