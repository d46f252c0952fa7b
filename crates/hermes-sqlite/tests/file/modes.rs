use crate::fixture::{File, at, new, user};
use hermes_session::SessionStore as _;
use std::os::unix::fs::PermissionsExt as _;

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn files_and_folders_are_the_owners_alone() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&crate::fixture::id("a"), &[user("x")], &at(2.0)).await.unwrap();
    assert_eq!(mode(file.path().parent().unwrap()), 0o700);
    for suffix in ["", "-wal", "-shm"] {
        let path = file.path().with_file_name(format!("state.db{suffix}"));
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn new_files_have_the_log_and_give_room_back() {
    let file = File::new();
    drop(file.open());
    let pragma = |name: &str| {
        file.foreign().pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0)).unwrap()
    };
    assert_eq!(pragma("journal_mode"), rusqlite::types::Value::Text("wal".into()));
    assert_eq!(pragma("auto_vacuum"), rusqlite::types::Value::Integer(2));
}

#[tokio::test]
async fn opening_a_current_file_writes_nothing() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    drop(store);
    let before = std::fs::read(file.path()).unwrap();
    let store = file.open();
    assert_eq!(crate::fixture::shown(&store).await, "a()");
    drop(store);
    assert!(std::fs::read(file.path()).unwrap() == before);
}
