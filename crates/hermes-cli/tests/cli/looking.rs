//! Commands that only read change nothing: they leave an agent's file as it is.
//!
//! `cargo test -p hermes-cli --test cli looking -- --nocapture` prints the matrix. `HERMES_MATRIX_BINARY` tests another
//! build.

#![expect(clippy::print_stdout, reason = "the matrix is what this test is for; a skip is printed")]

mod agents_file;
mod commands;
mod files;

use commands::{COMMANDS, Row};
use files::{Files, Peer, STATES, State};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The account for commands that must not be able to write, if the tests run as root.
const NOBODY: u32 = 65_534;

/// The program under test, at a path where every account can run it.
struct Program(PathBuf);

impl Program {
    /// Copies it into `folder` if the tests run as root: another account may not be able to reach the build.
    fn in_folder(folder: &Path) -> Self {
        let built = std::env::var_os("HERMES_MATRIX_BINARY").map_or(env!("CARGO_BIN_EXE_hermes").into(), PathBuf::from);
        if !files::is_root() {
            return Self(built);
        }
        let copy = folder.join("hermes");
        std::fs::copy(built, &copy).unwrap();
        Self(copy)
    }

    fn run(&self, home: &Path, is_nobody: bool, args: &[String]) -> Output {
        let mut command = Command::new(&self.0);
        command.args(args).env_clear().env("HERMES_HOME", home).env("HOME", "/nonexistent").env("TZ", "UTC");
        command.env("TERM", "dumb").current_dir("/").stdin(Stdio::null());
        if is_nobody && files::is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        loop {
            match command.output() {
                // Another test forked while the copy was written, and its child has not called exec yet.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                output => return output.unwrap(),
            }
        }
    }
}

/// Returns every command without subcommands, by its words. They come from the manual, which is generated from the clap
/// definition.
fn leaves(program: &Program, folder: &Path) -> BTreeSet<String> {
    let into = folder.join("man");
    let output = program.run(folder, false, &["man", "--into", into.to_str().unwrap()].map(str::to_owned));
    assert!(output.status.success(), "{output:?}");
    let pages: BTreeSet<String> = std::fs::read_dir(&into)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.trim_end_matches(".1").to_owned())
        .collect();
    let is_leaf = |page: &&String| {
        let below = format!("{page}-");
        // `restore-backup` is not below `restore`.
        !pages.iter().any(|other| other.starts_with(&below) && other != "hermes-sessions-restore-backup")
    };
    let words = |page: &String| page.trim_start_matches("hermes-").to_owned();
    pages.iter().filter(|page| *page != "hermes").filter(is_leaf).map(words).collect()
}

/// Returns the command of a row in the manual's spelling.
fn page(row: &Row) -> String {
    row.words.join("-")
}

#[test]
fn a_new_command_is_sorted_into_those_that_look_and_those_that_write() {
    let folder = files::open_folder();
    let leaves = leaves(&Program::in_folder(folder.path()), folder.path());
    let known: BTreeSet<String> = COMMANDS.iter().filter(|row| !row.words[0].starts_with("__")).map(page).collect();
    let unsorted: Vec<&String> = leaves.symmetric_difference(&known).collect();
    assert!(unsorted.is_empty(), "say in tests/cli/looking/commands.rs what these do: {unsorted:?}");
}

#[test]
fn looking_changes_no_file_of_0_14_0() {
    look_at_files_of("0.14.0");
}

#[test]
fn looking_changes_no_file_of_0_19_0() {
    look_at_files_of("0.19.0");
}

/// Runs every read-only command on the files of a release in every state.
fn look_at_files_of(version: &str) {
    let Some(peer) = Peer::of(version) else { return };
    let folder = files::open_folder();
    let program = Program::in_folder(folder.path());
    let files = Files::make(&peer, &program, folder.path());
    let mut matrix = format!("hermes-agent {version}\n{:44}", "");
    STATES.iter().for_each(|state| _ = write!(matrix, "{:>16}", state.name()));
    let mut changed = Vec::new();
    for args in COMMANDS.iter().flat_map(|row| row.looks) {
        _ = write!(matrix, "\n{:44}", args.join(" "));
        for state in STATES {
            let (cell, problems) = look(&program, &files, state, args);
            _ = write!(matrix, "{cell:>16}");
            changed.extend(
                problems.into_iter().map(|problem| format!("{} | {}: {problem}", args.join(" "), state.name())),
            );
        }
    }
    println!("{matrix}\n{}", changed.join("\n"));
    assert!(changed.is_empty(), "{} of the cells are not as they should be, see above", changed.len());
}

/// Runs one command on a copy of one file. Returns its cell of the matrix, and all violations.
fn look(program: &Program, files: &Files, state: State, args: &[&str]) -> (String, Vec<String>) {
    let place = files.copy(state);
    let before = place.seen();
    let output = program.run(place.home(), state == State::ReadOnlyFolder, &place.filled_in(args));
    // A command that meets damage records it beside the file.
    let mut problems = place.differences(&before, state == State::Damaged);
    let code = output.status.code().unwrap_or(-1);
    let may_fail = state == State::Damaged;
    if code != 0 && !(may_fail && code == 3) {
        problems.push(format!("exit {code}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let cell = if problems.is_empty() { format!("same, exit {code}") } else { format!("CHANGED, {code}") };
    (cell, problems)
}

#[test]
fn with_read_only_every_command_that_writes_refuses() {
    let Some(peer) = Peer::of("0.19.0") else { return };
    let folder = files::open_folder();
    let program = Program::in_folder(folder.path());
    let files = Files::make(&peer, &program, folder.path());
    for args in COMMANDS.iter().flat_map(|row| row.writes) {
        for is_flag in [true, false] {
            let place = files.copy(State::Closed);
            if !is_flag {
                std::fs::write(place.home().join("config.yaml"), "sessiondb: {sqlite: {read_only: true}}\n").unwrap();
            }
            let before = place.seen();
            let flag = is_flag.then(|| "--read-only".to_owned());
            let output =
                program.run(place.home(), false, &place.filled_in(args).into_iter().chain(flag).collect::<Vec<_>>());
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
            assert!(told.contains("read-only") && told.contains("hint: "), "{args:?}: {told}");
            assert_eq!(place.differences(&before, false), [""; 0], "{args:?}");
        }
    }
}

#[test]
fn a_command_that_writes_adopts_the_file() {
    let Some(peer) = Peer::of("0.19.0") else { return };
    let folder = files::open_folder();
    let program = Program::in_folder(folder.path());
    let files = Files::make(&peer, &program, folder.path());
    for args in COMMANDS.iter().flat_map(|row| row.adopts) {
        let place = files.copy(State::Closed);
        assert_eq!(place.user_version(), 0);
        let output = program.run(place.home(), false, &place.filled_in(args));
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(place.user_version() > 0, "{args:?}");
    }
}
