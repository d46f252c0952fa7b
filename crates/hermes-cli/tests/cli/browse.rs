//! `hermes sessions browse`, at a terminal and without one.

mod keys;
mod sitting;

use super::terminal::a_terminal;
use super::*;
use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use sitting::{LEFT, PATIENCE, Sitting};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

fn sit(home: &Home, args: &[&str]) -> Sitting {
    Sitting::down(home.hermes(&[&["sessions", "browse"], args].concat()), 80)
}

/// Browses without a terminal, with `answer` on stdin.
fn answered(mut run: Run<'_>, answer: &str) -> String {
    let file = run.home.path().join("answer");
    std::fs::write(&file, answer).unwrap();
    run.command.stdin(std::fs::File::open(&file).unwrap());
    run.see()
}

#[test]
fn a_person_types_and_chooses() {
    let home = several();
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").see("refactoring auth").press("大别").see("1 of 4").press("\r");
    let (sent, code) = sitting.end();
    let (_, behind) = sent.rsplit_once(LEFT).unwrap();
    assert!(behind.ends_with("hermes --resume 20250304_150000_b0b0b0\n"), "{behind:?}");
    assert_eq!(code, 0);
}

#[test]
fn what_was_said_is_found_after_a_pause() {
    let home = several();
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").press("Sure").see("0 of 4 + 1 in text").see("refactoring auth    in text");
    sitting.press("\u{f}").see("Help me refactor").press("\u{1b}").see("4 conversations").press("\u{1b}");
    let (sent, code) = sitting.end();
    assert!(sent.contains(LEFT) && !sent.contains("--resume"), "{sent:?}");
    assert_eq!(code, 0);
}

#[test]
fn the_preview_has_messages_of_every_state() {
    let home = show::with_states();
    let mut sitting = Sitting::down_at(home.hermes(&["sessions", "browse"]), (200, 70));
    let states = |sitting: &Sitting| {
        let text = sitting.screen.text();
        let lines = |end: &str| text.lines().filter(|line| line.trim_end().ends_with(end)).count();
        (lines("  [compacted]"), lines("  [undone]"))
    };
    // The preview has the last 16 of 19 messages.
    sitting.see("1 conversation").see("mistake 19");
    assert_eq!(states(&sitting), (9, 2), "{}", sitting.screen.text());
    // A search never leads to an undone message.
    sitting.press("mistake").see("No sessions match the filter.");
    // The preview of a hit has 4 messages before it, and those after it.
    sitting.press(" OR \"pebble 12\"").see("0 of 1 + 1 in text").see("mistake 19");
    assert_eq!(states(&sitting), (5, 2), "{}", sitting.screen.text());
    sitting.press("\u{3}");
    let (sent, code) = sitting.end();
    assert!(!sent.contains("--resume") && code == 0, "{sent:?}");
}

#[test]
fn what_is_changed_there_is_changed_in_the_store() {
    let home = several();
    std::fs::write(home.path().join("there.jsonl"), "mine").unwrap();
    let mut sitting = sit(&home, &["--source", "cli", "--source", "cron"]);
    sitting.see("2 conversations").press("\u{12}").see("Title: refactoring auth").press("\u{15}new title\r");
    sitting.see("The title is new title now");
    sitting.press("\u{5}").see("Export to: ").press("\u{15}there.jsonl\r").see("Overwrite there.jsonl?").press("n");
    sitting.see("Nothing was changed").press("\u{5}").see("Export to: ").press("\u{15}out.md\r");
    sitting.see("Wrote 1 session and 2 messages");
    sitting
        .press("\u{1b}[B\u{1b}[3~")
        .see("Move ")
        .see(" to the trash? [y/N]")
        .press("y")
        .see("1 conversation")
        .press("\u{3}");
    let (sent, code) = sitting.end();
    assert_eq!((code, sent.contains(LEFT)), (0, true));
    assert_eq!(std::fs::read_to_string(home.path().join("there.jsonl")).unwrap(), "mine");
    assert!(std::fs::read_to_string(home.path().join("out.md")).unwrap().contains("# new title"));
    let list = home.see(&["sessions", "list"]);
    assert!(list.contains("new title") && !list.contains("cron_job1") && list.contains("b0b0b0"), "{list}");
}

