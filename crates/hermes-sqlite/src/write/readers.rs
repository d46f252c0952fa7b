//! The reader threads: none until the first read, then as many as are busy at once, up to a maximum.

use crate::error::Failure;
use crate::open::connection;
use crate::open::damage::{self, Damage};
use crate::open::schema;
use crate::write::database::Database;
use crate::write::worker::spawn;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tracing::{debug, error, warn};

/// The largest number of reader threads.
const MAX_THREADS: usize = 3;

/// A read. It gets a connection with an open transaction, or the reason why there is none.
pub(crate) struct ReadJob {
    pub(crate) need: Need,
    pub(crate) run: Run,
}

type Run = Box<dyn FnOnce(Result<&Database, Failure>) + Send>;

/// The requirements of a read in a file that is not adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The side tables, filled for the state that is read.
    Side,
    /// Only the file: the read works on a damaged one too.
    File,
}

/// The reader threads of one store. Dropping it waits for them.
pub(crate) struct Readers {
    jobs: Option<mpsc::Sender<ReadJob>>,
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    here: Mutex<Here>,
}

/// A connection for reads that run on the caller's thread.
struct Here {
    database: Option<Database>,
    /// Whether readers never wait for a writer. If they may, reads run on a reader thread. `None` if it is not known
    /// yet.
    is_shared: Option<bool>,
}

struct Shared {
    path: PathBuf,
    /// Whether this process writes the file. If so, readers may roll back a journal; if not, they open it with
    /// `SQLITE_OPEN_READONLY`.
    is_written: Arc<AtomicBool>,
    damage: Damage,
    wait: Duration,
    queue: Mutex<mpsc::Receiver<ReadJob>>,
    /// Jobs that are waiting or running.
    busy: AtomicUsize,
}

impl Readers {
    /// Makes the readers of a store. `first` is a connection that is already open. `is_written` is set if this process
    /// writes the file.
    pub(crate) fn new(
        path: PathBuf,
        first: Option<Database>,
        is_written: Arc<AtomicBool>,
        damage: Damage,
        wait: Duration,
    ) -> Self {
        let (jobs, queue) = mpsc::channel();
        let shared =
            Arc::new(Shared { path, is_written, damage, wait, queue: Mutex::new(queue), busy: AtomicUsize::new(0) });
        let here = Mutex::new(Here { database: first, is_shared: None });
        Self { jobs: Some(jobs), shared, threads: Mutex::default(), here }
    }

    /// Runs a short read at once, on the caller's thread: waking another thread and being woken takes longer than the
    /// read itself.
    ///
    /// Returns `None` if that is not possible: another read is running here, it would have to wait for a lock, or it
    /// turned out to take long.
    pub(crate) fn read_here<T>(&self, work: &impl Fn(&Database) -> Result<T, Failure>) -> Option<Result<T, Failure>> {
        let mut here = self.here.try_lock().ok()?;
        connection::set_deadline(Duration::ZERO);
        if here.database.is_none() {
            here.database = Some(self.shared.open_new().ok()?);
            here.is_shared = None;
        }
        if here.is_shared.is_none() {
            let mode: String =
                here.database.as_ref()?.pragma_query_value(None, "journal_mode", |row| row.get(0)).ok()?;
            here.is_shared = Some(mode == "wal");
        }
        if here.is_shared != Some(true) {
            return None;
        }
        let outcome = self.shared.begin(&mut here.database, Need::Side).and_then(|database| {
            database.read_on_callers_thread();
            finish(database, work).inspect_err(|failure| self.shared.damage.take_in(database, failure))
        });
        if let Err(Failure::Long) = outcome {
            return None;
        }
        if outcome.as_ref().is_err_and(Failure::is_passing) {
            // The transaction may still be open, so the connection is dropped.
            here.database = None;
            return None;
        }
        Some(outcome)
    }

