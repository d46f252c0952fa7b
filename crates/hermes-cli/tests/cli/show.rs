//! `hermes sessions show`

use super::*;
use hermes_session::{Content, Json, NewChild, Relation};
use insta::assert_snapshot;
use serde_json::Value;

/// A session with tool calls, a picture and a day's break.
fn coding() -> Home {
    let home = Home::empty();
    home.talk(
        "20250305_091523_a1b2c3",
        "cli",
        Some("refactoring auth"),
        LONG_AGO,
        &[(Role::User, "Please look at the auth module, it is far too long and nobody dares to touch it any more.\n\n- tests first\n- then the code, in small steps that can be reviewed one by one by somebody")],
    );
    let calls = r#"[{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"wc -l src/auth/*.rs && cargo test auth -- --list | tail -5\"}"}}]"#;
    home.add(
        "20250305_091523_a1b2c3",
        MessageBody {
            tool_calls: Some(Json::parse(calls).unwrap()),
            ..MessageBody::new(Role::Assistant, "Let me see.")
        },
    );
    home.add(
        "20250305_091523_a1b2c3",
        MessageBody {
            tool_call_id: Some("c1".into()),
            tool_name: Some("terminal".into()),
            ..MessageBody::new(Role::Tool, "812 src/auth/mod.rs\n\tlogin\n\tlogout\nthree\nfour")
        },
    );
    let parts = r#"[{"type": "text", "text": "like this"}, {"type": "image_url", "image_url": {"url": "data:"}}]"#;
    home.add("20250305_091523_a1b2c3", MessageBody::new(Role::User, Content::from_json(Json::parse(parts).unwrap())));
    home
}