#[test]
fn what_somebody_else_deletes_is_told() {
    let home = several();
    let mut sitting = sit(&home, &["--source", "cli", "--source", "cron"]);
    sitting.see("2 conversations");
    for id in ["20250305_091523_a1b2c3", "cron_job1"] {
        home.see(&["sessions", "delete", id, "--yes"]);
    }
    sitting
        .press("\u{1b}[B\u{1b}[3~")
        .see("? [y/N]")
        .press("y")
        .see("there is no session")
        .see("1 conversation")
        .press("\r");
    let (sent, code) = sitting.end();
    assert!(sent.contains("there is no session") && !sent.contains("--resume"), "{sent:?}");
    assert_eq!(code, 1);
}

#[test]
fn a_conversation_that_goes_on_elsewhere_meanwhile_is_followed() {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), LONG_AGO, &[(Role::User, "begin")]);
    let mut sitting = sit(&home, &[]);
    sitting.see("1 conversation").see("long work");
    let id = |text: &str| SessionId::parse(text).unwrap();
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(LONG_AGO + 60.0).unwrap());
        let said = [NewMessage::new(Role::User, "go on with the work")];
        store.split(&id("first"), &hermes_session::NewChild::new(id("second")), &said, &at).await.unwrap();
    });
    sitting.press("work\u{1b}OR").see("go on with the work");
    assert!(!sitting.screen.text().contains("in text"), "it is there twice:\n{}", sitting.screen.text());
    sitting.press("\u{1b}OQ").see("Title: ").press("\u{15}new title\r").see("The title is new title now").press("\r");
    let (sent, code) = sitting.end();
    assert!(sent.ends_with("hermes --resume second\n") && code == 0, "{sent:?}");
    home.write(async |store| {
        let title = store.session(&id("second")).await.unwrap().unwrap().title;
        assert_eq!(title.as_deref(), Some("new title"));
    });
}

#[test]
fn many_go_at_once() {
    let home = several();
    for number in 0..45 {
        home.talk(&format!("s{number}"), "cli", None, LONG_AGO, &[(Role::User, "hello")]);
    }
    let mut sitting = sit(&home, &["--source", "cli"]);
    sitting
        .see("46 conversations")
        .press(&"\t".repeat(46))
        .press("\u{1b}[3~")
        .see("Move 46 conversations to the trash?")
        .press("y");
    sitting.see("Moved 20 of 46 to the trash").see("Moved 46 conversations to the trash; ");
    sitting.see("sessions restore ID\" brings them").press("\u{3}");
    assert_eq!(sitting.end().1, 0);
    assert_eq!(home.see(&["sessions", "trash", "list"]).matches("just now").count(), 46);
}

#[test]
fn transcripts_that_stay_on_disk_are_told() {
    let home = several();
    let sessions = home.path().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    std::fs::write(sessions.join("session_20250305_091523_a1b2c3.json"), "{}").unwrap();
    // Nothing can be moved into a trash that is not a folder.
    std::fs::write(sessions.join(".trash"), "").unwrap();
    for marks in ["\t\t", ""] {
        let mut sitting = Sitting::down(home.hermes(&["sessions", "browse"]), 200);
        sitting.see("20250305_091523_a1b2c3").press(marks).press("\u{1b}[3~").see("[y/N]").press("y");
        sitting.see("Still there: ").see("session_20250305_091523_a1b2c3.json: ").press("\u{3}");
        let (sent, code) = sitting.end();
        assert_eq!((sent.contains("Moved 2 conversations to the trash;"), code), (marks == "\t\t", 0));
        home.talk("20250305_091523_a1b2c3", "cli", None, ago(1.0), &[(Role::User, "again")]);
    }
}

