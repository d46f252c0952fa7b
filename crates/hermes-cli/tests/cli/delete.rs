//! `hermes sessions delete`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

/// Deletes for good; `trash.rs` tests deletion into the trash.
fn delete(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "delete", "--permanent"], args].concat())
}

/// Creates transcript files like the agent's.
fn transcripts(home: &Home, names: &[&str]) {
    std::fs::create_dir_all(home.path().join("sessions")).unwrap();
    names.iter().for_each(|name| std::fs::write(home.path().join("sessions").join(name), "{}").unwrap());
}

fn left(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path().join("sessions")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn without_anybody_to_ask_nothing_goes() {
    let home = several();
    assert_snapshot!(delete(&home, &["refactoring auth"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Delete this conversation for good?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)), Ok(5_i64));
}

#[test]
fn a_conversation_goes_as_a_whole_with_its_transcripts_and_branches_stay() {
    let home = compressed();
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(LONG_AGO + 90.0).unwrap());
        let child = hermes_session::NewChild::new(SessionId::parse("branch").unwrap());
        store.branch(&SessionId::parse("second").unwrap(), &child, &at).await.unwrap();
    });
    transcripts(
        &home,
        &[
            "session_first.json",
            "first.jsonl",
            "second.json",
            "request_dump_second_20250305_091523_000001.json",
            "request_dump_second_x.json",
            "session_branch.json",
            "sessions.json",
            "second.txt",
            "seconds.json",
        ],
    );
    assert_snapshot!(delete(&home, &["first", "--yes"]), @r#"
    Deleted long work #2 for good (2 sessions, 2 messages, 4 transcripts).
    --- exit 0
    "#);
    assert_eq!(
        left(&home),
        ["request_dump_second_x.json", "second.txt", "seconds.json", "session_branch.json", "sessions.json"]
    );
    let ids: String = home.foreign().query_row("SELECT group_concat(id) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(ids, "branch");
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
}

/// Returns a home with a conversation of two sessions, the first of which sent a delegate that was compressed.
pub(crate) fn delegating() -> Home {
    let home = compressed();
    home.write(async |store| {
        let id = |text: &str| SessionId::parse(text).unwrap();
        let at = Request::at(Timestamp::from_seconds(LONG_AGO + 90.0).unwrap());
        let helper = NewSession::new(id("helper"), Source::parse("cli").unwrap());
        store.create(&helper.child_of(id("first"), hermes_session::Relation::Delegate), &at).await.unwrap();
        store.append(&id("helper"), &[NewMessage::new(Role::User, "look there")], &at).await.unwrap();
        let on = hermes_session::NewChild::new(id("helper_on"));
        store.split(&id("helper"), &on, &[NewMessage::new(Role::User, "look on")], &at).await.unwrap();
    });
    transcripts(&home, &["first.jsonl", "helper.json", "session_helper_on.json"]);
    home
}

#[test]
fn a_delegate_goes_alone_and_it_is_said_what_stays() {
    let home = delegating();
    assert_snapshot!(delete(&home, &["helper_on"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Delete this delegate for good?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    assert_snapshot!(delete(&home, &["helper", "--yes"]), @r#"
    Deleted the delegate helper_on for good (2 sessions, 2 messages, 2 transcripts).
    The conversation second stays.
    --- exit 0
    "#);
    assert_eq!(left(&home), ["first.jsonl"]);
    let sql = "SELECT group_concat(id) FROM (SELECT id FROM sessions ORDER BY id)";
    assert_eq!(home.foreign().query_row(sql, [], |row| row.get(0)), Ok("first,second".to_owned()));
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
    let home = delegating();
    let run = home.hermes(&["sessions", "delete", "helper", "--now", "--yes", "--json"]).stdout();
    let json: Value = serde_json::from_str(&run).unwrap();
    let expected = serde_json::json!(
        {"schema": 1, "dry_run": false, "id": "helper_on", "sent_from": "second", "sessions": 2, "messages": 2, "files": 2, "until": null, "owner": null}
    );
    assert_eq!(json, expected);
    assert!(
        delete(&home, &["second", "--yes"])
            .starts_with("Deleted long work #2 for good (2 sessions, 2 messages, 1 transcript).")
    );
}

#[test]
fn no_id_reaches_a_file_that_is_not_its_own() {
    let ids = ["../mine", "*", ".", "sessions", "x/y", "/etc/mine"];
    let home = Home::empty();
    ids.iter().for_each(|id| _ = home.talk(id, "cli", None, LONG_AGO, &[(Role::User, "x")]));
    transcripts(&home, &["sessions.json", "a.json", "session_a.json", "*.jsonl", ".json", "..json"]);
    std::fs::write(home.path().join("mine.json"), "mine").unwrap();
    for id in ids {
        assert!(delete(&home, &["--yes", id]).ends_with("1 message).\n--- exit 0"), "{id}");
    }
    assert_eq!(left(&home), ["*.jsonl", "..json", ".json", "a.json", "session_a.json", "sessions.json"]);
    assert!(home.path().join("mine.json").exists());
}

#[test]
fn transcripts_of_another_store_stay() {
    let home = several();
    transcripts(&home, &["session_tool_1.json"]);
    assert!(home.see(&["sessions", "backup", "copy.db"]).ends_with("--- exit 0"));
    assert_snapshot!(delete(&home, &["tool_1", "--yes", "--url", "copy.db"]), @r#"
    Deleted made by a tool for good (1 session, 1 message).
    --- exit 0
    "#);
    assert_eq!(left(&home), ["session_tool_1.json"]);
    let json: Value = serde_json::from_str(
        &home
            .hermes(&["sessions", "delete", "tool_1", "--permanent", "--yes", "--json", "--url", "./state.db"])
            .stdout(),
    )
    .unwrap();
    assert_eq!(
        json,
        serde_json::json!({"schema": 1, "dry_run": false, "id": "tool_1", "sent_from": null, "sessions": 1, "messages": 1, "files": 1, "until": null, "owner": null})
    );
    assert_eq!(left(&home), [""; 0]);
}

fn ids(home: &Home) -> String {
    let sql = "SELECT group_concat(id, ' ') FROM (SELECT id FROM sessions ORDER BY id)";
    home.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn several_are_asked_about_once_and_go_together() {
    let home = several();
    assert_snapshot!(delete(&home, &["refactoring auth", "tool_1", "cron"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Delete 3 conversations for good?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    assert_snapshot!(delete(&home, &["refactoring auth", "tool_1", "tool_1", "--yes"]), @r#"
    Deleted refactoring auth for good (1 session, 2 messages).
    Deleted made by a tool for good (1 session, 1 message).
    --- exit 0
    "#);
    assert_eq!(ids(&home), "20250303_101500_f1f2f3f4 20250304_150000_b0b0b0 cron_job1");
    let seen = home.hermes(&["sessions", "delete", "cron", "20250303", "--yes", "-j"]).stdout();
    let rows: Vec<Value> = seen.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&rows[0]["id"], &rows[1]["id"], rows.len()),
        (&"cron_job1".into(), &"20250303_101500_f1f2f3f4".into(), 2)
    );
}

#[test]
fn nothing_goes_unless_all_are_found() {
    let home = several();
    let before = ids(&home);
    let seen = delete(&home, &["tool_1", "nobody", "cron_job1", "--yes"]);
    assert!(seen.contains("error: no session matches \"nobody\"") && seen.ends_with("--- exit 1"), "{seen}");
    assert_eq!(ids(&home), before);
}

#[test]
fn a_conversation_takes_the_delegates_that_were_named_too() {
    let home = delegating();
    assert_snapshot!(delete(&home, &["helper", "second", "first", "--yes"]), @r#"
    Deleted long work #2 for good (4 sessions, 4 messages, 3 transcripts).
    --- exit 0
    "#);
    assert!(home.see(&["sessions", "verify"]).contains("The store is sound."));
}

#[test]
fn a_dry_run_shows_what_would_go_and_changes_nothing() {
    let home = delegating();
    let files = || -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
        // A reader makes these, empty.
        let is_log =
            |path: &PathBuf| path.to_string_lossy().ends_with("-wal") || path.to_string_lossy().ends_with("-shm");
        let mut files: Vec<_> = entries.filter(|path| path.is_file() && !is_log(path)).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    };
    home.talk("other", "cli", None, LONG_AGO, &[(Role::User, "x")]);
    let before = files();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"until \d{4}-\d\d-\d\d", "until [DAY]");
    settings.bind(|| {
        assert_snapshot!(home.see(&["sessions", "delete", "helper", "other", "--dry-run"]), @r#"
        look there
        id          helper_on
        source      cli
        started     2025-03-05 09:16
        sessions    2
        messages    2
        files       2 transcripts
        sent from   second, which stays

        x
        id          other
        source      cli
        started     2025-03-05 09:15
        sessions    1
        messages    1

        Would move 1 conversation and 1 delegate to the trash until [DAY]. Nothing
        was changed.
        --- exit 0
        "#);
    });
    let seen = delete(&home, &["first", "--dry-run"]);
    assert!(seen.contains("Would delete 1 conversation for good. Nothing was changed.\n--- exit 0"), "{seen}");
    let json: Value =
        serde_json::from_str(&home.hermes(&["sessions", "delete", "helper", "--now", "--dry-run", "-j"]).stdout())
            .unwrap();
    let expected = serde_json::json!(
        {"schema": 1, "dry_run": true, "id": "helper_on", "sent_from": "second", "sessions": 2, "messages": 2, "files": 2, "until": null, "owner": null}
    );
    assert_eq!(json, expected);
    assert!(files() == before && left(&home) == ["first.jsonl", "helper.json", "session_helper_on.json"]);
}

#[test]
fn missing_and_ambiguous_sessions_are_reported() {
    let home = several();
    assert_snapshot!(delete(&home, &["nobody", "--yes"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    assert!(
        delete(&home, &["2025", "--yes"])
            .starts_with("--- stderr\nerror: more than one session id starts with \"2025\"")
    );
    assert_snapshot!(delete(&home, &["", "--yes"]), @r#"
    --- stderr
    error: SESSION is empty
    hint: give an id, the start of one, a title, @last, or the number of a row such as @3
    --- exit 2
    "#);
    assert_snapshot!(delete(&Home::empty(), &["x", "--yes"]), @r#"
    --- stderr
    error: there is no session store at [HOME]/state.db
    hint: `hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one
    --- exit 1
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)), Ok(5_i64));
}

#[test]
fn messages_of_every_state_are_counted_before_and_after() {
    let home = show::with_states();
    // Agents count active messages only.
    home.damage("UPDATE sessions SET message_count = 5");
    let plan = delete(&home, &["s", "--dry-run"]);
    assert!(plan.contains("\nmessages    19 (12 compacted, 2 undone)\n"), "{plan}");
    let json = home.hermes(&["sessions", "delete", "s", "--dry-run", "-j"]).stdout();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["messages"], 19);
    assert_snapshot!(delete(&home, &["s", "--yes"]), @r#"
    Deleted s for good (1 session, 19 messages (12 compacted, 2 undone)).
    --- exit 0
    "#);
}

#[test]
#[cfg(target_os = "linux")]
fn an_error_about_the_output_says_that_the_change_was_made() {
    let home = several();
    let error = |args: &[&str]| {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut run = home.hermes(&[&["sessions"], args].concat());
        let output = run.command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let made = "error: could not write the output; the change was made: No space left";
    for args in
        [&["delete", "tool_1", "--yes"][..], &["delete", "cron_job1", "--yes", "-j"], &["trash", "empty", "--yes"]]
    {
        let seen = error(args);
        assert!(seen.starts_with(made), "{args:?}: {seen}");
    }
    assert!(!ids(&home).contains("tool_1") && !ids(&home).contains("cron_job1"));
    let seen = error(&["delete", "20250305", "20250304", "--dry-run"]);
    assert!(seen.starts_with("error: could not write the output: No space left"), "{seen}");
    let seen = error(&["delete", "20250305", "20250304", "--yes"]);
    assert!(seen.starts_with(made) && seen.contains("hint: 1 of 2 were deleted before that"), "{seen}");
}
