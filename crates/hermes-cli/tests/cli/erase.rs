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
    error: Erase this for good? Nobody is here to answer that
    hint: give --yes to do it without being asked
    --- exit 1
    "#);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(
        r"\d+ signs of it are nowhere in [\d.]+ [KM]iB, and \d+ words",
        "[N] signs of it are nowhere in [SIZE], and [N] words",
    );
    settings.bind(|| {
        assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
        Erased hush (1 session, 1 message, 1 transcript).
        Nothing is left: [N] signs of it are nowhere in [SIZE], and [N] words in no index.
        --- exit 0
        "#);
    });
    assert!(!holds(&home, "state.db") && !home.path().join("sessions/session_secret.json").exists());
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
    assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
    --- stderr
    error: no session matches "hush"
    hint: `hermes sessions list` shows what there is
    --- exit 1
    "#);
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
    assert!(told.contains("mine.bak holds some of it still") && told.contains("remove it with: rm "), "{told}");
    assert_eq!(output.status.code(), Some(0));
    assert!(!holds(&home, "state.db") && holds(&home, "mine.bak"));
}

#[test]
fn while_somebody_has_it_open_that_is_said() {
    let home = secretive();
    let foreign = home.foreign();
    let sessions: i64 = foreign.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(sessions, 6);
    assert_snapshot!(erase(&home, &["hush", "--yes"]), @r#"
    Erased hush (1 session, 1 message, 1 transcript).
    --- stderr
    error: another program has the store open: some of it may be left in the file's free room and in its log
    hint: stop your agents, then run: hermes sessions erase --finish
    --- exit 1
    "#);
    drop(foreign);
    assert_snapshot!(erase(&home, &["--finish"]), @r#"
    The file was rewritten: it has neither free room nor a log.
    --- exit 0
    "#);
    assert!(!holds(&home, "state.db") && !holds(&home, "state.db-wal"));
}

/// The agent may go on under an id that is in the trash. Whoever names the one is shown both, and both go, with all their transcripts.
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

/// A goal that the agent keeps beside a conversation goes with it; what stands elsewhere in its tables is told.
#[test]
fn what_the_agents_tables_have_goes_or_is_told() {
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
    hint: nothing tells which conversation those rows belong to; look at them with sqlite3 and delete them there, while no agent runs
    --- exit 1
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM state_meta", [], |row| row.get(0)), Ok(0_i64));
}

/// Somebody was interrupted when the rows were gone: the transcripts are not left for good.
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
    hint: `hermes sessions list` shows what there is
    hint: somebody was interrupted while they erased something; to end that, run: hermes sessions erase --finish
    --- exit 1
    "#);
    assert_snapshot!(erase(&home, &["--finish"]), @r#"
    Removed 1 transcript that had been left.
    The file was rewritten: it has neither free room nor a log.
    --- exit 0
    "#);
    assert!(!holds(&home, "state.db") && home.path().join("sessions/tool_1.json").exists());
}