#[test]
fn what_was_begun_is_done_before_it_ends() {
    let home = several();
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").press("\u{12}\u{15}new title\r\u{1b}OQ\u{1b}OQ\u{3}");
    assert_eq!(sitting.end().1, 0);
    assert!(home.see(&["sessions", "list"]).contains("new title"));
}

#[test]
fn what_was_begun_and_failed_is_told_after_leaving() {
    let home = several();
    std::fs::write(home.path().join("there.jsonl"), "mine").unwrap();
    let export = "\u{5}\u{15}there.jsonl\r";
    let behind = |keys: &str| {
        let mut sitting = sit(&home, &[]);
        sitting.see("4 conversations").press(keys);
        let (sent, code) = sitting.end();
        assert_eq!(code, 1, "{sent:?}");
        sent.rsplit_once(LEFT).unwrap().1.to_owned()
    };
    let seen = behind(&format!("\u{12}\u{15}大别山徒步计划\r{export}\u{3}"));
    assert!(seen.contains("error: ") && seen.contains("20250304_150000_b0b0b0"), "{seen}");
    assert!(seen.contains("there.jsonl was not exported: it is there already") && seen.contains("hint: "), "{seen}");
    // The chosen conversation is printed all the same.
    let seen = behind(&format!("{export}\r"));
    assert!(seen.contains("was not exported") && seen.contains("hermes --resume 20250305_091523_a1b2c3\n"), "{seen}");
    // A question that nobody saw is reported too.
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").press(&format!("{export}\u{1b}OP")).see("mouse").press("\u{3}");
    let (sent, code) = sitting.end();
    assert!(sent.rsplit_once(LEFT).unwrap().1.contains("was not exported") && code == 1, "{sent:?}");
    assert_eq!(std::fs::read_to_string(home.path().join("there.jsonl")).unwrap(), "mine");
}

#[test]
fn a_list_that_fails_is_no_empty_one() {
    let home = several();
    // The index that lists are read from.
    let root = "SELECT rootpage FROM sqlite_master WHERE name = 'hx_sessions_card'";
    let root: u32 = home.foreign().query_row(root, [], |row| row.get(0)).unwrap();
    let file = std::fs::File::options().write(true).open(home.database()).unwrap();
    file.write_all_at(&[0; 4096], u64::from(root - 1) * 4096).unwrap();
    let mut sitting = sit(&home, &[]);
    sitting.see("0 conversations, not complete").press("\u{1b}[B").see("The list is not complete: ").press("q");
    let (sent, code) = sitting.end();
    let (_, behind) = sent.rsplit_once(LEFT).unwrap();
    assert!(behind.contains("error: ") && behind.contains("hint: ") && code == 3, "{behind}");
}

#[test]
fn rows_that_cannot_be_read_are_told_as_long_as_the_list_is_seen() {
    let home = several();
    home.damage("UPDATE sessions SET started_at = 'soon' WHERE id = '20250304_150000_b0b0b0'");
    let mut sitting = sit(&home, &[]);
    sitting.see("3 conversations, 1 unreadable").press("\u{1b}[B").see("1 row can't be read: ").press("q");
    assert_eq!(sitting.end().1, 0);
}

#[test]
fn a_title_that_is_taken_is_told_and_nothing_is_lost() {
    let home = several();
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").press("\u{1b}OQ").see("Title: ").press("\u{15}大别山徒步计划\r");
    sitting.see("20250304_150000_b0b0b0").see(";").press("q");
    assert_eq!(sitting.end().1, 0);
    assert!(home.see(&["sessions", "list"]).contains("refactoring auth"));
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let home = several();
        let mut sitting = sit(&home, &[]);
        sitting.see("4 conversations");
        kill_process(Pid::from_child(&sitting.child), signal).unwrap();
        let (sent, seen) = sitting.end();
        let (_, behind) = sent.rsplit_once(LEFT).unwrap();
        assert!(behind.contains("a signal ended browsing"), "{behind:?}");
        assert_eq!(seen, code);
    }
}