    /// Queues a job. If no thread can be started for it, it is dropped, and its caller gets an error.
    pub(crate) fn send(&self, job: ReadJob) {
        let Some(jobs) = &self.jobs else { return };
        let busy = self.shared.busy.fetch_add(1, Ordering::Relaxed) + 1;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() < busy.min(MAX_THREADS) {
            let shared = Arc::clone(&self.shared);
            match spawn("hermes-reader", move || shared.read_all()) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    warn!(%error, threads = threads.len(), "no further reader thread");
                    if threads.is_empty() {
                        return;
                    }
                }
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
            if thread.join().is_err() {
                error!("a reader thread panicked");
            }
        }
        self.shared.close(self.here.get_mut().unwrap_or_else(PoisonError::into_inner).database.as_ref());
    }
}

impl Shared {
    fn open_new(&self) -> Result<Database, Failure> {
        let open =
            if self.is_written.load(Ordering::Acquire) { connection::open_reader } else { connection::open_read_only };
        open(&self.path)
    }

    /// Starts a read on one state of the store. A connection that no longer fits the file, because it was adopted,
    /// detached or upgraded, is replaced by a new one.
    fn begin<'a>(&self, slot: &'a mut Option<Database>, need: Need) -> Result<&'a Database, Failure> {
        let is_fit = match slot {
            Some(database) => self.note(begin(database, need))?,
            None => false,
        };
        if is_fit && let Some(database) = slot {
            return Ok(database);
        }
        if slot.is_some() {
            debug!("connection reopened: the schema changed");
        }
        let database = slot.insert(self.note(self.open_new())?);
        match self.note(begin(database, need))? {
            true => Ok(database),
            // The schema changed again in between.
            false => Err(Failure::Late { holder: None }),
        }
    }

    /// Records damage that was met before a read: only the schema and the agent's tables have been read by then.
    fn note<T>(&self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        outcome.inspect_err(|failure| {
            if failure.is_damage()
                && let Failure::Sqlite(error) = failure
            {
                self.damage.note(error.to_string());
            }
        })
    }

    fn close(&self, database: Option<&Database>) {
        if let Some(database) = database
            && self.damage.found().is_some()
        {
            damage::stop_checkpoints(database);
        }
    }

    fn read_all(&self) {
        let mut database = None;
        loop {
            let job = self.queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = job else { return self.close(database.as_ref()) };
            connection::set_deadline(self.wait);
            // A job that panics drops the sender of its answer, so its caller gets an error; the thread continues with
            // a new connection.
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| (job.run)(self.begin(&mut database, job.need))));
            if outcome.is_err() {
                error!("a read panicked; its connection is reopened");
                database = None;
            }
            self.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Starts a read on one state of the store. Returns `false` if the connection has to be opened again.
fn begin(database: &Database, need: Need) -> Result<bool, Failure> {
    if !database.is_autocommit() {
        // Ending the previous transaction failed; it only read.
        database.execute_batch("ROLLBACK")?;
    }
    database.prepare_cached("BEGIN")?.execute([])?;
    if database.is_readonly(rusqlite::MAIN_DB)? && database.has_new_schema()? {
        database.execute_batch("ROLLBACK")?;
        return Ok(false);
    }
    database.refresh()?;
    if need == Need::Side {
        schema::refresh_memory(database)?;
    }
    Ok(true)
}

/// Runs `work` in the transaction that has begun, and ends it.
pub(crate) fn finish<T>(database: &Database, work: impl FnOnce(&Database) -> Result<T, Failure>) -> Result<T, Failure> {
    let outcome = work(database);
    let end = database.prepare_cached("COMMIT").and_then(|mut statement| statement.execute([]));
    // If a damaged index was read, the commit may fail again. The rest of the result is right nevertheless.
    if let Err(error) = &end {
        debug!(error = crate::error::code(error), "end of a read failed");
        if !database.is_autocommit() {
            database.execute_batch("ROLLBACK")?;
        }
    }
    outcome
}
