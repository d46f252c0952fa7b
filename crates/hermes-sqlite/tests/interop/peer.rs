//! A release of the Python agent, and a process that runs its store.

use crate::fixture::{File, report};
use crate::ledger::SHARED;
use crate::process::{Acknowledged, Process};
use hermes_conformance::agent::{self, Absent};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

/// A release that `scripts/peers` has fetched.
pub(crate) struct Release {
    pub(crate) version: &'static str,
    folder: PathBuf,
}

impl Release {
    /// Returns the release; `None` if the user opted out.
    pub(crate) fn find(version: &'static str) -> Option<Self> {
        match agent::release(version) {
            Ok(folder) => Some(Self { version, folder }),
            Err(why @ Absent::Unwanted) => {
                report(&format!("skipped beside hermes-agent {version}, because {why}"));
                None
            }
            Err(why @ Absent::Missing(_)) => panic!("{why}"),
        }
    }

    /// Returns whether its schema is newer than ours, so that we are guests on its files.
    pub(crate) fn is_host(&self) -> bool {
        self.version != "0.14.0"
    }

    /// Starts a process of this release that has the file open. Creates the file if it is missing.
    pub(crate) fn open(&self, file: &File) -> Peer {
        std::fs::create_dir_all(file.home()).unwrap();
        let mut command = agent::python(&self.folder, agent::SCRIPT);
        command.env("HERMES_HOME", file.home());
        let mut peer = Peer { process: Process::start(command) };
        let opened = peer.ask(&json!({"do": "open", "path": file.path()})).unwrap();
        let loaded = PathBuf::from(opened["file"].as_str().unwrap());
        assert!(loaded.starts_with(&self.folder), "another agent was loaded: {}", loaded.display());
        peer
    }
}

/// The result of a loop of appends.
pub(crate) struct Finished {
    pub(crate) acknowledged: Vec<Acknowledged>,
    /// The slowest append, in seconds.
    pub(crate) slowest: f64,
}

/// A process of the agent that has a file open. Killed when dropped.
pub(crate) struct Peer {
    pub(crate) process: Process,
}

impl Peer {
    #[track_caller]
    fn ask(&mut self, command: &Value) -> Result<Value, String> {
        writeln!(self.process.input.as_mut().unwrap(), "{command}").unwrap();
        let mut answer = self.process.answer();
        match answer.get("error") {
            Some(error) => Err(error.as_str().unwrap_or_default().to_owned()),
            None => Ok(answer["value"].take()),
        }
    }

    /// Calls a method of the agent's store that may fail.
    pub(crate) fn try_call(&mut self, method: &str, arguments: Value) -> Result<Value, String> {
        self.ask(&json!({"do": "call", "method": method, "arguments": arguments}))
    }

    /// Calls a method of the agent's store.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, arguments: Value) -> Value {
        self.try_call(method, arguments).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Returns the rows of a statement, on the agent's connection and its SQLite.
    #[track_caller]
    pub(crate) fn query(&mut self, sql: &str) -> Value {
        self.ask(&json!({"do": "query", "sql": sql})).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Appends to the sessions [`SHARED`] until [`Peer::finish`].
    pub(crate) fn append_in_a_loop(&mut self, name: &str) {
        self.ask(&json!({"do": "loop", "name": name, "among": SHARED, "every": null})).unwrap();
    }

    /// Appends until [`Peer::finish`], to a new session after every `every` appends.
    pub(crate) fn start_sessions_in_a_loop(&mut self, name: &str, every: u32) {
        self.ask(&json!({"do": "loop", "name": name, "among": [], "every": every})).unwrap();
    }

    /// Ends the loop. None of its appends may have failed.
    #[track_caller]
    pub(crate) fn finish(&mut self) -> Finished {
        let end = self.ask(&json!({"do": "stop"})).unwrap();
        assert_eq!(end["failures"], json!([]), "appends of the agent's failed");
        Finished { acknowledged: self.process.take(), slowest: end["slowest"].as_f64().unwrap() }
    }

    /// Closes the file and ends the process.
    #[track_caller]
    pub(crate) fn close(mut self) {
        self.ask(&json!({"do": "close"})).unwrap();
        self.process.end();
    }
}
