//! The threads that read: none until something is asked, then as many as are busy at once, up to a few.

use crate::connection;
use crate::database::Database;
use crate::error::Failure;
use crate::worker::spawn;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// The most threads that read.
const MOST: usize = 3;

/// A read, given a connection or the reason why there is none.
pub(crate) type ReadJob = Box<dyn FnOnce(Result<&Database, Failure>) + Send>;

/// Opens the file for one of the threads.
pub(crate) type Opener = fn(&Path) -> Result<Database, Failure>;

/// The reading threads of one store. Dropping it waits for them.
pub(crate) struct Readers {
    jobs: Option<mpsc::Sender<ReadJob>>,
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    here: Mutex<Here>,
}

/// A connection for reads that are done where they are asked for.
#[derive(Default)]
struct Here {
    database: Option<Database>,
    /// Whether readers never wait for a writer; where they do, they do so on a thread of their own.
    is_shared: bool,
}

struct Shared {
    path: PathBuf,
    opener: Opener,
    wait: Duration,
    queue: Mutex<mpsc::Receiver<ReadJob>>,
    /// Jobs that are waiting or under way.
    busy: AtomicUsize,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, opener: Opener, wait: Duration) -> Self {
        let (jobs, queue) = mpsc::channel();
        let shared = Arc::new(Shared { path, opener, wait, queue: Mutex::new(queue), busy: AtomicUsize::new(0) });
        Self { jobs: Some(jobs), shared, threads: Mutex::default(), here: Mutex::default() }
    }

    /// Does a short read at once, on the thread that asks: waking another one and being woken again takes longer than the read itself.
    ///
    /// Nothing if that can't be: another read is under way here, or it would have to wait for a lock.
    pub(crate) fn read_here<T>(&self, work: &impl Fn(&Database) -> Result<T, Failure>) -> Option<Result<T, Failure>> {
        let mut here = self.here.try_lock().ok()?;
        connection::set_deadline(Duration::ZERO);
        if here.database.is_none() {
            let database = (self.shared.opener)(&self.shared.path).ok()?;
            let mode: String = database.pragma_query_value(None, "journal_mode", |row| row.get(0)).ok()?;
            here.is_shared = mode == "wal";
            here.database = Some(database);
        }
        if !here.is_shared {
            return None;
        }
        let outcome = snapshot(here.database.as_ref()?, work);
        if outcome.as_ref().is_err_and(Failure::is_passing) {
            // The transaction may be open still; the connection goes with it.
            here.database = None;
            return None;
        }
        Some(outcome)
    }

    /// Has a job done. If no thread can be had for it, it is dropped, and whoever waits for its answer is told so.
    pub(crate) fn send(&self, job: ReadJob) {
        let Some(jobs) = &self.jobs else { return };
        let busy = self.shared.busy.fetch_add(1, Ordering::Relaxed) + 1;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() < busy.min(MOST) {
            let shared = Arc::clone(&self.shared);
            match spawn("hermes-reader", move || shared.read_all()) {
                Ok(thread) => threads.push(thread),
                Err(_) if threads.is_empty() => return,
                Err(_) => {}
            }
        }
        // The receiver lives as long as `shared` does.
        _ = jobs.send(job);
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            _ = thread.join();
        }
    }
}

impl Shared {
    fn open<'a>(&self, database: &'a mut Option<Database>) -> Result<&'a Database, Failure> {
        match database {
            Some(open) => Ok(open),
            None => Ok(database.insert((self.opener)(&self.path)?)),
        }
    }

    fn read_all(&self) {
        let mut database = None;
        loop {
            let job = self.queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = job else { return };
            connection::set_deadline(self.wait);
            // A job that panics drops the sender of its answer, which tells whoever waits; the thread goes on, with a new connection.
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| job(self.open(&mut database))));
            if outcome.is_err() {
                database = None;
            }
            self.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Runs `work` on one state of the store.
pub(crate) fn snapshot<T>(
    database: &Database,
    work: impl FnOnce(&Database) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if !database.is_autocommit() {
        // The end of the one before failed; it read only.
        database.execute_batch("ROLLBACK")?;
    }
    database.prepare_cached("BEGIN")?.execute([])?;
    let outcome = database.refresh().map_err(Failure::from).and_then(|()| work(database));
    let end = database.prepare_cached("COMMIT").and_then(|mut statement| statement.execute([]));
    // A damaged index that was asked may fail at the end once more. What was read of the rest is right all the same.
    if end.is_err() && !database.is_autocommit() {
        database.execute_batch("ROLLBACK")?;
    }
    outcome
}
