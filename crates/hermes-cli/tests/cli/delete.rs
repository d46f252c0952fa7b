//! `hermes sessions delete`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

/// Deletes for good; `trash.rs` has the other way.
fn delete(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "delete", "--permanent"], args].concat())
}

/// The files that the agent would keep of sessions.
fn transcripts(home: &Home, names: &[&str]) {
    std::fs::create_dir_all(home.path().join("sessions")).unwrap();
    names.iter().for_each(|name| std::fs::write(home.path().join("sessions").join(name), "{}").unwrap());
}

fn left(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path().join("sessions")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn without_anybody_to_ask_nothing_goes() {
    let home = several();
    assert_snapshot!(delete(&home, &["refactoring auth"]), @r#"
    --- stderr
    error: Delete this conversation for good? Nobody is here to answer that
    hint: give --yes to do it without being asked
    --- exit 1
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)), Ok(5_i64));
}

#[test]
fn a_conversation_goes_as_a_whole_with_its_transcripts_and_branches_stay() {
    let home = compressed();
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(LONG_AGO + 90.0).unwrap());
        let child = hermes_session::NewChild::new(SessionId::parse("branch").unwrap());
        store.branch(&SessionId::parse("second").unwrap(), &child, &at).await.unwrap();
    });
    transcripts(
        &home,
        &[
            "session_first.json",
            "first.jsonl",
            "second.json",
            "request_dump_second_20250305_091523_000001.json",
            "request_dump_second_x.json",
            "session_branch.json",
            "sessions.json",
            "second.txt",
            "seconds.json",
        ],
    );
    assert_snapshot!(delete(&home, &["first", "--yes"]), @r#"
    Deleted long work #2 (2 sessions, 2 messages, 4 transcripts).
    --- exit 0
    "#);
    assert_eq!(
        left(&home),
        ["request_dump_second_x.json", "second.txt", "seconds.json", "session_branch.json", "sessions.json"]
    );
    let ids: String = home.foreign().query_row("SELECT group_concat(id) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(ids, "branch");
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
}

/// The conversation of two sessions, the first of which sent a delegate that was compressed.
pub(crate) fn delegating() -> Home {
    let home = compressed();
    home.write(async |store| {
        let id = |text: &str| SessionId::parse(text).unwrap();
        let at = Request::at(Timestamp::from_seconds(LONG_AGO + 90.0).unwrap());
        let helper = NewSession::new(id("helper"), Source::parse("cli").unwrap());
        store.create(&helper.child_of(id("first"), hermes_session::Relation::Delegate), &at).await.unwrap();
        store.append(&id("helper"), &[NewMessage::new(Role::User, "look there")], &at).await.unwrap();
        let on = hermes_session::NewChild::new(id("helper_on"));
        store.split(&id("helper"), &on, &[NewMessage::new(Role::User, "look on")], &at).await.unwrap();
    });
    transcripts(&home, &["first.jsonl", "helper.json", "session_helper_on.json"]);
    home
}

#[test]
fn a_delegate_goes_alone_and_it_is_said_what_stays() {
    let home = delegating();
    assert_snapshot!(delete(&home, &["helper_on"]), @r#"
    --- stderr
    error: Delete this delegate for good? Nobody is here to answer that
    hint: give --yes to do it without being asked
    --- exit 1
    "#);
    assert_snapshot!(delete(&home, &["helper", "--yes"]), @r#"
    Deleted the delegate helper_on (2 sessions, 2 messages, 2 transcripts). The conversation second stays.
    --- exit 0
    "#);
    assert_eq!(left(&home), ["first.jsonl"]);
    let sql = "SELECT group_concat(id) FROM (SELECT id FROM sessions ORDER BY id)";
    assert_eq!(home.foreign().query_row(sql, [], |row| row.get(0)), Ok("first,second".to_owned()));
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
    let home = delegating();
    let run = home.hermes(&["sessions", "delete", "helper", "--now", "--yes", "--json"]).stdout();
    let json: Value = serde_json::from_str(&run).unwrap();
    let expected = serde_json::json!(
        {"schema": 1, "id": "helper_on", "sent_from": "second", "sessions": 2, "messages": 2, "files": 2, "until": null}
    );
    assert_eq!(json, expected);
    assert!(
        delete(&home, &["second", "--yes"]).starts_with("Deleted long work #2 (2 sessions, 2 messages, 1 transcript).")
    );
}

#[test]
fn no_id_reaches_a_file_that_is_not_its_own() {
    let ids = ["../mine", "*", ".", "sessions", "x/y", "/etc/mine"];
    let home = Home::empty();
    ids.iter().for_each(|id| _ = home.talk(id, "cli", None, LONG_AGO, &[(Role::User, "x")]));
    transcripts(&home, &["sessions.json", "a.json", "session_a.json", "*.jsonl", ".json", "..json"]);
    std::fs::write(home.path().join("mine.json"), "mine").unwrap();
    for id in ids {
        assert!(delete(&home, &["--yes", id]).ends_with("1 message).\n--- exit 0"), "{id}");
    }
    assert_eq!(left(&home), ["*.jsonl", "..json", ".json", "a.json", "session_a.json", "sessions.json"]);
    assert!(home.path().join("mine.json").exists());
}

#[test]
fn transcripts_of_another_store_stay() {
    let home = several();
    transcripts(&home, &["session_tool_1.json"]);
    assert!(home.see(&["sessions", "backup", "copy.db"]).ends_with("--- exit 0"));
    assert_snapshot!(delete(&home, &["tool_1", "--yes", "--url", "copy.db"]), @r#"
    Deleted made by a tool (1 session, 1 message).
    --- exit 0
    "#);
    assert_eq!(left(&home), ["session_tool_1.json"]);
    let json: Value = serde_json::from_str(
        &home
            .hermes(&["sessions", "delete", "tool_1", "--permanent", "--yes", "--json", "--url", "./state.db"])
            .stdout(),
    )
    .unwrap();
    assert_eq!(
        json,
        serde_json::json!({"schema": 1, "id": "tool_1", "sent_from": null, "sessions": 1, "messages": 1, "files": 1, "until": null})
    );
    assert_eq!(left(&home), [""; 0]);
}

#[test]
fn who_is_not_found_or_not_one_is_told() {
    let home = several();
    assert_snapshot!(delete(&home, &["nobody", "--yes"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` shows what there is
    --- exit 1
    "#);
    assert!(
        delete(&home, &["2025", "--yes"])
            .starts_with("--- stderr\nerror: more than one session id starts with \"2025\"")
    );
    assert_snapshot!(delete(&home, &["", "--yes"]), @r#"
    --- stderr
    error: SESSION is empty
    hint: give an id, the start of one, a title, @last, or the number of a row such as @3
    --- exit 2
    "#);
    assert_snapshot!(delete(&Home::empty(), &["x", "--yes"]), @r#"
    --- stderr
    error: there is no session store at [HOME]/state.db
    hint: `hermes demo` makes one to look at; --home, --url and HERMES_HOME say where else to look
    --- exit 1
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)), Ok(5_i64));
}
