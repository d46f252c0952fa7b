//! Restoring a backup in place of a store: atomic, with a copy of the old content kept.

use crate::child::child;
use crate::fixture::{File, at, id, new, shown, user};
use hermes_rescue::restore_backup;
use hermes_session::{Maintenance as _, Refusal, SessionStore as _, StoreError};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Makes a store that was changed after a backup was made. Returns the backup's path.
async fn backed_up(file: &File) -> PathBuf {
    let store = file.open();
    store.create(&new("old"), &at(1.0)).await.unwrap();
    let batch: Vec<_> = (0..500).map(|n| user(&format!("message {n}"))).collect();
    store.append(&id("old"), &batch, &at(1.0)).await.unwrap();
    let backup = file.path().with_file_name("copy.db");
    store.backup(&backup).await.unwrap();
    store.create(&new("since"), &at(2.0)).await.unwrap();
    backup
}

fn kept(file: &File) -> PathBuf {
    file.path().with_file_name("state.db.before-restore-1")
}

async fn shown_at(path: &Path) -> String {
    let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    shown(&SqliteStore::open(path, &options).unwrap()).await
}

fn names(file: &File) -> Vec<String> {
    let entries = std::fs::read_dir(file.path().parent().unwrap()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".queue") && !name.ends_with(".open"));
    names.sort();
    names
}

#[tokio::test]
async fn it_takes_the_place_of_the_store_and_the_old_file_is_kept() {
    let file = File::new();
    let backup = backed_up(&file).await;
    let restored = restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap();
    assert_eq!((restored.sessions, restored.messages, restored.kept.as_deref()), (1, 500, Some(kept(&file).as_path())));
    assert_eq!(names(&file), ["copy.db", "state.db", "state.db.before-restore-1"]);
    assert_eq!(shown_at(&kept(&file)).await, "since() old(message 0)");
    let store = file.open();
    assert_eq!(shown(&store).await, "old(message 0)");
    store.append(&id("old"), &[user("more")], &at(3.0)).await.unwrap();
    assert!(store.verify().await.unwrap().is_sound());
    let mode: String = file.foreign().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal", "as the store was");
}

/// A program that had the file open sees the new content: it is the same inode.
#[tokio::test]
async fn the_file_stays_the_same_one() {
    use std::os::unix::fs::MetadataExt as _;
    let file = File::new();
    let backup = backed_up(&file).await;
    // Pages of another size, and a store that is not entirely sound.
    rusqlite::Connection::open(&backup).unwrap().execute_batch("PRAGMA page_size = 8192; VACUUM").unwrap();
    let foreign = file.foreign();
    foreign
        .execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'hx_session_root'")
        .unwrap();
    drop(foreign);
    let before = std::fs::metadata(file.path()).unwrap().ino();
    restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap();
    assert_eq!(std::fs::metadata(file.path()).unwrap().ino(), before);
    assert_eq!(shown(&file.open()).await, "old(message 0)");
    let mode: String = file.foreign().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal", "as the store was");
}

#[tokio::test]
async fn where_no_store_is_it_becomes_one() {
    let file = File::new();
    let backup = backed_up(&file).await;
    std::fs::remove_file(file.path()).unwrap();
    let restored = restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap();
    assert_eq!((restored.kept, shown_at(&file.path()).await.as_str()), (None, "old(message 0)"));
    drop(file.open());
    let mode: String = file.foreign().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal", "as in a store that is made");
    // A WAL without its store would be played back into the new one.
    std::fs::remove_file(file.path()).unwrap();
    std::fs::write(file.path().with_file_name("state.db-wal"), "log").unwrap();
    let error = restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap_err();
    assert!(error.to_string().contains("state.db-wal is the WAL of a store that does not exist"), "{error}");
}

