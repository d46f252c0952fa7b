//! Writers of many processes wait in the queue: each gets its share, and a writer that blocks the others is named.

use crate::child::{EACH, child, told};
use crate::fixture::{File, at, id, new, user};
use hermes_session::{MessageRequest, SessionStore as _, StoreError};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::time::{Duration, Instant};

/// A process that appends one message after the other until its input ends.
struct Appender {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Appender {
    fn start(name: &str, file: &File) -> Self {
        let mut child = child("append", name, &file.path()).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut appender = Self { child, input, lines: BufReader::new(output).lines() };
        appender.next("ready");
        appender
    }

    /// Returns the rest of the next line that begins with a word.
    fn next(&mut self, word: &str) -> String {
        let line = self.lines.by_ref().map(Result::unwrap).find(|line| line.starts_with(word));
        line.unwrap_or_else(|| panic!("it never said {word}"))[word.len()..].trim().to_owned()
    }

    fn go(&mut self) {
        self.input.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Stops it, and returns how many appends were acknowledged to it.
    fn finish(mut self) -> usize {
        drop(self.input.take());
        let count = self.next("appended").parse().unwrap();
        assert!(self.child.wait().unwrap().success());
        count
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// SQLite's own lock is polled, so of many writers some hardly ever get it.
#[tokio::test]
async fn sixteen_processes_get_their_share() {
    const PROCESSES: usize = 16;
    let file = File::new();
    file.open().create(&new("shared"), &at(1.0)).await.unwrap();
    let mut appenders: Vec<Appender> = (0..PROCESSES).map(|n| Appender::start(&n.to_string(), &file)).collect();
    appenders.iter_mut().for_each(Appender::go);
    // Until each had time for a good number, however slow the machine.
    let store = file.open();
    let stored = || async { store.session(&id("shared")).await.unwrap().unwrap().message_count };
    while stored().await < (PROCESSES * 60) as i64 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let counts: Vec<usize> = appenders.into_iter().map(Appender::finish).collect();
    let mean = counts.iter().sum::<usize>() / PROCESSES;
    println!("appends of each: {counts:?}");
    assert!(counts.iter().all(|count| *count * 2 >= mean), "somebody starved: {counts:?}");
    assert_eq!(stored().await, counts.iter().sum::<usize>() as i64);
}

/// Returns whether all threads of a process are stopped.
fn stands_still(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().map(Result::unwrap);
    let state = |stat: String| stat.rsplit(") ").next().unwrap().starts_with('T');
    threads.into_iter().all(|thread| std::fs::read_to_string(thread.path().join("stat")).is_ok_and(state))
}

/// Stops the appender. Returns whether it holds the queue; if not, it is continued.
fn stop_within_a_turn(appender: &Appender, file: &File) -> bool {
    appender.signal("-STOP");
    while !stands_still(appender.child.id()) {
        std::thread::yield_now();
    }
    let queue = std::fs::File::open(file.path().with_file_name("state.db.queue")).unwrap();
    // Between taking the slot and writing its name, the holder is unknown.
    let note = || std::fs::read(file.path().with_file_name("state.db.queue")).unwrap_or_default();
    let has_said_so = || String::from_utf8_lossy(&note()).contains("append messages");
    if queue.try_lock_shared().is_err() && has_said_so() {
        return true;
    }
    drop(queue);
    appender.signal("-CONT");
    false
}

#[tokio::test]
async fn a_process_that_stands_still_in_its_slot_is_named_and_nothing_is_lost() {
    let file = File::new();
    file.open().create(&new("shared"), &at(1.0)).await.unwrap();
    let mut appender = Appender::start("stopped", &file);
    appender.go();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !stop_within_a_turn(&appender, &file) {
        assert!(Instant::now() < deadline, "it was never met within a slot");
    }
    let store = file.try_open(Duration::from_millis(300)).unwrap();
    let error = store.append(&id("shared"), &[user("late")], &at(2.0)).await.unwrap_err();
    let StoreError::Busy { waited, holder: Some(holder), .. } = &error else { panic!("{error:?}") };
    assert!(*waited >= Duration::from_millis(290));
    assert!(holder.starts_with(&format!("process {} (", appender.child.id())), "{holder}");
    assert!(holder.contains("append messages"), "{holder}");
    assert!(error.to_string().contains(holder.as_str()));
    // Closing the store does not wait for it either.
    drop(store);
    let store = file.open();
    let patient = tokio::spawn(async move { store.append(&id("shared"), &[user("patient")], &at(3.0)).await });
    appender.signal("-CONT");
    patient.await.unwrap().unwrap();
    let promised = appender.finish();
    let messages = file.open().messages(&id("shared"), &MessageRequest::first(100_000)).await.unwrap();
    let texts: Vec<String> = messages.iter().map(|message| message.body.plain_text().into_owned()).collect();
    let count = |prefix: &str| texts.iter().filter(|text| text.starts_with(prefix)).count();
    assert_eq!((count("late"), count("patient"), count("stopped/")), (0, 1, promised));
}

#[tokio::test]
async fn a_process_that_is_killed_in_its_slot_leaves_it_to_the_next() {
    let file = File::new();
    file.open().create(&new("shared"), &at(1.0)).await.unwrap();
    let mut appender = Appender::start("killed", &file);
    appender.go();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !stop_within_a_turn(&appender, &file) {
        assert!(Instant::now() < deadline, "it was never met within a slot");
    }
    let store = file.open();
    let waiting = tokio::spawn(async move { store.append(&id("shared"), &[user("next")], &at(2.0)).await });
    appender.signal("-KILL");
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_program_outside_the_queue_is_distinguished() {
    let file = File::new();
    let store = file.try_open(Duration::from_millis(200)).unwrap();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let foreign = file.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.append(&id("a"), &[user("x")], &at(2.0)).await.unwrap_err();
    let StoreError::Busy { holder: Some(holder), .. } = &error else { panic!("{error:?}") };
    assert!(holder.starts_with("a program outside the writers' queue"), "{holder}");
    // A writer that waits behind one of ours learns what that one waits for.
    let patient = std::sync::Arc::new(file.open());
    let first = tokio::spawn({
        let patient = std::sync::Arc::clone(&patient);
        async move { patient.append(&id("a"), &[user("y")], &at(2.0)).await }
    });
    let error = loop {
        let error = store.append(&id("a"), &[user("x")], &at(2.0)).await.unwrap_err();
        if error.to_string().contains("process") {
            break error;
        }
    };
    let expect = format!("process {} (", std::process::id());
    assert!(error.to_string().contains(&expect), "{error}");
    assert!(error.to_string().contains("is itself waiting for a program outside"), "{error}");
    foreign.execute_batch("ROLLBACK").unwrap();
    first.await.unwrap().unwrap();
}

#[tokio::test]
async fn without_the_lock_file_writers_still_lose_nothing() {
    let file = File::new();
    file.open().create(&new("shared"), &at(1.0)).await.unwrap();
    let queue = file.path().with_file_name("state.db.queue");
    _ = std::fs::remove_file(&queue);
    // A folder of that name can't be opened for writing.
    std::fs::create_dir(&queue).unwrap();
    let writers: Vec<_> = (0..4).map(|n| child("write", &n.to_string(), &file.path()).spawn().unwrap()).collect();
    let mut promised = 0;
    for writer in writers {
        promised += told(&writer.wait_with_output().unwrap().stdout, "acknowledged").len();
    }
    assert_eq!(promised, 4 * EACH);
    assert_eq!(file.open().session(&id("shared")).await.unwrap().unwrap().message_count, promised as i64);
}
