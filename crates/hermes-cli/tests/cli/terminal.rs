//! Terminal output: no control character except line breaks, and colours only where they are wanted.

use super::*;
use hermes_session::Json;
use std::io::Read as _;

const HOSTILE: &str = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{8}\u{7f}\rover \u{202e}evil\u{2066}\u{200f}\u{61c} \u{2028}x\u{200b}y\u{feff}z\u{e0041}";

/// Returns a home in which all stored text is hostile.
fn hostile() -> Home {
    let home = Home::empty();
    home.talk("evil\u{1b}[2Jid", "cli", None, LONG_AGO, &[(Role::User, HOSTILE), (Role::Assistant, HOSTILE)]);
    let calls = serde_json::json!([{"function": {"name": HOSTILE, "arguments": HOSTILE}}]);
    home.add(
        "evil\u{1b}[2Jid",
        MessageBody { tool_calls: Some(Json::from_value(&calls)), ..MessageBody::empty(Role::Assistant) },
    );
    home.add(
        "evil\u{1b}[2Jid",
        MessageBody { tool_name: Some(HOSTILE.into()), ..MessageBody::new(Role::Tool, HOSTILE) },
    );
    home.add("evil\u{1b}[2Jid", MessageBody::new(Role::Other(HOSTILE.into()), HOSTILE));
    let quoted = HOSTILE.replace('\'', "''");
    home.damage(&format!("UPDATE sessions SET title = '{quoted}', source = '{quoted}', model = '{quoted}', end_reason = '{quoted}', ended_at = 5"));
    home
}

#[track_caller]
fn assert_harmless(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let bad = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    assert_eq!(text.chars().find(|character| bad(*character)), None, "{text:?}");
}

#[test]
fn stored_text_puts_nothing_on_the_terminal() {
    let home = hostile();
    home.damage("UPDATE sessions SET message_count = 99");
    std::fs::write(
        home.path().join("in.jsonl"),
        format!(
            "{{\"id\": {}, \"source\": \"cli\", \"started_at\": 1, \"relation\": {}, \"messages\": []}}\n{{{HOSTILE}",
            Json::string(HOSTILE),
            Json::string(HOSTILE)
        ),
    )
    .unwrap();
    let commands: [&[&str]; 31] = [
        &["sessions", "browse"],
        &["sessions", "show", "--all", "--full", "@last"],
        &["sessions", "list", "--order", "cost"],
        &["sessions", "list", "--title", HOSTILE, "--limit", "0"],
        &["sessions", "stats"],
        &["sessions", "stats", "--json"],
        &["sessions", "list"],
        &["sessions", "list", "--json"],
        &["sessions", "list", "--all"],
        &["sessions", "show", "@last"],
        &["sessions", "show", "--full", "@last"],
        &["sessions", "show", "--recap", "@last"],
        &["sessions", "show", "--json", "@last"],
        &["sessions", "show", HOSTILE],
        &["sessions", "list", "--url", HOSTILE],
        &["sessions", "verify"],
        &["sessions", "verify", "--json"],
        &["sessions", "backup", HOSTILE],
        &["sessions", "search", "evil"],
        &["sessions", "search", "--context", "red", "title"],
        &["sessions", "search", "--json", "evil"],
        &["sessions", "search", "--limit", "1", "evil", "OR", HOSTILE],
        &["sessions", "search", "--exact", "not there", HOSTILE],
        &["sessions", "prune", "--dry-run"],
        &["sessions", "prune", "--dry-run", "--json"],
        &["sessions", "delete", "@last"],
        &["sessions", "rename", "@last", HOSTILE],
        &["sessions", "import", HOSTILE],
        &["sessions", "import", "in.jsonl"],
        &["sessions", "import", "--json", "in.jsonl"],
        &["config", "show", "--url", HOSTILE],
    ];
    for args in commands {
        for columns in ["20", "40", "80", "200"] {
            let output = home.hermes(args).env("COLUMNS", columns).output();
            assert_harmless(&output.stdout);
            assert_harmless(&output.stderr);
        }
    }
}

#[test]
fn json_keeps_what_it_makes_harmless() {
    let home = hostile();
    let json: serde_json::Value =
        serde_json::from_str(&home.hermes(&["sessions", "show", "--json", "@last"]).stdout()).unwrap();
    assert_eq!(json["session"]["title"], HOSTILE);
    assert_eq!(json["messages"][0]["content"], HOSTILE);
}

