//! The manual: one page for each command, and the pages in `docs`, which must match the program's output.

use super::Home;
use std::collections::BTreeMap;
use std::path::Path;

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn the_pages_in_docs_are_those_of_this_program() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands");
    let folder = tempfile::tempdir().unwrap();
    let home = Home::empty();
    if std::env::var_os("HERMES_WRITE_DOCS").is_some() {
        home.see(&["man", "--markdown", "--into", docs.to_str().unwrap()]);
    }
    home.see(&["man", "--markdown", "--into", folder.path().to_str().unwrap()]);
    let (made, kept) = (files(folder.path()), files(&docs));
    assert!(made.len() > 20, "{:?}", made.keys());
    assert!(made == kept, "docs/commands is not what `hermes man --markdown --into docs/commands` writes");
}

#[test]
fn every_command_has_a_page_for_man() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::empty();
    home.see(&["man", "--into", folder.path().to_str().unwrap()]);
    let pages = files(folder.path());
    for name in ["hermes.1", "hermes-sessions.1", "hermes-sessions-list.1", "hermes-sessiondb-migrate.1"] {
        assert!(pages.contains_key(name), "{name} is not among {:?}", pages.keys());
    }
    let list = &pages["hermes-sessions-list.1"];
    assert!(list.contains(".TH HERMES-SESSIONS-LIST 1") && list.contains("\\-\\-limit"), "{list}");
    assert!(!pages.keys().any(|name| name.contains("__")), "{:?}", pages.keys());
    for typed in [&["sessions", "list"][..], &["sessions-list"], &["hermes-sessions-list"], &["list"], &["ls"]] {
        assert_eq!(home.see(&[&["man"], typed].concat()), format!("{list}--- exit 0"));
    }
    assert_eq!(home.see(&["man", "hermes"]), home.see(&["man"]));
}

#[test]
fn a_page_that_is_not_there_is_reported() {
    insta::assert_snapshot!(Home::empty().see(&["man", "sessions", "fly"]), @r#"
    --- stderr
    error: no command is called "sessions fly"
    hint: `hermes help` lists all of them
    --- exit 1
    "#);
}

#[test]
#[cfg(target_os = "linux")]
fn at_a_terminal_a_page_is_shown_with_man() {
    use super::terminal::on_a_terminal;
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::empty();
    let man = home.path().join("man");
    let at_terminal = |pager: &str, script: Option<&str>| {
        if let Some(script) = script {
            std::fs::write(&man, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&man, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        let path = if script.is_some() { format!("{}:/usr/bin:/bin", home.path().display()) } else { "/bin/sh".into() };
        on_a_terminal(home.hermes(&["man", "sessions-list"]).env("PATH", &path).env("PAGER", pager), 80)
    };
    let seen = at_terminal("cat", Some("echo man \"$@\"; exec sed -n s/^.TH/TH/p"));
    assert_eq!(seen.lines().next(), Some("man -l -"), "{seen}");
    assert!(seen.contains("TH HERMES-SESSIONS-LIST 1"), "{seen}");
    // A man that fails, no man, and no pager either: the text of --help.
    for seen in [at_terminal("cat", Some("exit 3")), at_terminal("cat", None), at_terminal("no-such-pager", None)] {
        assert!(seen.starts_with("List conversations: pinned ones first"), "{seen}");
        assert!(seen.contains("Usage: hermes sessions list [OPTIONS]") && seen.contains("--exclude-source"), "{seen}");
        assert!(!seen.contains(".TH"), "{seen}");
    }
}
