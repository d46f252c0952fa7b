//! The releases of the Python agent that tests compare with, and a process that runs one.

use serde_json::{Value, json};
use std::fmt;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The release that benchmarks compare with.
pub const PEER: &str = "0.14.0";

/// The program that runs the store of a release, controlled by JSON lines; the commands are described at its top. It is
/// alone in its folder, because Python searches that folder for modules first.
pub const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/agent/peer.py");

/// Reason why a release is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// Skipped by `HERMES_TEST_SKIP`.
    Unwanted,
    /// Missing; the folder where it should be.
    Missing(PathBuf),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unwanted => f.write_str("HERMES_TEST_SKIP names peers"),
            Self::Missing(folder) => write!(
                f,
                "{} holds no hermes-agent: run scripts/peers (scripts/test does), or set HERMES_TEST_SKIP=peers",
                folder.display()
            ),
        }
    }
}

/// Returns the folder of a release that `scripts/peers` has fetched, in `HERMES_PEERS` or beside the build.
///
/// # Errors
/// If it is missing or skipped.
pub fn release(version: &str) -> Result<PathBuf, Absent> {
    if std::env::var("HERMES_TEST_SKIP").is_ok_and(|skip| skip.contains("peers")) {
        return Err(Absent::Unwanted);
    }
    let beside_the_build = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers");
    let peers = std::env::var_os("HERMES_PEERS").map_or_else(|| beside_the_build.into(), PathBuf::from);
    let folder = peers.join(version);
    let folder = folder.canonicalize().unwrap_or(folder);
    if folder.join("hermes_state.py").is_file() { Ok(folder) } else { Err(Absent::Missing(folder)) }
}

/// Returns the folder like [`release`], for tests in which only figures depend on it. If there is none, prints the
/// reason.
#[expect(clippy::print_stdout, reason = "what is left out is told")]
pub fn release_for_figures(version: &str) -> Option<PathBuf> {
    release(version).inspect_err(|why| println!("the figures of hermes-agent {version} are left out: {why}")).ok()
}

/// Returns a command that runs a Python script with a release of the agent on its path.
pub fn python(release: &Path, script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(script).env("PYTHONPATH", release);
    command
}

/// A process that answers each line of JSON with one line. Killed when dropped.
#[derive(Debug)]
pub struct Agent {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Agent {
    /// Starts the process.
    ///
    /// # Panics
    /// If it can't be started.
    pub fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, input, output }
    }

    /// Starts [`SCRIPT`] with its own file in a folder, which is its home.
    ///
    /// # Panics
    /// If it can't be started, or can't open the file.
    pub fn open(release: &Path, home: &Path) -> Self {
        let mut agent = Self::start(python(release, SCRIPT).env("HERMES_HOME", home));
        let opened = agent.say(&json!({"do": "open", "path": home.join("state.db")}));
        assert!(opened.get("error").is_none(), "{opened}");
        agent
    }

    /// Sends a line and returns the answer.
    ///
    /// # Panics
    /// If the answer is not JSON.
    pub fn say(&mut self, line: &Value) -> Value {
        writeln!(self.input, "{line}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{answer:?}: {error}"))
    }

    /// Calls a method of the store that [`SCRIPT`] has open.
    ///
    /// # Errors
    /// The message of the agent's error.
    pub fn call(&mut self, method: &str, arguments: &Value) -> Result<Value, String> {
        let mut answer = self.say(&json!({"do": "call", "method": method, "arguments": arguments}));
        match answer.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(answer["value"].take()),
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
