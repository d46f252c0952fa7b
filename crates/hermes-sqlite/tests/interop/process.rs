//! A separate process, the agent's or ours, that reports acknowledged appends by JSON lines.

use crate::fixture::File;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum time for an answer. Generous: the agent itself waits up to 17 s for a lock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An acknowledged append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) id: i64,
    pub(crate) session: String,
    pub(crate) text: String,
}

/// Returns the text of the `number`th append of a writer: its name as a separate word, and a unique word.
pub(crate) fn text(name: &str, number: usize) -> String {
    format!("{name} number {number} {name}x{number}")
}

#[derive(Default)]
struct Acknowledgements {
    appends: Mutex<Vec<Acknowledged>>,
    more: Condvar,
}

impl Acknowledgements {
    fn add(&self, line: &Value) {
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        let append =
            Acknowledged { id: line["acknowledged"].as_i64().unwrap(), session: text("session"), text: text("text") };
        self.appends.lock().unwrap().push(append);
        self.more.notify_all();
    }
}

/// A running process. Killed when dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) input: Option<ChildStdin>,
    answers: mpsc::Receiver<Value>,
    acknowledgements: Arc<Acknowledgements>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} can't be started: {error}"));
        let (sender, answers) = mpsc::channel();
        let acknowledgements = Arc::new(Acknowledgements::default());
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = {
            let acknowledgements = Arc::clone(&acknowledgements);
            std::thread::spawn(move || {
                for line in output.lines().map_while(Result::ok) {
                    // Lines of a test harness are not JSON; the last line of a killed process may be incomplete.
                    match serde_json::from_str::<Value>(&line) {
                        Ok(line) if line.get("acknowledged").is_some() => acknowledgements.add(&line),
                        Ok(line) => _ = sender.send(line),
                        Err(_) => {}
                    }
                }
            })
        };
        let input = child.stdin.take();
        Self { child, input, answers, acknowledgements, reader: Some(reader) }
    }

    /// Starts a copy of this program that runs one test in a role.
    pub(crate) fn copy_of_us(test: &str, role: &str, name: &str, file: &File) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).env(role, format!("{name}:{}", file.path().display()));
        Self::start(command)
    }

    /// Returns the next line that is not an acknowledgement.
    #[track_caller]
    pub(crate) fn answer(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no answer: {error}"))
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.acknowledgements.appends.lock().unwrap().len()
    }

    /// Waits until `count` appends were acknowledged.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) {
        let appends = self.acknowledgements.appends.lock().unwrap();
        let (appends, late) =
            self.acknowledgements.more.wait_timeout_while(appends, PATIENCE, |appends| appends.len() < count).unwrap();
        assert!(!late.timed_out(), "{} of {count} appends in {} s", appends.len(), PATIENCE.as_secs());
    }

    /// Returns all acknowledged appends so far.
    pub(crate) fn take(&self) -> Vec<Acknowledged> {
        std::mem::take(&mut *self.acknowledgements.appends.lock().unwrap())
    }

    /// Waits for the process to end, which has to succeed.
    #[track_caller]
    pub(crate) fn end(mut self) {
        self.input = None;
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Sends a signal that ends the process, and returns all appends that it reported. It may have ended by itself.
    pub(crate) fn end_by(mut self, signal: &str) -> Vec<Acknowledged> {
        // Until it is waited for, the process id stays reserved, even if the process has ended.
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        self.take()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
