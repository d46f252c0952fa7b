use crate::fixture::File;
use hermes_session::StoreError;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::time::Duration;

/// The file is refused with this reason, and not a byte of it changes.
#[track_caller]
fn refused(file: &File, reason: &str) {
    let before = std::fs::read(file.path()).unwrap();
    let Err(error) = file.try_open(Duration::from_secs(1)) else { panic!("it opened") };
    assert!(error.to_string().contains(reason), "{error}");
    assert!(!error.hint().is_empty());
    assert!(std::fs::read(file.path()).unwrap() == before, "the file was written");
}

#[test]
fn another_programs_database() {
    let file = File::new();
    file.foreign().execute_batch("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')").unwrap();
    refused(&file, "is a database of another program");
}

#[test]
fn a_file_that_is_no_database() {
    let file = File::new();
    std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
    std::fs::write(file.path(), "not a database, but long enough to look at it ".repeat(99)).unwrap();
    refused(&file, "not a database");
}

#[test]
fn schemas_we_do_not_write() {
    let file = File::new();
    drop(file.open());
    file.foreign().execute_batch("UPDATE schema_version SET version = 22").unwrap();
    refused(&file, "has schema 22");
    file.foreign().execute_batch("UPDATE schema_version SET version = 6").unwrap();
    refused(&file, "has schema 6");
    file.foreign().execute_batch("UPDATE schema_version SET version = 11; PRAGMA user_version = 99").unwrap();
    refused(&file, "newer hermes (revision 99)");
}

#[test]
fn a_file_that_is_not_there_is_made_only_when_asked() {
    let file = File::new();
    let options = SqliteOptions { create: false, ..SqliteOptions::default() };
    assert!(matches!(SqliteStore::open(&file.path(), &options), Err(StoreError::Backend { .. })));
    assert!(!file.path().parent().unwrap().exists());
}

#[test]
fn a_folder_that_cannot_be_made() {
    let file = File::new();
    std::fs::write(file.path().parent().unwrap(), "a file where the folder should be").unwrap();
    let Err(error) = file.try_open(Duration::from_secs(1)) else { panic!("it opened") };
    assert!(error.to_string().contains("home can't be made"), "{error}");
}
