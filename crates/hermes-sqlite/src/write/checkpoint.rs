//! Checkpoints the WAL on a thread of its own, so that no append waits for it.
//!
//! A passive checkpoint copies frames that no reader needs and blocks nobody. But while others write, it never reaches
//! the end of the WAL, and only a WAL that was checkpointed to its end restarts. So a long WAL is checkpointed in a
//! slot of the queue: writers wait for a moment while the rest is copied.

use crate::error::Failure;
use crate::open::connection;
use crate::open::place::beside;
use crate::write::database::Database;
use crate::write::queue::Queue;
use crate::write::worker::spawn;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::{debug, error, trace, warn};

/// Number of frames not yet in the file that is worth a checkpoint: SQLite's own default.
const FRAMES: i64 = 1_000;
/// Size in bytes from which on the WAL is checkpointed in a slot.
pub(crate) const LONG: u64 = 16 << 20;
/// Minimum time between two checks: SQLite compiles the statement again for each.
const LOOK: Duration = Duration::from_millis(5);
/// Minimum time between two checkpoints, by any of our processes.
const SPAN: Duration = Duration::from_millis(100);
/// How long a checkpoint waits for a slot, and then (`READERS`) for readers.
const SLOT_WAIT: Duration = Duration::from_millis(300);
const READERS: Duration = Duration::from_millis(60);
/// Pause before retrying a checkpoint that readers blocked; it doubles up to the maximum.
const AGAIN: std::ops::RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(1);

/// The number of frames in the WAL, and how many of them are in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frames {
    log: i64,
    folded: i64,
}

impl Frames {
    /// Runs a checkpoint statement. Returns `None` if another connection is running one.
    fn after(database: &Database, checkpoint: &str) -> Result<Option<Self>, rusqlite::Error> {
        database.prepare_cached(checkpoint)?.query_row([], |row| {
            let frames = Self { log: row.get(1)?, folded: row.get(2)? };
            Ok((frames.log >= 0 && (frames.folded > 0 || row.get::<_, i64>(0)? == 0)).then_some(frames))
        })
    }

    fn is_long(self, page: i64) -> bool {
        u64::try_from(self.log.saturating_mul(page)).unwrap_or(0) >= LONG
    }
}

/// Returns the page size, which does not change in WAL mode.
fn page_size(database: &Database) -> Result<i64, rusqlite::Error> {
    database.pragma_query_value(None, "page_size", |row| row.get(0))
}

/// The checkpoint thread, which starts when it is first needed.
pub(crate) struct Folder {
    store: PathBuf,
    page: Option<i64>,
    looked: Option<Instant>,
    thread: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl Folder {
    pub(crate) fn new(store: &Path) -> Self {
        Self { store: store.to_owned(), page: None, looked: None, thread: None }
    }

    /// Starts a checkpoint if it is due and no other process does it. The caller must hold the slot.
    pub(crate) fn look(&mut self, database: &Database, queue: &mut Queue) {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return;
        }
        self.looked = Some(Instant::now());
        // A no-op checkpoint reports the length of the WAL.
        let Ok(Some(frames)) = Frames::after(database, "PRAGMA wal_checkpoint(NOOP)") else { return };
        self.page = self.page.or_else(|| page_size(database).ok());
        let due = frames.log - frames.folded >= FRAMES || self.page.is_some_and(|page| frames.is_long(page));
        if due
            && queue.claim_fold(SPAN)
            && let Err(error) = self.wake()
        {
            // Without a thread, SQLite has to checkpoint within a commit.
            let is_left_to_sqlite = database.pragma_update(None, "wal_autocheckpoint", FRAMES).is_ok();
            warn!(%error, is_left_to_sqlite, "no thread for checkpoints");
        }
    }

    fn wake(&mut self) -> Result<(), std::io::Error> {
        let (signals, _) = match &self.thread {
            Some(thread) => thread,
            None => {
                let (signals, received) = sync_channel(1);
                let store = self.store.clone();
                let thread = spawn("hermes-folder", move || fold_all(&store, &received))?;
                self.thread.insert((signals, thread))
            }
        };
        // If the channel is full, the thread is about to check anyway.
        _ = signals.try_send(());
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some((signals, thread)) = self.thread.take() {
            drop(signals);
            if thread.join().is_err() {
                error!("the checkpoint thread panicked");
            }
        }
    }
}

fn fold_all(store: &Path, signals: &Receiver<()>) {
    let (mut queue, mut database, mut again) = (Queue::of(store), None, None);
    loop {
        let signal = match again {
            Some(pause) => signals.recv_timeout(pause),
            None => signals.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        if signal == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        let outcome = open(store, &mut database).and_then(|database| fold(database, store, &mut queue));
        queue.leave();
        match &outcome {
            Ok(true) => trace!("checkpoint done"),
            Ok(false) => debug!("WAL still long: readers are in the way"),
            Err(failure) => warn!(error = failure.code(), "checkpoint failed"),
        }
        again = match outcome {
            Ok(true) => None,
            // A failure is temporary, or the next commit fails too and reports it.
            Ok(false) | Err(_) => Some(again.map_or(*AGAIN.start(), |pause: Duration| (pause * 2).min(*AGAIN.end()))),
        };
    }
}

fn open<'a>(store: &Path, database: &'a mut Option<Database>) -> Result<&'a Database, Failure> {
    connection::set_deadline(READERS);
    match database {
        Some(open) => Ok(open),
        None => Ok(database.insert(connection::open_reader(store)?)),
    }
}

/// Checkpoints what it can. Returns whether the WAL is short, or another process takes care of it.
fn fold(database: &Database, store: &Path, queue: &mut Queue) -> Result<bool, Failure> {
    const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";
    let Some(frames) = Frames::after(database, PASSIVE)? else { return Ok(true) };
    if !frames.is_long(page_size(database)?) {
        return Ok(true);
    }
    // Repeated for frames that were added meanwhile, so that little is left for the time when all writers wait.
    let Some(frames) = Frames::after(database, PASSIVE)? else { return Ok(true) };
    // An old reader would block the rest; writers should not wait for that.
    if frames.log - frames.folded >= FRAMES || queue.enter("checkpoint the WAL", Instant::now() + SLOT_WAIT).is_err() {
        return Ok(false);
    }
    connection::set_deadline(READERS);
    let file = beside(store, "-wal").metadata().map_or(0, |log| log.len());
    // A WAL that restarts in place is faster to write than one that has to grow again.
    let squeeze = if file > 2 * LONG { "PRAGMA wal_checkpoint(TRUNCATE)" } else { "PRAGMA wal_checkpoint(RESTART)" };
    let is_busy: bool = database.prepare_cached(squeeze)?.query_row([], |row| row.get(0))?;
    Ok(!is_busy)
}
