//! Results of other tools on the same files: the Python agent, a newer one after its own repair, and the dump of
//! `sqlite3`.

use hermes_conformance::agent::{Agent, python, release_for_figures};
use serde_json::json;
use std::path::Path;
use std::process::Stdio;

/// The other tools, in the order of the figures.
pub(crate) const OTHERS: [&str; 3] = ["agent 0.14.0", "agent 0.19.0, repaired", "sqlite3 .dump"];

/// Processes of the two releases that read damaged files, or `None`.
pub(crate) struct Others(Option<[Agent; 2]>);

impl Others {
    /// Starts them, unless the user opted out or the releases are missing. Only the figures depend on it.
    pub(crate) fn start() -> Self {
        let start = |version| {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/repair/beside.py");
            Some(Agent::start(python(&release_for_figures(version)?, script).stderr(Stdio::null())))
        };
        Self(start("0.14.0").and_then(|old| Some([old, start("0.19.0")?])))
    }

    /// Returns how many messages each of [`OTHERS`] reads unchanged.
    pub(crate) fn ask(&mut self, damaged: &Path, truth: &Path) -> [Result<u64, String>; 3] {
        let Some([old, new]) = &mut self.0 else { return [const { Err(String::new()) }; 3] };
        [ask(old, "agent", damaged, truth), ask(new, "agent", damaged, truth), ask(old, "dump", damaged, truth)]
    }
}

fn ask(agent: &mut Agent, who: &str, damaged: &Path, truth: &Path) -> Result<u64, String> {
    let answer = agent.say(&json!([who, damaged, truth]));
    answer.as_u64().ok_or_else(|| answer.to_string())
}