#[test]
fn a_terminal_that_does_not_know_its_size_is_there_all_the_same() {
    let home = several();
    for (lines, expect) in [("5", "browsing needs"), ("12", "refactoring auth")] {
        let run = home.hermes(&["sessions", "browse"]).env("COLUMNS", "60").env("LINES", lines);
        let mut sitting = Sitting::down_at(run, (0, 0));
        sitting.see(expect);
        // Longer than the interval between checks for the terminal.
        std::thread::sleep(Duration::from_millis(1500));
        assert!(sitting.child.try_wait().unwrap().is_none(), "{:?}", sitting.end());
        sitting.press("\u{1b}");
        assert_eq!(sitting.end().1, 0);
    }
    let run = home.hermes(&["sessions", "browse"]).without_env("COLUMNS");
    let mut sitting = Sitting::down_at(run, (0, 0));
    sitting.see("type to filter").see("Del delete").press("q");
    assert_eq!(sitting.end().1, 0);
}

#[test]
fn a_window_may_change_its_size() {
    let home = several();
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").resize((200, 50)).see("│   Sure.");
    sitting.resize((30, 8)).see("30×8").resize((40, 10)).see("Enter resume").press("\r");
    let (sent, code) = sitting.end();
    assert!(sent.ends_with("hermes --resume 20250305_091523_a1b2c3\n") && code == 0, "{sent:?}");
}

#[test]
fn a_terminal_that_goes_away_ends_it() {
    let home = several();
    let (master, terminal) = a_terminal(80);
    let mut run = home.hermes(&["sessions", "browse"]);
    let other = || terminal.try_clone().unwrap();
    let mut child = run.command.stdin(other()).stdout(other()).stderr(Stdio::null()).spawn().unwrap();
    drop((run, terminal));
    let mut master = std::fs::File::from(master);
    master.read_exact(&mut [0; 100]).unwrap();
    drop(master);
    let id = Pid::from_child(&child);
    let (sender, ended) = channel();
    let waiting = std::thread::spawn(move || sender.send(child.wait().unwrap()));
    let is_ended = ended.recv_timeout(PATIENCE).is_ok();
    if !is_ended {
        kill_process(id, Signal::KILL).unwrap();
    }
    _ = waiting.join();
    assert!(is_ended, "it waits for keys that can't come");
}

#[test]
fn no_colours_where_none_are_wanted() {
    let colours = |run: Run<'_>| {
        let mut sitting = Sitting::down(run, 80);
        sitting.see("4 conversations").press("auth").see("1 of 4").press("\u{3}");
        let sent = sitting.end().0;
        ["30", "31", "32", "33", "36"].iter().filter(|code| sent.contains(&format!(";{code}m"))).count()
    };
    let home = several();
    assert!(colours(home.hermes(&["sessions", "browse"])) > 2);
    assert_eq!(colours(home.hermes(&["sessions", "browse"]).env("NO_COLOR", "1")), 0);
}

