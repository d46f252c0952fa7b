//! Throw-away database servers from the installed programs: on a free port, in a temporary folder, never as root.

pub mod deaths;
mod mariadb;
pub mod owners;
mod postgres;

pub use mariadb::Mariadb;
pub use postgres::Postgres;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The user `nobody`, as which servers run if we are root: they refuse to run as root.
const NOBODY: u32 = 65_534;

/// Maximum time for a server to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns whether `HERMES_TEST_SKIP` names this server, and prints that its tests are skipped.
///
/// Otherwise a missing server is a failure: a test that did not run has shown nothing.
pub fn is_skipped(server: &str) -> bool {
    let is_skipped = std::env::var("HERMES_TEST_SKIP").is_ok_and(|names| names.split(',').any(|name| name == server));
    if is_skipped {
        #[expect(clippy::print_stdout, reason = "who reads the output should know that nothing was tested")]
        {
            println!("skipped: HERMES_TEST_SKIP names {server}");
        }
    }
    is_skipped
}

/// Creates a temporary folder for a server.
fn folder(prefix: &str) -> TempDir {
    let folder = tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
    if is_root() {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Returns a command that runs in a server's folder, as the user of the server.
fn command_in(folder: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("TZ", "UTC").env("LC_ALL", "C");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Runs a program to its end and returns its output.
///
/// # Panics
/// If it fails.
fn output_of(command: &mut Command) -> String {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let program = command.get_program().to_string_lossy();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until a server answers.
///
/// # Panics
/// If it exits or takes too long; the message includes its log, if there is one.
fn await_start(server: &mut Child, log: &Path, is_ready: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_ready() {
        let is_alive = server.try_wait().unwrap().is_none();
        let said = || fs::read_to_string(log).unwrap_or_default();
        assert!(is_alive && start.elapsed() < PATIENCE, "the server does not start: {}", said());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the folders in which programs are searched.
fn path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Returns a port that nothing listens on at the moment.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn is_root() -> bool {
    // The owner of a new folder is the current user.
    tempfile::tempdir().and_then(|folder| fs::metadata(folder.path())).is_ok_and(|facts| facts.uid() == 0)
}
