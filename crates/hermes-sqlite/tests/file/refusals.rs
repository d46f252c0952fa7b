use crate::fixture::File;
use hermes_session::StoreError;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::path::Path;
use std::time::Duration;

/// Returns every file of the folder, with its bytes.
fn folder(path: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    found.sort();
    found
}

/// Checks that the file is refused with this reason and a hint, and that nothing in its folder changes.
#[track_caller]
fn refused(file: &File, reason: &str) {
    let before = folder(&file.path());
    let Err(error) = file.try_open(Duration::from_secs(1)) else { panic!("it opened") };
    assert!(error.to_string().contains(reason), "{error}");
    assert!(error.to_string().contains("state.db"), "{error}");
    assert!(folder(&file.path()) == before, "something was written");
}

fn put(file: &File, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
    std::fs::write(file.path(), content).unwrap();
}

#[test]
fn another_programs_database() {
    let file = File::new();
    file.foreign().execute_batch("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')").unwrap();
    refused(&file, "is a database of another program");
    let file = File::new();
    file.foreign().execute_batch("CREATE TABLE sessions (token TEXT); CREATE TABLE messages (id INTEGER)").unwrap();
    refused(&file, "is a database of another program");
    let file = File::new();
    file.foreign().execute_batch("PRAGMA user_version = 3").unwrap();
    refused(&file, "newer hermes (revision 3)");
}

#[test]
fn a_file_that_is_no_database() {
    let file = File::new();
    put(&file, "not a database, but long enough to look at it ".repeat(99));
    refused(&file, "is not a SQLite database");
}

#[test]
fn a_truncated_database() {
    let file = File::new();
    drop(file.open());
    let whole = std::fs::read(file.path()).unwrap();
    for length in [1_000, 4_096, 8_192, whole.len() / 2] {
        let file = File::new();
        put(&file, &whole[..length]);
        let before = folder(&file.path());
        let error = match file.try_open(Duration::from_secs(1)) {
            Ok(_) => panic!("{length} bytes of {} opened", whole.len()),
            Err(error) => error,
        };
        assert!(matches!(error, StoreError::Corrupt { .. } | StoreError::Refused { .. }), "{error:?}");
        assert!(
            folder(&file.path())
                .iter()
                .all(|(path, bytes)| before.contains(&(path.clone(), bytes.clone())) || path != &file.path())
        );
    }
}

#[test]
fn a_folder_a_broken_link_and_an_orphaned_log() {
    let file = File::new();
    std::fs::create_dir_all(file.path()).unwrap();
    refused(&file, "is a folder");

    for target in ["nowhere.db", "state.db"] {
        let file = File::new();
        std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, file.path()).unwrap();
        refused(&file, &format!("is a link to {target}, which "));
    }

    let file = File::new();
    put(&file, "");
    std::fs::write(file.path().with_file_name("state.db-wal"), "what was written last").unwrap();
    refused(&file, "is empty, but its WAL is not");
}

#[test]
fn a_link_is_resolved_and_everything_lies_beside_the_file_itself() {
    let (file, other) = (File::new(), File::new());
    drop(other.open());
    std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(other.path(), file.path()).unwrap();
    let store = file.open();
    let (links, files) = (folder(&file.path()).len(), folder(&other.path()).len());
    drop(store);
    assert!(links == 1 && files > 1, "{links} {files}");
}

/// A rollback journal that a killed writer left: SQLite would have to roll it back, which changes the file.
#[test]
fn a_hot_journal_is_not_rolled_back_by_a_reader() {
    let (file, copy) = (File::new(), File::new());
    let foreign = file.foreign();
    foreign.execute_batch(&crate::old_schema::schema(9)).unwrap();
    foreign.execute_batch(crate::old_schema::ROWS).unwrap();
    // Spilling the cache puts pages of an open transaction into the file, with the journal on disk.
    foreign
        .execute_batch(
            "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
             INSERT INTO messages (session_id, role, content, timestamp) SELECT 'new', 'user', hex(randomblob(400)), i FROM n",
        )
        .unwrap();
    std::fs::create_dir_all(copy.path().parent().unwrap()).unwrap();
    for (path, _) in folder(&file.path()) {
        std::fs::copy(&path, copy.path().with_file_name(path.file_name().unwrap())).unwrap();
    }
    let before = hermes_conformance::untouched::Untouched::of(&copy.path());
    let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    let Err(error) = SqliteStore::open(&copy.path(), &options) else { panic!("it opened") };
    assert!(error.to_string().contains("has a rollback journal (-journal)"), "{error}");
    before.check("a hot journal");
    drop(copy.open());
    SqliteStore::open(&copy.path(), &options).unwrap();
}

#[test]
fn an_empty_file_is_a_new_store() {
    let file = File::new();
    put(&file, "");
    drop(file.open());
    assert!(std::fs::metadata(file.path()).unwrap().len() > 0);
}

#[test]
fn schemas_we_do_not_know() {
    let file = File::new();
    drop(file.open());
    file.foreign().execute_batch("UPDATE schema_version SET version = 23").unwrap();
    refused(&file, "has schema 23");
    file.foreign().execute_batch("UPDATE schema_version SET version = 0").unwrap();
    refused(&file, "has schema 0");
    file.foreign().execute_batch("UPDATE schema_version SET version = 11; PRAGMA user_version = 99").unwrap();
    refused(&file, "newer hermes (revision 99)");
}

#[test]
fn a_file_that_is_not_there_is_made_only_when_asked() {
    let file = File::new();
    let options = SqliteOptions { create: false, ..SqliteOptions::default() };
    let Err(error) = SqliteStore::open(&file.path(), &options) else { panic!("it opened") };
    assert!(matches!(error, StoreError::Refused { .. }) && error.to_string().contains("does not exist"), "{error}");
    assert!(!file.path().parent().unwrap().exists());
}

#[test]
fn a_folder_that_cannot_be_made() {
    let file = File::new();
    std::fs::write(file.path().parent().unwrap(), "a file where the folder should be").unwrap();
    let Err(error) = file.try_open(Duration::from_secs(1)) else { panic!("it opened") };
    assert!(error.to_string().contains("can't be accessed: Not a directory"), "{error}");
}
