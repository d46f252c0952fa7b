//! Rows of printed lists that are named by their numbers, such as `@3`. Each terminal has its own lists.

use super::*;
use insta::assert_snapshot;

#[test]
fn a_row_of_the_last_list_is_named_by_its_number() {
    let home = several();
    let title = |text: &str| home.hermes(&["sessions", "show", text]).stdout().lines().next().map(str::to_owned);
    assert_snapshot!(home.see(&["sessions", "show", "#1"]), @r#"
    --- stderr
    error: no numbered list yet; run "hermes sessions list" first
    hint: @N is row N of the last list that was printed in this terminal
    --- exit 1
    "#);
    home.see(&["sessions", "list", "--json"]);
    assert_eq!(title("#1"), None, "a program's list numbers nothing");
    home.see(&["sessions", "list"]);
    assert_eq!(title("#1").as_deref(), Some("refactoring auth"));
    assert_eq!(title("@2").as_deref(), Some("大别山徒步计划"));
    assert_snapshot!(home.see(&["sessions", "show", "@5"]), @r#"
    --- stderr
    error: the last list has no row 5: it has 1 to 4
    hint: run `hermes sessions list` for new row numbers
    --- exit 1
    "#);
    home.see(&["sessions", "list", "--limit", "1", "--offset", "1"]);
    assert_eq!((title("@1"), title("@2").as_deref()), (None, Some("大别山徒步计划")));
    home.see(&["sessions", "search", "daily", "report"]);
    assert_eq!(title("@1").as_deref(), Some("Größe 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}"));
    home.talk("cron_job10", "cron", None, LONG_AGO, &[]);
    home.damage("DELETE FROM messages WHERE session_id = 'cron_job1'; DELETE FROM sessions WHERE id = 'cron_job1'");
    assert_snapshot!(home.see(&["sessions", "show", "@1"]), @r#"
    --- stderr
    error: row @1 of the last list, cron_job1, no longer exists
    hint: run `hermes sessions list` for new row numbers
    --- exit 1
    "#);
}

#[test]
fn numbers_are_those_of_the_store_at_hand() {
    let (home, other) = (several(), several());
    home.see(&["sessions", "list"]);
    let url = other.database().display().to_string();
    let seen = home.see(&["sessions", "show", "@1", "--url", &url]);
    assert!(seen.contains("no numbered list yet") && seen.ends_with("--- exit 1"), "{seen}");
    home.see(&["sessions", "list", "--url", "./state.db"]);
    assert!(home.see(&["sessions", "show", "@1"]).contains("refactoring auth"));
}

/// Returns the command as another terminal runs it: in a session of its own.
#[cfg(target_os = "linux")]
fn elsewhere<'a>(home: &'a Home, args: &[&str]) -> Run<'a> {
    let here = home.hermes(args);
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(here.command.get_program()).args(here.command.get_args()).env_clear();
    command.envs(here.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(home.path()).stdin(Stdio::null());
    Run { command, home }
}

#[test]
#[cfg(target_os = "linux")]
fn a_list_of_another_terminal_does_not_change_the_numbers_here() {
    let home = several();
    home.see(&["sessions", "list"]);
    elsewhere(&home, &["sessions", "list", "--title", "Größe"]).output();
    let seen = home.see(&["sessions", "delete", "@1", "--yes"]);
    assert!(seen.starts_with("Moved refactoring auth to the trash"), "{seen}");
}

#[test]
#[cfg(target_os = "linux")]
fn numbers_of_another_terminal_are_for_reading_only() {
    let home = several();
    elsewhere(&home, &["sessions", "list"]).output();
    for change in [
        &["delete", "@1", "--yes"][..],
        &["delete", "@1"],
        &["erase", "@1", "--yes"],
        &["rename", "@1", "mine"],
        &["tag", "@1", "--add", "x"],
        &["pin", "@1"],
    ] {
        let seen = home.see(&[&["sessions"], change].concat());
        let refusal = "error: this terminal has not printed a numbered list yet, only another one has\nhint: ";
        assert!(seen.contains(refusal) && seen.ends_with("--- exit 1"), "{change:?}: {seen}");
    }
    assert_snapshot!(home.see(&["sessions", "delete", "@1", "--yes"]), @r"
    --- stderr
    error: this terminal has not printed a numbered list yet, only another one has
    hint: run `hermes sessions list` in this terminal first, or give the id; row numbers of another terminal only work for reading
    --- exit 1
    ");
    assert_snapshot!(home.see(&["sessions", "show", "@1", "--recap"]), @r"
    ╭─────────────────────────── Previous Conversation ────────────────────────────╮
    │   ● You: Help me refactor the auth module please                             │
    │   ◆ Hermes: Sure.                                                            │
    │                                                                              │
    ╰──────────────────────────────────────────────────────────────────────────────╯
    --- stderr
    note: @1 is a row of a list that another terminal printed just now
    --- exit 0
    ");
    let note = "note: @1 is a row of a list that another terminal printed just now\n";
    // Search is last: it prints a list of its own.
    for read in [&["export", "-", "--session", "@1"][..], &["search", "refactor", "--session", "@1"]] {
        let seen = home.see(&[&["sessions"], read].concat());
        assert!(seen.contains(note) && seen.ends_with("--- exit 0"), "{read:?}: {seen}");
    }
    home.see(&["sessions", "list", "--source", "cron"]);
    assert!(home.see(&["sessions", "show", "@1"]).starts_with("Größe"), "its own list comes first");
}

#[test]
#[cfg(target_os = "linux")]
fn at_a_terminal_a_change_takes_numbers_of_a_list_that_was_printed_on_it() {
    let home = several();
    let list = |args: &[&str]| terminal::on_a_terminal(home.hermes(args), 80);
    let typed = |args: &[&str]| {
        let mut run = home.hermes(args);
        let (_master, terminal) = terminal::a_terminal(80);
        run.command.stdin(terminal);
        run.see()
    };
    assert!(list(&["sessions", "list", "-n", "2"]).contains("refactoring auth"));
    home.see(&["sessions", "list", "--source", "cron"]);
    for change in [&["delete", "@1", "--yes"][..], &["rename", "@1", "mine"], &["pin", "@1"]] {
        let seen = typed(&[&["sessions"], change].concat());
        let refusal = "error: the last list of this terminal was not printed on it (its output went to a file or a pipe)\n\
                       hint: run `hermes sessions list` first, or give the id\n";
        assert!(seen.contains(refusal) && seen.ends_with("--- exit 1"), "{change:?}: {seen}");
    }
    assert!(typed(&["sessions", "show", "@1"]).starts_with("Größe"), "reading takes any list");
    assert!(home.see(&["sessions", "pin", "@1"]).ends_with("--- exit 0"), "a script has no terminal");
    for args in [&["sessions", "list", "-n", "2"][..], &["sessions", "search", "refactor"]] {
        list(args);
        let seen = typed(&["sessions", "tag", "@1", "--add", "x"]);
        assert!(seen.ends_with("--- exit 0"), "{args:?}: {seen}");
    }
}

#[test]
#[cfg(unix)]
fn numbers_work_for_a_store_that_may_only_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = several();
    let mode = |mode: u32| std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    home.see(&["sessions", "list", "--read-only"]);
    let seen = home.see(&["sessions", "show", "@1", "--read-only"]);
    mode(0o700);
    assert!(seen.starts_with("refactoring auth"), "{seen}");
    let names = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| !name.starts_with("state.db")).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn without_a_state_folder_lists_are_printed_all_the_same() {
    let home = several();
    let here = |args: &[&str]| home.hermes(args).env("XDG_STATE_HOME", "").see();
    assert!(here(&["sessions", "list"]).ends_with("--- exit 0"));
    assert!(here(&["sessions", "show", "@1"]).contains("no numbered list yet"));
}
