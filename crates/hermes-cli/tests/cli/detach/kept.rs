//! The file that keeps the data that only hermes held.

use super::super::states;
use super::*;

/// A conversation with 5 active, 12 compacted and 2 undone messages goes through the trash, detach, import and restore.
#[test]
fn every_state_of_a_conversation_in_the_trash_is_kept() {
    let Some((_, release)) = releases().into_iter().find(|(version, _)| *version == "0.19.0") else { return };
    let home = states::compacted(&release);
    let before = states::view(&release, &home);
    assert!(home_ran(&home, &["sessions", "delete", "s", "--yes"]));
    assert!(home_ran(&home, &["sessiondb", "detach", "--yes"]));
    assert_eq!(states::states(&home), [(1, 0, 1)], "only the other conversation is left");
    let file = kept(&home).remove(0);
    let text = std::fs::read_to_string(home.path().join(&file)).unwrap();
    let line: Value =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).find(|line: &Value| line["id"] == "s").unwrap();
    let messages = line["messages"].as_array().unwrap();
    let of = |state: Value| messages.iter().filter(|message| message["state"] == state).count();
    assert_eq!((messages.len(), of(json!("compacted")), of(json!("undone")), of(Value::Null)), (19, 12, 2, 5));

    assert!(home_ran(&home, &["sessions", "import", &file]));
    assert!(home_ran(&home, &["sessions", "restore", "s"]));
    assert_eq!(states::states(&home), states::STATES);
    let after = states::view(&release, &home);
    // The messages have new ids; the agent replays, finds and lists as before.
    for name in ["s replay", "s session", "list"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    for query in ["kangaroo", "大别山", "wombat", "wallaby"] {
        let count = |view: &Value| view[format!("search {query}")].as_array().unwrap().len();
        assert_eq!(count(&after), count(&before), "{query}");
    }
}
