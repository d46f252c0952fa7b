//! The queue in which the writers of all our processes wait for a slot.
//!
//! SQLite's own lock is polled, which is not fair. So each of our writers first waits for the lock of a file beside the
//! store, and only then takes SQLite's lock. Foreign writers use SQLite's lock alone, which keeps the data right; for
//! them a slot leaves that lock free now and then. Where the file cannot be created, there is no queue.

mod pace;
mod state;
mod waiting;

pub(crate) use state::Moment;

use crate::open::place::beside;
use crate::write::long_wait;
use rustix::fs::OFlags;
use state::{Holder, Stage, State};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{debug, trace, warn};
use waiting::{Waited, Waiting};

/// Describes a program that holds SQLite's lock without a slot in the queue.
const FOREIGN_WRITER: &str = "a program outside the writers' queue (the Python agent, sqlite3 or similar)";

/// Age of a slot from which on its holder counts as stuck. Other writers then use SQLite's lock alone, which the holder
/// may not even hold.
const STUCK: Duration = Duration::from_secs(5);
/// The longest pause between two checks of a waiting writer for a stuck holder.
const LOOK: Duration = Duration::from_millis(100);

/// How long the last holder of a slot leaves the next one to a waiting writer. The system wakes waiting writers when
/// the lock is released and gives it to the first that asks; on a busy machine that would be the one that runs already,
/// again and again.
const YIELD_TIME: Duration = Duration::from_millis(20);
/// The pause between two checks meanwhile.
const GLANCE: Duration = Duration::from_micros(200);

/// A wait for a slot from which on it is logged as one.
const LONG_WAIT: Duration = Duration::from_millis(50);

/// The deadline passed before the slot was granted.
#[derive(Debug)]
pub(crate) struct Late {
    /// The holder of the queue, if known.
    pub(crate) holder: Option<String>,
}

/// The queue as one writer sees it. The file is opened for the first slot, and stays open.
pub(crate) struct Queue {
    path: PathBuf,
    file: Option<Arc<File>>,
    waiting: Waiting,
    slot: Option<Slot>,
    /// The state known to this process alone, for use without a queue.
    own: State,
    /// When our last slot began.
    last: Option<Moment>,
    stuck: Duration,
    yield_time: Duration,
}

/// A slot that this writer holds.
struct Slot {
    /// `None` if there is no queue.
    file: Option<Arc<File>>,
    state: State,
    /// The program that may have SQLite's lock if we do not get it.
    other: Option<String>,
}

/// The outcome of locking the file.
enum Locked {
    /// The file is locked.
    Yes(Arc<File>),
    /// The file can't be locked at all.
    Never,
    /// Its holder is stuck.
    Stuck(Option<String>),
}

impl Queue {
    /// Returns the queue of a store.
    pub(crate) fn of(store: &Path) -> Self {
        let store = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
        Self {
            path: beside(&store, ".queue"),
            file: None,
            waiting: Waiting::new(),
            slot: None,
            own: State::default(),
            last: None,
            stuck: STUCK,
            yield_time: YIELD_TIME,
        }
    }

    /// Returns the queue with another value of [`YIELD_TIME`].
    #[cfg(test)]
    pub(crate) fn with_yield_time(mut self, yield_time: Duration) -> Self {
        self.yield_time = yield_time;
        self
    }

    /// Waits for a slot and holds it until [`Queue::leave`]. `op` is the operation, as a verb.
    pub(crate) fn enter(&mut self, op: &str, deadline: Instant) -> Result<(), Late> {
        let start = Instant::now();
        let locked = self.lock(deadline, None)?;
        report(op, start.elapsed(), &locked);
        self.begin(op, locked);
        Ok(())
    }

    /// Enters like [`Queue::enter`], but continues without a slot if its holder is stuck: SQLite's lock alone decides
    /// then.
    pub(crate) fn enter_or_pass(&mut self, op: &str, deadline: Instant) -> Result<(), Late> {
        let start = Instant::now();
        let locked = self.lock(deadline, Some(self.stuck))?;
        report(op, start.elapsed(), &locked);
        self.begin(op, locked);
        Ok(())
    }

