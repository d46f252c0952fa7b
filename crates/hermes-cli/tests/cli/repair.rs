//! `hermes sessions repair`

use super::*;
use serde_json::Value;

/// Returns a store with more than a page of messages per session, damaged in the middle.
fn damaged() -> Home {
    let home = Home::empty();
    for session in 0..6 {
        let texts: Vec<String> = (0..40).map(|number| format!("{number} {}", "some words ".repeat(20))).collect();
        let said: Vec<(Role, &str)> = texts.iter().map(|text| (Role::User, text.as_str())).collect();
        home.talk(&format!("2025030{session}_091523_a1b2c3"), "cli", None, LONG_AGO + f64::from(session), &said);
    }
    let leaves: Vec<u32> = {
        let connection = home.foreign();
        let mut pages =
            connection.prepare("SELECT pageno FROM dbstat WHERE name = 'messages' AND pagetype = 'leaf'").unwrap();
        pages.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let mut bytes = std::fs::read(home.database()).unwrap();
    let page = leaves[leaves.len() / 2] as usize;
    bytes[(page - 1) * 4096..page * 4096].fill(0);
    std::fs::write(home.database(), bytes).unwrap();
    home
}

#[test]
fn what_was_saved_and_what_was_lost() {
    let home = damaged();
    let before = std::fs::read(home.database()).unwrap();
    let told = home.see(&["sessions", "repair", "state.db"]);
    assert!(told.contains("--- exit 0"), "{told}");
    assert!(told.starts_with("Saved 6 sessions, 2"), "{told}");
    assert!(told.contains("lost\nsessions    6 saved, none lost\n"), "{told}");
    assert!(told.contains("proof       6 of 6 sessions are in the new store as they were read\n"), "{told}");
    assert!(told.contains("To use it: stop every agent, move "), "{told}");
    assert_eq!(std::fs::read(home.database()).unwrap(), before);

    let again = home.see(&["sessions", "repair", "state.db"]);
    assert!(again.contains("state.db.repaired already exists") && again.contains("--- exit 1"), "{again}");
    let json = home.hermes(&["sessions", "repair", "state.db", "--out", "other.db", "--json"]).stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    let messages = &json["tables"][0];
    assert_eq!(
        (&messages["table"], &messages["certain"], &json["proven"]),
        (&"messages".into(), &true.into(), &true.into())
    );
    let (saved, lost) = (messages["saved"].as_u64().unwrap(), messages["lost"].as_u64().unwrap());
    assert!(lost > 0 && saved + lost == 240, "{json}");
    let sound = home.see(&["sessions", "verify", "--url", "other.db"]);
    assert!(sound.contains("The store is sound."), "{sound}");
    let left: Vec<String> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".part-"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn files_that_are_not_stores() {
    let home = Home::empty();
    std::fs::write(home.path().join("letter"), "Dear reader, ".repeat(500)).unwrap();
    let told = home.see(&["sessions", "repair", "letter"]);
    assert!(
        told.contains("letter contains no data of a session store\nhint: ") && told.contains("--- exit 1"),
        "{told}"
    );
    let told = home.see(&["sessions", "repair", "nowhere.db"]);
    assert!(told.contains("nowhere.db does not exist") && told.contains("--- exit 1"), "{told}");
}

#[test]
fn tables_that_are_not_copied_are_reported() {
    let home = Home::empty();
    home.talk("20250301_091523_a1b2c3", "cli", None, LONG_AGO, &[(Role::User, "keep this")]);
    home.talk("20250302_091523_a1b2c3", "cli", None, LONG_AGO, &[(Role::User, "throw this away")]);
    home.hermes(&["sessions", "delete", "20250302_091523_a1b2c3", "--yes"]).stdout();
    home.foreign()
        .execute_batch(
            "CREATE TABLE notes (text); INSERT INTO notes VALUES ('theirs');
             CREATE TABLE keys (name TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO keys VALUES ('a')",
        )
        .unwrap();
    let told = home.see(&["sessions", "repair", "state.db"]);
    assert!(told.starts_with("Saved 1 session, 1 message in "), "{told}");
    for what in [
        "store: the table notes is not copied (rows: 1)\n",
        "store: the table keys is not copied: the layout of its rows is unknown\n",
        "store: the trash is not copied (conversations: 1)\n",
    ] {
        assert!(told.contains(what), "{told}");
    }
    assert!(!told.contains("notes       1 saved"), "{told}");
    let json = home.hermes(&["sessions", "repair", "state.db", "--out", "other.db", "--json"]).stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["found"].as_u64(), json["findings"].as_array().map(Vec::len)), (Some(3), Some(3)), "{json}");
    assert_eq!(json["findings"][0]["kind"], "foreign", "{json}");
}