#[tokio::test]
async fn a_backup_that_is_not_sound_is_refused_and_nothing_changes() {
    let file = File::new();
    let backup = backed_up(&file).await;
    let before = names(&file);
    let mut bytes = std::fs::read(&backup).unwrap();
    bytes[20_000..60_000].fill(0xa5);
    std::fs::write(&backup, &bytes).unwrap();
    restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap_err();
    std::fs::write(&backup, "no database").unwrap();
    restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap_err();
    let itself = restore_backup(&file.path(), &file.path(), &kept(&file)).await.unwrap_err();
    assert!(itself.to_string().contains("is the store itself"), "{itself}");
    std::fs::write(kept(&file), "mine").unwrap();
    assert!(matches!(
        restore_backup(&file.path(), &file.path().with_file_name("none"), &kept(&file)).await,
        Err(StoreError::Refused { .. })
    ));
    std::fs::remove_file(kept(&file)).unwrap();
    assert_eq!((names(&file), shown_at(&file.path()).await.as_str()), (before, "since() old(message 0)"));
}

#[tokio::test]
async fn a_damaged_store_is_not_touched() {
    let file = File::new();
    let backup = backed_up(&file).await;
    std::fs::write(file.path(), "garbage, and more of it than a head has".repeat(100)).unwrap();
    let error = restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert!(matches!(error, StoreError::Refused { refusal: Refusal::UseUnknown, .. }), "{error:?}");
}

/// Any program that has the store open prevents the restore: one of ours, idle, and one that only read.
#[tokio::test]
async fn a_store_that_is_in_use_is_refused() {
    let file = File::new();
    let backup = backed_up(&file).await;
    let store = file.open();
    store.create(&new("shared"), &at(3.0)).await.unwrap();
    drop(store);
    let foreign = file.foreign();
    assert_eq!(foreign.query_row("SELECT count(*) FROM sessions", [], |row| row.get::<_, i64>(0)), Ok(3));
    let error = restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap_err();
    assert!(error.to_string().contains("is in use"), "{error}");
    drop(foreign);
    let mut other = child("append", "x", &file.path()).stdin(Stdio::piped()).spawn().unwrap();
    let mut told = std::io::BufRead::lines(std::io::BufReader::new(other.stdout.take().unwrap()));
    while told.next().unwrap().unwrap() != "ready" {}
    let error = restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap_err();
    assert!(error.to_string().contains("is in use"), "{error}");
    std::io::Write::write_all(&mut other.stdin.take().unwrap(), b"go\n").unwrap();
    other.wait().unwrap();
    restore_backup(&file.path(), &backup, &kept(&file)).await.unwrap();
    assert_eq!(shown_at(&file.path()).await, "old(message 0)");
}

/// If it is killed at any time, one of the two contents is in place, complete, and the old one is not lost.
#[tokio::test]
async fn a_killed_restore_leaves_one_of_the_two() {
    let (mut old, mut restored) = (0, 0);
    for round in 0..24_u32 {
        let file = File::new();
        let backup = backed_up(&file).await;
        let mut other = child("restore_backup", &backup.display().to_string(), &file.path()).spawn().unwrap();
        let mut told = std::io::BufRead::lines(std::io::BufReader::new(other.stdout.take().unwrap()));
        while told.next().is_some_and(|line| line.unwrap() != "ready") {}
        // At another moment each time, or soon after the copy of the old content exists. No assertion depends on which
        // it is.
        let mut moment = std::time::Instant::now() + std::time::Duration::from_millis(2) * round;
        let mut is_late = !round.is_multiple_of(2);
        while (is_late || std::time::Instant::now() < moment) && other.try_wait().unwrap().is_none() {
            if is_late && kept(&file).exists() {
                (is_late, moment) =
                    (false, std::time::Instant::now() + std::time::Duration::from_millis(3) * (round / 2));
            }
            std::thread::yield_now();
        }
        other.kill().unwrap();
        other.wait().unwrap();
        match shown_at(&file.path()).await.as_str() {
            "since() old(message 0)" => old += 1,
            "old(message 0)" => {
                restored += 1;
                assert_eq!(shown_at(&kept(&file)).await, "since() old(message 0)");
            }
            other => panic!("round {round}: {other}"),
        }
        assert!(file.open().verify().await.unwrap().is_sound());
        if old > 2 && restored > 2 {
            return;
        }
    }
    assert!(old > 0 && restored > 0, "{old} old, {restored} restored");
}
