//! Files of real agents in every state in which a command may find one, and their properties seen from outside.

use super::Program;
use hermes_conformance::agent::{Absent, Agent, release};
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// Number of messages per session: enough for several pages.
const MESSAGES: usize = 60;
/// The conversations of every file, and those of another one.
const OURS: [&str; 2] = ["one", "two"];
const THEIRS: [&str; 2] = ["three", "four"];
/// Offset of the page size in the header of a file.
const PAGE_SIZE: usize = 16;

/// State of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The agent closed the file.
    Closed,
    /// The agent was killed after commits that are only in the WAL.
    Killed,
    /// The agent has the file open.
    Live,
    /// A page of `messages` is overwritten.
    Damaged,
    /// Nothing in its folder can be written.
    ReadOnlyFolder,
}

pub(super) const STATES: [State; 5] =
    [State::Closed, State::Killed, State::Live, State::Damaged, State::ReadOnlyFolder];

impl State {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Killed => "killed writer",
            Self::Live => "live agent",
            Self::Damaged => "damaged",
            Self::ReadOnlyFolder => "read-only folder",
        }
    }
}

/// A release of the agent.
pub(super) struct Peer(PathBuf);

impl Peer {
    /// Returns a release of the agent, or `None` if tests with the agent were declined.
    pub(super) fn of(version: &str) -> Option<Self> {
        match release(version) {
            Ok(folder) => Some(Self(folder)),
            Err(Absent::Unwanted) => {
                println!("skipped: HERMES_TEST_SKIP names peers");
                None
            }
            Err(missing) => panic!("{missing}"),
        }
    }

    /// Starts the agent on a new file in `home`, and stores conversations with it.
    fn talk(&self, home: &Path, sessions: [&str; 2]) -> Agent {
        std::fs::create_dir(home).unwrap();
        let mut agent = Agent::open(&self.0, home);
        for session in sessions {
            agent.call("create_session", &json!({"session_id": session, "source": "cli"})).unwrap();
            for number in 0..MESSAGES {
                let role = if number % 2 == 0 { "user" } else { "assistant" };
                let content = format!("{session}: message {number} about the harbour {}", "and its boats ".repeat(12));
                let arguments = json!({"session_id": session, "role": role, "content": content});
                agent.call("append_message", &arguments).unwrap();
            }
        }
        agent.call("end_session", &json!({"session_id": sessions[1], "end_reason": "cli_close"})).unwrap();
        agent
    }
}

/// A file in every state.
pub(super) struct Files {
    folder: PathBuf,
    /// The agent that has the live file open.
    _agent: Agent,
}

impl Files {
    /// Creates the files in a folder.
    pub(super) fn make(peer: &Peer, program: &Program, folder: &Path) -> Self {
        let files = |state: State| folder.join(format!("{state:?}"));
        let mut closing = peer.talk(&files(State::Closed), OURS);
        closing.say(&json!({"do": "close"}));
        drop(closing);
        // Dropping an agent kills it.
        drop(peer.talk(&files(State::Killed), OURS));
        let wal = files(State::Killed).join("state.db-wal");
        assert!(wal.metadata().unwrap().len() > 0, "commits are in the WAL");
        let agent = peer.talk(&files(State::Live), OURS);
        for state in [State::Damaged, State::ReadOnlyFolder] {
            copy_files(&files(State::Closed), &files(state));
        }
        damage(&files(State::Damaged).join("state.db"));
        let (other, exported) = (folder.join("Other"), folder.join("Export"));
        peer.talk(&other, THEIRS).say(&json!({"do": "close"}));
        copy_files(&other, &exported);
        let export = program.run(
            &exported,
            false,
            &["sessions", "export", folder.join("in.jsonl").to_str().unwrap(), "--session-id", "three"]
                .map(str::to_owned),
        );
        assert!(export.status.success(), "{export:?}");
        std::fs::set_permissions(folder.join("in.jsonl"), std::fs::Permissions::from_mode(0o644)).unwrap();
        for path in [other.clone(), other.join("state.db")] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder: folder.to_owned(), _agent: agent }
    }

    /// Returns a place with the file in `state`. The live file is shared: a copy would have no agent.
    pub(super) fn copy(&self, state: State) -> Place {
        let (made, shared) = (self.folder.join(format!("{state:?}")), self.folder.clone());
        let folder = open_folder();
        if state == State::Live {
            return Place { home: made, folder, shared };
        }
        let home = folder.path().join("home");
        copy_files(&made, &home);
        let is_closed = state == State::ReadOnlyFolder;
        let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        for entry in std::fs::read_dir(&home).unwrap() {
            mode(&entry.unwrap().path(), if is_closed { 0o444 } else { 0o644 });
        }
        mode(&home, if is_closed { 0o555 } else { 0o755 });
        Place { home, folder, shared }
    }
}