    fn begin(&mut self, op: &str, locked: Locked) {
        debug_assert!(self.slot.is_none(), "one slot at a time");
        let now = Moment::now();
        let (file, mut state, other) = match locked {
            Locked::Yes(file) => {
                let state = State::read(&file, now);
                (Some(file), state, Some(FOREIGN_WRITER.to_owned()))
            }
            Locked::Never => (None, self.own.clone(), None),
            Locked::Stuck(holder) => (None, self.own.clone(), holder),
        };
        self.last = file.as_ref().map(|_| now);
        state.entered = now;
        state.holder = Some(Holder { process: std::process::id(), since: now, stage: Stage::Writing, op: op.into() });
        self.slot = Some(Slot { file, state, other });
        self.publish();
    }

    /// Records whether the holder of the slot waits for a foreign writer.
    pub(crate) fn wait_for_foreign_writer(&mut self, waits: bool) {
        if let Some(holder) = self.slot.as_mut().and_then(|slot| slot.state.holder.as_mut()) {
            holder.stage = if waits { Stage::Waiting } else { Stage::Writing };
            self.publish();
        }
    }

    /// Returns the program that has SQLite's lock if it is taken while we hold the slot, if known.
    pub(crate) fn other(&self) -> Option<String> {
        self.slot.as_ref()?.other.clone()
    }

    /// Records that we held SQLite's lock from `start` until now, and the newest message before and after.
    pub(crate) fn used(&mut self, start: Moment, before: Option<i64>, after: Option<i64>) {
        let Some(slot) = &mut self.slot else { return };
        let (now, state) = (Moment::now(), &mut slot.state);
        if let Some(before) = before {
            state.look_for_foreign(before, start);
        }
        let beside_foreign = state.is_beside_foreign(now);
        state.strain = pace::strain(state.strain, start.since(state.released), now.since(start), beside_foreign);
        state.released = now;
        state.newest = after.or(state.newest);
    }

    /// Returns how long the caller must leave SQLite's lock alone before it ends the slot.
    pub(crate) fn rest(&mut self) -> Option<Duration> {
        let slot = self.slot.as_mut()?;
        let rest = pace::rest(slot.state.strain, slot.state.is_beside_foreign(Moment::now()))?;
        slot.state.strain = Duration::ZERO;
        Some(rest)
    }

    /// Returns whether we should checkpoint the WAL: no process started to within `span`.
    pub(crate) fn claim_fold(&mut self, span: Duration) -> bool {
        let Some(slot) = &mut self.slot else { return true };
        let now = Moment::now();
        let ours = slot.state.folded == Moment::default() || now.since(slot.state.folded) >= span;
        if ours {
            slot.state.folded = now;
        }
        ours
    }

    /// Ends the slot.
    pub(crate) fn leave(&mut self) {
        let Some(mut slot) = self.slot.take() else { return };
        slot.state.holder = None;
        if let Some(file) = slot.file {
            slot.state.write(&file);
            // Closing the file would unlock it too.
            if let Err(error) = file.unlock() {
                warn!(%error, "writers' queue not unlocked");
            }
        }
        self.own = slot.state;
    }

    /// Writes the state into the file for the other processes.
    fn publish(&self) {
        if let Some(Slot { file: Some(file), state, .. }) = &self.slot {
            state.write(file);
        }
    }

