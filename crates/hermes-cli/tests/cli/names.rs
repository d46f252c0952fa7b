//! The name of the program, short forms of commands, typing errors, and the ways to name a session.

use super::{Home, LONG_AGO, Run};
use hermes_session::Role;
use insta::assert_snapshot;

/// Returns a home with three titled conversations.
fn titled() -> Home {
    let home = Home::empty();
    for (index, title) in ["Billing on a new queue", "Überprüfung der Löhne", "Flaky login test"].iter().enumerate()
    {
        home.talk(&format!("id_{index}"), "cli", Some(title), LONG_AGO + index as f64, &[(Role::User, "hello")]);
    }
    home
}

/// Returns a command of the other binary.
fn sessions<'h>(home: &'h Home, args: &[&str]) -> Run<'h> {
    home.program(env!("CARGO_BIN_EXE_hermes-sessions"), args)
}

#[test]
fn commands_are_printed_with_the_name_of_the_program() {
    let home = titled();
    let seen = sessions(&home, &["sessions", "list", "--limit", "1"]).see();
    assert!(seen.contains("there are more: hermes-sessions sessions list --limit 1 --offset 1"), "{seen}");
    let seen = sessions(&home, &["sessions", "show", "nothing like it"]).see();
    assert!(seen.contains("hint: `hermes-sessions sessions list` lists conversations"), "{seen}");
    let seen = sessions(&home, &["--version"]).see();
    assert!(seen.starts_with("hermes-sessions "), "{seen}");
    let seen = sessions(&home, &["completions", "--help"]).see();
    assert!(seen.contains("eval \"$(hermes-sessions completions bash)\""), "{seen}");
    assert!(seen.contains("Usage: hermes-sessions completions"), "{seen}");
}

/// On a file that was not adopted `doctor` has notes and remedies, and `adopt` says how to undo it.
#[test]
fn reports_name_commands_of_this_program_as_well() {
    let home = Home::empty();
    home.damage(&super::old_schema::schema(9));
    home.damage(super::old_schema::ROWS);
    let commands: [&[&str]; 5] =
        [&["doctor"], &["sessions", "verify"], &["sessiondb", "adopt"], &["doctor"], &["sessions", "tag"]];
    let seen: Vec<String> = commands.iter().map(|args| sessions(&home, args).see()).collect();
    assert!(seen[0].contains("(see `hermes-sessions sessions verify`)"), "{}", seen[0]);
    assert!(seen[2].contains("`hermes-sessions sessiondb detach` removes"), "{}", seen[2]);
    for (args, seen) in commands.iter().zip(&seen) {
        let other = ["sessions ", "sessiondb ", "doctor", "config "].map(|word| format!("hermes {word}"));
        assert!(other.iter().all(|other| !seen.contains(other.as_str())), "{args:?}: {seen}");
    }
}

#[test]
fn a_script_passes_its_name_on() {
    let home = titled();
    let called_as = |name: &str| home.hermes(&["sessions", "list", "--limit", "1"]).env("HERMES_CALLED_AS", name).see();
    let seen = called_as("hs");
    assert!(seen.contains("there are more: hs sessions list"), "{seen}");
    let seen = called_as("a b; rm -r");
    assert!(seen.contains("there are more: hermes sessions list"), "{seen}");
}

#[test]
fn commands_of_sessions_have_short_forms() {
    let home = titled();
    let list = home.see(&["sessions", "list"]);
    for args in [&["list"][..], &["ls"], &["sessions", "ls"]] {
        assert_eq!(home.see(args), list, "{args:?}");
    }
    assert_eq!(home.see(&["search", "hello"]), home.see(&["sessions", "search", "hello"]));
    assert_eq!(home.see(&["show", "id_1"]), home.see(&["sessions", "show", "id_1"]));
    let seen = home.see(&["sessions", "rm", "id_1", "--yes"]);
    assert!(seen.starts_with("Moved Überprüfung der Löhne to the trash"), "{seen}");
    // `browse` needs a screen.
    assert_eq!(home.see(&["browse"]), home.see(&["sessions", "browse"]));
}

