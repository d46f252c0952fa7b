//! `hermes sessions erase`

use super::*;
use insta::assert_snapshot;
use serde_json::{Value, json};

const SECRET: &str = "the codename Zanzibarium stays between us";

fn secretive() -> Home {
    let home = several();
    home.talk("secret", "cli", Some("hush"), LONG_AGO, &[(Role::User, SECRET)]);
    std::fs::create_dir_all(home.path().join("sessions")).unwrap();
    std::fs::write(home.path().join("sessions/session_secret.json"), SECRET).unwrap();
    home
}

fn erase(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "erase"], args].concat())
}

fn holds(home: &Home, name: &str) -> bool {
    let bytes = std::fs::read(home.path().join(name)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    text.contains("zanzibarium")
}

#[test]
fn nothing_is_left_and_that_is_proven() {
    let home = secretive();
    assert!(holds(&home, "state.db"));
    assert_snapshot!(erase(&home, &["hush"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Erase this conversation for good?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(
        r"none of \d+ passages is left in [\d.]+ [KM]iB, none of \d+ rare words",
        "none of [N] passages is left in [SIZE], none of [N] rare words",
    );
    settings.bind(|| {
        assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
        Erased hush (1 session, 1 message, 1 transcript).
        Verified: none of [N] passages is left in [SIZE], none of [N] rare words in the indexes.
        --- exit 0
        "#);
    });
    assert!(!holds(&home, "state.db") && !home.path().join("sessions/session_secret.json").exists());
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
    assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
    --- stderr
    error: no session matches "hush"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
}

#[test]
fn words_are_left_out_of_the_proof_if_none_was_rare() {
    let home = Home::empty();
    for id in ["one", "two"] {
        home.talk(id, "cli", None, LONG_AGO, &[(Role::User, "we can go")]);
    }
    let seen = erase(&home, &["one", "--yes"]);
    assert!(seen.contains("Verified: none of ") && seen.contains("iB.\n") && !seen.contains("rare"), "{seen}");
}

#[test]
fn what_is_in_the_trash_is_erased_and_copies_are_named() {
    let home = secretive();
    assert!(home.see(&["sessions", "backup", "mine.bak"]).ends_with("--- exit 0"));
    home.see(&["sessions", "delete", "secret", "--yes"]);
    std::fs::write(home.path().join("sessions/other.jsonl"), SECRET).unwrap();
    let output = home.hermes(&["sessions", "erase", "hush", "--yes", "--json"]).output();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["clean"], &json["rewritten"], &json["left"]), (&json!(true), &json!("done"), &json!([])));
    assert_eq!((&json["sessions"], &json["messages"], &json["files"]), (&json!(1), &json!(1), &json!(1)));
    assert!(json["needles"].as_u64().unwrap() > 3 && json["scanned_bytes"].as_u64().unwrap() > 10_000, "{json}");
    let elsewhere = ["mine.bak", "sessions/other.jsonl"].map(|name| home.path().join(name).display().to_string());
    assert_eq!(json["elsewhere"], json!(elsewhere));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("mine.bak still contains some of it") && told.contains("remove it with: rm "), "{told}");
    assert_eq!(output.status.code(), Some(0));
    assert!(!holds(&home, "state.db") && holds(&home, "mine.bak"));
}

#[test]
fn an_erase_of_a_file_that_is_open_elsewhere_is_unfinished() {
    let home = secretive();
    let foreign = home.foreign();
    let sessions: i64 = foreign.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(sessions, 6);
    assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
    Erased hush (1 session, 1 message, 1 transcript).
    --- stderr
    error: another program has the store open: some of it may be left in free pages of the file and in its WAL
    hint: stop your agents, then run: hermes sessions erase --finish
    --- exit 1
    "#);
    drop(foreign);
    assert_snapshot!(erase(&home, &["--finish"]), @r#"
    The file was rewritten; it has no free pages and no WAL.
    --- exit 0
    "#);
    assert!(!holds(&home, "state.db") && !holds(&home, "state.db-wal"));
}

/// The agent may continue under an id that is in the trash. Both versions are shown and erased, with all their
/// transcripts.
#[test]
fn what_the_store_and_the_trash_have_is_shown_and_goes() {
    let home = secretive();
    home.see(&["sessions", "delete", "secret", "--yes"]);
    home.talk("secret", "cli", None, LONG_AGO, &[(Role::User, "going on about Zanzibarium")]);
    std::fs::write(home.path().join("sessions/secret.jsonl"), SECRET).unwrap();
    let output = home.hermes(&["sessions", "erase", "hush", "--yes", "--json"]).output();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["clean"], &json["tables_left"]), (&json!(true), &json!([])));
    assert_eq!((&json["sessions"], &json["messages"], &json["files"]), (&json!(2), &json!(2), &json!(2)));
    assert!(!holds(&home, "state.db"));
    assert!(std::fs::read_dir(home.path().join("sessions")).unwrap().next().is_none());
    assert!(home.see(&["sessions", "list"]).contains("refactoring auth"), "others stay");
}

/// A goal that the agent keeps for a conversation is erased with it. Traces elsewhere in the agent's tables are
/// reported.
#[test]
fn rows_of_the_agents_tables_are_erased_or_reported() {
    let home = secretive();
    let goal = "INSERT INTO state_meta VALUES ('goal:secret', 'find Zanzibarium')";
    home.foreign().execute_batch(goal).unwrap();
    home.foreign()
        .execute_batch(&format!("CREATE TABLE notebook (page TEXT); INSERT INTO notebook VALUES ('{SECRET}')"))
        .unwrap();
    assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
    Erased hush (1 session, 1 message, 1 transcript).
    --- stderr
    error: some of it is left in the agent's tables: notebook
    hint: those rows do not name their conversation; find and delete them with sqlite3 while no agent is running
    --- exit 1
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM state_meta", [], |row| row.get(0)), Ok(0_i64));
}

/// After an interruption when the rows were gone, the transcripts can still be removed.
#[test]
fn what_was_interrupted_can_be_finished() {
    let home = secretive();
    home.see(&["sessions", "delete", "secret", "--permanent", "--yes"]);
    std::fs::write(home.path().join("sessions/session_secret.json"), SECRET).unwrap();
    home.foreign().execute_batch("INSERT INTO hx_state VALUES ('erasing', '[\"secret\", \"tool_1\"]')").unwrap();
    std::fs::write(home.path().join("sessions/tool_1.json"), "of one that is there").unwrap();
    assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
    --- stderr
    error: no session matches "hush"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    hint: an earlier erase was interrupted; to finish it, run: hermes sessions erase --finish
    --- exit 1
    "#);
    assert_snapshot!(erase(&home, &["--finish"]), @r#"
    Removed 1 transcript left over from before.
    The file was rewritten; it has no free pages and no WAL.
    --- exit 0
    "#);
    assert!(!holds(&home, "state.db") && home.path().join("sessions/tool_1.json").exists());
}
