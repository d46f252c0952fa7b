//! The manual: one page for each command, and the pages in `docs` as this program makes them.

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
    assert_eq!(home.see(&["man", "sessions", "list"]), format!("{list}--- exit 0"));
}

#[test]
fn a_page_that_is_not_there_is_told() {
    insta::assert_snapshot!(Home::empty().see(&["man", "sessions", "fly"]), @r#"
    --- stderr
    error: no command is called sessions fly
    hint: hermes help lists all of them
    --- exit 1
    "#);
}