#[test]
fn hostile_text_is_shown() {
    insta::assert_snapshot!(hostile().hermes(&["sessions", "list"]).env("COLUMNS", "200").see(), @r#"
    #  Title                             Preview                                                            Last active  Source                                                             Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    1  a␛[31mred␛]0;title␇<U+009B>2J␈␡…  a␛[31mred␛]0;title␇<U+009B>2J␈␡ over <U+202E>evil<U+2066><U+200F…  2025-03-05   a␛[31mred␛]0;title␇<U+009B>2J␈␡␍over <U+202E>evil<U+2066><U+200F…     5  evil␛[2Jid
    --- exit 0
    "#);
}

#[test]
fn a_pipe_gets_plain_text_and_a_terminal_colours() {
    let home = several();
    assert!(!home.see(&["sessions", "list"]).contains('\u{1b}'));
    let forced = home.hermes(&["sessions", "list"]).env("CLICOLOR_FORCE", "1").stdout();
    assert!(forced.contains("\u{1b}[1mTitle"), "{forced:?}");
    let plain = home.hermes(&["sessions", "list"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").stdout();
    assert!(!plain.contains('\u{1b}'));
}

#[test]
fn a_pipe_gets_whole_titles() {
    let home = Home::empty();
    let title = format!("Billing on a new queue {}", "and more of it ".repeat(5));
    let title = title.trim_end();
    home.talk("20250305_091523_a1b2c3", "a-source-with-a-long-name", Some(title), LONG_AGO, &[(Role::User, "words")]);
    home.damage("UPDATE sessions SET ended_at = 1741166124.0");
    let piped = |args: &[&str]| home.hermes(args).without_env("COLUMNS").stdout();
    let commands: [&[&str]; 4] = [
        &["sessions", "list"],
        &["sessions", "search", "words"],
        &["sessions", "prune", "--dry-run", "--older-than", "1"],
        &["sessions", "browse"],
    ];
    for args in commands {
        let seen = piped(args);
        assert!(seen.lines().any(|line| line.contains(title)), "{args:?}: {seen}");
        let narrow = home.hermes(args).stdout();
        assert!(!narrow.contains(title), "COLUMNS is obeyed, {args:?}: {narrow}");
    }
    assert!(piped(&["sessions", "list"]).lines().nth(2).unwrap().contains("words"), "a column for previews");
    home.see(&["sessions", "delete", "--yes", "@last"]);
    assert!(piped(&["sessions", "trash", "list"]).contains(title));
}

#[test]
#[cfg(target_os = "linux")]
fn a_table_is_as_wide_as_the_terminal() {
    let home = Home::empty();
    let title = "Billing on a new queue and more of it and more of it and more of it";
    home.talk("20250305_091523_a1b2c3", "telegram", Some(title), LONG_AGO, &[(Role::User, "words")]);
    for columns in [40_u16, 80, 200] {
        let seen = on_a_terminal(home.hermes(&["sessions", "list"]).env("NO_COLOR", "1"), columns);
        let widest = seen.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= usize::from(columns) && !seen.contains(title), "{columns}: {seen}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_pager_opens_at_the_message() {
    let home = lengthy(40);
    let show = |pager: &str, message: &str| {
        let run = home.hermes(&["sessions", "show", "@last", "--around", message]).env("PAGER", pager);
        on_a_terminal(run.env("NO_COLOR", "1"), 60)
    };
    let all = show("cat", "20");
    let place = 1 + all.lines().position(|line| line.contains("◀ message 20")).unwrap();
    assert!(place > 24, "the message is on the second screen: {all}");
    assert_eq!(show("echo \"$LESS\"", "20"), format!("FRX +{place}g\n"));
    let run = home
        .hermes(&["sessions", "show", "@last", "--around", "20"])
        .env("LESS", "-i")
        .env("PAGER", "echo $LESS")
        .env("NO_COLOR", "1");
    assert_eq!(on_a_terminal(run, 60), format!("-i +{place}g\n"));
    let whole = home.hermes(&["sessions", "show", "@last"]).env("PAGER", "echo $LESS");
    assert_eq!(on_a_terminal(whole, 60), "FRX\n");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let home = Home::empty();
    let long = "line\n".repeat(200_000);
    home.talk("long", "cli", None, LONG_AGO, &[(Role::User, &long)]);
    let mut run = home.hermes(&["sessions", "show", "long"]);
    let mut child = run.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_reported() {
    let home = several();
    let mut run = home.hermes(&["sessions", "list"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = run.command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: could not write the output: No space left"), "{errors}");
    assert_eq!(output.status.code(), Some(1));
}

/// Returns the output of a command on a real terminal with this many columns.
#[cfg(target_os = "linux")]
pub(super) fn on_a_terminal(mut run: Run<'_>, columns: u16) -> String {
    let (master, terminal) = a_terminal(columns);
    let mut child =
        run.command.env("TERM", "xterm").env_remove("COLUMNS").stdout(terminal).stderr(Stdio::null()).spawn().unwrap();
    // The command itself keeps the terminal open.
    drop(run);
    let mut seen = Vec::new();
    let mut master = std::fs::File::from(master);
    let mut buffer = [0; 4096];
    // Reading fails once the terminal has no other user.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(seen).unwrap().replace("\r\n", "\n")
}

/// Opens a pseudo-terminal with this many columns. Returns the master and the terminal.
#[cfg(target_os = "linux")]
pub(super) fn a_terminal(columns: u16) -> (std::os::fd::OwnedFd, std::fs::File) {
    a_terminal_of(columns, 24)
}

/// Opens a pseudo-terminal of this size. Returns the master and the terminal.
#[cfg(target_os = "linux")]
pub(super) fn a_terminal_of(columns: u16, lines: u16) -> (std::os::fd::OwnedFd, std::fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::os::unix::ffi::OsStrExt as _;
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    let terminal = std::fs::File::options().read(true).write(true).open(path).unwrap();
    let size = rustix::termios::Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&terminal, size).unwrap();
    (master, terminal)
}

/// Returns a session of many messages with Markdown.
#[cfg(target_os = "linux")]
fn lengthy(messages: usize) -> Home {
    let home = Home::empty();
    home.talk(
        "s1",
        "cli",
        Some("plan"),
        LONG_AGO,
        &vec![(Role::Assistant, "# Head\n**bold** \u{1b}[2J\n- item"); messages],
    );
    home
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let show = ["sessions", "show", "@last"];
    let paged = |home: &Home, args: &[&str], pager: &str| {
        let seen = on_a_terminal(home.hermes(args).env("PAGER", pager), 60);
        (seen.lines().count(), seen.lines().filter(|line| line.starts_with("P:")).count())
    };
    let (short, long) = (lengthy(1), lengthy(40));
    assert_eq!(paged(&short, &show, "sed s/^/P:/").1, 0);
    let (lines, marked) = paged(&long, &show, "sed s/^/P:/");
    assert!(lines > 200 && lines == marked, "{lines} {marked}");
    assert_eq!(paged(&long, &["sessions", "show", "--no-pager", "@last"], "sed s/^/P:/"), (lines, 0));
    assert_eq!((paged(&long, &show, ""), paged(&long, &show, "cat")), ((lines, 0), (lines, 0)));
    assert_eq!(paged(&long, &show, "head -n 3 | sed s/^/P:/"), (3, 3), "leaving the pager is no error");
    let piped = long.hermes(&show).env("PAGER", "sed s/^/P:/").stdout();
    assert!(!piped.contains("P:") && piped.contains("**bold**"), "{piped}");
}

#[test]
#[cfg(target_os = "linux")]
fn without_its_pager_a_text_is_shown_all_the_same() {
    // The second text is longer than a pipe holds, so that writing to the pager fails.
    for messages in [40, 4_000] {
        let home = lengthy(messages);
        let show = |pager: &str| home.hermes(&["sessions", "show", "@last"]).env("PAGER", pager);
        let expected = on_a_terminal(show("cat"), 60);
        assert_eq!(on_a_terminal(show("no-such-pager"), 60), expected, "{messages} messages");
        let mut run = show("no-such-pager 2>&-");
        let (master, terminal) = a_terminal(60);
        let child = run.command.stdout(terminal).stderr(Stdio::piped()).spawn().unwrap();
        drop(run);
        let reader =
            std::thread::spawn(move || _ = std::io::copy(&mut std::fs::File::from(master), &mut std::io::sink()));
        let output = child.wait_with_output().unwrap();
        reader.join().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        let note = "note: the pager \"no-such-pager 2>&-\" could not be run; set PAGER to another program\n";
        assert_eq!((errors.as_str(), output.status.code()), (note, Some(0)));
    }
}

#[test]
fn an_error_does_not_repeat_a_long_argument() {
    let home = several();
    let long = "x".repeat(100_000);
    let text = long.as_str();
    let url = format!("foo://{text}");
    let commands: [&[&str]; 24] = [
        &["sessions", "show", text],
        &["sessions", "delete", text, "--yes"],
        &["sessions", "erase", text, "--yes"],
        &["sessions", "restore", text],
        &["sessions", "search", text],
        &["sessions", "search", "a", "--session", text],
        &["sessions", "search", "a", "--after", text],
        &["sessions", "search", "a", "--since", text],
        &["sessions", "search", "a", "--limit", text],
        &["sessions", "list", "--order", text],
        &["sessions", "list", "--url", text],
        &["sessions", "list", "--url", &url],
        &["sessions", "list", "--home", text],
        &["sessions", "prune", "--older-than", text],
        &["sessions", "export", text],
        &["sessions", "import", text],
        &["sessions", "backup", text],
        &["sessions", "repair", text],
        &["sessions", text],
        &["sessiondb", "migrate", "--from", &url, "--to", "x.db"],
        &["mcp", "--chat", text],
        &["mcp", "--all", "--http", text],
        &["man", text],
        &[text],
    ];
    for args in commands {
        let output = home.hermes(args).output();
        let errors = String::from_utf8(output.stderr).unwrap();
        let command: Vec<&str> = args.iter().copied().filter(|word| word.len() < 100).collect();
        assert!(errors.starts_with("error: ") && errors.len() < 5_000, "{command:?}: {} bytes", errors.len());
        assert!(!output.status.success(), "{command:?}");
    }
    let start = "x".repeat(74);
    let end = "x".repeat(25);
    let seen = home.see(&["sessions", "show", text]);
    assert!(seen.contains(&format!("error: no session matches \"{start}…{end}\"\n")), "{seen}");
}

#[test]
#[cfg(target_os = "linux")]
fn markdown_is_drawn_on_a_terminal_alone() {
    let home = lengthy(1);
    let show = || home.hermes(&["sessions", "show", "@last"]);
    let seen = on_a_terminal(show(), 60);
    assert!(seen.contains("\u{1b}[1mbold\u{1b}[0m") && seen.contains("• ") && !seen.contains("**"), "{seen:?}");
    assert!(seen.contains("␛[2J"), "{seen:?}");
    for plain in [on_a_terminal(show().env("NO_COLOR", "1"), 60), show().stdout()] {
        assert!(plain.contains("  **bold** ␛[2J\n  - item") && !plain.contains('\u{1b}'), "{plain:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_matched_is_emphasised_on_a_terminal() {
    let home = Home::empty();
    let said = "周末想去大别山徒步 and >>>this<<< \u{1b}[1m\u{1b}[31mis\u{1b}[0m not what was searched for";
    home.talk("s1", "cli", Some("plan"), LONG_AGO, &[(Role::User, said), (Role::Assistant, "fine")]);
    let search = || home.hermes(&["sessions", "search", "--context", "大别山"]);
    let strong = "\u{1b}[1m\u{1b}[31m";
    let seen = on_a_terminal(search(), 60);
    assert!(seen.contains(&format!("去{strong}大别山\u{1b}[0m徒步")), "{seen:?}");
    assert_eq!(seen.matches(strong).count(), 1, "nothing else is: {seen:?}");
    assert!(seen.contains("\u{1b}[2mfine\u{1b}[0m"), "{seen:?}");
    let plain = anstream::adapter::strip_str(&seen).to_string();
    let widest = plain.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
    assert!((50..=60).contains(&widest), "{plain}");
    let without_colour = on_a_terminal(search().env("NO_COLOR", "1"), 60);
    assert!(without_colour.contains("去>>>大别山<<<徒步") && !without_colour.contains('\u{1b}'), "{without_colour:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_export_does_no_harm_to_a_terminal() {
    let home = hostile();
    for format in ["jsonl", "markdown"] {
        let seen = on_a_terminal(home.hermes(&["sessions", "export", "-", "--format", format]), 80);
        assert!(seen.contains("evil"), "{seen}");
        // Markdown keeps its tabs.
        assert_harmless(seen.replace('\t', " ").as_bytes());
    }
}
