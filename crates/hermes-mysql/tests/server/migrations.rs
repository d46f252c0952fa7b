//! Migrations from every earlier version of the tables, with rows in them, by several processes at once, and from the
//! middle of a migration.

use crate::fixture::{database, id, now, options, refusal, said, server, session};
use crate::waiting::Holder;
use hermes_conformance::servers::Mariadb;
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::{Maintenance as _, Refusal, SessionStore as _, StoreError};
use std::time::{Duration, Instant};

/// Returns the name and the statements of every migration, in order.
fn migrations() -> Vec<(String, Vec<String>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
    let files = std::fs::read_dir(folder).expect("the migrations are there");
    let mut all: Vec<(String, Vec<String>)> = files
        .map(|file| {
            let path = file.expect("a file").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(path).expect("a text");
            let plain: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
            let plain = plain.join("\n");
            let statements = plain.split(";\n").map(str::trim).filter(|statement| !statement.is_empty());
            (name, statements.map(ToOwned::to_owned).collect())
        })
        .collect();
    all.sort();
    all
}

/// Statement for the table of migrations.
const MARKS: &str = "CREATE TABLE hx_migration (number INTEGER NOT NULL PRIMARY KEY, name VARBINARY(64) NOT NULL, \
     begun_at DATETIME NOT NULL, applied_at DATETIME) ENGINE = InnoDB;";

/// Returns statements that create a database as it was after `number` migrations and `statements` statements of the
/// next.
fn history(number: usize, statements: usize) -> String {
    let mut sql = format!("SET SESSION innodb_ft_enable_stopword = OFF; {MARKS}");
    for (place, (name, all)) in migrations().iter().take(number + usize::from(statements > 0)).enumerate() {
        let is_whole = place < number;
        let count = if is_whole { all.len() } else { statements };
        let done = if is_whole { "now()" } else { "NULL" };
        sql.push_str(&format!("INSERT INTO hx_migration VALUES ({}, '{}', now(), {done});", place + 1, &name[5..]));
        all.iter().take(count).for_each(|statement| sql.push_str(&format!("{statement};\n")));
    }
    sql
}

/// Creates a database as it was after `number` migrations, with a session in it.
fn old(server: &Mariadb, name: &str, number: usize) -> String {
    let url = database(server, name);
    server.sql(&format!(
        "USE {name}; {}
         INSERT INTO sessions (id, source, started_at, message_count) VALUES ('s', 'cli', 5, 1);
         INSERT INTO hx_session (session_id, relation, root, tip, started_at, last_active, active, preview)
             VALUES ('s', 'root', 's', 's', 5, 6, 6, 'extraordinary');
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'extraordinary', 6);",
        history(number, 0)
    ));
    url
}

/// Describes the tables of a database.
fn form(server: &Mariadb, name: &str) -> String {
    server.sql(&format!(
        "SELECT table_name, column_name, column_type, is_nullable, column_default, extra FROM information_schema.columns \
         WHERE table_schema = '{name}' ORDER BY 1, 2; \
         SELECT table_name, index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics \
         WHERE table_schema = '{name}' ORDER BY 1, 2, 3; \
         SELECT number, name, applied_at IS NOT NULL FROM {name}.hx_migration ORDER BY 1"
    ))
}

/// Uses a store a little, and checks that it works.
async fn used(url: &str) {
    let store = MysqlStore::open(url, &options()).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    store.append(&id("s"), &[said("more")], &now()).await.expect("said");
    store.rebuild_indexes().await.expect("begun");
    while store.upkeep().await.expect("indexed") {}
    let report = store.verify().await.expect("looked through");
    assert!(report.is_sound(), "{report:?}");
}

#[tokio::test]
async fn every_old_form_is_brought_up_to_date() {
    let Some(server) = server(&[]) else { return };
    let all = migrations();
    let numbers: Vec<String> = all.iter().map(|(name, _)| name[..4].to_owned()).collect();
    assert_eq!(numbers, (1..=all.len()).map(|number| format!("{number:04}")).collect::<Vec<_>>());
    MysqlStore::open(&server.url(), &options()).await.expect("a new one is made");
    for number in 1..=all.len() {
        let name = format!("old{number}");
        let url = old(&server, &name, number);
        let openers = (0..8).map(|_| {
            let url = url.clone();
            tokio::spawn(async move { MysqlStore::open(&url, &options()).await.map(drop) })
        });
        for opener in openers.collect::<Vec<_>>() {
            opener.await.expect("no panic").unwrap_or_else(|error| panic!("from {number}: {error}"));
        }
        assert_eq!(form(&server, &name), form(&server, "hermes"), "as one that was made anew");
        let store = MysqlStore::open(&url, &options()).await.expect("it opens");
        assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(1));
        used(&url).await;
    }
}