#[test]
fn an_unknown_command_gets_the_nearest_one() {
    let home = Home::empty();
    assert_snapshot!(home.see(&["sessions", "serach"]), @r"
    --- stderr
    error: unrecognized subcommand 'serach'

      tip: a similar subcommand exists: 'search'

    Usage: hermes sessions [OPTIONS] <COMMAND>

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(home.see(&["delete", "x"]), @r"
    --- stderr
    error: unrecognized subcommand 'delete'

      tip: a similar subcommand exists: 'sessions delete'

    Usage: hermes [OPTIONS] [COMMAND]

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(home.see(&["version"]), @r"
    --- stderr
    error: unrecognized subcommand 'version'

      tip: a similar subcommand exists: '--version'

    Usage: hermes [OPTIONS] [COMMAND]

    For more information, try '--help'.
    --- exit 2
    ");
}

#[cfg(unix)]
#[test]
fn a_command_of_the_agent_names_its_program() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::empty();
    let agent = home.path().join("hermes");
    std::fs::write(&agent, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    for args in [&["chat"][..], &["--resume", "x"], &["-c"]] {
        let run = || home.hermes(args).env("PATH", home.path().to_str().unwrap());
        let seen = run().see();
        assert!(seen.contains("tip: the agent is another program: ") && seen.contains("/hermes\n"), "{seen}");
        let absent = format!("tip: {} is a command of the Python agent, which is not in PATH\n", args[0]);
        let seen = home.see(args);
        assert!(seen.contains(&absent) && !seen.contains("the agent is"), "{seen}");
    }
    assert!(!home.see(&["frobnicate"]).contains("agent"), "it is no command of the agent");
}

#[test]
fn a_title_is_found_whatever_its_case_and_accents() {
    let home = titled();
    let exact = home.see(&["sessions", "show", "Überprüfung der Löhne"]);
    assert!(exact.ends_with("--- exit 0"), "{exact}");
    assert_eq!(home.see(&["sessions", "show", "uberprufung DER lohne"]), exact);
    home.talk("id_9", "cli", Some("FLAKY login test"), LONG_AGO, &[]);
    assert_snapshot!(home.see(&["sessions", "show", "flaky login TEST"]), @r#"
    --- stderr
    error: more than one session is called "flaky login TEST"
      id_2  2025-03-05  Flaky login test
      id_9  2025-03-05  FLAKY login test
    hint: give the id, or the title with its case and accents
    --- exit 1
    "#);
}

#[test]
fn near_titles_and_rows_are_offered() {
    let home = titled();
    assert_snapshot!(home.see(&["sessions", "show", "billing"]), @r#"
    --- stderr
    error: no session matches "billing"
      id_0  2025-03-05  Billing on a new queue
    hint: these titles are similar; give one of them, or an id
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "show", "biling"]), @r#"
    --- stderr
    error: no session matches "biling"
      id_0  2025-03-05  Billing on a new queue
    hint: these titles are similar; give one of them, or an id
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "show", "3"]), @r#"
    --- stderr
    error: no session matches "3"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    // A bare number is a row if there is one. Titles with the number in them are no guess.
    home.talk("ticket", "cli", Some("ticket 3"), LONG_AGO, &[]);
    let shown = |text: &str| home.see(&["sessions", "show", text]);
    assert!(!shown("3").contains("ticket"));
    home.see(&["sessions", "list"]);
    assert_snapshot!(shown("3"), @r#"
    --- stderr
    error: no session matches "3"
    hint: row 3 of the last list is @3
    --- exit 1
    "#);
    let seen = shown("999");
    assert!(seen.contains("hint: `hermes sessions list` lists") && !seen.contains("@999"), "{seen}");
    let seen = home.see(&["sessions", "show", "cafe", "creme"]);
    assert!(seen.contains("unexpected argument 'creme'") && seen.contains("quote a title that has spaces"), "{seen}");
    let seen = home.see(&["sessions", "list", "--role", "bot"]);
    assert!(seen.contains("unexpected argument '--role'") && !seen.contains("--url"), "{seen}");
    assert!(home.see(&["sessions", "list", "--limt", "3"]).contains("'--limit'"));
    assert_snapshot!(home.see(&["sessions", "tag", "id_1", "work"]), @r#"
    --- stderr
    error: no session matches "work"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    hint: to add a tag, run: hermes sessions tag id_1 --add work
    --- exit 1
    "#);
}

#[test]
fn a_deleted_title_is_restored_whatever_its_case_and_accents() {
    let home = titled();
    home.see(&["sessions", "delete", "id_1", "--yes"]);
    let seen = home.see(&["sessions", "restore", "UBERPRUFUNG der lohne"]);
    assert!(seen.contains("Überprüfung der Löhne") && seen.ends_with("--- exit 0"), "{seen}");
}