#[test]
fn a_session_with_its_transcript() {
    assert_snapshot!(coding().see(&["sessions", "show", "refactoring auth"]), @r#"
    refactoring auth
    id          20250305_091523_a1b2c3
    source      cli
    model       model-x
    started     2025-03-05 09:15
    ended       no, still active
    messages    4 (1 tool call)

    ── 2025-03-05

    ● You  09:15
      Please look at the auth module, it is far too long and nobody dares to touch
      it any more.

      - tests first
      - then the code, in small steps that can be reviewed one by one by somebody

    ◆ Hermes  09:17
      Let me see.
      ⚙ terminal wc -l src/auth/*.rs && cargo test auth -- --list | tail -5

    ↳ terminal  09:17
      812 src/auth/mod.rs
          login
          logout
      … (--full shows the rest)

    ● You  09:17
      like this [image]
    --- exit 0
    "#);
}

#[test]
fn full_shows_what_is_folded() {
    let seen = coding().hermes(&["sessions", "show", "--full", "20250305"]).env("COLUMNS", "200").see();
    assert!(seen.contains("four") && seen.contains("| tail -5") && !seen.contains("--full"), "{seen}");
}

#[test]
fn at_40_columns_nothing_is_wider() {
    assert_snapshot!(coding().hermes(&["sessions", "show", "@last"]).env("COLUMNS", "40").see(), @r#"
    refactoring auth
    id          20250305_091523_a1b2c3
    source      cli
    model       model-x
    started     2025-03-05 09:15
    ended       no, still active
    messages    4 (1 tool call)

    ── 2025-03-05

    ● You  09:15
      Please look at the auth module, it is
      far too long and nobody dares to touch
      it any more.

      - tests first
      - then the code, in small steps that
        can be reviewed one by one by
        somebody

    ◆ Hermes  09:17
      Let me see.
      ⚙ terminal wc -l src/auth/*.rs && car…

    ↳ terminal  09:17
      812 src/auth/mod.rs
          login
          logout
      … (--full shows the rest)

    ● You  09:17
      like this [image]
    --- exit 0
    "#);
}

#[test]
fn the_recap_is_a_panel() {
    assert_snapshot!(coding().see(&["sessions", "show", "--recap", "@last"]), @r#"
    ╭─────────────────────────── Previous Conversation ────────────────────────────╮
    │   ● You: Please look at the auth module, it is far too long and nobody dares │
    │          to touch it any more.                                               │
    │                                                                              │
    │          - tests first                                                       │
    │          - then the code, in small steps that can be reviewed one by one by  │
    │            somebody                                                          │
    │   ◆ Hermes: Let me see. [1 tool call: terminal]                              │
    │   ● You: like this [image]                                                   │
    │                                                                              │
    ╰──────────────────────────────────────────────────────────────────────────────╯
    --- exit 0
    "#);
    assert_snapshot!(Home::empty().talk("s", "cli", None, LONG_AGO, &[]).see(&["sessions", "show", "--recap", "s"]), @r#"
    ╭─────────────────────────── Previous Conversation ────────────────────────────╮
    │   Nothing was said yet.                                                      │
    │                                                                              │
    ╰──────────────────────────────────────────────────────────────────────────────╯
    --- exit 0
    "#);
}

#[test]
fn json_has_the_session_and_its_messages() {
    let home = coding();
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "show", "--json", "@last"]).stdout()).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["session"]["started_at"], LONG_AGO);
    assert_eq!(json["session"]["tool_call_count"], 1);
    assert_eq!(json["messages"].as_array().unwrap().len(), 4);
    assert_eq!(json["messages"][1]["tool_calls"][0]["function"]["name"], "terminal");
}

#[test]
fn a_title_leads_to_where_the_work_goes_on_and_an_id_to_itself() {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), LONG_AGO, &[(Role::User, "begin")]);
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(LONG_AGO + 60.0).unwrap());
        let child = NewChild::new(SessionId::parse("second").unwrap());
        store
            .split(&SessionId::parse("first").unwrap(), &child, &[NewMessage::new(Role::User, "go on")], &at)
            .await
            .unwrap();
    });
    assert_snapshot!(home.see(&["sessions", "show", "long work"]), @r#"
    long work #2
    id          second
    source      cli
    model       model-x
    started     2025-03-05 09:16
    ended       no, still active
    messages    1
    carries on  first

    ── 2025-03-05

    ● You  09:16
      go on
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "show", "first"]), @r#"
    long work
    id          first
    source      cli
    model       model-x
    started     2025-03-05 09:15
    ended       2025-03-05 09:16 (compression)
    messages    1
    goes on in  second

    ── 2025-03-05

    ● You  09:15
      begin
    --- exit 0
    "#);
}

#[test]
fn all_shows_the_whole_conversation() {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), LONG_AGO, &[(Role::User, "begin")]);
    home.write(async |store| {
        let at = |seconds| Request::at(Timestamp::from_seconds(LONG_AGO + seconds).unwrap());
        let (first, second) = (SessionId::parse("first").unwrap(), SessionId::parse("second").unwrap());
        let delegate = NewSession::new(SessionId::parse("helper").unwrap(), Source::parse("cli").unwrap());
        store.create(&delegate.child_of(first.clone(), Relation::Delegate), &at(30.0)).await.unwrap();
        let said = [NewMessage::new(Role::User, "go on")];
        store.split(&first, &NewChild::new(second), &said, &at(60.0)).await.unwrap();
    });
    assert_snapshot!(home.see(&["sessions", "show", "--all", "long work"]), @r#"
    long work
    id          first
    source      cli
    model       model-x
    started     2025-03-05 09:15
    ended       2025-03-05 09:16 (compression)
    messages    1
    goes on in  second

    ── 2025-03-05

    ● You  09:15
      begin

    ════════════════════════════════════════════════════════════════════════════════

    long work #2
    id          second
    source      cli
    model       model-x
    started     2025-03-05 09:16
    ended       no, still active
    messages    1
    carries on  first

    ── 2025-03-05

    ● You  09:16
      go on

    ════════════════════════════════════════════════════════════════════════════════

    (no title)
    id          helper
    source      cli
    started     2025-03-05 09:15
    ended       no, still active
    messages    0
    --- exit 0
    "#);
}

/// As much as an agent says in weeks.
#[test]
fn thousands_of_messages_come_in_order() {
    let home = Home::empty();
    let said: Vec<String> = (0..2_001).map(|number| format!("number {number}.")).collect();
    let said: Vec<(Role, &str)> = said.iter().map(|text| (Role::User, text.as_str())).collect();
    home.talk("s", "cli", None, LONG_AGO, &said);
    let shown = home.hermes(&["sessions", "show", "s"]).stdout();
    let numbers: Vec<&str> = shown.lines().filter_map(|line| line.trim().strip_prefix("number ")).collect();
    assert_eq!(numbers, (0..2_001).map(|number| format!("{number}.")).collect::<Vec<_>>());
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "show", "--json", "s"]).stdout()).unwrap();
    let last = json["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((json["messages"].as_array().unwrap().len(), &last["content"]), (2_001, &"number 2000.".into()));
}

#[test]
fn json_of_a_session_without_messages() {
    let home = Home::empty();
    home.talk("s", "cli", None, LONG_AGO, &[]);
    let seen = home.hermes(&["sessions", "show", "--json", "s"]).stdout();
    assert!(seen.ends_with("\"messages\": []}\n"), "{seen}");
}

#[test]
fn who_is_not_found_or_not_one_is_told() {
    let home = several();
    assert_snapshot!(home.see(&["sessions", "show", "3f9"]), @r#"
    --- stderr
    error: no session matches "3f9"
    hint: `hermes sessions list` shows what there is
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "show", "2025030"]), @r#"
    --- stderr
    error: more than one session id starts with "2025030"
      20250303_101500_f1f2f3f4  3d ago     (no title)
      20250304_150000_b0b0b0    yesterday  大别山徒步计划
      20250305_091523_a1b2c3    2h ago     refactoring auth
    hint: give more of the id
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "show", ""]), @r#"
    --- stderr
    error: SESSION is empty
    hint: give an id, the start of one, a title, @last, or the number of a row such as @3
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "show", "x\u{1b}]0;pwned\u{7}"]), @r#"
    --- stderr
    error: no session matches "x\u{1b}]0;pwned\u{7}"
    hint: `hermes sessions list` shows what there is
    --- exit 1
    "#);
    assert_snapshot!(Home::with_store().see(&["sessions", "show", "@last"]), @r#"
    --- stderr
    error: no session matches "@last"
    hint: `hermes sessions list` shows what there is
    --- exit 1
    "#);
}

#[test]
fn a_message_that_cannot_be_read_hides_no_other() {
    let home = coding();
    home.damage("UPDATE messages SET tool_calls = '[{broken' WHERE role = 'assistant'");
    let seen = home.see(&["sessions", "show", "@last"]);
    assert!(seen.contains("! tool_calls can't be read") && seen.contains("like this [image]"), "{seen}");
}

#[test]
fn a_row_of_the_last_list_is_named_by_its_number() {
    let home = several();
    let title = |text: &str| home.hermes(&["sessions", "show", text]).stdout().lines().next().map(str::to_owned);
    assert_snapshot!(home.see(&["sessions", "show", "#1"]), @r#"
    --- stderr
    error: no list of this store was printed yet, so that a number names no session
    hint: `hermes sessions list` numbers its rows anew
    --- exit 1
    "#);
    home.see(&["sessions", "list", "--json"]);
    assert_eq!(title("#1"), None, "a program's list numbers nothing");
    home.see(&["sessions", "list"]);
    assert_eq!(title("#1").as_deref(), Some("refactoring auth"));
    assert_eq!(title("@2").as_deref(), Some("大别山徒步计划"));
    assert_snapshot!(home.see(&["sessions", "show", "@5"]), @r#"
    --- stderr
    error: the last list has no row 5: it has 1 to 4
    hint: `hermes sessions list` numbers its rows anew
    --- exit 1
    "#);
    home.see(&["sessions", "list", "--limit", "1", "--offset", "1"]);
    assert_eq!((title("@1"), title("@2").as_deref()), (None, Some("大别山徒步计划")));
    home.see(&["sessions", "search", "daily", "report"]);
    assert_eq!(title("@1").as_deref(), Some("Größe 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}"));
    home.talk("cron_job10", "cron", None, LONG_AGO, &[]);
    home.damage("DELETE FROM messages WHERE session_id = 'cron_job1'; DELETE FROM sessions WHERE id = 'cron_job1'");
    assert_snapshot!(home.see(&["sessions", "show", "@1"]), @r#"
    --- stderr
    error: row @1 of the last list, cron_job1, is not there any more
    hint: `hermes sessions list` numbers its rows anew
    --- exit 1
    "#);
}

#[test]
fn numbers_are_those_of_the_store_at_hand() {
    let (home, other) = (several(), several());
    home.see(&["sessions", "list"]);
    let url = other.database().display().to_string();
    let seen = home.see(&["sessions", "show", "@1", "--url", &url]);
    assert!(seen.contains("no list of this store was printed yet") && seen.ends_with("--- exit 1"), "{seen}");
    home.see(&["sessions", "list", "--url", "./state.db"]);
    assert!(home.see(&["sessions", "show", "@1"]).contains("refactoring auth"));
}

#[test]
#[cfg(unix)]
fn the_last_list_is_its_owners_alone_and_follows_no_link() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = several();
    let (file, victim) = (home.path().join("state.last-list"), home.path().join("victim"));
    std::fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, &file).unwrap();
    home.see(&["sessions", "list"]);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    let facts = std::fs::symlink_metadata(&file).unwrap();
    assert_eq!((facts.is_file(), facts.permissions().mode() & 0o777), (true, 0o600));
}

/// A file of a newer agent with 5 active, 12 compacted and 2 undone messages in one session.
pub(super) fn with_states() -> Home {
    let home = Home::with_store();
    home.damage(
        "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
         ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
         INSERT INTO sessions (id, source, started_at, message_count) VALUES ('s', 'cli', 1741166123.0, 19);
         WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 19)
             INSERT INTO messages (session_id, role, content, timestamp, active, compacted)
             SELECT 's', 'user', CASE WHEN i <= 12 THEN 'pebble ' WHEN i <= 17 THEN 'stone ' ELSE 'mistake ' END || i, 1741166123.0 + i,
                 i BETWEEN 13 AND 17, i <= 12 FROM n",
    );
    home
}

#[test]
fn the_transcript_tells_of_messages_that_it_does_not_show() {
    let home = with_states();
    let seen = home.see(&["sessions", "show", "s"]);
    assert_eq!(
        (seen.matches("stone ").count(), seen.matches("pebble ").count(), seen.matches("mistake ").count()),
        (5, 0, 0)
    );
    assert!(seen.contains("12 compacted and 2 undone messages are not shown; --all shows every message"), "{seen}");
    assert!(seen.contains("messages    5\n"), "{seen}");
    let all = home.see(&["sessions", "show", "s", "--all"]);
    assert_eq!(
        (all.matches("stone ").count(), all.matches("pebble ").count(), all.matches("mistake ").count()),
        (5, 12, 2)
    );
    assert_eq!((all.matches("  [compacted]\n").count(), all.matches("  [undone]\n").count()), (12, 2), "{all}");
    assert!(!all.contains("not shown"), "{all}");
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "show", "s", "--json"]).stdout()).unwrap();
    let counted = |key: &str| json["session"][key].as_u64();
    assert_eq!(
        (counted("message_count"), counted("compacted_count"), counted("undone_count")),
        (Some(5), Some(12), Some(2))
    );
    let states: Vec<&str> = json["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["state"].as_str().unwrap_or("active"))
        .collect();
    assert_eq!(states, [vec!["compacted"; 12], vec!["active"; 5], vec!["undone"; 2]].concat());
    let found = home.see(&["sessions", "search", "pebble"]);
    assert!(found.contains("pebble"), "a search finds what was compacted: {found}");
    let listed: Value = serde_json::from_str(&home.hermes(&["sessions", "list", "--json"]).stdout()).unwrap();
    assert_eq!(listed["sessions"][0]["message_count"].as_u64(), Some(5), "{listed}");
}
