//! Questions to a person at a terminal.

use super::*;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;

/// What a person sees who answers so, and the exit code.
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
    // Once nobody has the terminal open any more, reading fails.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
    }
    let code = child.wait().unwrap().code().unwrap();
    let text = String::from_utf8(seen).unwrap().replace("\r\n", "\n").replace(&home, "[HOME]");
    // The terminal shows what is typed when it is typed, be that before or after the question.
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
    Delete this conversation? [y/N] error: cancelled, nothing was changed
    hint: answer y to go on, or give --yes
    --- exit 1
    "#);
    for answer in ["\n", "maybe\n", "\u{4}"] {
        assert!(answered(home.hermes(&["sessions", "delete", "first"]), answer).ends_with("--- exit 1"), "{answer:?}");
    }
    let left = home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0));
    assert_eq!((left, home.path().join("sessions/first.jsonl").exists()), (Ok(2_i64), true));
}

#[test]
fn of_a_delegate_it_is_said_what_it_was_sent_from() {
    let home = delete::delegating();
    insta::assert_snapshot!(answered(home.hermes(&["sessions", "delete", "helper"]), "no\n"), @r#"
    (no title)
    id          helper_on
    source      cli
    started     2025-03-05 09:16
    sessions    2
    messages    2
    files       2 transcripts
    sent from   second, which stays
    Delete this delegate? [y/N] error: cancelled, nothing was changed
    hint: answer y to go on, or give --yes
    --- exit 1
    "#);
}

#[test]
fn a_clear_yes_is_taken() {
    for answer in ["y\n", "YES\n"] {
        let home = compressed();
        let seen = answered(home.hermes(&["sessions", "delete", "first"]), answer);
        assert!(
            seen.contains("Deleted long work #2 (2 sessions, 2 messages).\nUntil ") && seen.ends_with("--- exit 0"),
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
    1 conversation with 2 messages.
    Delete 1 conversation? [y/N] error: cancelled, nothing was changed
    hint: answer y to go on, or give --yes
    --- exit 1
    "#);
    insta::assert_snapshot!(answered(home.hermes(&["sessions", "export", "mine"]), "no\n"), @r#"
    [HOME]/mine is there already. Overwrite it? [y/N] error: cancelled, nothing was changed
    hint: answer y to go on, or give --yes
    --- exit 1
    "#);
    assert_eq!(std::fs::read_to_string(home.path().join("mine")).unwrap(), "mine");
    assert!(answered(home.hermes(&["sessions", "export", "mine"]), "y\n").contains("sessions    2\n"));
}

/// What is in the trash and what the agent has said since under the same id are two things, and both would go.
#[cfg(target_os = "linux")]
#[test]
fn who_erases_is_shown_what_the_trash_has_too() {
    let home = several();
    home.see(&["sessions", "delete", "refactoring auth", "--yes"]);
    home.talk("20250305_091523_a1b2c3", "cli", None, LONG_AGO, &[(Role::User, "again")]);
    let seen = answered(home.hermes(&["sessions", "erase", "refactoring auth"]), "no\n");
    let shown = ["(no title)", "messages    1", "In the trash", "refactoring auth", "Erase this for good?"];
    assert!(shown.iter().all(|text| seen.contains(text)), "{seen}");
}
