//! Options that every command has, and the short ones: `--color`, `--quiet`, `-n`, `-s`, `-j`.

use super::*;
use insta::assert_snapshot;

fn is_coloured(output: &[u8]) -> bool {
    output.contains(&0x1b)
}

#[test]
fn colours_are_used_as_the_option_says_whatever_the_environment() {
    let home = several();
    for (variables, options, expect) in [
        (&[][..], &[][..], false),
        (&[("FORCE_COLOR", "1")], &[], true),
        (&[("FORCE_COLOR", "0")], &[], false),
        (&[("CLICOLOR_FORCE", "1")], &[], true),
        (&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")], &[], false),
        (&[("NO_COLOR", "1")], &["--color", "always"], true),
        (&[("FORCE_COLOR", "1"), ("CLICOLOR_FORCE", "1")], &["--color=never"], false),
        (&[("NO_COLOR", "1")], &["--color", "auto"], false),
    ] {
        // A result, help, an error of a command, and a usage error.
        for command in
            [&["sessions", "list"][..], &["sessions", "list", "--help"], &[], &["sessions", "show", "nobody"], &["lst"]]
        {
            let run = home.hermes(&[options, command].concat());
            let output = variables.iter().fold(run, |run, (name, value)| run.env(name, value)).output();
            let seen = [output.stdout, output.stderr].concat();
            assert_eq!(is_coloured(&seen), expect, "{variables:?} {options:?} {command:?}");
        }
    }
    assert_snapshot!(home.see(&["sessions", "list", "--color", "blue"]), @r#"
    --- stderr
    error: invalid value 'blue' for '--color <WHEN>'
      [possible values: auto, always, never]

    For more information, try '--help'.
    --- exit 2
    "#);
}

#[test]
#[cfg(target_os = "linux")]
fn at_a_terminal_colours_can_be_turned_off() {
    let home = several();
    let seen = |args: &[&str]| terminal::on_a_terminal(home.hermes(&[&["sessions", "list"], args].concat()), 80);
    assert!(seen(&[]).contains('\u{1b}') && seen(&["--color", "auto"]).contains('\u{1b}'));
    assert!(!seen(&["--color", "never"]).contains('\u{1b}'));
}

#[test]
fn quiet_commands_print_answers_and_errors_and_nothing_else() {
    let home = several();
    home.config("sessions: {auto_prune: true}\n");
    let quiet = |args: &[&str]| home.see(&[&["--quiet"], args].concat());
    // Each prints a result or a note without the option.
    for args in [
        &["sessions", "rename", "tool_1", "other"][..],
        &["sessions", "pin", "tool_1"],
        &["sessions", "tag", "tool_1", "--add", "x"],
        &["sessions", "delete", "tool_1", "cron_job1", "-y"],
        &["sessions", "restore", "tool_1", "cron_job1"],
        &["sessions", "export", "out.jsonl"],
        &["sessions", "import", "out.jsonl"],
        &["sessions", "backup", "copy.db"],
        &["sessions", "optimize"],
        &["sessions", "delete", "cron_job1", "-y"],
        &["sessions", "trash", "empty", "-y"],
        &["sessions", "prune", "-y"],
        &["sessions", "erase", "tool_1", "-y"],
        &["sessions", "restore-backup", "copy.db", "-y"],
        &["man", "--into", "pages"],
    ] {
        assert_eq!(quiet(args), "--- exit 0", "{args:?}");
    }
    let list = quiet(&["sessions", "list", "-n", "1"]);
    assert!(list.contains("made by") || list.contains("other") || list.contains("refactoring"), "{list}");
    assert!(!list.contains("note:"), "{list}");
    assert!(quiet(&["sessions", "tag"]).starts_with("Tag "), "what was asked for");
    assert!(quiet(&["sessions", "rename", "@last", "x", "--json"]).starts_with("{\"schema\": 1"));
    assert!(quiet(&["sessions", "show", "nobody"]).contains("error: no session matches"));
    let seen = quiet(&["sessions", "delete", "@last"]);
    assert!(seen.contains("error: confirmation needed") && seen.ends_with("--- exit 1"), "{seen}");
}

#[test]
fn options_of_sessions_have_short_forms() {
    let home = several();
    let same = |short: &[&str], long: &[&str]| {
        let seen = home.see(short);
        assert_eq!(seen, home.see(long), "{short:?}");
        assert!(seen.ends_with("--- exit 0"), "{short:?}: {seen}");
    };
    same(
        &["sessions", "list", "-j", "-n1", "-s", "cli"],
        &["sessions", "list", "--json", "--limit", "1", "--source", "cli"],
    );
    same(
        &["list", "-n", "2", "-s", "cron", "-s", "tool"],
        &["list", "--limit", "2", "--source", "cron", "--source", "tool"],
    );
    same(
        &["sessions", "search", "report", "-s", "cron", "-n", "1"],
        &["sessions", "search", "report", "--source", "cron", "--limit", "1"],
    );
    same(&["sessions", "browse", "-n", "1", "-s", "cli"], &["sessions", "browse", "--limit", "1", "--source", "cli"]);
    same(&["sessions", "export", "-", "-s", "cron"], &["sessions", "export", "-", "--source", "cron"]);
    same(
        &["sessions", "prune", "--dry-run", "-j", "-s", "cron"],
        &["sessions", "prune", "--dry-run", "--json", "--source", "cron"],
    );
    for command in [&["show", "tool_1"][..], &["tag"], &["trash", "list"], &["stats"], &["verify"]] {
        let command = [&["sessions"], command].concat();
        same(&[&command[..], &["-j"]].concat(), &[&command[..], &["--json"]].concat());
    }
}

/// Every `--json`, `--limit` and `--source` below `sessions` has its short form.
#[test]
fn no_command_of_sessions_lacks_a_short_form() {
    let home = Home::empty();
    home.see(&["man", "--into", "pages", "--markdown"]);
    let mut seen = 0;
    for entry in std::fs::read_dir(home.path().join("pages")).unwrap() {
        let path = entry.unwrap().path();
        if !path.file_name().unwrap().to_str().unwrap().starts_with("hermes-sessions-") {
            continue;
        }
        let page = std::fs::read_to_string(&path).unwrap();
        for (long, short) in [("--json", "-j"), ("--limit", "-n"), ("--source", "-s")] {
            let without = [format!("| `{long} "), format!("| `{long}`")];
            assert!(!without.iter().any(|start| page.contains(start)), "{}: {long}", path.display());
            seen += page.matches(&format!("| `{short}, {long}")).count();
        }
    }
    assert!(seen > 20, "{seen}");
}
