//! What opening a store has to tell is told once, whatever the command.

use super::*;
use insta::assert_snapshot;
use std::os::unix::fs::PermissionsExt as _;

fn open_to_others(home: &Home) {
    std::fs::set_permissions(home.database(), std::fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn every_command_tells_what_opening_did() {
    let home = several();
    let note = "state.db was open to others; now it is its owner's alone\n";
    let commands: [&[&str]; 6] = [
        &["sessions", "list"],
        &["sessions", "list", "--json"],
        &["sessions", "show", "@last"],
        &["sessions", "verify"],
        &["sessions", "backup", "copy.db"],
        &["demo", "--url", "state.db"],
    ];
    for args in commands {
        open_to_others(&home);
        let seen = home.see(args);
        assert_eq!(seen.matches(note).count(), 1, "{args:?}: {seen}");
        assert!(
            seen.contains("--- stderr\nnote: ") && seen.ends_with(&format!("{note}--- exit 0")),
            "{args:?}: {seen}"
        );
        std::fs::remove_file(home.path().join("copy.db")).ok();
    }
    assert!(!home.see(&["sessions", "list"]).contains("note:"), "the second time there is nothing to tell");
}

#[test]
fn an_adopted_file_tells_where_its_copy_is() {
    let home = several();
    home.damage(
        "DROP TABLE hx_session; DROP TABLE hx_request; DROP TABLE hx_state; DROP TABLE hx_hidden;
         DROP INDEX hx_sessions_card; DROP TRIGGER hx_session_born; DROP TRIGGER hx_session_gone; DROP TRIGGER hx_session_moved;
         DROP TRIGGER hx_session_restarted; DROP TRIGGER hx_message_said; DROP TRIGGER hx_message_changed;
         DROP TRIGGER hx_message_gone; DROP TRIGGER messages_fts_update; PRAGMA user_version = 0",
    );
    assert_snapshot!(home.see(&["sessions", "verify"]), @r#"
    ✓ file           58 pages
    ✓ schema         46 objects
    ✓ indexes        6 messages
    ✓ counters       5 sessions
    ✓ relations      5 sessions
    ✓ side tables    5 sessions, 5 notes
      · hx_session 20250305_091523_a1b2c3 is to be told anew: preview and times
      · hx_session 20250304_150000_b0b0b0 is to be told anew: preview and times
      · hx_session 20250303_101500_f1f2f3f4 is to be told anew: preview and times
      · hx_session cron_job1 is to be told anew: preview and times
      · hx_session tool_1 is to be told anew: preview and times
    ✓ index backlog  2 indexes, 2 notes
      · table messages has 6 messages that are still to be indexed
      · indexes are being made anew; optimize goes on with it
    The store is sound.
    --- stderr
    note: the store is in use by hermes now; a copy of it as it was is kept in [HOME]/state.db.backup-v11
    note: old messages are being put into the search index while the store is in use
    --- exit 0
    "#);
}
