//! Notices of opening a store are printed once, by any command.

use super::*;
use insta::assert_snapshot;
use std::os::unix::fs::PermissionsExt as _;

fn open_to_others(home: &Home) {
    std::fs::set_permissions(home.database(), std::fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn a_command_that_writes_reports_changes_made_by_opening() {
    let home = several();
    let note = "state.db was accessible to other users; changed its mode from 644 to 600\n";
    let commands: [&[&str]; 4] = [
        &["sessions", "rename", "cron_job1", "a"],
        &["sessions", "rename", "cron_job1", "b", "--json"],
        &["sessions", "optimize"],
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
    }
    assert!(
        !home.see(&["sessions", "rename", "cron_job1", "c"]).contains("note:"),
        "the second time there is nothing to tell"
    );
}

#[test]
fn an_adoption_is_announced() {
    let home = several();
    home.damage(
        "DROP TABLE hx_session; DROP TABLE hx_request; DROP TABLE hx_state; DROP TABLE hx_hidden;
         DROP INDEX hx_sessions_card; DROP TRIGGER hx_session_born; DROP TRIGGER hx_session_gone; DROP TRIGGER hx_session_moved;
         DROP TRIGGER hx_session_restarted; DROP TRIGGER hx_message_said; DROP TRIGGER hx_message_changed;
         DROP TRIGGER hx_message_gone; DROP TRIGGER messages_fts_update; PRAGMA user_version = 0",
    );
    let looked = home.see(&["sessions", "list"]);
    assert!(!looked.contains("note:") && looked.ends_with("--- exit 0"), "{looked}");
    assert_snapshot!(home.see(&["sessions", "rename", "cron_job1", "new"]), @r#"
    Renamed "Größe 👨‍👩‍👧 ❤️" to "new"
    --- stderr
    note: adopted this file: 27 tables, indexes and triggers of ours (hx_…) were added beside the agent's; no copy was kept, because the agent's own tables are unchanged; `hermes sessiondb detach` removes them
    note: old messages are not in the search index yet; hermes adds them before it exits
    --- exit 0
    "#);
}
