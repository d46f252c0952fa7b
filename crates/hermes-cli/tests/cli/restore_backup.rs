//! `hermes sessions restore-backup`

use super::*;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn restore(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "restore-backup"], args].concat())
}

fn filtered(check: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+\.\d KiB", "[SIZE]");
    settings.add_filter(r"\d{8}_\d{6}", "[TIME]");
    settings.bind(check);
}

#[test]
fn a_backup_takes_the_place_of_the_store() {
    let home = several();
    assert!(home.see(&["sessions", "backup", "copy.db"]).ends_with("--- exit 0"));
    let before = home.see(&["sessions", "list", "--all"]);
    home.see(&["sessions", "delete", "tool_1", "--yes", "--permanent"]);
    assert_snapshot!(restore(&home, &["copy.db"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Replace the store with the backup?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    filtered(|| {
        assert_snapshot!(restore(&home, &["copy.db", "--yes"]), @r#"
        sessions    5
        messages    6
        size        [SIZE]
        old file    [HOME]/state.db.before-restore-[TIME]
        --- exit 0
        "#);
    });
    assert_eq!(home.see(&["sessions", "list", "--all"]), before);
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
    let names = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let kept = names.into_iter().find(|name| name.starts_with("state.db.before-restore-")).unwrap();
    assert!(home.see(&["sessions", "list", "--all", "--url", &kept]).contains("refactoring auth"));
    assert!(!home.see(&["sessions", "list", "--all", "--url", &kept]).contains("made by a tool"));
}

#[test]
fn a_store_that_is_open_is_not_replaced() {
    let home = several();
    assert!(home.see(&["sessions", "backup", "copy.db"]).ends_with("--- exit 0"));
    let foreign = home.foreign();
    let count: i64 = foreign.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 5);
    assert_snapshot!(restore(&home, &["copy.db", "--yes"]), @r#"
    --- stderr
    error: [HOME]/state.db is in use
    hint: stop every agent and every other program that has it open, and try again
    --- exit 1
    "#);
}

#[test]
fn what_is_no_backup_is_refused() {
    let home = several();
    std::fs::write(home.path().join("notes.txt"), "not a database at all").unwrap();
    assert!(
        restore(&home, &["notes.txt", "--yes"]).ends_with("--- exit 1"),
        "{}",
        restore(&home, &["notes.txt", "--yes"])
    );
    assert_snapshot!(restore(&home, &["none.db", "--yes"]), @r#"
    --- stderr
    error: [HOME]/none.db does not exist
    hint: check the path, or let an agent or `hermes demo` create a store
    --- exit 1
    "#);
    assert_snapshot!(restore(&home, &["state.db", "--yes", "--url", "postgresql://h/d"]), @r#"
    --- stderr
    error: only a file can be replaced by a backup
    hint: `hermes sessiondb migrate --from FILE --to URL` copies a backup to a server; `hermes sessions import` reads an export
    --- exit 1
    "#);
}

#[test]
fn the_same_for_programs_where_no_store_is() {
    let home = several();
    assert!(home.see(&["sessions", "backup", "copy.db"]).ends_with("--- exit 0"));
    std::fs::remove_file(home.database()).unwrap();
    let run = home.hermes(&["sessions", "restore-backup", "copy.db", "--yes", "--json"]).stdout();
    let json: Value = serde_json::from_str(&run).unwrap();
    assert_eq!((&json["sessions"], &json["messages"], &json["kept"]), (&json!(5), &json!(6), &Value::Null));
}
