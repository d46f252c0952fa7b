//! `hermes sessions rename`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

fn rename(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "rename"], args].concat())
}

#[test]
fn words_become_one_title_and_its_stored_form_is_reported() {
    let home = several();
    assert_snapshot!(rename(&home, &["20250303", "كبسة\u{200b}  ", "for\tsix"]), @r#"
    Renamed session 20250303_101500_f1f2f3f4 to "كبسة for six"
    --- exit 0
    "#);
    assert!(home.see(&["sessions", "show", "كبسة for six"]).contains("20250303_101500_f1f2f3f4"));
}

#[test]
fn the_same_for_programs() {
    let home = several();
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "rename", "--json", "2025030", "x"]).stdout())
        .unwrap_or_default();
    assert_eq!(json, Value::Null, "an ambiguous start names nobody");
    let json: Value =
        serde_json::from_str(&home.hermes(&["sessions", "rename", "--json", "20250303", "two", "words"]).stdout())
            .unwrap();
    assert_eq!(json, serde_json::json!({"schema": 1, "id": "20250303_101500_f1f2f3f4", "title": "two words"}));
}

#[test]
fn a_title_that_cannot_be_is_refused() {
    let home = several();
    assert_snapshot!(rename(&home, &["20250303", " ", "\u{200b}"]), @r#"
    --- stderr
    error: title is empty
    hint: give at least one visible character
    --- exit 2
    "#);
    assert_snapshot!(rename(&home, &["20250303", &"x".repeat(101)]), @r#"
    --- stderr
    error: title is too long (101 characters, at most 100)
    hint: shorten it
    --- exit 2
    "#);
    assert_snapshot!(rename(&home, &["20250303"]), @r#"
    --- stderr
    error: the following required arguments were not provided:
      <TITLE>...

    Usage: hermes sessions rename <SESSION> <TITLE>...

    For more information, try '--help'.
    --- exit 2
    "#);
    assert_snapshot!(rename(&home, &["20250303", "refactoring", "auth"]), @r#"
    --- stderr
    error: title "refactoring auth" is in use by session 20250305_091523_a1b2c3
    hint: choose another title, or rename session 20250305_091523_a1b2c3 first
    --- exit 1
    "#);
    assert_snapshot!(rename(&home, &["nobody", "x"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    let titles = home.foreign().query_row("SELECT count(*) FROM sessions WHERE title IS NULL", [], |row| row.get(0));
    assert_eq!(titles, Ok(1_i64), "nothing was changed");
}

#[test]
fn a_compressed_conversation_is_renamed_where_it_goes_on() {
    let home = compressed();
    assert_snapshot!(rename(&home, &["long work", "renamed"]), @r#"
    Renamed "long work #2" to "renamed"
    --- exit 0
    "#);
    assert_snapshot!(rename(&home, &["first", "the start of it"]), @r#"
    Renamed "long work" to "the start of it"
    --- exit 0
    "#);
}
