//! `hermes sessions prune`

use super::*;
use hermes_session::EndReason;
use insta::assert_snapshot;
use serde_json::Value;

fn prune(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "prune"], args].concat())
}

/// Returns conversations of all ages, some of them ended.
fn aged() -> Home {
    let home = several();
    home.talk("old_cron", "cron", Some("nightly"), LONG_AGO, &[(Role::User, "report")]);
    home.talk("old_cli", "cli", None, LONG_AGO + DAY, &[(Role::User, "a"), (Role::Assistant, "b")]);
    home.talk("old_active", "cli", Some("never ended"), LONG_AGO, &[(Role::User, "x")]);
    home.talk("long_lived", "cli", Some("began long ago"), LONG_AGO, &[(Role::User, "x")]);
    home.write(async |store| {
        let id = |text: &str| SessionId::parse(text).unwrap();
        let now = Request::at(Timestamp::from_seconds(ago(HOUR)).unwrap());
        store.append(&id("long_lived"), &[NewMessage::new(Role::User, "today").said_at(now.at)], &now).await.unwrap();
        for name in ["old_cron", "old_cli", "long_lived", "tool_1"] {
            store.end(&id(name), &EndReason::parse("cli_close").unwrap(), &now).await.unwrap();
        }
    });
    home
}

