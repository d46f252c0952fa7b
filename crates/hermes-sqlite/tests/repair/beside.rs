//! What others get of the same files: the Python agent, a newer one after its own repair, and the dump of `sqlite3`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Who else reads the files, in the order of the figures.
pub(crate) const OTHERS: [&str; 3] = ["agent 0.14.0", "agent 0.19.0, repaired", "sqlite3 .dump"];

/// Processes that read damaged files as others do.
pub(crate) struct Others {
    agents: Vec<Agent>,
}

struct Agent {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Others {
    /// Starts them, unless the person asked to go without or the releases are not there. Only figures depend on it.
    pub(crate) fn start() -> Self {
        let beside_the_build = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers");
        let peers = std::env::var_os("HERMES_PEERS").map_or_else(|| beside_the_build.into(), PathBuf::from);
        let releases = ["0.14.0", "0.19.0"].map(|release| peers.join(release));
        let is_skipped = std::env::var("HERMES_TEST_SKIP").is_ok_and(|skip| skip.contains("peers"));
        if is_skipped || releases.iter().any(|release| !release.join("hermes_state.py").is_file()) {
            println!("the figures of others are left out");
            return Self { agents: Vec::new() };
        }
        Self { agents: releases.iter().map(|release| Agent::start(release)).collect() }
    }

    /// How many messages each of [`OTHERS`] gets as they were.
    pub(crate) fn ask(&mut self, damaged: &Path, truth: &Path) -> [Result<u64, String>; 3] {
        let [old, new] = &mut self.agents[..] else { return [const { Err(String::new()) }; 3] };
        [old.ask("agent", damaged, truth), new.ask("agent", damaged, truth), old.ask("dump", damaged, truth)]
    }
}

impl Agent {
    fn start(release: &Path) -> Self {
        let mut process = Command::new("python3")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/repair/beside.py"))
            .env("PYTHONPATH", release)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, input, output }
    }

    fn ask(&mut self, who: &str, damaged: &Path, truth: &Path) -> Result<u64, String> {
        writeln!(self.input, "{}", serde_json::json!([who, damaged, truth])).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        answer.as_u64().ok_or_else(|| answer.to_string())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
