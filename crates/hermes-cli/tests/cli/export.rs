//! `hermes sessions export`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn export(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "export"], args].concat())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn everything_goes_into_a_file_of_its_owner() {
    let home = several();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+\.\d KiB", "[SIZE]");
    settings.bind(|| {
        assert_snapshot!(export(&home, &["out.jsonl"]), @r#"
        export      [HOME]/out.jsonl
        sessions    5
        messages    6
        size        [SIZE]
        --- exit 0
        "#);
    });
    let file = home.path().join("out.jsonl");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines(&text).len(), 5);
    assert_eq!(home.hermes(&["sessions", "export", "-"]).stdout(), text, "stdout has the same bytes");
    let names: Vec<String> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.starts_with(".hermes-export")), "{names:?}");
}

#[test]
fn a_source_that_no_session_has_is_named_with_those_that_are_there() {
    let home = several();
    assert_snapshot!(export(&home, &["-", "--source", "CLI"]), @r#"
    --- stderr
    note: no session has the source "CLI"; sources in this store: cli, cron, discord, telegram, tool
    --- exit 0
    "#);
    let seen = export(&home, &["some.jsonl", "--source", "cli,cron", "--source", "tool"]);
    assert!(seen.contains("note: no session has the source \"cli,cron\"; sources in this store: cli, "), "{seen}");
    assert!(seen.contains("note: repeat the option for several sources: --source cli --source cron\n"), "{seen}");
    assert!(seen.contains("sessions    1\n"), "{seen}");
    assert!(!export(&home, &["-", "--source", "cli"]).contains("note:"));
}

#[test]
fn a_session_comes_with_its_conversation_and_a_source_alone() {
    let home = compressed();
    home.talk("other", "telegram", None, LONG_AGO, &[(Role::User, "x")]);
    let ids = |args: &[&str]| -> Vec<String> {
        let text = home.hermes(&[&["sessions", "export", "-"], args].concat()).stdout();
        lines(&text).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--session", "long work"]), ["first", "second"]);
    assert_eq!(ids(&["--session", "second", "--session", "other"]), ["first", "second", "other"]);
    assert_eq!(ids(&["--session-id", "other"]), ["other"], "its former name still works");
    assert_eq!(ids(&["-s", "telegram"]), ["other"]);
    assert_eq!(ids(&["--source", "nothing"]), [""; 0]);
    assert_snapshot!(export(&home, &["-", "--session", "nobody"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["-", "--source", "a", "--session", "b"]), @r#"
    --- stderr
    error: the argument '--source <SOURCE>' cannot be used with '--session <SESSION>'

    Usage: hermes sessions export --source <SOURCE> <FILE>

    For more information, try '--help'.
    --- exit 2
    "#);
}

#[test]
fn the_same_for_programs() {
    let home = several();
    let json: Value =
        serde_json::from_str(&home.hermes(&["sessions", "export", "out.jsonl", "--json"]).stdout()).unwrap();
    let file = home.path().canonicalize().unwrap().join("out.jsonl");
    let bytes = std::fs::metadata(&file).unwrap().len();
    let expect = serde_json::json!({"schema": 1, "path": file.display().to_string(), "format": "jsonl", "sessions": 5, "messages": 6, "bytes": bytes, "masked": []});
    assert_eq!(json, expect);
    assert_snapshot!(export(&home, &["-", "--json"]), @r#"
    --- stderr
    error: --json describes a file, but the export goes to stdout
    hint: leave --json out, or give the name of a file
    --- exit 2
    "#);
}

#[test]
fn a_file_that_is_there_is_overwritten_only_if_that_is_said() {
    let home = several();
    std::fs::write(home.path().join("mine"), "mine").unwrap();
    assert_snapshot!(export(&home, &["mine"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: [HOME]/mine already exists. Overwrite it?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    assert_eq!(std::fs::read_to_string(home.path().join("mine")).unwrap(), "mine");
    for consent in ["--yes", "--force"] {
        std::fs::write(home.path().join("mine"), "mine").unwrap();
        assert!(export(&home, &["mine", consent]).ends_with("--- exit 0"));
        assert_eq!(lines(&std::fs::read_to_string(home.path().join("mine")).unwrap()).len(), 5);
    }
}

#[test]
fn a_target_that_cannot_be() {
    let home = several();
    let before = std::fs::read(home.database()).unwrap();
    std::fs::create_dir(home.path().join("folder")).unwrap();
    std::fs::write(home.path().join("mine"), "mine").unwrap();
    symlink("mine", home.path().join("link")).unwrap();
    symlink("nowhere", home.path().join("dangling")).unwrap();
    std::fs::hard_link(home.database(), home.path().join("twin")).unwrap();
    for target in
        ["state.db", "./state.db-wal", "state.db-shm", "folder/../state.db.queue", "state.db.backup-v11", "twin"]
    {
        let seen = export(&home, &[target, "--yes"]);
        assert!(
            seen.contains("belongs to the store itself\nhint: choose another name") && seen.ends_with("exit 1"),
            "{seen}"
        );
    }
    assert_snapshot!(export(&home, &["link", "--yes"]), @r#"
    --- stderr
    error: [HOME]/link is a link
    hint: give the path of the file itself
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["dangling", "--yes"]), @r#"
    --- stderr
    error: [HOME]/dangling is a link
    hint: give the path of the file itself
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["folder", "--yes"]), @r#"
    --- stderr
    error: [HOME]/folder is a folder
    hint: give the name of a file in it
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["folder/", "--yes"]), @r#"
    --- stderr
    error: [HOME]/folder/ is a folder
    hint: give the name of a file in it
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["missing/out", "--yes"]), @r#"
    --- stderr
    error: [HOME]/missing/out is in a folder that does not exist
    hint: create the folder first, or choose another
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["mine/out", "--yes"]), @r#"
    --- stderr
    error: [HOME]/mine/out can't be made: Not a directory (os error 20)
    hint: choose another name, or another folder
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["/dev/null", "--yes"]), @r#"
    --- stderr
    error: /dev/null is not a regular file
    hint: use - and redirect stdout
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &[""]), @r#"
    --- stderr
    error: a value is required for '<FILE>' but none was supplied

    For more information, try '--help'.
    --- exit 2
    "#);
    assert!(std::fs::read(home.database()).unwrap() == before);
    assert_eq!(std::fs::read_to_string(home.path().join("mine")).unwrap(), "mine");
    assert!(!home.path().join("nowhere").exists() && !home.path().join("missing").exists());
    assert_snapshot!(export(&Home::empty(), &["out"]), @r#"
    --- stderr
    error: there is no session store at [HOME]/state.db
    hint: `hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one
    --- exit 1
    "#);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let home = Home::empty();
    home.talk("long", "cli", None, LONG_AGO, &[(Role::User, &"line\n".repeat(200_000))]);
    let mut run = home.hermes(&["sessions", "export", "-"]);
    let mut child = run.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap(), output.status.code()), (String::new(), Some(0)));
}

#[test]
fn unreadable_sessions_are_reported_and_the_rest_is_exported() {
    let home = several();
    home.damage("UPDATE sessions SET started_at = 'never' WHERE id = 'tool_1'");
    let seen = export(&home, &["out.jsonl"]);
    assert!(seen.contains("sessions    4\n") && seen.contains("warning: sessions \"tool_1\" can't be read"), "{seen}");
    assert!(seen.ends_with("error: 1 session can't be read and is not in the export\nhint: `hermes sessions verify` shows what is wrong with the store\n--- exit 3"), "{seen}");
    assert_eq!(lines(&std::fs::read_to_string(home.path().join("out.jsonl")).unwrap()).len(), 4);
}

#[test]
fn the_ending_of_the_file_decides_the_format_unless_one_is_given() {
    let home = several();
    let format = |args: &[&str]| -> String {
        let json: Value =
            serde_json::from_str(&home.hermes(&[&["sessions", "export", "-j"], args].concat()).stdout()).unwrap();
        let text = std::fs::read_to_string(json["path"].as_str().unwrap()).unwrap();
        let is_markdown = text.starts_with("# ");
        assert_eq!(json["format"], if is_markdown { "markdown" } else { "jsonl" }, "{args:?}");
        assert!(is_markdown || text.starts_with('{'), "{text}");
        json["format"].as_str().unwrap().to_owned()
    };
    for name in ["a.md", "b.markdown", "c.MD"] {
        assert_eq!(format(&[name]), "markdown", "{name}");
    }
    for name in ["a.jsonl", "a.txt", "md", ".md"] {
        assert_eq!(format(&[name]), "jsonl", "{name}");
    }
    assert_eq!(format(&["x.md", "--format", "jsonl"]), "jsonl");
    assert_eq!(format(&["x.jsonl", "--format", "markdown"]), "markdown");
    assert!(home.hermes(&["sessions", "export", "-"]).stdout().starts_with('{'));
}

#[test]
fn markdown_is_for_people() {
    let home = compressed();
    home.talk("other", "telegram", Some("# not a heading \u{1b}[2J"), LONG_AGO, &[(Role::User, "tab\there\u{1b}[31m")]);
    home.add(
        "other",
        MessageBody { tool_name: Some("terminal".into()), ..MessageBody::new(Role::Tool, "```\nout\n```") },
    );
    assert_snapshot!(export(&home, &["-", "--format", "markdown"]), @r#"
    # long work

    - id: `first`
    - source: `cli`
    - model: `model-x`
    - started: 2025-03-05 09:15
    - ended: 2025-03-05 09:16

    ### You · 2025-03-05 09:15

    begin

    ## long work \#2 (continuation)

    - id: `second`
    - source: `cli`
    - model: `model-x`
    - started: 2025-03-05 09:16

    ### You · 2025-03-05 09:16

    go on

    # \# not a heading \[2J

    - id: `other`
    - source: `telegram`
    - model: `model-x`
    - started: 2025-03-05 09:15

    ### You · 2025-03-05 09:15

    tab	here␛[31m

    ### terminal · 2025-03-05 09:17

    ````
    ```
    out
    ```
    ````

    --- exit 0
    "#);
}

/// Returns a home whose conversation holds secrets in its title, its messages and its tool calls.
fn with_secrets() -> Home {
    let home = Home::empty();
    home.talk(
        "s1",
        "cli",
        Some("why does password=hunter2 fail"),
        LONG_AGO,
        &[(Role::User, "the key is ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYaB3d"), (Role::Assistant, "no secret here")],
    );
    home.talk("s2", "cli", None, LONG_AGO, &[(Role::User, "sha da39a3ee5e6b4b0d3255bfef95601890afd80709")]);
    let calls =
        serde_json::json!([{"id": "c", "function": {"name": "login", "arguments": "{\"password\": \"hunter2\"}"}}]);
    let calls = Some(hermes_session::Json::from_value(&calls));
    home.add("s1", MessageBody { tool_calls: calls, ..MessageBody::empty(Role::Assistant) });
    home
}

#[test]
fn redact_masks_secrets_in_both_formats_and_says_where() {
    let home = with_secrets();
    for (format, file) in [("jsonl", "out.jsonl"), ("markdown", "out.md")] {
        let plain = home.hermes(&["sessions", "export", "-", "--format", format]).stdout();
        assert!(plain.contains("hunter2") && plain.contains("ghp_"), "{plain}");
        let seen = home.see(&["sessions", "export", file, "--format", format, "--redact"]);
        let text = std::fs::read_to_string(home.path().join(file)).unwrap();
        for masked in ["[redacted: password]", "[redacted: github token]", "da39a3ee5e6b4b0d3255bfef95601890afd80709"] {
            assert!(text.contains(masked), "{masked}: {text}");
        }
        for secret in ["hunter2", "ghp_"] {
            assert!(!text.contains(secret) && !seen.contains(secret), "{text} {seen}");
        }
        let notes = "note: masked 3 secrets in 1 session; only well-known forms are found; read the export before you share it\n\
                     note: s1: github token (1), password (2)\n";
        assert!(seen.contains(notes), "{seen}");
        let stdout = home.hermes(&["sessions", "export", "-", "--format", format, "--redact"]).output();
        assert_eq!(String::from_utf8(stdout.stdout).unwrap(), text);
        assert!(String::from_utf8(stdout.stderr).unwrap().contains("github token (1)"));
    }
}

#[test]
fn a_redacted_export_can_be_imported_and_names_what_it_masked_for_programs() {
    let home = with_secrets();
    let printed = home.hermes(&["sessions", "export", "out.jsonl", "--redact", "--json"]).stdout();
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        printed["masked"],
        serde_json::json!([
            {"session_id": "s1", "kind": "github token", "count": 1},
            {"session_id": "s1", "kind": "password", "count": 2},
        ])
    );
    let plain = home.hermes(&["sessions", "export", "plain.jsonl", "--json"]).stdout();
    assert_eq!(serde_json::from_str::<Value>(&plain).unwrap()["masked"], serde_json::json!([]));
    let other = Home::with_store();
    let seen = other.see(&["sessions", "import", home.path().join("out.jsonl").to_str().unwrap()]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    assert!(other.see(&["sessions", "show", "s1", "--full"]).contains("why does password=[redacted: password] fail"));
    let nothing = home.see(&["sessions", "export", "s2.jsonl", "--session-id", "s2", "--redact"]);
    assert!(nothing.contains("note: no secrets were masked; only well-known forms"), "{nothing}");
}