/// Copies the file and the files that SQLite keeps beside it.
fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// Overwrites the first leaf of the table `messages`.
fn damage(file: &Path) {
    let root: u32 = {
        #[expect(clippy::disallowed_methods, reason = "the file is looked at past the store")]
        let connection = rusqlite::Connection::open(file).unwrap();
        connection
            .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'messages'", [], |row| row.get(0))
            .unwrap()
    };
    let mut bytes = std::fs::read(file).unwrap();
    let size = usize::from(u16::from_be_bytes(bytes[PAGE_SIZE..PAGE_SIZE + 2].try_into().unwrap()));
    let start = (root as usize - 1) * size;
    assert_eq!(bytes[start], 5, "the table has several pages");
    let cell = usize::from(u16::from_be_bytes(bytes[start + 12..start + 14].try_into().unwrap()));
    let child = u32::from_be_bytes(bytes[start + cell..start + cell + 4].try_into().unwrap());
    let leaf = (child as usize - 1) * size;
    bytes[leaf..leaf + size].fill(0xA5);
    std::fs::write(file, bytes).unwrap();
    for end in ["-wal", "-shm"] {
        std::fs::remove_file(format!("{}{end}", file.display())).ok();
    }
}

/// Returns a folder that every account can reach.
pub(super) fn open_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

pub(super) fn is_root() -> bool {
    // The owner of a new folder is the current user.
    tempfile::tempdir().and_then(|folder| folder.path().metadata()).is_ok_and(|facts| facts.uid() == 0)
}

/// Files of a folder: content, mode and time of the last write.
type Seen = BTreeMap<String, (Vec<u8>, u32, SystemTime)>;

/// A home folder with a file in it.
pub(super) struct Place {
    home: PathBuf,
    /// Folder for new files that commands create.
    folder: TempDir,
    /// Folder with files that all places share.
    shared: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Restores the permissions, so that the folder can be removed.
        _ = std::fs::set_permissions(&self.home, std::fs::Permissions::from_mode(0o755));
    }
}

impl Place {
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Replaces the placeholders in the words of a command by paths.
    pub(super) fn filled_in(&self, args: &[&str]) -> Vec<String> {
        let word = |word: &&str| match *word {
            "DB" => self.home.join("state.db"),
            "IN" => self.shared.join("in.jsonl"),
            "OTHER" => self.shared.join("Other/state.db"),
            "OUT" => self.folder.path().join("out.db"),
            other => other.into(),
        };
        args.iter().map(|text| word(text).to_str().unwrap().to_owned()).collect()
    }

    /// Returns all files in the home folder.
    pub(super) fn seen(&self) -> Seen {
        let entries = std::fs::read_dir(&self.home).unwrap().map(Result::unwrap);
        let seen = |entry: std::fs::DirEntry| {
            let facts = entry.metadata().unwrap();
            let content = std::fs::read(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), (content, facts.mode(), facts.modified().unwrap()))
        };
        entries.map(seen).collect()
    }

    /// Returns the differences from `before`, in words. Beside the file, only a `-shm` and an empty `-wal` may appear,
    /// and `state.db.damaged` if a damage marker may be written.
    pub(super) fn differences(&self, before: &Seen, may_note_damage: bool) -> Vec<String> {
        let after = self.seen();
        let mut found = Vec::new();
        for (name, (content, mode, time)) in &after {
            match before.get(name) {
                _ if name == "state.db-shm" => {}
                None if name == "state.db-wal" && content.is_empty() => {}
                None if name == "state.db.damaged" && may_note_damage => {}
                None => found.push(format!("{name} appeared")),
                Some((was, _, _)) if was != content => found.push(format!("{name} has other content")),
                Some((_, was, _)) if was != mode => found.push(format!("{name} has mode {mode:o}, not {was:o}")),
                Some((_, _, was)) if was != time => found.push(format!("{name} was written again")),
                Some(_) => {}
            }
        }
        found.extend(before.keys().filter(|name| !after.contains_key(*name)).map(|name| format!("{name} is gone")));
        found
    }

    /// Returns our revision of the file, or 0 if it is not adopted.
    pub(super) fn user_version(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "the file is looked at past the store")]
        let connection = rusqlite::Connection::open(self.home.join("state.db")).unwrap();
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }
}
