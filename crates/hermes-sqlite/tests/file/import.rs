//! Interrupted imports, and writes of the agent to a session that is not complete.

use crate::child::child;
use crate::fixture::{File, at, id, new, shown, user};
use hermes_session::export::Exporter;
use hermes_session::import::{FindingKind, ImportOptions, ImportReport, Imported, import};
use hermes_session::{
    ConversationStore as _, Maintenance as _, NewChild, NewMessage, SessionFilter, SessionStore as _,
};
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;

/// Number of messages of the large session: more than one step takes.
const MESSAGES: usize = 4_000;

pub(crate) async fn exported(store: &SqliteStore) -> String {
    let mut exporter = Exporter::new(store, SessionFilter::default());
    let mut text = String::new();
    while let Some(chunk) = exporter.next_chunk().await.unwrap() {
        text += &chunk;
    }
    text
}

async fn imported(store: &SqliteStore, text: &str) -> ImportReport {
    import(store, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap()
}

/// Returns an export with small sessions before and after a large one, and children before their parents.
pub(crate) async fn source() -> String {
    let file = File::new();
    let store = file.open();
    store.create(&new("z"), &at(1.0)).await.unwrap();
    store.append(&id("z"), &[user("root\0")], &at(2.0)).await.unwrap();
    store.split(&id("z"), &NewChild::new(id("m-large")), &[], &at(3.0)).await.unwrap();
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n} 大别山\0"))).collect();
    store.append(&id("m-large"), &batch, &at(4.0)).await.unwrap();
    for n in 0..50 {
        let name = format!("a-{n:02}");
        store.branch(&id("z"), &NewChild::new(id(&name)), &at(5.0)).await.unwrap();
        store.append(&id(&name), &[user(&name)], &at(6.0)).await.unwrap();
    }
    exported(&store).await
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// However far it came, the import can be repeated, with the same result as one that was never killed.
#[tokio::test]
async fn a_killed_import_is_run_again() {
    let text = source().await;
    let lines = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(lines.path(), &text).unwrap();
    let mut halves = 0;
    for (round, rows) in [1, 30, 60, 500, 1_500, 3_000].into_iter().enumerate() {
        let file = File::new();
        let store = file.open();
        let foreign = file.foreign();
        let mut child = child("import", lines.path().to_str().unwrap(), &file.path()).spawn().unwrap();
        while count(&foreign, "SELECT count(*) FROM messages") < rows && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let half = count(&foreign, "SELECT count(*) FROM hx_hidden");
        halves += half;
        let report = store.verify().await.unwrap();
        assert!(report.is_sound(), "{report:?}");
        assert!(half == 0 || store.session(&id("m-large")).await.unwrap().is_none());
        // Upkeep keeps what can still be completed.
        while store.upkeep().await.unwrap() {}
        let report = imported(&store, &text).await;
        assert_eq!((report.conflicts, report.bad, report.findings.len()), (0, 0, 0), "round {round}: {report:?}");
        assert_eq!(report.sessions + report.skipped, 52);
        assert!(exported(&store).await == text, "round {round} ends differently");
        assert_eq!(count(&foreign, "SELECT count(*) FROM hx_hidden"), 0);
        while store.upkeep().await.unwrap() {}
        let report = store.verify().await.unwrap();
        assert!(report.checks.iter().all(|check| check.findings.is_empty()), "{report:?}");
    }
    assert!(halves > 0, "no process was killed in the middle of the large session");
}

/// The agent sees a session before it is complete. If it writes to it, that is reported as a conflict.
#[tokio::test]
async fn what_the_agent_writes_into_half_a_session_is_reported() {
    let text = source().await;
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    foreign
        .execute_batch(
            "CREATE TABLE once (n INTEGER); CREATE TRIGGER agent AFTER INSERT ON messages
             WHEN new.content LIKE 'message 700 %' AND NOT EXISTS (SELECT 1 FROM once) BEGIN
             INSERT INTO once VALUES (1);
             INSERT INTO messages (session_id, role, content, timestamp) VALUES ('m-large', 'user', 'mine', 9.0); END;",
        )
        .unwrap();
    let report = imported(&store, &text).await;
    assert_eq!((report.sessions, report.conflicts), (51, 1));
    let found = report.findings.iter().find(|found| found.kind == FindingKind::Conflict).unwrap();
    assert_eq!(found.session.as_ref().unwrap().as_str(), "m-large");
    assert_eq!(store.session(&id("m-large")).await.unwrap(), None);
    let again = imported(&store, &text).await;
    assert_eq!((again.sessions, again.skipped, again.findings.len()), (1, 51, 0));
    assert!(exported(&store).await == text);
}

/// Free message ids are kept when importing into a store in use, and its next messages come after them.
#[tokio::test]
async fn a_store_in_use_takes_an_import() {
    let text = source().await;
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("mine"), &at(1.0)).await.unwrap();
    store.append(&id("mine"), &[user("mine")], &at(2.0)).await.unwrap();
    imported(&store, &text).await;
    let highest = count(&foreign, "SELECT max(id) FROM messages");
    foreign
        .execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('mine', 'user', 'theirs', 3.0)",
            [],
        )
        .unwrap();
    assert!(foreign.last_insert_rowid() > highest);
    foreign.execute("UPDATE sessions SET message_count = 2 WHERE id = 'mine'", []).unwrap();
    for table in ["messages_fts", "messages_fts_trigram"] {
        foreign.execute(&format!("INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)"), []).unwrap();
    }
    assert!(store.verify().await.unwrap().is_sound());
}

/// A read-only store does not show a session that is not complete.
#[tokio::test]
async fn half_a_session_is_hidden_from_every_reader() {
    let text = source().await;
    let file = File::new();
    let (from, store) = (File::new(), file.open());
    let origin = from.open();
    imported(&origin, &text).await;
    let session = origin.session(&id("m-large")).await.unwrap().unwrap();
    let messages = origin.messages(&id("m-large"), &hermes_session::MessageRequest::first(10)).await.unwrap();
    let piece = hermes_session::import::ImportPiece { session, start: 0, messages, is_last: false };
    assert!(matches!(store.import(&[piece]).await.unwrap()[..], [Imported::Partly(1..)]));
    drop(store);
    for mode in [0o600, 0o400] {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        let store = file.open();
        assert_eq!(shown(&store).await, "");
        assert_eq!(store.session(&id("m-large")).await.unwrap(), None);
        assert_eq!(store.counts(&SessionFilter::default()).await.unwrap(), hermes_session::Counts::default());
    }
}
