//! Copies of this program that play another process.

use crate::fixture::{at, id, user};
use hermes_session::SessionStore as _;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::path::Path;
use std::process::{Command, Stdio};

/// The variable that names the role of a copy of this program: a verb, an argument, a file.
const ROLE: &str = "HERMES_TEST_CHILD";

/// Returns the command for a process that does `verb` with `argument` on a file.
pub(crate) fn child(verb: &str, argument: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::a_process_of_its_own", "--nocapture"]);
    command.env(ROLE, format!("{verb}|{argument}|{}", path.display())).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Plays the role it was started for. Does nothing when it runs as one of the tests.
#[tokio::test]
async fn a_process_of_its_own() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let [verb, argument, path] = role.splitn(3, '|').collect::<Vec<_>>().try_into().unwrap();
    let path = Path::new(path);
    match verb {
        "restore_backup" => {
            println!("\nready");
            let kept = path.with_file_name("state.db.before-restore-1");
            hermes_rescue::restore_backup(path, argument.as_ref(), &kept).await.unwrap();
        }
        "append" => append(&SqliteStore::open(path, &SqliteOptions::default()).unwrap(), argument).await,
        other => panic!("{other}?"),
    }
}

/// Keeps the store open until a line arrives, then appends a message.
async fn append(store: &SqliteStore, text: &str) {
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    store.append(&id("shared"), &[user(text)], &at(2.0)).await.unwrap();
}