    /// Locks the file, unless its holder has held it for longer than `stuck`.
    fn lock(&mut self, deadline: Instant, stuck: Option<Duration>) -> Result<Locked, Late> {
        let Some(file) = self.open() else { return Ok(Locked::Never) };
        self.stand_back(&file, deadline);
        if !self.waiting.is_waiting() {
            match file.try_lock() {
                Ok(()) => return Ok(Locked::Yes(file)),
                Err(TryLockError::Error(_)) => return Ok(Locked::Never),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        state::come(&file, Moment::now());
        let mut report_at = Some(Instant::now() + long_wait::LONG);
        loop {
            let look = stuck.map_or(deadline, |stuck| deadline.min(Instant::now() + stuck.min(LOOK)));
            let look = report_at.map_or(look, |at| look.min(at));
            match self.waiting.wait(&file, look) {
                Waited::Granted => return Ok(Locked::Yes(file)),
                Waited::Failed => return Ok(Locked::Never),
                Waited::Late => {}
            }
            let (state, now) = (State::read(&file, Moment::now()), Moment::now());
            if stuck.is_some_and(|stuck| state.holder.as_ref().is_some_and(|holder| holder.is_stuck(stuck, now))) {
                return Ok(Locked::Stuck(holder(&state)));
            }
            if Instant::now() >= deadline {
                return Err(Late { holder: holder(&state) });
            }
            if report_at.take_if(|at| Instant::now() >= *at).is_some() {
                long_wait::report(holder(&state));
            }
        }
    }

    /// Lets another writer go first that began to wait during our last slot.
    fn stand_back(&self, file: &File, deadline: Instant) {
        let Some(last) = self.last else { return };
        let end = deadline.min(Instant::now() + self.yield_time);
        while state::is_somebody_next(file, last, Moment::now()) && Instant::now() < end {
            std::thread::sleep(GLANCE);
        }
    }

    /// Opens the queue file, again if it was removed since. Returns `None` for a file that is not ours, which is never
    /// written to.
    fn open(&mut self) -> Option<Arc<File>> {
        let place = std::fs::metadata(&self.path).ok().map(|found| (found.dev(), found.ino()));
        let ours = self.file.as_ref().and_then(|file| file.metadata().ok()).map(|found| (found.dev(), found.ino()));
        if place.is_none() || ours != place {
            if self.file.take().is_some() {
                self.waiting = Waiting::new();
            }
            let mut options = OpenOptions::new();
            options.create(true).truncate(false).read(true).write(true).mode(0o600);
            options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
            self.file = options.open(&self.path).ok().filter(is_ours).map(Arc::new);
        }
        self.file.clone()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Removes the queue file of a store. A file that is not ours stays.
pub(crate) fn remove(store: &Path) {
    let place = Queue::of(store).path.clone();
    let is_plain = std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_file());
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    if is_plain && options.open(&place).is_ok_and(|file| is_ours(&file)) {
        crate::open::place::remove(&place);
    }
}

/// Returns whether a file can be a queue file: a regular file with one name, with our content and no more than that.
fn is_ours(file: &File) -> bool {
    let is_plain = |found: &Metadata| found.is_file() && found.nlink() == 1 && found.len() <= state::FILE_LENGTH;
    file.metadata().is_ok_and(|found| is_plain(&found) && state::is_ours(file, found.len()))
}

/// Logs how a slot was granted.
fn report(op: &str, waited: Duration, locked: &Locked) {
    match locked {
        Locked::Yes(_) if waited < LONG_WAIT => trace!(op, ?waited, "writer slot granted"),
        Locked::Yes(_) => debug!(op, ?waited, "writer slot granted after a wait"),
        Locked::Never => trace!(op, "no writers' queue here; SQLite's lock alone decides"),
        Locked::Stuck(holder) => {
            warn!(op, ?waited, holder, "writer slot held for too long; SQLite's lock alone decides");
        }
    }
}

/// Describes the holder of the queue; `None` if it is unknown.
fn holder(state: &State) -> Option<String> {
    let Holder { process, since, stage, op } = state.holder.as_ref()?;
    let process = long_wait::described(*process);
    let what = match stage {
        Stage::Writing => format!("began to {op}"),
        Stage::Waiting => format!("is itself waiting for {FOREIGN_WRITER}; it began to {op}"),
    };
    Some(format!("{process}, which {what} {:.1} s ago", Moment::now().since(*since).as_secs_f64()))
}

#[cfg(test)]
mod tests;
