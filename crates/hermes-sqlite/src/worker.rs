//! One thread that writes, a few that read.
//!
//! A write is a job that may run more than once until its transaction commits: jobs that wait together commit together, each in
//! a savepoint of its own, and if their transaction is lost each runs again alone. A job is answered after the commit
//! that holds it. Whoever asked may be gone by then: the job is done all the same, or not at all.

use crate::connection;
use crate::database::Database;
use crate::error::{Circumstances, Failure};
use crate::indexes;
use crate::readers::{ReadJob, Readers, snapshot};
use hermes_session::StoreError;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The most jobs that commit together.
const GROUP: usize = 256;
/// After this long a group takes no more jobs, so that other processes get their turn at the lock.
const GROUP_TIME: Duration = Duration::from_millis(50);

/// The agent has no queue: it looks whether the lock is free, and sleeps for up to 100 ms in between. After so much unbroken work the lock
/// stays free for as long, or the agent rarely finds it so: with half of it, the slowest append of 0.19.0 was a third slower beside us than beside itself.
const WORK: Duration = Duration::from_millis(450);
const REST: Duration = Duration::from_millis(100);
/// Work is unbroken if the next job comes within this.
const PAUSE: Duration = Duration::from_millis(2);

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// A write that can be run again, whatever it answers.
trait WriteJob: Send {
    /// When it was asked for; its deadline counts from here.
    fn asked(&self) -> Instant;
    /// Does the work and keeps the outcome; whether it succeeded.
    fn run(&mut self, database: &Database) -> bool;
    /// Answers with the outcome that was kept.
    fn answer(self: Box<Self>);
    /// Answers that it was not done: for its own reason if it has one, else for this.
    fn refuse(self: Box<Self>, error: rusqlite::Error);
}

struct Write<T, F> {
    op: &'static str,
    location: Arc<str>,
    asked: Instant,
    work: F,
    outcome: Option<Result<T, Failure>>,
    answer: Answer<T>,
}

impl<T: Send, F: FnMut(&Database) -> Result<T, Failure> + Send> WriteJob for Write<T, F> {
    fn asked(&self) -> Instant {
        self.asked
    }

    fn run(&mut self, database: &Database) -> bool {
        self.outcome.insert(indexes::despite_indexes(database, "job", || (self.work)(database))).is_ok()
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // Nobody may be listening any more; the work stays done.
            _ = self.answer.send(outcome.map_err(|failure| {
                failure.into_store_error(Circumstances {
                    op: self.op,
                    waited: self.asked.elapsed(),
                    location: &self.location,
                })
            }));
        }
    }

    fn refuse(self: Box<Self>, error: rusqlite::Error) {
        let failure = self.outcome.and_then(Result::err).unwrap_or(Failure::Sqlite(error));
        _ = self.answer.send(Err(failure.into_store_error(Circumstances {
            op: self.op,
            waited: self.asked.elapsed(),
            location: &self.location,
        })));
    }
}

/// The threads of one store. Dropping it lets the writer finish what it has, then waits for it.
pub(crate) struct Workers {
    writes: Option<mpsc::Sender<Box<dyn WriteJob>>>,
    writer: Option<JoinHandle<()>>,
    readers: Readers,
    location: Arc<str>,
}

impl Workers {
    /// Starts the writer, if there is one. Readers start when there is something to read.
    pub(crate) fn start(writer: Option<Database>, path: &Path, wait: Duration) -> Result<Self, std::io::Error> {
        let opener = if writer.is_some() { connection::open_reader } else { connection::open_read_only };
        let readers = Readers::new(path.to_owned(), opener, wait);
        let location = path.display().to_string().into();
        let Some(database) = writer else { return Ok(Self { writes: None, writer: None, readers, location }) };
        let (writes, queue) = mpsc::channel();
        let writer = spawn("hermes-writer", move || write_all(&database, &queue, wait))?;
        Ok(Self { writes: Some(writes), writer: Some(writer), readers, location })
    }

    /// Runs `work` in a transaction of its own or of a group, and answers once it is on disk.
    ///
    /// `work` may be run more than once and must not keep anything between runs.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        op: &'static str,
        work: impl FnMut(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.writes.is_none() {
            return Err(StoreError::ReadOnly { op, location: self.location.to_string() });
        }
        let (answer, answered) = oneshot::channel();
        self.send(Box::new(Write {
            op,
            location: Arc::clone(&self.location),
            asked: Instant::now(),
            work,
            outcome: None,
            answer,
        }));
        answered.await.unwrap_or_else(|_| Err(self.stopped(op)))
    }

    /// Has `work` done some time, and does not wait for it.
    pub(crate) fn write_later(
        &self,
        op: &'static str,
        work: impl FnMut(&Database) -> Result<(), Failure> + Send + 'static,
    ) {
        self.send(Box::new(Write {
            op,
            location: Arc::clone(&self.location),
            asked: Instant::now(),
            work,
            outcome: None,
            answer: oneshot::channel().0,
        }));
    }

    /// Runs `work`, which is short, on one state of the store: at once if that can be, else as [`Workers::read`] does.
    pub(crate) async fn read_short<T: Send + 'static>(
        &self,
        op: &'static str,
        work: impl Fn(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let asked = Instant::now();
        match self.readers.read_here(&work) {
            Some(outcome) => outcome.map_err(|failure| {
                failure.into_store_error(Circumstances { op, waited: asked.elapsed(), location: &self.location })
            }),
            None => self.read(op, work).await,
        }
    }

