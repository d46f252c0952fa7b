//! `hermes sessiondb status`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

/// Replaces values that change from build to build.
fn steady(seen: &str) -> String {
    let line = |line: &str| match line.split_once("  ") {
        Some(("provider", _)) => "provider       [PROVIDER]".to_owned(),
        Some(("size", _)) => "size           [SIZE]".to_owned(),
        _ => line.to_owned(),
    };
    seen.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn it_says_what_and_where_the_store_is() {
    let home = several();
    assert_snapshot!(steady(&home.see(&["sessiondb", "status"])), @r#"
    provider       [PROVIDER]
    location       [HOME]/state.db
    schema         11
    conversations  5
    sessions       5
    messages       6
    size           [SIZE]
    indexes        complete
    --- exit 0
    "#);
}

#[test]
fn programs_get_the_same() {
    let home = several();
    let json: Value = serde_json::from_str(&home.hermes(&["sessiondb", "status", "--json"]).stdout()).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "schema",
        "provider",
        "version",
        "location",
        "schema_version",
        "schema_name",
        "conversations",
        "sessions",
        "messages",
        "bytes",
        "free_bytes",
        "indexes",
        "pool",
    ];
    expected.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!((&json["provider"], &json["sessions"], &json["messages"]), (&"sqlite".into(), &5.into(), &6.into()));
    assert_eq!((&json["pool"], &json["schema_name"]), (&Value::Null, &Value::Null));
    assert!(json["version"].as_str().unwrap().starts_with("3.") && json["bytes"].as_u64().unwrap() > 0);
    assert_eq!(json["indexes"]["state"].as_str(), Some("whole"), "{json}");
}

#[test]
fn a_missing_store_is_not_created() {
    let home = Home::empty();
    let seen = home.see(&["sessiondb", "status"]);
    assert!(seen.contains("error: there is no session store at ") && seen.ends_with("--- exit 1"), "{seen}");
    assert!(!home.database().exists());
}
