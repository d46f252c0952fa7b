//! `hermes sessions list`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

#[test]
fn newest_activity_first_at_80_columns() {
    assert_snapshot!(several().see(&["sessions", "list"]), @r#"
    #  Title                   Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth        2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划          yesterday    telegram     1  20250304_150000_b0b0b0
    3  كيف أحضّر كبسة الدجاج…   3d ago       discord      1  20250303_101500_f1f2f3f4
    4  Größe 👨‍👩‍👧 ❤️             2025-03-05   cron         1  cron_job1
    --- exit 0
    "#);
}

#[test]
fn a_wide_terminal_shows_previews() {
    assert_snapshot!(several().hermes(&["sessions", "list"]).env("COLUMNS", "200").see(), @r#"
    #  Title             Preview                                  Last active  Source    Msgs  ID
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth  Help me refactor the auth module please  2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划    周末想去大别山徒步，两天一夜             yesterday    telegram     1  20250304_150000_b0b0b0
    3  —                 كيف أحضّر كبسة الدجاج لستة أشخاص؟         3d ago       discord      1  20250303_101500_f1f2f3f4
    4  Größe 👨‍👩‍👧 ❤️       Run the daily report second line         2025-03-05   cron         1  cron_job1
    --- exit 0
    "#);
}

#[test]
fn previews_shrink_before_anything_else_does() {
    assert_snapshot!(several().hermes(&["sessions", "list"]).env("COLUMNS", "100").see(), @r#"
    #  Title             Preview                   Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth  Help me refactor the au…  2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划    周末想去大别山徒步，两…   yesterday    telegram     1  20250304_150000_b0b0b0
    3  —                 كيف أحضّر كبسة الدجاج لس…  3d ago       discord      1  20250303_101500_f1f2f3f4
    4  Größe 👨‍👩‍👧 ❤️       Run the daily report se…  2025-03-05   cron         1  cron_job1
    --- exit 0
    "#);
}

#[test]
fn a_narrow_terminal_gets_short_lines_and_whole_ids() {
    assert_snapshot!(several().hermes(&["sessions", "list"]).env("COLUMNS", "40").see(), @r#"
    1 refactoring auth
      2h ago · cli · 2 messages
      20250305_091523_a1b2c3
    2 大别山徒步计划
      yesterday · telegram · 1 message
      20250304_150000_b0b0b0
    3 كيف أحضّر كبسة الدجاج لستة أشخاص؟
      3d ago · discord · 1 message
      20250303_101500_f1f2f3f4
    4 Größe 👨‍👩‍👧 ❤️
      2025-03-05 · cron · 1 message
      cron_job1
    --- exit 0
    "#);
}

#[test]
fn sources_are_chosen_and_left_out() {
    let home = several();
    let ids = |args: &[&str]| {
        let json: Value =
            serde_json::from_str(&home.hermes(&[&["sessions", "list", "--json"], args].concat()).stdout()).unwrap();
        json["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--source", "cli", "--source", "tool"]), ["tool_1", "20250305_091523_a1b2c3"]);
    assert_eq!(
        ids(&["--exclude-source", "cli", "--exclude-source", "cron"]),
        ["20250304_150000_b0b0b0", "20250303_101500_f1f2f3f4"]
    );
    assert_eq!(ids(&["--limit", "1", "--offset", "1"]), ["20250304_150000_b0b0b0"]);
    assert_eq!(ids(&["--limit", "0"]), [""; 0]);
    assert_eq!(ids(&["--order", "started"]).first().map(String::as_str), Some("20250305_091523_a1b2c3"));
}

#[test]
fn a_compressed_conversation_is_one_row_and_its_sessions_are_there_for_who_asks() {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), ago(3.0 * DAY), &[(Role::User, "begin")]);
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(ago(5.0 * MINUTE)).unwrap());
        let child = hermes_session::NewChild::new(SessionId::parse("second").unwrap());
        let said = [NewMessage::new(Role::User, "go on")];
        store.split(&SessionId::parse("first").unwrap(), &child, &said, &at).await.unwrap();
    });
    assert_snapshot!(home.see(&["sessions", "list"]), @r#"
    #  Title         Preview  Last active  Source  Msgs  ID
    ───────────────────────────────────────────────────────────
    1  long work #2  begin    5m ago       cli        1  second
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--all"]), @r#"
    #  Title         Preview  Last active  Source  Msgs  ID
    ───────────────────────────────────────────────────────────
    1  long work #2  go on    5m ago       cli        1  second
    2  long work     begin    3d ago       cli        1  first
    --- exit 0
    "#);
}

#[test]
fn json_has_the_columns_of_the_table() {
    let home = Home::empty();
    home.talk("s1", "cli", Some("a \"title\""), LONG_AGO + 0.25, &[(Role::User, "hi 大"), (Role::Assistant, "ho")]);
    assert_snapshot!(home.see(&["sessions", "list", "--json"]), @r#"
    {"schema": 1, "sessions": [{"id": "s1", "conversation": "s1", "segments": 1, "source": "cli", "user_id": null, "model": "model-x", "parent_session_id": null, "relation": "root", "started_at": 1741166123.25, "ended_at": null, "end_reason": null, "message_count": 2, "tool_call_count": 0, "title": "a \"title\"", "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0, "api_call_count": 0, "estimated_cost_usd": null, "actual_cost_usd": null, "cost_status": null, "cost_source": null, "pricing_version": null, "billing_provider": null, "billing_base_url": null, "billing_mode": null, "last_active": 1741166124.25, "preview": "hi 大"}], "unreadable": [], "more": false}
    --- exit 0
    "#);
}

#[test]
fn an_empty_store_is_told_and_fine() {
    let home = Home::with_store();
    assert_snapshot!(home.see(&["sessions", "list"]), @r#"
    No sessions found.
    Sessions appear here once an agent has talked to somebody.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--source", "cli"]), @r#"
    No sessions found.
    Other options may find some: see `hermes sessions list --help`.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--json"]), @r#"
    {"schema": 1, "sessions": [], "unreadable": [], "more": false}
    --- exit 0
    "#);
}

#[test]
fn negative_numbers_are_usage() {
    let home = Home::with_store();
    assert_snapshot!(home.see(&["sessions", "list", "--limit", "-1"]), @r#"
    --- stderr
    error: limit -1 is negative
    hint: give 0 or more
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--offset", "-5"]), @r#"
    --- stderr
    error: offset -5 is negative
    hint: give 0 or more
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--source", ""]), @r#"
    --- stderr
    error: source is empty
    hint: use a short tag such as cli, telegram or cron
    --- exit 2
    "#);
}

#[test]
fn a_row_that_cannot_be_read_hides_no_other() {
    let home = several();
    home.damage("UPDATE sessions SET started_at = 'soon' WHERE id = '20250304_150000_b0b0b0'");
    assert_snapshot!(home.see(&["sessions", "list"]), @r#"
    #  Title                    Last active  Source   Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth         2h ago       cli         2  20250305_091523_a1b2c3
    2  كيف أحضّر كبسة الدجاج ل…  3d ago       discord     1  20250303_101500_f1f2f3f4
    3  Größe 👨‍👩‍👧 ❤️              2025-03-05   cron        1  cron_job1
    --- stderr
    warning: sessions "20250304_150000_b0b0b0" can't be read: started_at is not a time
    hint: the other rows are complete; the row is left as it is
    --- exit 0
    "#);
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "list", "--json"]).stdout()).unwrap();
    assert_eq!(json["unreadable"].as_array().unwrap().len(), 1);
}
