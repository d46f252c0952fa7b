//! Texts about an agent's file that was never adopted, or that can't be written.

use super::Program;
use super::files::{self, Files, Peer, Place, State};
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

/// Files of the newest agent.
struct Set {
    program: Program,
    files: Files,
    _folder: TempDir,
}

fn newest() -> Option<Set> {
    let peer = Peer::of("0.19.0")?;
    let folder = files::open_folder();
    let program = Program::in_folder(folder.path());
    let files = Files::make(&peer, &program, folder.path());
    Some(Set { program, files, _folder: folder })
}

impl Set {
    /// Runs a command. Returns its output, with the home folder as `HOME`, and the exit code.
    fn see(&self, place: &Place, is_nobody: bool, args: &[&str]) -> (String, Option<i32>) {
        let output = self.program.run(place.home(), is_nobody, &place.filled_in(args));
        let text = [output.stdout, output.stderr].concat();
        let home = place.home().display().to_string();
        (String::from_utf8(text).unwrap().replace(&home, "HOME"), output.status.code())
    }
}

/// A file that is not adopted holds nothing that upkeep could finish, and looking at it does not adopt it.
#[test]
fn doctor_does_not_claim_to_fix_a_file_that_is_not_adopted() {
    let Some(set) = newest() else { return };
    let place = set.files.copy(State::Closed);
    let (seen, _) = set.see(&place, false, &["doctor", "--fix"]);
    assert!(!seen.contains("postponed work"), "{seen}");
    let before = place.seen();
    let (seen, _) = set.see(&place, false, &["doctor", "--fix"]);
    assert!(seen.contains("→ `hermes sessiondb adopt` makes searches faster"), "{seen}");
    assert!(!seen.contains('⚒') && !seen.contains("sessions optimize"), "{seen}");
    assert_eq!(place.differences(&before, false), [""; 0], "{seen}");
    assert!(set.see(&place, false, &["sessiondb", "adopt"]).1 == Some(0));
    let (seen, code) = set.see(&place, false, &["doctor"]);
    assert!(!seen.contains("sessiondb adopt") && code == Some(0), "{seen}");
}

#[test]
fn optimizing_and_adopting_say_once_what_they_did() {
    let Some(set) = newest() else { return };
    let place = set.files.copy(State::Closed);
    let (seen, code) = set.see(&place, false, &["sessions", "optimize"]);
    let copy = "and the agent's full-text tables are being replaced; the file as it was: HOME/state.db.backup-v22; \
                `hermes sessiondb detach` undoes both";
    assert!(seen.contains(copy) && code == Some(0), "{seen}");
    assert_eq!((seen.matches("adopted this file").count(), seen.matches("replaced").count()), (1, 1), "{seen}");
    assert!(!seen.contains("no copy was kept"), "{seen}");
    let place = set.files.copy(State::Closed);
    let (seen, _) = set.see(&place, false, &["sessiondb", "adopt", "--home", place.home().to_str().unwrap()]);
    assert!(seen.starts_with("Adopted sqlite:HOME/state.db:\n  adopted this file: "), "{seen}");
    assert_eq!((seen.matches("of ours").count(), seen.matches("detach").count()), (1, 1), "{seen}");
    assert!(seen.contains("`hermes sessiondb detach --home HOME` removes them"), "{seen}");
}

#[test]
fn what_a_read_only_folder_does_not_allow_is_named() {
    let Some(set) = newest() else { return };
    let place = set.files.copy(State::ReadOnlyFolder);
    for (args, what) in [
        (&["sessions", "optimize"], "could not optimize the store: HOME/state.db can't be written here"),
        (&["sessiondb", "adopt"], "could not adopt the file: HOME/state.db can't be written here"),
    ] {
        let (seen, code) = set.see(&place, true, args);
        assert!(seen.contains(&format!("error: {what}\nhint: make HOME/state.db and its folder writable")), "{seen}");
        assert_eq!(code, Some(3), "{seen}");
    }
    let (seen, _) = set.see(&place, true, &["doctor"]);
    assert!(!seen.contains("SQLite can't read the file"), "{seen}");
    let (seen, _) = set.see(&place, true, &["sessions", "verify"]);
    assert!(seen.contains("· file is not adopted: nothing of ours is in it"), "{seen}");
    std::fs::set_permissions(place.home(), std::fs::Permissions::from_mode(0o000)).unwrap();
    let (seen, code) = set.see(&place, true, &["sessions", "list"]);
    assert!(seen.starts_with("error: HOME can't be read: Permission denied"), "{seen}");
    assert!(seen.contains("\nhint: run as its owner; --home") && code == Some(1), "{seen}");
}
