//! Files and folders that can't be written.

use crate::child::{child, told};
use crate::fixture::{File, at, id, new, user};
use hermes_session::SessionStore as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Output;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Reads the file as a user who may not write it. Root may write everything, so the child becomes nobody.
pub(crate) fn read(file: &File, file_mode: u32, folder_mode: u32) -> Output {
    let folder = file.path().parent().unwrap().to_owned();
    for entry in std::fs::read_dir(&folder).unwrap() {
        set_mode(&entry.unwrap().path(), file_mode);
    }
    set_mode(folder.parent().unwrap(), 0o755);
    set_mode(&folder, folder_mode);
    let mut command = child("read", "", &file.path());
    if folder.metadata().unwrap().uid() == 0 {
        // The program itself may be in a folder that only root can read.
        let program = folder.parent().unwrap().join("program");
        // Copied by another process: a child that this process starts meanwhile would hold it open for writing.
        let copied = std::process::Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
        assert!(copied.unwrap().success());
        set_mode(&program, 0o755);
        let mut as_nobody = std::process::Command::new(program);
        as_nobody.args(command.get_args()).current_dir("/").uid(65_534).gid(65_534);
        as_nobody.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        as_nobody.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command = as_nobody;
    }
    let output = command.output().unwrap();
    set_mode(&folder, 0o755);
    output
}

async fn filled() -> File {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&id("a"), &[user("hello")], &at(2.0)).await.unwrap();
    file
}

#[tokio::test]
async fn a_file_in_a_folder_that_cannot_be_written_is_read() {
    for (file_mode, folder_mode) in [(0o444, 0o555), (0o644, 0o555), (0o444, 0o755)] {
        let file = filled().await;
        let output = read(&file, file_mode, folder_mode);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(told(&output.stdout, "row"), ["a(hello)"], "{shown}");
        assert!(told(&output.stdout, "notice")[0].contains("read-only"), "{shown}");
        assert_eq!(
            (told(&output.stdout, "sound"), told(&output.stdout, "health")),
            (vec!["Ok(true)"], vec!["Ok(Whole)"])
        );
        let error = told(&output.stdout, "error")[0];
        assert!(
            error.starts_with("could not append messages: ") && error.ends_with("state.db can't be written here"),
            "{shown}"
        );
    }
}

#[test]
fn a_file_of_the_agents_is_read_without_our_tables() {
    let file = crate::inline::agents_file(
        "INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason) VALUES
             ('a', 'cli', NULL, 1.0, 2.0, 'compression'), ('b', 'cli', 'a', 2.0, NULL, NULL);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'the start', 1.0)",
    );
    let output = read(&file, 0o444, 0o555);
    assert_eq!(told(&output.stdout, "row"), ["b(the start)"], "{}", String::from_utf8_lossy(&output.stdout));
    // The counters of its sessions are wrong; the missing side tables are not a problem.
    assert_eq!(told(&output.stdout, "sound"), ["Ok(false)"]);
    assert_eq!(told(&output.stdout, "health"), ["Ok(Behind { messages: 1 })"]);
}

#[tokio::test]
async fn a_log_that_cannot_be_read_is_refused_not_ignored() {
    let file = filled().await;
    let store = file.open();
    store.append(&id("a"), &[user("in the log")], &at(3.0)).await.unwrap();
    let copy = File::new();
    std::fs::create_dir_all(copy.path().parent().unwrap()).unwrap();
    for suffix in ["", "-wal"] {
        let name = format!("state.db{suffix}");
        std::fs::copy(file.path().with_file_name(&name), copy.path().with_file_name(&name)).unwrap();
    }
    let output = read(&copy, 0o444, 0o555);
    let refused = told(&output.stdout, "refused");
    assert!(refused.len() == 1 && refused[0].contains("has a WAL that can't be read here"), "{refused:?}");
}

#[tokio::test]
async fn a_file_that_may_not_be_read_is_refused() {
    let file = filled().await;
    let output = read(&file, 0o000, 0o755);
    let refused = told(&output.stdout, "refused");
    assert!(refused.len() == 1 && refused[0].contains("is not readable by you"), "{refused:?}");
}

/// Opens a file read-only.
pub(crate) fn only_read(file: &File) -> hermes_sqlite::SqliteStore {
    let options = hermes_sqlite::SqliteOptions { read_only: true, ..Default::default() };
    hermes_sqlite::SqliteStore::open(&file.path(), &options).unwrap()
}

