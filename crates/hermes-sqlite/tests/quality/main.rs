//! Quality of search: classes of queries against a plain oracle, stray punctuation, random and hostile queries.
//!
//! `cargo test -p hermes-sqlite --test quality -- --nocapture` prints the figures, beside those of the Python agent if
//! `scripts/peers` has fetched it. `HERMES_FUZZ=100000` runs that many random queries. `HERMES_QUALITY_STORE=FILE` also
//! queries an existing store, such as the `ours.db` that `scripts/bench CORPUS.jsonl --only find --work FOLDER` leaves:
//! give it a copy.

#![allow(clippy::print_stdout, reason = "the figures are what this test is for")]
#![allow(clippy::disallowed_methods, reason = "how long hostile questions take is told")]
#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod classes;
mod corpus;
mod figures;
mod hostile;
mod peer;
mod stray;

use hermes_session::search::{Query, SearchRequest};
use hermes_session::{NewSession, PageRequest, Request, SessionId, SessionStore as _, Source, Timestamp};
use hermes_sqlite::{SqliteOptions, SqliteStore};

/// An indexed file with the corpus.
struct Filled {
    store: SqliteStore,
    _folder: tempfile::TempDir,
}

async fn filled(said: &[corpus::Said]) -> Filled {
    use hermes_session::Maintenance as _;
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { background: false, ..SqliteOptions::default() };
    let store = SqliteStore::open(&folder.path().join("state.db"), &options).unwrap();
    let (at, session) = (Request::at(Timestamp::from_seconds(1.0).unwrap()), SessionId::parse("s").unwrap());
    store.create(&NewSession::new(session.clone(), Source::parse("cli").unwrap()), &at).await.unwrap();
    for batch in said.chunks(500) {
        let batch: Vec<_> = batch.iter().map(corpus::Said::message).collect();
        store.append(&session, &batch, &at).await.unwrap();
    }
    while store.upkeep().await.unwrap() {}
    Filled { store, _folder: folder }
}

fn question(text: &str) -> SearchRequest {
    SearchRequest { page: PageRequest::first(500), ..SearchRequest::new(Query::parse(text)) }
}

/// Returns the number of random queries to run.
fn fuzz() -> usize {
    std::env::var("HERMES_FUZZ").map_or(2_000, |text| text.parse().unwrap())
}

/// Returns the existing store to query, if one is given.
fn given() -> Option<SqliteStore> {
    let Some(file) = std::env::var_os("HERMES_QUALITY_STORE") else {
        println!("skipped: HERMES_QUALITY_STORE names no file");
        return None;
    };
    let options = SqliteOptions { create: false, background: false, ..SqliteOptions::default() };
    Some(SqliteStore::open(file.as_ref(), &options).unwrap())
}