    /// Runs `work` on one state of the store. No reader waits for the writer.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        op: &'static str,
        work: impl FnOnce(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let (asked, location) = (Instant::now(), Arc::clone(&self.location));
        let job: ReadJob = Box::new(move |database| {
            let outcome = database.and_then(|database| snapshot(database, work));
            _ = answer.send(outcome.map_err(|failure| {
                failure.into_store_error(Circumstances { op, waited: asked.elapsed(), location: &location })
            }));
        });
        self.readers.send(job);
        answered.await.unwrap_or_else(|_| Err(self.stopped(op)))
    }

    fn stopped(&self, op: &'static str) -> StoreError {
        StoreError::Backend { location: self.location.to_string(), op, source: "the store's thread has stopped".into() }
    }

    fn send(&self, job: Box<dyn WriteJob>) {
        if let Some(writes) = &self.writes {
            // The receiver lives until the sender is dropped, unless the thread panicked; then the answer says so.
            _ = writes.send(job);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.writes = None;
        if let Some(writer) = self.writer.take() {
            _ = writer.join();
        }
    }
}

pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, std::io::Error> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

fn write_all(database: &Database, queue: &mpsc::Receiver<Box<dyn WriteJob>>, wait: Duration) {
    let mut waiting: Vec<Box<dyn WriteJob>> = Vec::new();
    let mut unbroken_since = Instant::now();
    loop {
        if waiting.is_empty() {
            match queue.recv_timeout(PAUSE) {
                Ok(job) => waiting.push(job),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let Ok(job) = queue.recv() else { return };
                    waiting.push(job);
                    unbroken_since = Instant::now();
                }
            }
        }
        waiting.extend(queue.try_iter().take(GROUP - waiting.len().min(GROUP)));
        waiting = commit(database, waiting, wait);
        if unbroken_since.elapsed() > WORK {
            std::thread::sleep(REST);
            unbroken_since = Instant::now();
        }
    }
}

/// Commits a job by itself, however often it takes.
fn commit_alone(database: &Database, job: Box<dyn WriteJob>, wait: Duration) {
    let mut waiting = vec![job];
    while !waiting.is_empty() {
        waiting = commit(database, waiting, wait);
    }
}

/// Commits as many jobs as fit the time of a group and returns the others.
fn commit(database: &Database, mut jobs: Vec<Box<dyn WriteJob>>, wait: Duration) -> Vec<Box<dyn WriteJob>> {
    let oldest = jobs.iter().map(|job| job.asked()).min().unwrap_or_else(Instant::now);
    connection::set_deadline(wait.saturating_sub(oldest.elapsed()));
    if let Err(error) = database.execute_batch("BEGIN IMMEDIATE") {
        let (late, others): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|job| job.asked().elapsed() >= wait || !is_busy(&error));
        late.into_iter().for_each(|job| job.refuse(repeatable(&error)));
        if !others.is_empty() {
            // SQLite answers some locks at once, without asking whether to wait.
            std::thread::sleep(Duration::from_millis(1));
        }
        return others;
    }
    if let Err(error) = database.refresh() {
        roll_back(database);
        jobs.into_iter().for_each(|job| job.refuse(repeatable(&error)));
        return Vec::new();
    }
    connection::set_deadline(wait);
    let locked = Instant::now();
    let (mut tried, mut lost) = (0, None);
    for job in &mut jobs {
        if tried > 0 && locked.elapsed() > GROUP_TIME {
            break;
        }
        tried += 1;
        if let Err(error) = in_savepoint(database, job.as_mut()) {
            lost = Some(error);
            break;
        }
    }
    let rest = jobs.split_off(tried);
    match lost.map_or_else(|| database.execute_batch("COMMIT"), Err) {
        Ok(()) => jobs.into_iter().for_each(|job| job.answer()),
        Err(error) => {
            roll_back(database);
            if tried == 1 {
                jobs.into_iter().for_each(|job| job.refuse(repeatable(&error)));
            } else {
                // One of them spoilt it for all: each gets a transaction of its own.
                jobs.into_iter().for_each(|job| commit_alone(database, job, wait));
            }
        }
    }
    rest
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

/// The same error once more, for another job: SQLite's errors can't be cloned.
fn repeatable(error: &rusqlite::Error) -> rusqlite::Error {
    let code = error.sqlite_error().copied().unwrap_or(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR));
    rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
}

/// Runs a job so that its failure takes back its own changes only.
///
/// # Errors
/// If the whole transaction is lost: some errors (a full disk, say) make SQLite roll back everything.
fn in_savepoint(database: &Database, job: &mut dyn WriteJob) -> Result<(), rusqlite::Error> {
    database.execute_batch("SAVEPOINT job")?;
    let succeeded = job.run(database);
    if database.is_autocommit() {
        return Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT), None));
    }
    database.execute_batch(if succeeded { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" })
}

fn roll_back(database: &Database) {
    if !database.is_autocommit() {
        // If even this fails, the next BEGIN says so.
        _ = database.execute_batch("ROLLBACK");
    }
}
