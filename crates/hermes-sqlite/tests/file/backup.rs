//! Copies of a file that is in use.

use crate::fixture::{File, at, id, new, user};
use crate::room::Disk;
use hermes_session::*;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_while_others_append_is_one_state() {
    let file = File::new();
    let store = Arc::new(file.open());
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for number in 0..4 {
        let name = format!("writer-{number}");
        store.create(&new(&name), &at(1.0)).await.unwrap();
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        writers.push(tokio::spawn(async move {
            let mut said = 0;
            while !stop.load(Ordering::Relaxed) {
                let both = [user(&format!("{said} {}", "word ".repeat(200))), user(&format!("{}", said + 1))];
                store.append(&id(&name), &both, &at(2.0 + f64::from(said))).await.unwrap();
                said += 2;
            }
            said
        }));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut copies = Vec::new();
    for number in 0..5 {
        let report = store.backup(&folder.path().join(format!("copy-{number}.db"))).await.unwrap();
        copies.push(report);
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        assert!(writer.await.unwrap() > 0);
    }
    let names: Vec<String> = (0..5).map(|number| format!("copy-{number}.db")).collect();
    assert_eq!(entries(folder.path()), names, "nothing else is left");
    let counts: Vec<u64> = copies.iter().map(|copy| copy.messages).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    for copy in copies {
        let looked = Connection::open(&copy.path).unwrap();
        let odd: i64 = looked
            .query_row(
                "SELECT count(*) FROM sessions s WHERE message_count <> (SELECT count(*) FROM messages m WHERE m.session_id = s.id) \
                 OR message_count % 2 <> 0 OR message_count <> (SELECT count(DISTINCT CAST(content AS INTEGER)) FROM messages m WHERE m.session_id = s.id)",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(odd, 0);
        let mode: String = looked.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "delete", "it stands alone");
        drop(looked);
        let opened =
            SqliteStore::open(&copy.path, &SqliteOptions { create: false, ..SqliteOptions::default() }).unwrap();
        while opened.upkeep().await.unwrap() {}
        let report = opened.verify().await.unwrap();
        assert_eq!(crate::verify::told(&report), Vec::<String>::new());
        let counts = opened.counts(&SessionFilter::default()).await.unwrap();
        assert_eq!((counts.sessions, counts.messages), (copy.sessions, copy.messages));
    }
}

#[tokio::test]
async fn what_belongs_to_the_store_is_refused() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let home = file.path().parent().unwrap().to_owned();
    let before = (entries(&home), std::fs::read(file.path()).unwrap());
    std::os::unix::fs::symlink(&home, home.parent().unwrap().join("link")).unwrap();
    for folder in [home.clone(), home.join("../home"), home.parent().unwrap().join("link")] {
        for name in
            ["state.db", "state.db-wal", "state.db-shm", "state.db-journal", "state.db.queue", "state.db.backup-v6"]
        {
            match store.backup(&folder.join(name)).await {
                Err(StoreError::Refused { refusal, .. }) => {
                    assert_eq!(refusal.to_string(), "belongs to the store itself", "{name}")
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    assert_eq!((entries(&home), std::fs::read(file.path()).unwrap()), before);
    // A name that only looks like a kept copy is allowed.
    store.backup(&home.join("state.db.backup-monday")).await.unwrap();
}

#[tokio::test]
async fn a_log_that_is_left_beside_the_target_is_not_played_back() {
    let file = File::new();
    let store = file.open();
    let target = file.path().with_file_name("copy.db");
    for suffix in ["-wal", "-journal"] {
        let log = file.path().with_file_name(format!("copy.db{suffix}"));
        std::fs::write(&log, "of another database").unwrap();
        let error = store.backup(&target).await.unwrap_err();
        assert!(error.to_string().contains(suffix) && !target.exists(), "{error}");
        std::fs::remove_file(log).unwrap();
    }
    store.backup(&target).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_backups_to_one_name_one_is_made() {
    let file = File::new();
    let store = Arc::new(file.open());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let target = file.path().with_file_name("copy.db");
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (store, target) = (Arc::clone(&store), target.clone());
            tokio::spawn(async move { store.backup(&target).await })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => made += 1,
            Err(StoreError::Refused { refusal, .. }) => assert_eq!(refusal.to_string(), "already exists"),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(made, 1);
    assert!(!entries(file.path().parent().unwrap()).iter().any(|name| name.contains(".part-")));
    let sound: String =
        Connection::open(&target).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

#[tokio::test]
async fn a_damaged_store_gives_no_backup_and_no_file() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    for number in 0..100 {
        store.append(&id("a"), &[user(&format!("{number} {}", "word ".repeat(100)))], &at(2.0)).await.unwrap();
    }
    drop(store);
    let page: i64 = file
        .foreign()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'idx_sessions_source'", [], |row| row.get(0))
        .unwrap();
    crate::verify::spoil(&file, page);
    let target = file.path().with_file_name("copy.db");
    let error = file.open().backup(&target).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(!entries(file.path().parent().unwrap()).iter().any(|name| name.starts_with("copy.db")));
}

#[tokio::test]
async fn a_disk_without_room_gets_nothing() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let Some(disk) = Disk::of(1_100) else { return };
    let error = store.backup(&disk.file()).await.unwrap_err();
    assert!(matches!(error, StoreError::NoRoom { .. }), "{error:?}");
    assert_eq!(entries(disk.file().parent().unwrap()), Vec::<String>::new());
}