#[test]
fn without_a_terminal_there_is_a_numbered_list() {
    let home = several();
    assert_snapshot!(home.see(&["sessions", "browse"]), @r#"
      Browse sessions  (enter number to resume, q to cancel)

        1. refactoring auth                                    2h ago      cli
        2. 大别山徒步计划                                      yesterday   telegram
        3. كيف أحضّر كبسة الدجاج لستة أشخاص؟                    3d ago      discord
        4. Größe 👨‍👩‍👧 ❤️                                         2025-03-05  cron

      Select [1-4]: 
    Cancelled.
    --- exit 0
    "#);
    assert_snapshot!(answered(home.hermes(&["sessions", "browse", "--limit", "2"]), "x\n0\n3\n2\n"), @r#"
      Browse sessions  (enter number to resume, q to cancel)

        1. refactoring auth                                    2h ago      cli
        2. 大别山徒步计划                                      yesterday   telegram

      Select [1-2]: 
      Invalid input. Enter a number or q to cancel.
      Select [1-2]: 
      Invalid selection. Enter 1-2 or q to cancel.
      Select [1-2]: 
      Invalid selection. Enter 1-2 or q to cancel.
      Select [1-2]: 
    hermes --resume 20250304_150000_b0b0b0
    --- stderr
    note: this is a command of the Python agent, which is not in PATH; HERMES_RESUME sets another one
    --- exit 0
    "#);
    for no in ["q\n", "\n", "exit", " quit \n"] {
        let seen = answered(home.hermes(&["sessions", "browse"]), no);
        assert!(seen.ends_with("Select [1-4]: \nCancelled.\n--- exit 0"), "{seen}");
    }
    assert_snapshot!(home.see(&["sessions", "browse", "--source", "matrix"]), @r#"
    No sessions found.
    --- exit 0
    "#);
}

#[test]
fn a_terminal_that_can_do_nothing_gets_the_list() {
    let home = several();
    let mut sitting = Sitting::down(home.hermes(&["sessions", "browse"]).env("TERM", "dumb"), 80);
    sitting.see("Select [1-4]: ").press("2\n");
    let (sent, code) = sitting.end();
    assert!(sent.ends_with("hermes --resume 20250304_150000_b0b0b0\n") && !sent.contains('\u{1b}'), "{sent:?}");
    assert_eq!(code, 0);
}

#[test]
fn it_runs_the_agent_or_what_is_said_instead() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = several();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let agent = bin.join("hermes");
    std::fs::write(&agent, "#!/bin/sh\necho \"agent: $*, home $HERMES_HOME\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let browse = |args: &[&str]| home.hermes(&[&["sessions", "browse", "--limit", "1"], args].concat());
    let last = |seen: String| seen.lines().rev().take(2).map(str::to_owned).collect::<Vec<_>>();
    let seen = last(answered(browse(&["--run"]).env("PATH", &path), "1\n"));
    let id = "20250305_091523_a1b2c3";
    assert_eq!(seen, ["--- exit 7".into(), format!("agent: --resume {id}, home [HOME]")]);
    let other = browse(&["--run"]).env("PATH", &path).env("HERMES_RESUME", "echo 'it is'  again");
    assert_eq!(last(answered(other, "1\n"))[1], format!("it is again {id}"));
    let typed = browse(&["--home", home.path().to_str().unwrap()]).env("PATH", &path);
    assert_eq!(last(answered(typed, "1\n"))[1], format!("HERMES_HOME=[HOME] hermes --resume {id}"));
    let url = format!("sqlite:{}", home.database().display());
    let typed = browse(&["--url", &url]).env("HERMES_HOME", "/nonexistent").env("PATH", &path);
    assert_eq!(last(answered(typed, "1\n"))[1], format!("HERMES_HOME=[HOME] hermes --resume {id}"));
    let run = browse(&["--run", "--url", &url]).env("HERMES_HOME", "/nonexistent").env("PATH", &path);
    assert_eq!(last(answered(run, "1\n"))[1], format!("agent: --resume {id}, home [HOME]"));
    assert_snapshot!(last(answered(browse(&["--run"]).env("PATH", "/nonexistent"), "1\n")).join("\n"), @r#"
    --- exit 1
    hint: set HERMES_RESUME to a command that resumes, such as `/opt/agent/hermes --resume`
    "#);
}

#[test]
fn without_a_trash_a_deletion_is_for_good() {
    let home = several();
    home.config("sessions:\n  trash_days: 0\n");
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").press("\t\t\u{1b}[3~").see("Delete 2 conversations for good? [y/N]").press("y");
    sitting.see("Deleted 2 conversations for good.").press("\u{3}");
    assert_eq!(sitting.end().1, 0);
}

#[test]
fn a_command_of_an_agent_that_is_not_there_is_explained() {
    let home = several();
    let browse = |args: &[&str]| home.hermes(&[&["sessions", "browse", "--limit", "1"], args].concat());
    let note = "note: this is a command of the Python agent, which is not in PATH; HERMES_RESUME sets another one\n";
    let seen = answered(browse(&[]), "1\n");
    assert!(seen.contains("hermes --resume 20250305_091523_a1b2c3\n--- stderr\n"), "{seen}");
    assert!(seen.contains(note) && seen.ends_with("--- exit 0"), "{seen}");
    let other = answered(browse(&[]).env("HERMES_RESUME", "resume"), "1\n");
    assert!(other.contains("\nresume 20250305") && !other.contains("note:"), "{other}");
    let error = "error: can't resume 20250305_091523_a1b2c3: the Python agent is not in PATH";
    let seen = answered(browse(&["--run"]), "1\n");
    assert!(seen.contains(&format!("{error}\n")), "{seen}");
    // The folder of this program.
    let bin = Path::new(env!("CARGO_BIN_EXE_hermes")).parent().unwrap().to_str().unwrap();
    let seen = answered(browse(&["--run"]).env("PATH", bin), "1\n");
    assert!(seen.contains(&format!("{error} (the only hermes there is this program)\n")), "{seen}");
}

/// Measures the time until text appears, with a hundred thousand conversations in a real file and a real terminal.
///
/// `cargo test --release -p hermes-cli --test cli browse::figures -- --ignored --nocapture`
#[test]
#[ignore = "a measurement: prints times, asserts nothing about them"]
fn figures() {
    let home = Home::with_store();
    let words = ["login", "queue", "Größe", "大别山", "report", "clock", "token", "徒步", "deploy", "كبسة"];
    let line = |number: usize| {
        let word = |step: usize| words[(number / step + number * 7) % words.len()];
        format!(
            "{{\"id\": \"2026_{number:06}\", \"source\": \"cli\", \"title\": \"{} {} #{number}\", \"started_at\": {number}, \"messages\": [{{\"role\": \"user\", \"timestamp\": {number}, \"content\": \"look at the {} of {number}\"}}, {{\"role\": \"assistant\", \"timestamp\": {number}, \"content\": \"it is the {}\"}}]}}\n",
            word(1),
            word(5),
            word(3),
            word(2)
        )
    };
    std::fs::write(home.path().join("all.jsonl"), (0..100_000).map(line).collect::<String>()).unwrap();
    println!("{}", home.see(&["sessions", "import", "all.jsonl"]));
    println!("{}", home.see(&["sessions", "optimize"]));
    let told = |what: &str, times: &mut Vec<Duration>| {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
        println!("{what}: {} times, median {:.1} ms, p99 {:.1} ms, max {:.1} ms", times.len(), at(50), at(99), at(100));
    };
    let (mut first, mut all, mut key, mut found) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..10 {
        let start = Instant::now();
        let mut sitting = Sitting::down(home.hermes(&["sessions", "browse"]), 200);
        sitting.see("#99999");
        first.push(start.elapsed());
        sitting.see("100,000 conversations\n");
        all.push(start.elapsed());
        for (typed, expect) in [("t", "› t\n"), ("o", "› to "), ("k", "› tok "), ("e", "› toke "), ("n", "› token ")]
        {
            let start = Instant::now();
            sitting.press(typed).see(expect.trim_end());
            key.push(start.elapsed());
        }
        let start = Instant::now();
        sitting.press("\u{15}it is").see("in text");
        found.push(start.elapsed());
        sitting.press("\u{3}");
        assert_eq!(sitting.end().1, 0);
    }
    told("until the first rows are seen", &mut first);
    told("until all rows have come", &mut all);
    told("from a key to its picture", &mut key);
    told("from a text to where it was said, the pause of 250 ms included", &mut found);
}
