//! `-v` and `HERMES_LOG`: events on stderr, never on stdout, and nothing stored in them.

use super::*;
use std::io::{BufRead as _, BufReader};

const SECRET: &str = "zanzibarium";

/// Returns the lines of stderr that are events: a time, a level, a target.
fn events(output: &Output) -> Vec<String> {
    let levels = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let is_event = |line: &&str| line.split_whitespace().nth(1).is_some_and(|level| levels.contains(&level));
    text.lines().filter(is_event).map(ToOwned::to_owned).collect()
}

fn of_level(events: &[String], level: &str) -> usize {
    events.iter().filter(|line| line.split_whitespace().nth(1) == Some(level)).count()
}

#[test]
fn events_go_to_stderr_and_stdout_stays_the_same() {
    let home = several();
    let list = |more: &[&str]| home.hermes(&[&["sessions", "list", "--json"], more].concat()).output();
    let plain = list(&[]);
    assert!(plain.stderr.is_empty(), "{}", String::from_utf8_lossy(&plain.stderr));
    let mut counts = Vec::new();
    for flag in ["-v", "-vv", "-vvv"] {
        let output = list(&[flag]);
        assert_eq!(output.stdout, plain.stdout, "{flag}");
        let events = events(&output);
        let lines = String::from_utf8(output.stderr).unwrap().lines().count();
        assert_eq!(events.len(), lines, "{flag}: every line of stderr is an event");
        counts.push((of_level(&events, "INFO"), of_level(&events, "DEBUG")));
    }
    assert!(counts[0].0 > 0 && counts[0].1 == 0 && counts[1].1 > 0, "{counts:?}");
}

#[test]
fn the_variable_sets_targets_and_the_flag_comes_first() {
    let home = several();
    let run = |log: &str, args: &[&str]| home.hermes(args).env("HERMES_LOG", log).output();
    let list = ["sessions", "list"];
    assert!(of_level(&events(&run("debug", &list)), "DEBUG") > 0);
    let some = events(&run("hermes_sqlite=debug", &list));
    assert!(!some.is_empty() && some.iter().all(|line| line.contains(" hermes_sqlite::")), "{some:?}");
    assert_eq!(of_level(&events(&run("trace", &["-v", "sessions", "list"])), "DEBUG"), 0);
    assert!(run(" ", &list).stderr.is_empty());
    let seen = home.hermes(&list).env("HERMES_LOG", "hermes=loud").see();
    assert!(seen.contains("error: HERMES_LOG can't be read") && seen.contains("hint: write a level"), "{seen}");
}

#[test]
fn a_wait_for_a_foreign_writer_is_logged() {
    let home = several();
    let foreign = home.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut run = home.hermes(&["sessions", "rename", "refactoring auth", "New name", "-vv"]);
    let mut child = run.command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("DEBUG hermes_sqlite::writer: waiting for a foreign writer")));
    foreign.execute_batch("COMMIT").unwrap();
    assert!(lines.any(|line| line.contains("waited for a foreign writer") && line.contains("is_ours=true")));
    drop(lines);
    assert!(child.wait().unwrap().success());
}

/// Runs commands that read, write, search and rebuild, also with damaged indexes, and looks for a word that only stored text, titles and queries have.
#[test]
fn no_event_shows_text_titles_or_queries() {
    let home = Home::empty();
    let said = format!("the codename {SECRET} stays between us");
    home.talk("plain_1", "cli", Some(&format!("About {SECRET}")), LONG_AGO, &[(Role::User, &said)]);
    home.talk("plain_2", "cli", None, LONG_AGO + 9.0, &[(Role::User, "hello"), (Role::Assistant, "hi")]);
    let title = format!("More of {SECRET}");
    let commands: [&[&str]; 15] = [
        &["sessions", "list"],
        &["sessions", "show", "plain_1"],
        &["sessions", "search", SECRET],
        &["sessions", "search", "\"codename zanzibarium\" OR zanzib*"],
        &["sessions", "rename", "plain_2", &title],
        &["sessions", "tag", "plain_1", "--add", SECRET],
        &["sessions", "export", "all.jsonl"],
        &["sessions", "optimize", "--rebuild"],
        &["sessions", "backup", "copy.db"],
        &["sessions", "delete", &title, "--yes"],
        &["sessions", "restore", "plain_2"],
        &["sessions", "import", "all.jsonl"],
        &["sessions", "verify"],
        &["sessions", "repair", "copy.db"],
        &["sessions", "erase", "plain_2", "--yes"],
    ];
    let (mut count, mut warnings) = (0, Vec::new());
    let mut run = |command: &[&str]| {
        let output = home.hermes(&[command, &["-vvv"]].concat()).output();
        let events = events(&output);
        count += events.len();
        warnings.extend(events.iter().filter(|line| line.contains(" WARN ")).cloned());
        let shown: Vec<&String> = events.iter().filter(|line| line.to_lowercase().contains("zanzib")).collect();
        assert!(shown.is_empty(), "{command:?}: {shown:?}");
    };
    commands.into_iter().for_each(&mut run);
    home.damage("DELETE FROM messages_fts_data");
    run(&["sessions", "import", "all.jsonl"]);
    for name in ["all.jsonl", "copy.db", "copy.db.repaired"] {
        std::fs::remove_file(home.path().join(name)).unwrap();
    }
    commands.into_iter().for_each(&mut run);
    assert!(count > 100, "{count} events");
    assert!(warnings.iter().any(|line| line.contains("search index damaged")), "{warnings:?}");
}

#[test]
fn names_of_files_reach_the_terminal_harmlessly() {
    let home = Home::empty();
    let odd = home.path().join("odd\u{1b}[2J");
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("config.yaml"), "{}").unwrap();
    let output = home.hermes(&["sessions", "list", "-vvv", "--home", odd.to_str().unwrap()]).output();
    let events = events(&output);
    assert!(events.iter().any(|line| line.contains("read config.yaml")), "{events:?}");
    assert!(!output.stderr.contains(&0x1b), "{events:?}");
}

#[test]
fn no_event_shows_the_password_of_a_url() {
    for scheme in ["postgresql", "mysql"] {
        let url = format!("{scheme}://ada:hunter2@127.0.0.1:1/hermes?connect_timeout=1");
        let output = Home::empty().hermes(&["sessions", "list", "-vvv", "--url", &url]).output();
        let text = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(events(&output).iter().any(|line| line.contains("ada:***@127.0.0.1:1")), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}
