//! Confirmation prompts at a terminal.

use super::*;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;

/// Runs a command at a terminal and types `answer`. Returns the output and the exit code.
#[cfg(target_os = "linux")]
fn answered(mut run: Run<'_>, answer: &str) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    let terminal = || std::fs::File::options().read(true).write(true).open(path).unwrap();
    let home = run.home.path().display().to_string();
    let command = run.command.env("NO_COLOR", "1").env("TERM", "xterm");
    let mut child = command.stdin(terminal()).stdout(terminal()).stderr(terminal()).spawn().unwrap();
    drop(run);
    let mut master = std::fs::File::from(master);
    master.write_all(answer.as_bytes()).unwrap();
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    // Reading fails once the terminal has no other user.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
    }
    let code = child.wait().unwrap().code().unwrap();
    let text = String::from_utf8(seen).unwrap().replace("\r\n", "\n").replace(&home, "[HOME]");
    // The terminal echoes input when it is typed, before or after the question.
    format!("{}--- exit {code}", text.replacen(&answer.replace('\u{4}', ""), "", 1).replacen("^D\u{8}\u{8}", "", 1))
}

#[test]
fn a_person_sees_what_would_go_and_says_no() {
    let home = compressed();
    std::fs::create_dir(home.path().join("sessions")).unwrap();
    std::fs::write(home.path().join("sessions/first.jsonl"), "").unwrap();
    insta::assert_snapshot!(answered(home.hermes(&["sessions", "delete", "first"]), "no\n"), @r#"
    long work #2
    id          second
    source      cli
    started     2025-03-05 09:15
    sessions    2
    messages    2
    files       1 transcript
    Move this conversation to the trash? [y/N] Nothing was changed.
    --- exit 0
    "#);
    for answer in ["\n", "maybe\n", "\u{4}"] {
        let seen = answered(home.hermes(&["sessions", "delete", "first"]), answer);
        assert!(seen.ends_with("Nothing was changed.\n--- exit 0") && !seen.contains("error:"), "{answer:?}: {seen}");
    }
    let left = home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0));
    assert_eq!((left, home.path().join("sessions/first.jsonl").exists()), (Ok(2_i64), true));
}

#[test]
fn of_a_delegate_it_is_said_what_it_was_sent_from() {
    let home = delete::delegating();
    insta::assert_snapshot!(answered(home.hermes(&["sessions", "delete", "helper"]), "no\n"), @r#"
    look there
    id          helper_on
    source      cli
    started     2025-03-05 09:16
    sessions    2
    messages    2
    files       2 transcripts
    sent from   second, which stays
    Move this delegate to the trash? [y/N] Nothing was changed.
    --- exit 0
    "#);
}

#[test]
fn about_several_one_question_is_asked() {
    let home = delete::delegating();
    home.talk("other", "cli", None, LONG_AGO, &[(Role::User, "x")]);
    insta::assert_snapshot!(answered(home.hermes(&["sessions", "delete", "helper", "other"]), "no\n"), @r#"
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
    Move 1 conversation and 1 delegate to the trash? [y/N] Nothing was changed.
    --- exit 0
    "#);
    let seen = answered(home.hermes(&["sessions", "delete", "helper", "other"]), "y\n");
    assert!(seen.contains("\nThey can be restored until ") && seen.contains(" restore helper_on other\n"), "{seen}");
}

#[test]
fn a_clear_yes_is_taken() {
    for answer in ["y\n", "YES\n"] {
        let home = compressed();
        let seen = answered(home.hermes(&["sessions", "delete", "first"]), answer);
        assert!(
            seen.contains("Moved long work #2 to the trash (2 sessions, 2 messages).\nIt can be restored until ")
                && seen.ends_with("--- exit 0"),
            "{seen}"
        );
    }
}

#[test]
fn pruning_and_overwriting_ask_too() {
    let home = compressed();
    home.damage("UPDATE sessions SET ended_at = 1741166123.0");
    std::fs::write(home.path().join("mine"), "mine").unwrap();
    insta::assert_snapshot!(answered(home.hermes(&["sessions", "prune"]), "no\n"), @r#"
    Title         Last active  Source  Sessions  Msgs  ID
    ─────────────────────────────────────────────────────────
    long work #2  2025-03-05   cli            2     2  second
    Delete 1 conversation without activity for 90 days, for good? [y/N] Nothing was changed.
    --- exit 0
    "#);
    insta::assert_snapshot!(answered(home.hermes(&["sessions", "export", "mine"]), "no\n"), @r#"
    [HOME]/mine already exists. Overwrite it? [y/N] Nothing was changed.
    --- exit 0
    "#);
    assert_eq!(std::fs::read_to_string(home.path().join("mine")).unwrap(), "mine");
    assert!(answered(home.hermes(&["sessions", "export", "mine"]), "y\n").contains("sessions    2\n"));
}

/// The version in the trash and the one that the agent continued under the same id are two; both would be erased.
#[cfg(target_os = "linux")]
#[test]
fn erase_lists_entries_of_the_trash_before_it_asks() {
    let home = several();
    home.see(&["sessions", "delete", "refactoring auth", "--yes"]);
    home.talk("20250305_091523_a1b2c3", "cli", None, LONG_AGO, &[(Role::User, "again")]);
    let seen = answered(home.hermes(&["sessions", "erase", "refactoring auth"]), "no\n");
    let shown = ["again", "messages    1", "In the trash", "refactoring auth", "Erase this conversation for good?"];
    assert!(shown.iter().all(|text| seen.contains(text)), "{seen}");
}

#[cfg(target_os = "linux")]
#[test]
fn errors_and_hints_are_broken_between_words_at_a_terminal() {
    let home = several();
    let seen = answered(home.hermes(&["sessions", "show", "nobody"]).env("COLUMNS", "40"), "");
    assert!(
        seen.lines().all(|line| line.len() <= 40) && seen.contains("error: no session matches \"nobody\"\n"),
        "{seen}"
    );
    let hint = seen.split_once("hint: ").unwrap().1.replace('\n', " ");
    assert!(hint.starts_with("`hermes sessions list` lists conversations, "), "{seen}");
    let piped = home.hermes(&["sessions", "show", "nobody"]).env("COLUMNS", "40").see();
    assert!(piped.contains("hint: `hermes sessions list` lists conversations, "), "{piped}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_in_a_note_stays_on_one_line() {
    let home = several();
    let run = home.hermes(&["sessions", "list", "--limit", "1", "--order", "started"]).env("COLUMNS", "40");
    let seen = answered(run, "");
    let command = "hermes sessions list --order started --limit 1 --offset 1";
    assert!(seen.contains(&format!("note: there are more:\n{command}\n")), "{seen}");
}