fn ids(home: &Home) -> String {
    home.foreign()
        .query_row("SELECT group_concat(id, ' ') FROM (SELECT id FROM sessions ORDER BY id)", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_dry_run_tells_what_would_go_and_changes_nothing() {
    let home = aged();
    let before = ids(&home);
    assert_snapshot!(prune(&home, &["--dry-run"]), @r#"
    Title    Last active  Source  Sessions  Msgs  ID
    ──────────────────────────────────────────────────────
    nightly  2025-03-05   cron           1     1  old_cron
    a        2025-03-06   cli            1     2  old_cli
    Would delete 2 conversations (3 messages) for good. Nothing was changed.
    2 more conversations are old enough, but have not ended.
    --- exit 0
    "#);
    assert_snapshot!(prune(&home, &["--dry-run", "--older-than", "99999"]), @r#"
    No ended conversation is old enough to delete.
    --- exit 0
    "#);
    assert_eq!(ids(&home), before);
}

#[test]
fn a_source_that_no_session_has_is_named_with_those_that_are_there() {
    let home = aged();
    let existing = "sources in this store: cli, cron, discord, telegram, tool";
    for way in ["--dry-run", "--yes"] {
        let seen = prune(&home, &[way, "--source", "CLI"]);
        assert!(seen.contains(&format!("note: no session has the source \"CLI\"; {existing}")), "{seen}");
        assert!(seen.starts_with("No ended conversation is old enough to delete.\n"), "{seen}");
        assert!(!prune(&home, &[way, "--source", "discord"]).contains(existing), "this one is there");
    }
}

#[test]
fn an_untitled_conversation_is_shown_by_its_first_words() {
    let home = compressed();
    home.damage("UPDATE sessions SET title = NULL, ended_at = 1741166123.0; UPDATE messages SET content = NULL WHERE session_id = 'first'");
    let rows = |home: &Home| -> Value {
        serde_json::from_str(&home.hermes(&["sessions", "prune", "--dry-run", "-j"]).stdout()).unwrap()
    };
    assert_eq!(rows(&home)["conversations"][0]["preview"], "go on", "of the tip if the first session has none");
    assert!(prune(&home, &["--dry-run"]).contains("\ngo on  "));
    home.damage("UPDATE messages SET content = ''");
    assert_eq!(rows(&home)["conversations"][0]["preview"], "");
    assert!(prune(&home, &["--dry-run"]).contains("\n(no title)  "));
}

#[test]
fn prune_deletes_what_the_dry_run_listed() {
    let home = aged();
    let plan: Value =
        serde_json::from_str(&home.hermes(&["sessions", "prune", "--dry-run", "--json"]).stdout()).unwrap();
    let told: Vec<&str> =
        plan["conversations"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    let before = ids(&home);
    std::fs::create_dir(home.path().join("sessions")).unwrap();
    for id in before.split(' ') {
        std::fs::write(home.path().join(format!("sessions/session_{id}.json")), "{}").unwrap();
    }
    assert_snapshot!(prune(&home, &["--yes"]), @r#"
    Deleted 2 conversations for good (2 sessions, 3 messages, 2 transcripts).
    2 more conversations are old enough, but have not ended.
    --- exit 0
    "#);
    let after = ids(&home);
    let mut gone: Vec<&str> = before.split(' ').filter(|id| !after.split(' ').any(|left| left == *id)).collect();
    gone.sort_by_key(|id| told.iter().position(|told| told == id));
    assert_eq!(gone, told);
    let has_file = |id: &&str| home.path().join(format!("sessions/session_{id}.json")).exists();
    assert!(after.split(' ').all(|id| has_file(&id)) && !told.iter().any(has_file));
    assert_snapshot!(prune(&home, &["--yes"]), @r#"
    No ended conversation is old enough to delete.
    2 conversations are old enough, but have not ended.
    --- exit 0
    "#);
}

#[test]
fn a_source_and_an_age_narrow_it() {
    let home = aged();
    assert_snapshot!(prune(&home, &["--yes", "--json", "--source", "cron", "--older-than", "30d"]), @r#"
    {"schema": 1, "dry_run": false, "conversations": 1, "sessions": 1, "messages": 1, "kept": 0, "pinned": 0, "files": 0}
    --- exit 0
    "#);
    assert!(ids(&home).contains("old_cli"));
    home.config("sessions:\n  retention_days: 99999\n");
    assert_snapshot!(prune(&home, &["--yes"]), @r#"
    No ended conversation is old enough to delete.
    --- exit 0
    "#);
}

#[test]
fn without_anybody_to_ask_nothing_goes() {
    let home = aged();
    let before = ids(&home);
    assert_snapshot!(prune(&home, &[]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Delete 2 conversations without activity for 90 days, for good?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    assert_eq!(ids(&home), before);
}

#[test]
fn numbers_that_would_take_everything_are_refused() {
    let home = aged();
    let before = ids(&home);
    assert_snapshot!(prune(&home, &["--yes", "--older-than", "-1"]), @r#"
    --- stderr
    error: --older-than "-1" is negative
    hint: give days such as 90 or 90d, or 12w for weeks, 36h for hours
    --- exit 2
    "#);
    assert_snapshot!(prune(&home, &["--yes", "--older-than=soon"]), @r#"
    --- stderr
    error: --older-than "soon" is not a number of days
    hint: give days such as 90 or 90d, or 12w for weeks, 36h for hours
    --- exit 2
    "#);
    assert_snapshot!(prune(&home, &["--yes", "--source", ""]), @r#"
    --- stderr
    error: source is empty
    hint: use a short tag such as cli, telegram or cron
    --- exit 2
    "#);
    assert_snapshot!(prune(&Home::empty(), &["--yes"]), @r#"
    --- stderr
    error: there is no session store at [HOME]/state.db
    hint: `hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one
    --- exit 1
    "#);
    assert_eq!(ids(&home), before);
}

#[test]
fn a_narrow_terminal_gets_short_lines_without_a_table() {
    let home = aged();
    home.talk("20250305_081523_a1b2c3", "telegram", Some("a title of a conversation that is long"), LONG_AGO, &[]);
    home.damage("UPDATE sessions SET ended_at = 1741166123.0 WHERE id = '20250305_081523_a1b2c3'");
    let narrow = |args: &[&str]| home.hermes(&[&["sessions"], args].concat()).env("COLUMNS", "40").see();
    assert_snapshot!(narrow(&["prune", "--dry-run"]), @r#"
    a title of a conversation that is long
      2025-03-05 · telegram · 1 session
      0 messages
      20250305_081523_a1b2c3
    nightly
      2025-03-05 · cron · 1 session
      1 message
      old_cron
    a
      2025-03-06 · cli · 1 session
      2 messages
      old_cli
    Would delete 3 conversations (3
    messages) for good. Nothing was changed.
    2 more conversations are old enough, but
    have not ended.
    --- exit 0
    "#);
    for id in ["20250305_081523_a1b2c3", "old_cli"] {
        home.see(&["sessions", "delete", "--yes", id]);
    }
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"until \d{4}-\d\d-\d\d", "until [DAY]");
    settings.bind(|| {
        assert_snapshot!(narrow(&["trash", "list"]), @r#"
    (no title)
      deleted just now · until [DAY]
      cli · 2 messages
      old_cli
    a title of a conversation that is long
      deleted just now · until [DAY]
      telegram · 0 messages
      20250305_081523_a1b2c3
    --- exit 0
    "#)
    });
}
