//! `hermes sessions show`

use super::*;
use hermes_session::{Content, Json, NewChild, Relation};
use insta::assert_snapshot;
use serde_json::Value;

/// Returns a session with tool calls, a picture and a pause of a day.
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
    ended       – (still open)
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
    ended       – (still open)
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
    ended       – (still open)
    messages    1
    continues   first
                --all shows the earlier part as well

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
    next part   second
                --all shows the next part as well

    ── 2025-03-05

    ● You  09:15
      begin
    --- exit 0
    "#);
}

#[test]
fn every_later_part_of_a_compressed_conversation_is_named() {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), LONG_AGO, &[(Role::User, "begin")]);
    home.write(async |store| {
        for (from, to, seconds) in [("first", "second", 60.0), ("second", "third", 120.0)] {
            let at = Request::at(Timestamp::from_seconds(LONG_AGO + seconds).unwrap());
            let child = NewChild::new(SessionId::parse(to).unwrap());
            let said = [NewMessage::new(Role::User, "go on")];
            store.split(&SessionId::parse(from).unwrap(), &child, &said, &at).await.unwrap();
        }
    });
    let shown = |id: &str| home.see(&["sessions", "show", id]);
    let first = shown("first");
    let lines = "\nnext parts  second, third\n            --all shows the next parts as well\n";
    assert!(first.contains(lines), "{first}");
    let second = shown("second");
    assert!(second.contains("\ncontinues   first\nnext part   third\n"), "{second}");
    assert!(!shown("third").contains("next part"));
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
    next part   second

    ── 2025-03-05

    ● You  09:15
      begin

    ════════════════════════════════════════════════════════════════════════════════

    long work #2
    id          second
    source      cli
    model       model-x
    started     2025-03-05 09:16
    ended       – (still open)
    messages    1
    continues   first

    ── 2025-03-05

    ● You  09:16
      go on

    ════════════════════════════════════════════════════════════════════════════════

    (no title)
    id          helper
    source      cli
    started     2025-03-05 09:15
    ended       – (still open)
    messages    0
    --- exit 0
    "#);
}

/// As many messages as an agent writes in weeks.
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
fn missing_and_ambiguous_sessions_are_reported() {
    let home = several();
    assert_snapshot!(home.see(&["sessions", "show", "3f9"]), @r#"
    --- stderr
    error: no session matches "3f9"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
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
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    assert_snapshot!(Home::with_store().see(&["sessions", "show", "@last"]), @r#"
    --- stderr
    error: no session matches "@last"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
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

/// Returns a file of a newer agent with 5 active, 12 compacted and 2 undone messages in one session.
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

#[test]
fn a_message_is_shown_with_those_around_it() {
    let home = with_states();
    assert_snapshot!(home.see(&["sessions", "show", "s", "--around", "12"]), @r#"
    (no title)
    id          s
    source      cli
    started     2025-03-05 09:15
    ended       – (still open)
    messages    5

    ── 2025-03-05

    ● You  09:15  [compacted]
      pebble 7

    ● You  09:15  [compacted]
      pebble 8

    ● You  09:15  [compacted]
      pebble 9

    ● You  09:15  [compacted]
      pebble 10

    ● You  09:15  [compacted]
      pebble 11

    ● You  09:15  [compacted]  ◀ message 12
      pebble 12

    ● You  09:15
      stone 13

    ● You  09:15
      stone 14

    ● You  09:15
      stone 15

    ● You  09:15
      stone 16

    ● You  09:15
      stone 17

    6 earlier and 2 later messages of this session are not shown. The whole
    conversation:
      hermes sessions show s --all
    --- exit 0
    "#);
    let undone = home.see(&["sessions", "show", "s", "--around", "#19"]);
    assert!(undone.contains("[undone]  ◀ message 19\n  mistake 19\n"), "{undone}");
    assert!(undone.contains("\n13 earlier messages of this session are not shown."), "{undone}");
    let first = home.see(&["sessions", "show", "s", "--around", "1", "--full"]);
    assert!(first.contains("◀ message 1\n  pebble 1\n") && first.contains("\n13 later messages"), "{first}");
    let json = home.hermes(&["sessions", "show", "s", "--around", "12", "--json"]).stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    let said: Vec<&str> =
        json["messages"].as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!((said.len(), said[0], said[5], said[10]), (11, "pebble 7", "pebble 12", "stone 17"));
    assert_eq!(json["session"]["compacted_count"], 12);
}

#[test]
fn a_message_is_found_in_every_session_of_its_conversation() {
    let home = compressed();
    for name in ["second", "first"] {
        let seen = home.see(&["sessions", "show", name, "--around", "1"]);
        assert_eq!(seen, home.see(&["sessions", "show", "long work", "--around", "1"]), "{name}");
    }
    assert_snapshot!(home.see(&["sessions", "show", "long work", "--around", "1"]), @r#"
    long work
    id          first
    source      cli
    model       model-x
    started     2025-03-05 09:15
    ended       2025-03-05 09:16 (compression)
    messages    1
    next part   second

    ── 2025-03-05

    ● You  09:15  ◀ message 1
      begin

    All messages of this session are shown. The whole conversation:
      hermes sessions show first --all
    --- exit 0
    "#);
    assert!(home.see(&["sessions", "show", "first", "--around", "2"]).contains("◀ message 2\n  go on\n"));
    home.talk("other", "cli", None, LONG_AGO, &[(Role::User, "elsewhere")]);
    assert_snapshot!(home.see(&["sessions", "show", "long work", "--around", "3"]), @r#"
    --- stderr
    error: message 3 is not in the conversation second
    hint: `hermes sessions search --session second WORD` finds messages with their ids
    --- exit 1
    "#);
    for number in ["99", "-1", "9223372036854775807", "-9223372036854775808"] {
        let seen = home.see(&["sessions", "show", "long work", "--around", number]);
        assert!(seen.contains(&format!("error: message {number} is not in the conversation")), "{seen}");
    }
    assert_snapshot!(home.see(&["sessions", "show", "first", "--around", "two"]), @r#"
    --- stderr
    error: invalid value 'two' for '--around <MESSAGE>': not a message id; `sessions search` prints them after #

    For more information, try '--help'.
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "show", "first", "--around", "1", "--all"]), @r#"
    --- stderr
    error: the argument '--around <MESSAGE>' cannot be used with '--all'

    Usage: hermes sessions show --around <MESSAGE> <SESSION>

    For more information, try '--help'.
    --- exit 2
    "#);
}