/// Returns every file of the folder with its bytes, except the `-shm`, which holds no content.
fn folder(file: &File) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(file.path().parent().unwrap()).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .filter(|entry| !entry.file_name().to_string_lossy().ends_with("-shm"))
        .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
        .filter(|(name, bytes)| !(name.to_string_lossy().ends_with("-wal") && bytes.is_empty()))
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_file_that_is_only_to_be_read_stays_as_it_is() {
    use hermes_session::{Maintenance as _, MessageRequest, StoreError};
    for version in 1..=10 {
        let file = File::new();
        file.foreign().execute_batch(&crate::old_schema::schema(version)).unwrap();
        file.foreign().execute_batch(crate::old_schema::ROWS).unwrap();
        let before = folder(&file);
        let store = only_read(&file);
        assert_eq!(crate::fixture::shown(&store).await, "new(the quick fox)", "schema {version}");
        let session = store.session(&id("new")).await.unwrap().unwrap();
        assert_eq!((session.title, session.usage.api_call_count, session.faults.len()), (None, 0, 0));
        assert_eq!(store.messages(&id("new"), &MessageRequest::first(9)).await.unwrap().len(), 2);
        assert_eq!((store.meta("x").await.unwrap(), store.meta_page(None, 9).await.unwrap()), (None, vec![]));
        assert_eq!(store.foreign().await.unwrap(), []);
        let found = hermes_session::search::SearchRequest::new(hermes_session::search::Query::parse("fox"));
        let found = hermes_session::ConversationStore::search(&store, &found).await.unwrap();
        assert_eq!(found.hits.len(), 1, "schema {version}");
        let error = store.append(&id("new"), &[user("x")], &at(9.0)).await.unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }));
        assert_eq!(store.notices(), Vec::<String>::new());
        drop(store);
        assert_eq!(folder(&file), before, "schema {version}");
    }
}

#[tokio::test]
async fn what_is_in_the_log_is_read_and_left_there() {
    let file = filled().await;
    let writer = file.open();
    writer.append(&id("a"), &[user("in the log")], &at(3.0)).await.unwrap();
    let before = folder(&file);
    assert!(before.iter().any(|(name, _)| name.to_string_lossy().ends_with("-wal")));
    let store = only_read(&file);
    assert_eq!(crate::fixture::shown(&store).await, "a(hello)");
    assert_eq!(store.session(&id("a")).await.unwrap().unwrap().message_count, 2);
    // Later writes are seen.
    writer.append(&id("a"), &[user("later")], &at(4.0)).await.unwrap();
    assert_eq!(store.session(&id("a")).await.unwrap().unwrap().message_count, 3);
    let nothing = hermes_sqlite::SqliteOptions { read_only: true, ..Default::default() };
    let missing = hermes_sqlite::SqliteStore::open(&file.path().with_file_name("none.db"), &nothing);
    assert!(missing.is_err_and(|error| error.to_string().ends_with("does not exist")));
    assert!(!file.path().with_file_name("none.db").exists());
}

/// A file without a WAL is locked as a whole while it is written. A reader waits and never reads past the lock: rows
/// would be torn.
#[tokio::test]
async fn a_locked_file_is_not_read_past_its_lock() {
    use hermes_session::StoreError;
    let file = filled().await;
    let foreign = file.foreign();
    let mode: String = foreign.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
    foreign.execute_batch("BEGIN EXCLUSIVE; UPDATE sessions SET message_count = 99").unwrap();
    let wait = std::time::Duration::from_millis(300);
    let options = hermes_sqlite::SqliteOptions { read_only: true, wait, ..Default::default() };
    let outcome = match hermes_sqlite::SqliteStore::open(&file.path(), &options) {
        Ok(store) => store.session(&id("a")).await.map(drop),
        Err(error) => Err(error),
    };
    let error = outcome.expect_err("somebody writes");
    assert!(matches!(error, StoreError::Busy { .. } | StoreError::Refused { .. }), "{error:?}");
    assert!(!file.path().with_file_name("state.db.damaged").exists());
    foreign.execute_batch("ROLLBACK").unwrap();
    drop(foreign);
    assert_eq!(only_read(&file).session(&id("a")).await.unwrap().unwrap().message_count, 1);
}
