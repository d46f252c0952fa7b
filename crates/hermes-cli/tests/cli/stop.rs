//! Ctrl-C: work ends between two steps, reports where, and leaves a sound store.

use super::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read as _, Write as _};
use std::process::Child;

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

fn sound(home: &Home) {
    let seen = home.see(&["sessions", "verify"]);
    assert!(seen.contains("The store is sound."), "{seen}");
}

fn spawn(run: &mut Run<'_>) -> Child {
    run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a process has installed its signal handlers.
#[cfg(target_os = "linux")]
pub(super) fn wait_until_it_listens(child: &Child) {
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        u64::from_str_radix(caught, 16).unwrap() & (1 << 1) != 0
    };
    while !listens() {
        std::thread::yield_now();
    }
}

fn sessions(home: &Home) -> i64 {
    home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap()
}

#[test]
fn an_import_ends_behind_a_line_and_can_go_on() {
    let home = Home::with_store();
    let filler = "x".repeat(2_000);
    let line = |number: i64| {
        format!(
            "{{\"id\": \"s{number}\", \"source\": \"cli\", \"started_at\": 1, \"messages\": [{{\"role\": \"user\", \"content\": \"{filler}\"}}]}}\n"
        )
    };
    let lines: String = (0..100).map(line).collect();
    let mut run = home.hermes(&["sessions", "import", "-"]);
    let mut child = spawn(&mut run);
    // More than a pipe holds: once all is written, some has been read.
    child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    // An incomplete line is not imported.
    child.stdin.as_mut().unwrap().write_all(&line(100).as_bytes()[..50]).unwrap();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    let told: i64 =
        errors.strip_prefix("error: stopped after line ").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(errors.ends_with(" of stdin\nhint: run it again; existing sessions are skipped\n"), "{errors}");
    assert_eq!(sessions(&home), told);
    std::fs::write(home.path().join("in.jsonl"), lines).unwrap();
    assert!(home.see(&["sessions", "import", "in.jsonl"]).ends_with("--- exit 0"));
    assert_eq!(sessions(&home), 100);
    sound(&home);
}

/// The command waits for more input when the signal and the end of the input arrive together.
#[test]
fn an_incomplete_line_behind_a_signal_is_not_read() {
    let home = Home::with_store();
    let mut run = home.hermes(&["sessions", "import", "-"]);
    let mut child = spawn(&mut run);
    let lines = "{\"id\": \"a\", \"source\": \"cli\", \"started_at\": 1, \"messages\": []}\n{\"id\": \"b\", \"sou";
    child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    // Sessions are stored in groups, so nothing outside shows that the first line was read.
    std::thread::sleep(std::time::Duration::from_secs(1));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let (told, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{told}{errors}");
    assert!(errors.starts_with("error: stopped after line 1 of stdin\n"), "{errors}");
    assert!(told.starts_with("imported    1 session, 0 messages\n") && !told.contains("bad lines"), "{told}");
}

#[test]
fn an_export_ends_between_two_pieces() {
    let home = Home::empty();
    home.talk("long", "cli", None, LONG_AGO, &[(Role::User, "x")]);
    home.damage(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO messages (session_id, role, content, timestamp) SELECT 'long', 'user', hex(zeroblob(500)), 1800000000.0 FROM n",
    );
    let mut run = home.hermes(&["sessions", "export", "-"]);
    let mut child = spawn(&mut run);
    // It is running, and can't end before its output is read.
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: stopped after 1 session and "), "{errors}");
    assert_eq!(output.status.code(), Some(130));
}

#[test]
#[cfg(target_os = "linux")]
fn a_prune_ends_between_two_steps() {
    let home = Home::with_store();
    home.damage(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
         INSERT INTO sessions (id, source, started_at, ended_at) SELECT printf('s%05d', i), 'cli', 1000.0 + i, 2000.0 + i FROM n",
    );
    let holder = home.foreign();
    let mut run = home.hermes(&["sessions", "prune", "--yes"]);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let child = spawn(&mut run);
    wait_until_it_listens(&child);
    interrupt(&child);
    holder.execute_batch("COMMIT").unwrap();
    let output = child.wait_with_output().unwrap();
    let (told, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{told}{errors}");
    let gone = 1200 - sessions(&home);
    assert!((1..=500).contains(&gone), "{gone}");
    assert!(told.contains(&format!("Deleted {gone} conversation")), "{told}");
    let next = format!("error: stopped after {gone} of 1,200 conversations, before s{:05}\n", gone + 1);
    assert!(errors.starts_with(&next), "{errors}");
    assert!(home.see(&["sessions", "prune", "--yes"]).ends_with("--- exit 0"));
    assert_eq!(sessions(&home), 0);
    sound(&home);
}

#[test]
#[cfg(target_os = "linux")]
fn optimizing_ends_between_two_steps() {
    let home = optimize::inline();
    let holder = home.foreign();
    let mut run = home.hermes(&["sessions", "optimize"]);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let child = spawn(&mut run);
    wait_until_it_listens(&child);
    interrupt(&child);
    holder.execute_batch("COMMIT").unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    // A note about the copy comes first if the signal arrived after it was made.
    assert!(errors.lines().any(|line| line == "error: stopped before new indexes were built"), "{errors}");
    assert_eq!(output.status.code(), Some(130));
    sound(&home);
}
