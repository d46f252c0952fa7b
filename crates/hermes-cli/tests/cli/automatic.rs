//! Chores that run after a command that writes.

use super::*;
use insta::assert_snapshot;

/// A command that writes and is followed by chores.
const RENAME: [&str; 4] = ["sessions", "rename", "young", "new"];
const LAST: &str = "SELECT value FROM state_meta WHERE key = 'last_auto_prune'";

fn ids(home: &Home) -> String {
    let sql = "SELECT coalesce(group_concat(id, ' '), '') FROM (SELECT id FROM sessions ORDER BY id)";
    home.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns a home with an old conversation, an empty session of the terminal interface, and an interrupted
/// conversation.
fn old() -> Home {
    let home = compressed();
    home.talk("old", "cli", Some("old"), LONG_AGO, &[(Role::User, "x")]);
    home.talk("ghost", "tui", None, ago(2.0 * DAY), &[]);
    home.talk("young", "cli", None, ago(HOUR), &[(Role::User, "x")]);
    home.damage(&format!(
        "UPDATE sessions SET ended_at = {}, end_reason = 'cli_close' WHERE id IN ('old', 'ghost', 'young')",
        ago(60.0)
    ));
    home
}

#[test]
fn nothing_goes_unless_it_is_configured() {
    let home = old();
    assert!(!home.see(&RENAME).contains("note:"));
    assert_eq!(ids(&home), "first ghost old second young");
}

#[test]
fn old_conversations_are_deleted_once_per_interval_and_reported() {
    let home = old();
    home.config("sessions:\n  auto_prune: true\n  retention_days: 30\n");
    std::fs::create_dir(home.path().join("sessions")).unwrap();
    std::fs::write(home.path().join("sessions/session_old.json"), "{}").unwrap();
    assert_snapshot!(home.see(&RENAME), @r#"
    Renamed session young to "new"
    --- stderr
    note: deleted 2 conversations for good (3 sessions, 3 messages, 1 transcript), without activity for 30 days (sessions.auto_prune)
    note: sessions.auto_prune is on, set by [HOME]/config.yaml (sessions.auto_prune): conversations that have ended are deleted 30 days after their last message; `hermes sessions prune --dry-run` shows which are next
    --- exit 0
    "#);
    assert!(!home.path().join("sessions/session_old.json").exists());
    let last: String = home.foreign().query_row(LAST, [], |row| row.get(0)).unwrap();
    assert!((ago(0.0) - last.parse::<f64>().unwrap()).abs() < 60.0, "the agent reads {last}");
    home.talk("older", "cli", None, LONG_AGO, &[(Role::User, "x")]);
    home.damage("UPDATE sessions SET ended_at = 1800000000.0 WHERE id = 'older'");
    let quiet = home.see(&RENAME);
    assert!(!quiet.contains("note:"), "{quiet}");
    assert!(ids(&home).contains("older"), "a day has not passed");
    home.damage("UPDATE state_meta SET value = '5.0' WHERE key = 'last_auto_prune'");
    assert_snapshot!(home.see(&RENAME), @r#"
    Renamed "new" to "new"
    --- stderr
    note: deleted 1 conversation for good (1 session, 1 message), without activity for 30 days (sessions.auto_prune)
    --- exit 0
    "#);
    assert!(!ids(&home).contains("older"));
}

#[test]
fn orphaned_sessions_are_ended_and_empty_ones_deleted() {
    let home = old();
    home.config("sessions:\n  auto_prune: true\n  retention_days: 99999\n");
    home.see(&RENAME);
    assert_eq!(ids(&home), "first old second young");
    let reason = home.foreign().query_row("SELECT end_reason FROM sessions WHERE id = 'second'", [], |row| row.get(0));
    assert_eq!(reason, Ok("orphaned_compression".to_owned()));
}

#[test]
fn looking_is_followed_by_nothing() {
    let home = old();
    home.config("sessions:\n  auto_prune: true\n");
    let looking: [&[&str]; 10] = [
        &["sessions", "list"],
        &["sessions", "search", "begin"],
        &["sessions", "show", "young"],
        &["sessions", "stats"],
        &["sessions", "tag"],
        &["sessions", "prune", "--dry-run"],
        &["sessions", "verify"],
        &["sessions", "backup", "copy.db"],
        &["sessiondb", "status"],
        &["insights"],
    ];
    for args in looking {
        assert!(!home.see(args).contains("auto_prune"));
    }
    assert_eq!(ids(&home), "first ghost old second young");
}

#[test]
fn what_goes_wrong_with_it_is_no_matter_of_the_command() {
    let home = old();
    home.config("sessions:\n  auto_prune: true\n");
    home.damage("CREATE TRIGGER nothing_goes BEFORE DELETE ON sessions BEGIN SELECT raise(ABORT, 'no'); END");
    assert!(home.see(&RENAME).ends_with("--- exit 0"));
}
