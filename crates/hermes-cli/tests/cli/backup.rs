//! `hermes sessions backup`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn backup(home: &Home, file: &str) -> String {
    home.see(&["sessions", "backup", file])
}

fn with_sizes_hidden(check: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+\.\d KiB", "[SIZE]");
    settings.bind(check);
}

#[test]
fn a_copy_that_can_be_used_at_once() {
    let home = several();
    with_sizes_hidden(|| {
        assert_snapshot!(backup(&home, "copy.db"), @r#"
    backup      [HOME]/copy.db
    sessions    5
    messages    6
    size        [SIZE]
    --- exit 0
    "#)
    });
    let copy = home.path().join("copy.db");
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o7777, 0o600);
    let listed = home.see(&["sessions", "list", "--all"]);
    assert_eq!(home.see(&["sessions", "list", "--all", "--url", "copy.db"]), listed);
    let verified = home.see(&["sessions", "verify", "--url", "copy.db"]);
    assert!(verified.ends_with("The store is sound.\n--- exit 0"), "{verified}");
}

#[test]
fn the_same_for_programs() {
    let home = several();
    let json: Value =
        serde_json::from_str(&home.hermes(&["sessions", "backup", "copy.db", "--json"]).stdout()).unwrap();
    let copy = home.path().canonicalize().unwrap().join("copy.db");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["path"], copy.display().to_string());
    assert_eq!((&json["sessions"], &json["messages"]), (&Value::from(5), &Value::from(6)));
    assert_eq!(json["bytes"], std::fs::metadata(copy).unwrap().len());
}

#[test]
fn a_target_that_is_there_is_refused_and_stays() {
    let home = several();
    std::fs::write(home.path().join("mine"), "mine").unwrap();
    std::fs::create_dir(home.path().join("folder")).unwrap();
    symlink("mine", home.path().join("link")).unwrap();
    symlink("nowhere", home.path().join("dangling")).unwrap();
    assert_snapshot!(backup(&home, "mine"), @r#"
    --- stderr
    error: [HOME]/mine already exists
    hint: choose another name, or remove it first
    --- exit 1
    "#);
    assert_snapshot!(backup(&home, "link"), @r#"
    --- stderr
    error: [HOME]/link is a link
    hint: choose another name, or remove it first
    --- exit 1
    "#);
    assert_snapshot!(backup(&home, "dangling"), @r#"
    --- stderr
    error: [HOME]/dangling is a link
    hint: choose another name, or remove it first
    --- exit 1
    "#);
    assert_snapshot!(backup(&home, "folder"), @r#"
    --- stderr
    error: [HOME]/folder is a folder
    hint: give the name of a file in it
    --- exit 1
    "#);
    assert_eq!(std::fs::read_to_string(home.path().join("link")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(home.path().join("folder")).unwrap().count(), 0);
    assert!(!home.path().join("nowhere").exists());
}

#[test]
fn a_target_that_cannot_be_made() {
    let home = several();
    let before = std::fs::read(home.database()).unwrap();
    assert_snapshot!(backup(&home, "state.db"), @r#"
    --- stderr
    error: [HOME]/state.db belongs to the store itself
    hint: choose another name, or another folder
    --- exit 1
    "#);
    assert_snapshot!(backup(&home, "./state.db-wal"), @r#"
    --- stderr
    error: [HOME]/state.db-wal belongs to the store itself
    hint: choose another name, or another folder
    --- exit 1
    "#);
    assert_snapshot!(backup(&home, "missing/copy.db"), @r#"
    --- stderr
    error: [HOME]/missing/copy.db is in a folder that does not exist
    hint: create the folder first, or choose another
    --- exit 1
    "#);
    assert_snapshot!(backup(&home, "missing/"), @r#"
    --- stderr
    error: [HOME]/missing/ is a folder
    hint: give the name of a file in it
    --- exit 1
    "#);
    assert_snapshot!(backup(&home, ""), @r#"
    --- stderr
    error: a value is required for '<FILE>' but none was supplied

    For more information, try '--help'.
    --- exit 2
    "#);
    assert_snapshot!(backup(&home, "/"), @r#"
    --- stderr
    error: / is a folder
    hint: give the name of a file in it
    --- exit 1
    "#);
    assert!(std::fs::read(home.database()).unwrap() == before);
    assert!(!home.path().join("missing").exists());
}
