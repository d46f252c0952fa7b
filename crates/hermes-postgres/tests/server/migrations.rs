//! Migrations from every earlier version of the tables, with rows in them, by several processes at once.

use crate::fixture::{id, now, options, refusal, said, server, session};
use crate::waiting::Holder;
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{Maintenance as _, Refusal, SessionStore as _, StoreError};
use std::time::{Duration, Instant};

/// Returns the name and the text of every migration, in order.
fn migrations() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
    let files = std::fs::read_dir(folder).expect("the migrations are there");
    let mut all: Vec<(String, String)> = files
        .map(|file| {
            let path = file.expect("a file").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("a text"))
        })
        .collect();
    all.sort();
    all
}

/// Creates a schema as it was after `number` migrations.
fn old(server: &hermes_conformance::servers::Postgres, schema: &str, number: usize) {
    let mut sql = format!(
        "CREATE SCHEMA {schema}; SET search_path = {schema}; CREATE TABLE hx_migration (number INTEGER NOT NULL PRIMARY KEY, \
         name TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now());"
    );
    for (place, (name, text)) in migrations().iter().take(number).enumerate() {
        sql.push_str(text);
        sql.push_str(&format!("\n;INSERT INTO hx_migration (number, name) VALUES ({}, '{}');", place + 1, &name[5..]));
    }
    sql.push_str(
        "INSERT INTO sessions (id, source, started_at, message_count) VALUES ('s', 'cli', 5, 1);
         INSERT INTO hx_session (session_id, relation, root, tip, started_at, last_active, active, preview)
             VALUES ('s', 'root', 's', 's', 5, 6, 6, 'extraordinary');
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'extraordinary', 6);",
    );
    server.sql(&sql);
}

#[tokio::test]
async fn every_old_form_is_brought_up_to_date() {
    let Some(server) = server(&[]) else { return };
    let all = migrations();
    let numbers: Vec<String> = all.iter().map(|(name, _)| name[..4].to_owned()).collect();
    assert_eq!(numbers, (1..=all.len()).map(|number| format!("{number:04}")).collect::<Vec<_>>());
    for number in 1..=all.len() {
        let schema = format!("old{number}");
        old(&server, &schema, number);
        let openers = (0..8).map(|_| {
            let (url, options) = (server.url(), options(&schema));
            tokio::spawn(async move { PostgresStore::open(&url, &options).await.map(drop) })
        });
        for opener in openers.collect::<Vec<_>>() {
            opener.await.expect("no panic").unwrap_or_else(|error| panic!("from {number}: {error}"));
        }
        let count = server.sql(&format!("SELECT count(*) FROM {schema}.hx_migration"));
        assert_eq!(count.trim(), all.len().to_string(), "each once");
        let store = PostgresStore::open(&server.url(), &options(&schema)).await.expect("it opens");
        assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(1));
        store.append(&id("s"), &[said("more")], &now()).await.expect("said");
        store.rebuild_indexes().await.expect("begun");
        while store.upkeep().await.expect("indexed") {}
        let report = store.verify().await.expect("looked through");
        assert!(report.is_sound(), "{report:?}");
    }
}

#[tokio::test]
async fn many_make_a_new_one_at_once() {
    let Some(server) = server(&[]) else { return };
    for round in 0..5 {
        let openers = (0..16).map(|number| {
            let (url, options) = (server.url(), options(&format!("new{round}")));
            tokio::spawn(async move {
                let store = PostgresStore::open(&url, &options).await?;
                store.create(&session(&format!("s{number}")), &now()).await
            })
        });
        for opener in openers.collect::<Vec<_>>() {
            opener.await.expect("no panic").expect("it opens");
        }
        assert_eq!(server.sql(&format!("SELECT count(*) FROM new{round}.sessions")).trim(), "16");
    }
}

#[tokio::test]
async fn a_newer_one_is_left_alone() {
    let Some(server) = server(&[]) else { return };
    old(&server, "newer", migrations().len());
    server.sql("INSERT INTO newer.hx_migration (number, name) VALUES (99, 'tomorrow')");
    let (error, reason) = refusal(&server.url(), &options("newer")).await;
    assert!(error.contains("has tables of version 99, newer than"), "{error}");
    assert!(matches!(reason, Refusal::NewerTables { found: 99, .. }), "{reason:?}");
}

/// A change of a table waits for its users, in attempts between which other calls proceed, and no longer than the store
/// waits.
#[tokio::test]
async fn a_lock_on_the_tables_is_waited_for_and_reported() {
    let Some(server) = server(&[]) else { return };
    old(&server, "locked", 6);
    let holder = Holder::new(&server, "locked", "LOCK TABLE messages IN ACCESS SHARE MODE").await;
    let impatient = PostgresOptions { wait: Duration::from_secs(3), ..options("locked") };
    let start = Instant::now();
    let error = PostgresStore::open(&server.url(), &impatient).await.err().expect("the table is locked");
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("while trying to migrate the tables; it is held by a transaction of another"), "{text}");
    assert_eq!(server.sql("SELECT max(number) FROM locked.hx_migration").trim(), "6");
    let (url, patient) = (server.url(), PostgresOptions { wait: Duration::from_secs(60), ..options("locked") });
    let opener = tokio::spawn(async move { PostgresStore::open(&url, &patient).await.map(drop) });
    let watch = tokio::task::spawn_blocking(move || {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        for none in [true, false, true] {
            while (server.sql(waiting).trim() == "0") == none {}
        }
        server
    });
    let server = watch.await.expect("it was tried twice");
    drop(holder);
    opener.await.expect("no panic").expect("it opens");
    assert_eq!(server.sql("SELECT max(number) FROM locked.hx_migration").trim(), migrations().len().to_string());
}
