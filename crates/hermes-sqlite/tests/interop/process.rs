//! A process of its own, the agent's or ours, that tells by JSON lines what it was promised.

use crate::fixture::File;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long an answer may take. Generous: the agent itself waits up to 17 s for a lock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An append that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) id: i64,
    pub(crate) session: String,
    pub(crate) text: String,
}

/// What the `number`th append of a writer says: its name as a word by itself, and a word that is nowhere else.
pub(crate) fn text(name: &str, number: usize) -> String {
    format!("{name} number {number} {name}x{number}")
}

#[derive(Default)]
struct Told {
    appends: Mutex<Vec<Acknowledged>>,
    more: Condvar,
}

impl Told {
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
    told: Arc<Told>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} can't be started: {error}"));
        let (sender, answers) = mpsc::channel();
        let told = Arc::new(Told::default());
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = {
            let told = Arc::clone(&told);
            std::thread::spawn(move || {
                for line in output.lines().map_while(Result::ok) {
                    // What a test harness prints is no JSON; the last line of a process that was killed may be half.
                    match serde_json::from_str::<Value>(&line) {
                        Ok(line) if line.get("acknowledged").is_some() => told.add(&line),
                        Ok(line) => _ = sender.send(line),
                        Err(_) => {}
                    }
                }
            })
        };
        let input = child.stdin.take();
        Self { child, input, answers, told, reader: Some(reader) }
    }

    /// A copy of this program that runs one test in a role.
    pub(crate) fn copy_of_us(test: &str, role: &str, name: &str, file: &File) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).env(role, format!("{name}:{}", file.path().display()));
        Self::start(command)
    }

    /// The next line that is no acknowledgement.
    #[track_caller]
    pub(crate) fn answer(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no answer: {error}"))
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.told.appends.lock().unwrap().len()
    }

    /// Waits until `count` appends were acknowledged.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) {
        let appends = self.told.appends.lock().unwrap();
        let (appends, late) =
            self.told.more.wait_timeout_while(appends, PATIENCE, |appends| appends.len() < count).unwrap();
        assert!(!late.timed_out(), "{} of {count} appends in {} s", appends.len(), PATIENCE.as_secs());
    }

    /// All that was acknowledged so far.
    pub(crate) fn take(&self) -> Vec<Acknowledged> {
        std::mem::take(&mut *self.told.appends.lock().unwrap())
    }

    /// Waits for the end of the process, which has to be a good one.
    #[track_caller]
    pub(crate) fn end(mut self) {
        self.input = None;
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Sends a signal that ends the process, and tells all that it had acknowledged. It may have ended by itself.
    pub(crate) fn end_by(mut self, signal: &str) -> Vec<Acknowledged> {
        // Until it is waited for, the number belongs to this process, also if it has ended.
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