#[tokio::test]
async fn one_that_was_cut_off_anywhere_is_run_again() {
    let Some(server) = server(&[]) else { return };
    MysqlStore::open(&server.url(), &options()).await.expect("a new one is made");
    for (number, (_, statements)) in migrations().iter().enumerate() {
        // After the last statement only the row is missing that says that the migration ended.
        for count in 1..=statements.len() {
            let name = format!("cut{number}x{count}");
            let url = database(&server, &name);
            server.sql(&format!("USE {name}; {}", history(number, count)));
            let reading = MysqlOptions { read_only: true, ..options() };
            refusal(&url, &reading).await;
            let store = MysqlStore::open(&url, &options()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(form(&server, &name), form(&server, "hermes"), "{name}");
            store.create(&session("s"), &now()).await.expect("made");
            used(&url).await;
        }
    }
    // Only the table of migrations was created.
    let url = database(&server, "first");
    server.sql(&format!("USE first; {MARKS}"));
    MysqlStore::open(&url, &options()).await.expect("it opens");
    assert_eq!(form(&server, "first"), form(&server, "hermes"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_whose_connection_is_cut_is_run_again() {
    // Cuts the connection and not the server: MariaDB 10.11.14 does not always restart after a kill while it creates a
    // table.
    let Some(server) = server(&[]) else { return };
    MysqlStore::open(&server.url(), &options()).await.expect("a new one is made");
    for round in 0..10 {
        let name = format!("gone{round}");
        let url = database(&server, &name);
        let opener = {
            let url = url.clone();
            tokio::spawn(async move { MysqlStore::open(&url, &options()).await.map(drop) })
        };
        // Waits for `round` tables; in the last rounds the migration has ended by then.
        let count = format!("SELECT count(*) FROM information_schema.tables WHERE table_schema = '{name}'");
        while !opener.is_finished()
            && tokio::task::block_in_place(|| server.sql(&count)).trim().parse::<u32>().expect("a number") < round
        {
        }
        tokio::task::block_in_place(|| crate::fixture::cut_all(&server));
        // It failed, or was done before.
        _ = opener.await.expect("no panic");
        let store = MysqlStore::open(&url, &options()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(form(&server, &name), form(&server, "hermes"), "{name}");
        store.create(&session("s"), &now()).await.expect("made");
        used(&url).await;
    }
}

#[tokio::test]
async fn many_make_a_new_one_at_once() {
    let Some(server) = server(&[]) else { return };
    for round in 0..5 {
        let name = format!("new{round}");
        let url = database(&server, &name);
        let openers = (0..16).map(|number| {
            let url = url.clone();
            tokio::spawn(async move {
                let store = MysqlStore::open(&url, &options()).await?;
                store.create(&session(&format!("s{number}")), &now()).await
            })
        });
        for opener in openers.collect::<Vec<_>>() {
            opener.await.expect("no panic").expect("it opens");
        }
        assert_eq!(server.sql(&format!("SELECT count(*) FROM {name}.sessions")).trim(), "16");
    }
}

#[tokio::test]
async fn a_newer_one_is_left_alone() {
    let Some(server) = server(&[]) else { return };
    let url = old(&server, "newer", migrations().len());
    server.sql("INSERT INTO newer.hx_migration VALUES (99, 'tomorrow', now(), now())");
    let before = form(&server, "newer");
    let (error, reason) = refusal(&url, &options()).await;
    assert!(error.contains("has tables of version 99, newer than"), "{error}");
    assert!(matches!(reason, Refusal::NewerTables { found: 99, .. }), "{reason:?}");
    assert_eq!(form(&server, "newer"), before);
}

/// A change of a table waits for its users, in attempts between which other calls proceed, and no longer than the store
/// waits.
#[tokio::test]
async fn a_lock_on_the_tables_is_waited_for_and_reported() {
    let Some(server) = server(&[]) else { return };
    let url = old(&server, "locked", 6);
    let holder = Holder::new(&server, "SELECT 1 FROM locked.messages").await;
    let newest = "SELECT max(number) FROM locked.hx_migration WHERE applied_at IS NOT NULL";
    let impatient = MysqlOptions { wait: Duration::from_secs(3), ..options() };
    let start = Instant::now();
    let error = MysqlStore::open(&url, &impatient).await.err().expect("the table is locked");
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("while trying to migrate the tables; it is held by a transaction of another"), "{text}");
    assert_eq!(server.sql(newest).trim(), "6");
    let patient = MysqlOptions { wait: Duration::from_secs(60), ..options() };
    let opener = tokio::spawn(async move { MysqlStore::open(&url, &patient).await.map(drop) });
    let watch = tokio::task::spawn_blocking(move || {
        let waiting =
            "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'";
        for none in [true, false, true] {
            while (server.sql(waiting).trim() == "0") == none {}
        }
        server
    });
    let server = watch.await.expect("it was tried twice");
    holder.release().await;
    opener.await.expect("no panic").expect("it opens");
    assert_eq!(server.sql(newest).trim(), migrations().len().to_string());
}
