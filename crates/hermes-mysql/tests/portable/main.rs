//! Reads our SQL and checks that both servers accept it.
//!
//! The other tests run on MariaDB, where nobody would notice what MySQL 8 refuses. So every statement is checked.

mod read;
mod rules;

use read::{sql_of_rust, without_comments, words};
use std::path::{Path, PathBuf};

/// The one file that distinguishes the two servers, and may use settings of either.
const KNOWS_THE_FLAVOUR: &str = "database.rs";

#[test]
fn every_statement_is_one_that_both_servers_take() {
    let mut faults = Vec::new();
    let (mut files, mut statements) = (0, 0);
    for path in files_below(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        let text = std::fs::read_to_string(&path).expect("a text");
        let texts = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => sql_of_rust(&text),
            _ => vec![without_comments(&text)],
        };
        files += 1;
        let knows_the_flavour = path.file_name().is_some_and(|name| name == KNOWS_THE_FLAVOUR);
        for text in texts {
            statements += 1;
            let found = rules::faults(&words(&text));
            let found = found.into_iter().filter(|rule| !(knows_the_flavour && rule.is_of_a_flavour));
            faults.extend(found.map(|rule| format!("{}: {}: {}\n    {text}", path.display(), rule.words, rule.why)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(files > 20 && statements > 100, "{statements} statements in {files} files are too few to be all");
}

/// Returns our sources and migrations, and the statements that all servers share.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.join("src"), folder.join("migrations"), folder.join("../hermes-sql/src")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}
