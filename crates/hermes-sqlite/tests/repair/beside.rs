//! What others get of the same files: the Python agent, and `sqlite3 .recover`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A process that reads damaged files as others do.
pub(crate) struct Others {
    process: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

impl Others {
    /// Starts it, unless the person asked to go without or the release is not there. Only figures depend on it.
    pub(crate) fn start() -> Self {
        let beside_the_build = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers");
        let peers = std::env::var_os("HERMES_PEERS").map_or_else(|| beside_the_build.into(), PathBuf::from);
        let release = peers.join("0.14.0");
        let is_skipped = std::env::var("HERMES_TEST_SKIP").is_ok_and(|skip| skip.contains("peers"));
        if is_skipped || !release.join("hermes_state.py").is_file() {
            println!("the figures of others are left out");
            return Self { process: None };
        }
        let mut process = Command::new("python3")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/repair/beside.py"))
            .env("PYTHONPATH", release)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process: Some((process, input, BufReader::new(output))) }
    }

    /// How many messages the agent, and then `.recover`, get as they were.
    pub(crate) fn ask(&mut self, damaged: &Path, truth: &Path) -> (Result<u64, String>, Result<u64, String>) {
        let Some((_, input, output)) = &mut self.process else { return (Err(String::new()), Err(String::new())) };
        writeln!(input, "{}", serde_json::json!([damaged, truth])).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        let told = |value: &serde_json::Value| value.as_u64().ok_or_else(|| value.to_string());
        (told(&answer[0]), told(&answer[1]))
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        if let Some((process, _, _)) = &mut self.process {
            _ = process.kill();
            _ = process.wait();
        }
    }
}
