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
fn a_session_comes_with_its_conversation_and_a_source_alone() {
    let home = compressed();
    home.talk("other", "telegram", None, LONG_AGO, &[(Role::User, "x")]);
    let ids = |args: &[&str]| -> Vec<String> {
        let text = home.hermes(&[&["sessions", "export", "-"], args].concat()).stdout();
        lines(&text).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--session-id", "long work"]), ["first", "second"]);
    assert_eq!(ids(&["--session-id", "second", "--session-id", "other"]), ["first", "second", "other"]);
    assert_eq!(ids(&["--source", "telegram"]), ["other"]);
    assert_eq!(ids(&["--source", "nothing"]), [""; 0]);
    assert_snapshot!(export(&home, &["-", "--session-id", "nobody"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` shows what there is
    --- exit 1
    "#);
    assert_snapshot!(export(&home, &["-", "--source", "a", "--session-id", "b"]), @r#"
    --- stderr
    error: the argument '--source <SOURCE>' cannot be used with '--session-id <SESSION>'

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
    let expect = serde_json::json!({"schema": 1, "path": file.display().to_string(), "format": "jsonl", "sessions": 5, "messages": 6, "bytes": bytes});
    assert_eq!(json, expect);
    assert_snapshot!(export(&home, &["-", "--json"]), @r#"
    --- stderr
    error: --json tells about a file, and the export goes to stdout
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
    error: [HOME]/mine is there already. Overwrite it? Nobody is here to answer that
    hint: give --yes to do it without being asked
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
    hint: make the folder first, or choose another
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
    error: /dev/null is no regular file
    hint: give -, and send stdout there
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
    hint: `hermes demo` makes one to look at; --home, --url and HERMES_HOME say where else to look
    --- exit 1
    "#);
}

#[test]
fn a_reader_who_leaves_is_no_error() {
    let home = Home::empty();
    home.talk("long", "cli", None, LONG_AGO, &[(Role::User, &"line\n".repeat(200_000))]);
    let mut run = home.hermes(&["sessions", "export", "-"]);
    let mut child = run.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap(), output.status.code()), (String::new(), Some(0)));
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_there() {
    let home = several();
    home.damage("UPDATE sessions SET started_at = 'never' WHERE id = 'tool_1'");
    let seen = export(&home, &["out.jsonl"]);
    assert!(seen.contains("sessions    4\n") && seen.contains("warning: sessions \"tool_1\" can't be read"), "{seen}");
    assert!(seen.ends_with("error: 1 session can't be read and is not in the export\nhint: `hermes sessions verify` tells what is wrong with the store\n--- exit 3"), "{seen}");
    assert_eq!(lines(&std::fs::read_to_string(home.path().join("out.jsonl")).unwrap()).len(), 4);
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
