//! A disk that is full, or nearly: a tmpfs of the exact size.

use crate::fixture::{at, id, new, user};
use crate::old_schema::schema;
use hermes_session::import::{ImportError, ImportOptions, import};
use hermes_session::{Maintenance as _, MessageRequest, SessionStore as _, StoreError};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// A small file system, unmounted on drop.
pub(crate) struct Disk(tempfile::TempDir);

impl Disk {
    /// Mounts it. Returns `None`, and prints that, if mounting is not permitted.
    pub(crate) fn of(kilobytes: usize) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={kilobytes}k,mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        println!("skipped: mounting a tmpfs needs root");
        None
    }

    /// Makes it larger.
    fn grow(&self, kilobytes: usize) {
        let size = format!("remount,size={kilobytes}k");
        let mounted = Command::new("mount").args(["-o", &size]).arg(self.0.path()).output().unwrap();
        assert!(mounted.status.success(), "{mounted:?}");
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.path().join("state.db")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

const MESSAGES: i64 = 300;

fn old_file(path: &std::path::Path) {
    let foreign = Connection::open(path).unwrap();
    foreign.execute_batch(&schema(6)).unwrap();
    foreign
        .execute_batch(&format!(
            "BEGIN; INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MESSAGES})
             INSERT INTO messages (session_id, role, content, timestamp)
                 SELECT 'a', 'user', 'message ' || i || ' ' || hex(randomblob(500)), i FROM n; COMMIT"
        ))
        .unwrap();
}

#[test]
fn an_adoption_without_room_leaves_the_file_as_it_was() {
    let (mut done, mut refused) = (0, 0);
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("old.db");
    old_file(&template);
    let size = std::fs::metadata(&template).unwrap().len() as usize / 1024;
    for step in 0..20 {
        // From hardly more than the file's size to enough for the file, a copy and the WAL.
        let kilobytes = size + 16 + step * (size / 5);
        let Some(disk) = Disk::of(kilobytes) else { return };
        std::fs::copy(&template, disk.file()).unwrap();
        match SqliteStore::open(&disk.file(), &SqliteOptions::default()) {
            Ok(store) => {
                drop(store);
                done += 1;
            }
            Err(StoreError::NoRoom { .. }) => refused += 1,
            Err(other) => panic!("{kilobytes} kB: {other:?}"),
        }
        let foreign = Connection::open(disk.file()).unwrap();
        let facts: (i64, i64) = foreign
            .query_row("SELECT (SELECT max(version) FROM schema_version), count(*) FROM messages", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let revision: i64 = foreign.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert!(
            matches!((facts, revision), ((6, MESSAGES), 0) | ((11, MESSAGES), 2)),
            "half a state: {facts:?} {revision}"
        );
        let sound: String = foreign.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }
    println!("adopted {done}, refused for want of room {refused}");
    assert!(done > 0 && refused > 0, "the sizes do not span the edge: {done} {refused}");
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_loses_nothing() {
    let Some(disk) = Disk::of(2_000) else { return };
    let store = SqliteStore::open(&disk.file(), &SqliteOptions::default()).unwrap();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let mut acknowledged = Vec::new();
    let error = loop {
        match store.append(&id("a"), &[user(&"x".repeat(20_000))], &at(2.0)).await {
            Ok(ids) => acknowledged.extend(ids),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::NoRoom { .. }), "{error:?}");
    assert!(!acknowledged.is_empty());
    let kept = store.messages(&id("a"), &MessageRequest::first(10_000)).await.unwrap();
    assert_eq!(kept.iter().map(|message| message.id).collect::<Vec<_>>(), acknowledged);
    // With free space again, writes work.
    disk.grow(8_000);
    store.append(&id("a"), &[user("on")], &at(3.0)).await.unwrap();
}

/// Returns the messages of each session in an export.
fn messages_of(export: &str) -> BTreeMap<String, serde_json::Value> {
    let session = |line| {
        let mut session: serde_json::Value = serde_json::from_str(line).unwrap();
        (session["id"].to_string(), session["messages"].take())
    };
    export.lines().map(session).collect()
}

/// An import without enough space shows no incomplete session, and succeeds once there is space.
#[tokio::test]
async fn an_import_without_room_shows_nothing_by_half() {
    let text = crate::import::source().await;
    let mut halves = 0;
    for kilobytes in [700, 900, 1_200, 1_500] {
        let Some(disk) = Disk::of(kilobytes) else { return };
        let store = SqliteStore::open(&disk.file(), &SqliteOptions::default()).unwrap();
        let refused = import(&store, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await;
        assert!(matches!(refused, Err(ImportError::Store(StoreError::NoRoom { .. }))), "{kilobytes} kB: {refused:?}");
        let foreign = Connection::open(disk.file()).unwrap();
        let count = |sql: &str| foreign.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        halves += count("SELECT count(*) FROM hx_hidden");
        // Every session shown has all its messages; a parent may still be missing.
        let (all, shown) = (messages_of(&text), messages_of(&crate::import::exported(&store).await));
        assert!(shown.len() < all.len(), "{kilobytes} kB: it was refused after all");
        for (session, messages) in shown {
            assert_eq!(all.get(&session), Some(&messages), "{kilobytes} kB: {session}");
        }
        drop(foreign);
        disk.grow(40_000);
        let report = import(&store, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap();
        assert_eq!((report.conflicts, report.bad), (0, 0), "{kilobytes} kB: {report:?}");
        assert!(crate::import::exported(&store).await == text, "{kilobytes} kB: it ends differently");
        while store.upkeep().await.unwrap() {}
        let report = store.verify().await.unwrap();
        assert!(report.checks.iter().all(|check| check.findings.is_empty()), "{kilobytes} kB: {report:?}");
    }
    assert!(halves > 0, "no import was refused in the middle of a session");
}
