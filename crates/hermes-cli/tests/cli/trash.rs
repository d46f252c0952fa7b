//! `hermes sessions delete`, `restore` and `trash`

use super::*;
use hermes_session::{ConversationStore as _, Maintenance as _};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn sessions(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions"], args].concat())
}

fn json_of(home: &Home, args: &[&str]) -> Value {
    serde_json::from_str(&home.hermes(&[&["sessions"], args].concat()).stdout()).unwrap()
}

fn with_dates_hidden(check: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\d", "[DAY]");
    settings.bind(check);
}

fn transcript(home: &Home, name: &str) {
    std::fs::create_dir_all(home.path().join("sessions")).unwrap();
    std::fs::write(home.path().join("sessions").join(name), name).unwrap();
}

fn files(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path().join("sessions")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_deleted_can_come_back_with_its_transcripts() {
    let home = compressed();
    transcript(&home, "session_first.json");
    transcript(&home, "second.jsonl");
    let (list, show) = (sessions(&home, &["list"]), sessions(&home, &["show", "second"]));
    with_dates_hidden(|| {
        assert_snapshot!(sessions(&home, &["delete", "long work #2", "--yes"]), @r#"
        Moved long work #2 to the trash (2 sessions, 2 messages, 2 transcripts).
        It can be restored until [DAY]: hermes sessions restore second
        --- exit 0
        "#);
        assert_eq!(files(&home), [".trash"]);
        assert_snapshot!(sessions(&home, &["trash", "list"]), @r#"
        Title         Deleted   Until       Source  Msgs  ID
        ────────────────────────────────────────────────────────
        long work #2  just now  [DAY]  cli        2  second
        --- exit 0
        "#);
        assert!(sessions(&home, &["list"]).starts_with("No sessions"), "{}", sessions(&home, &["list"]));
        assert_snapshot!(sessions(&home, &["restore", "first"]), @r#"
        Restored long work #2 (2 sessions, 2 messages, 2 transcripts).
        --- exit 0
        "#);
    });
    assert_eq!(files(&home), ["second.jsonl", "session_first.json"]);
    assert_eq!((sessions(&home, &["list"]), sessions(&home, &["show", "second"])), (list, show));
    assert_snapshot!(sessions(&home, &["trash", "list"]), @r#"
    The trash is empty.
    --- exit 0
    "#);
}

#[test]
fn the_setting_says_for_how_long() {
    let home = several();
    home.config("sessions:\n  trash_days: 2\n");
    let json = json_of(&home, &["delete", "tool_1", "--yes", "--json"]);
    let days = (json["until"].as_f64().unwrap() - ago(0.0)) / DAY;
    assert!((1.9..2.1).contains(&days), "{days}");
    home.config("sessions:\n  trash_days: 0\n");
    let json = json_of(&home, &["delete", "cron_job1", "--yes", "--json"]);
    assert_eq!(
        json,
        json!({"schema": 1, "dry_run": false, "id": "cron_job1", "sent_from": null, "sessions": 1, "messages": 1, "files": 0, "until": null, "owner": null})
    );
    let trash = json_of(&home, &["trash", "list", "--json"]);
    assert_eq!(trash["trash"].as_array().unwrap().len(), 1);
    assert_eq!((&trash["trash"][0]["id"], &trash["trash"][0]["messages"]), (&json!("tool_1"), &json!(1)));
    assert_snapshot!(sessions(&home, &["restore", "cron_job1"]), @r#"
    --- stderr
    error: nothing in the trash matches "cron_job1"
    hint: `hermes sessions trash list` shows what can be restored
    --- exit 1
    "#);
}

#[test]
fn a_title_that_is_taken_gives_way_and_that_is_said() {
    let home = several();
    sessions(&home, &["delete", "refactoring auth", "--yes"]);
    sessions(&home, &["rename", "tool_1", "refactoring auth"]);
    assert_snapshot!(sessions(&home, &["restore", "refactoring auth"]), @r#"
    Restored refactoring auth (1 session, 2 messages).
    The title refactoring auth is now in use by another session: 20250305_091523_a1b2c3 is called refactoring auth #2.
    --- exit 0
    "#);
    sessions(&home, &["delete", "20250305_091523_a1b2c3", "--yes"]);
    let json = json_of(&home, &["restore", "20250305", "--json"]);
    assert_eq!(
        json,
        json!({"schema": 1, "id": "20250305_091523_a1b2c3", "sessions": 1, "messages": 2, "files": 0, "retitled": []})
    );
}

#[test]
fn ambiguous_entries_are_listed() {
    let home = several();
    for name in ["20250305_091523_a1b2c3", "20250304_150000_b0b0b0"] {
        sessions(&home, &["delete", name, "--yes"]);
    }
    assert_snapshot!(sessions(&home, &["restore", "2025"]), @r#"
    --- stderr
    error: "2025" matches several entries of the trash
      20250304_150000_b0b0b0  just now  大别山徒步计划
      20250305_091523_a1b2c3  just now  refactoring auth
    hint: give the whole id
    --- exit 1
    "#);
    home.talk("20250305_091523_a1b2c3", "cli", None, LONG_AGO, &[(Role::User, "again")]);
    assert_snapshot!(sessions(&home, &["restore", "20250305_091523_a1b2c3"]), @r#"
    --- stderr
    error: session 20250305_091523_a1b2c3 already exists
    hint: choose another id
    --- exit 1
    "#);
}

#[test]
fn the_trash_is_emptied_only_with_consent() {
    let home = several();
    transcript(&home, "tool_1.json");
    for name in ["tool_1", "cron_job1"] {
        sessions(&home, &["delete", name, "--yes"]);
    }
    assert_snapshot!(sessions(&home, &["trash", "empty"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Delete these 2 conversations for good?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    assert_eq!(json_of(&home, &["trash", "list", "--json"])["trash"].as_array().unwrap().len(), 2);
    assert_snapshot!(sessions(&home, &["trash", "empty", "cron_job1", "--yes"]), @r#"
    Deleted 1 conversation for good (1 session, 1 message).
    --- exit 0
    "#);
    let json = json_of(&home, &["trash", "empty", "--yes", "--json"]);
    assert_eq!((&json["files"], &json["deleted"][0]["id"]), (&json!(1), &json!("tool_1")));
    assert_eq!(files(&home), [""; 0]);
    assert_snapshot!(sessions(&home, &["trash", "empty"]), @r#"
    The trash is empty.
    --- exit 0
    "#);
    assert!(sessions(&home, &["verify"]).contains("The store is sound."));
}

/// An interruption may leave a transcript at its old or its new place. It still follows its conversation into the trash
/// and back.
#[test]
fn transcripts_that_were_left_behind_follow() {
    let home = several();
    sessions(&home, &["delete", "tool_1", "--yes"]);
    transcript(&home, "tool_1.json");
    transcript(&home, "cron_job1.json");
    assert_eq!(json_of(&home, &["trash", "empty", "--yes", "--json"])["files"], json!(1));
    assert_eq!(files(&home), ["cron_job1.json"], "of a session that is there");

    sessions(&home, &["delete", "cron_job1", "--yes"]);
    home.talk("cron_job1", "cron", None, LONG_AGO, &[(Role::User, "again")]);
    assert!(sessions(&home, &["restore", "cron_job1"]).contains("session cron_job1 already exists"));
    assert_eq!(files(&home), [".trash"], "what could not come back keeps its transcript");
    transcript(&home, "cron_job1.json");
    assert_eq!(json_of(&home, &["trash", "empty", "--yes", "--json"])["files"], json!(1));
    assert_eq!(files(&home), ["cron_job1.json"], "another has that id by now");
}

/// The agent may continue under an id that is in the trash. A refused restore leaves its transcripts where they are.
#[test]
fn a_refused_restore_touches_no_transcript_of_others() {
    let home = several();
    transcript(&home, "cron_job1.json");
    sessions(&home, &["delete", "cron_job1", "--yes"]);
    home.talk("cron_job1", "cron", None, LONG_AGO, &[(Role::User, "again")]);
    transcript(&home, "cron_job1.jsonl");
    assert!(sessions(&home, &["restore", "cron_job1"]).contains("session cron_job1 already exists"));
    assert_eq!(files(&home), [".trash", "cron_job1.jsonl"], "its own goes back to the trash, the other stays");
    assert_eq!(json_of(&home, &["trash", "empty", "--yes", "--json"])["files"], json!(1));
    assert_eq!(files(&home), ["cron_job1.jsonl"]);
}

#[test]
fn a_title_of_any_of_its_sessions_leads_there_and_the_newest_is_meant() {
    let home = compressed();
    sessions(&home, &["delete", "long work", "--yes"]);
    assert!(sessions(&home, &["restore", "long work"]).starts_with("Restored long work #2 (2 sessions"));
    let home = several();
    for _ in 0..2 {
        home.talk("twice", "cli", Some("the same"), LONG_AGO, &[(Role::User, "hello")]);
        sessions(&home, &["delete", "twice", "--yes"]);
    }
    assert!(sessions(&home, &["restore", "the same"]).starts_with("Restored the same (1 session"));
}

#[test]
fn several_come_back_together_or_not_at_all() {
    let home = several();
    sessions(&home, &["delete", "tool_1", "refactoring auth", "--yes"]);
    let seen = sessions(&home, &["restore", "tool_1", "nobody"]);
    assert!(seen.contains("nothing in the trash matches \"nobody\"") && seen.ends_with("--- exit 1"), "{seen}");
    assert_eq!(json_of(&home, &["trash", "list", "--json"])["trash"].as_array().unwrap().len(), 2);
    assert_snapshot!(sessions(&home, &["restore", "tool_1", "refactoring auth", "made by a tool"]), @r#"
    Restored made by a tool (1 session, 1 message).
    Restored refactoring auth (1 session, 2 messages).
    --- exit 0
    "#);
    sessions(&home, &["delete", "tool_1", "cron_job1", "--yes"]);
    home.talk("cron_job1", "cron", None, LONG_AGO, &[(Role::User, "again")]);
    assert_snapshot!(sessions(&home, &["restore", "tool_1", "cron_job1", "--json"]), @r#"
    {"schema": 1, "id": "tool_1", "sessions": 1, "messages": 1, "files": 0, "retitled": []}
    --- stderr
    error: session cron_job1 already exists
    hint: choose another id
    hint: 1 of 2 were restored before that; `hermes sessions trash list` shows the others
    --- exit 1
    "#);
}

#[test]
fn the_question_says_where_a_deletion_goes() {
    let home = several();
    let asked = sessions(&home, &["delete", "tool_1"]);
    assert!(asked.contains("Move this conversation to the trash?"), "{asked}");
    let asked = sessions(&home, &["delete", "tool_1", "cron_job1"]);
    assert!(asked.contains("Move 2 conversations to the trash?"), "{asked}");
    let asked = sessions(&home, &["delete", "tool_1", "--permanent"]);
    assert!(asked.contains("Delete this conversation for good?"), "{asked}");
    home.config("sessions:\n  trash_days: 0\n");
    assert_eq!(sessions(&home, &["delete", "tool_1"]), asked);
}

/// Expired entries of the trash are deleted after a command that writes.
#[test]
fn what_is_over_goes_by_itself() {
    let home = several();
    home.write(async |store| {
        let (id, now) = (|text: &str| SessionId::parse(text).unwrap(), Timestamp::from_seconds(ago(0.0)).unwrap());
        let request = Request::at(now.plus(-3.0 * DAY));
        store.trash_chain(&id("tool_1"), now.plus(-60.0), &request).await.unwrap();
        store.trash_chain(&id("cron_job1"), now.plus(3_600.0), &request).await.unwrap();
    });
    assert_eq!(json_of(&home, &["trash", "list", "--json"])["trash"].as_array().unwrap().len(), 2);
    sessions(&home, &["list"]);
    assert_eq!(
        json_of(&home, &["trash", "list", "--json"])["trash"].as_array().unwrap().len(),
        2,
        "looking changes nothing"
    );
    sessions(&home, &["pin", "refactoring auth"]);
    let left = json_of(&home, &["trash", "list", "--json"]);
    assert_eq!((left["trash"].as_array().unwrap().len(), &left["trash"][0]["id"]), (1, &json!("cron_job1")));
    home.write(async |store| while store.upkeep().await.unwrap() {});
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM hx_trash_message", [], |row| row.get(0)), Ok(1_i64));
}
