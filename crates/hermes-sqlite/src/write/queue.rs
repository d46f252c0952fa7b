//! The line in which the writers of all our processes wait for their turn.
//!
//! SQLite's own lock is only polled, so that whoever has most luck writes most. Therefore each of us first waits in line for the lock of a
//! file beside the store, and only then takes SQLite's. Programs that take no part go by SQLite's lock alone, which keeps the data right; for
//! them the line leaves that lock free now and then. Where the file can't be had, there is no line.

mod line;
mod pace;
mod state;

pub(crate) use state::Moment;

use crate::open::place::beside;
use line::{Line, Waited};
use rustix::fs::OFlags;
use state::{Holder, Stage, State};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{debug, trace, warn};

/// Those who hold SQLite's lock without a turn in the queue.
const OUTSIDER: &str = "a program that takes no part in the queue (the Python agent, sqlite3 or the like)";

/// Whoever has been at it for so long stands still, or does what should not take so long. Writers then go by SQLite's lock alone, which it may not
/// even hold.
const STUCK: Duration = Duration::from_secs(5);
/// How often whoever waits looks at least whether that is so.
const LOOK: Duration = Duration::from_millis(100);

/// So long whoever had the last turn leaves the next one to somebody who waits. The system only wakes them when the lock is given back, and
/// gives it to whoever asks first; on a busy machine that would be the one who runs already, again and again.
const COURTESY: Duration = Duration::from_millis(20);
/// How often they look meanwhile.
const GLANCE: Duration = Duration::from_micros(200);

/// A wait for a slot from which on it is logged as one.
const LONG_WAIT: Duration = Duration::from_millis(50);

/// The deadline passed before it was our turn.
#[derive(Debug)]
pub(crate) struct Late {
    /// Who holds the queue, as far as that can be told.
    pub(crate) holder: Option<String>,
}

/// Our place in the line. The file is opened at the first turn, and stays open.
pub(crate) struct Queue {
    path: PathBuf,
    file: Option<Arc<File>>,
    line: Line,
    turn: Option<Turn>,
    /// What we know by ourselves, for where there is no line.
    own: State,
    /// When our last turn in the line began.
    last: Option<Moment>,
    stuck: Duration,
    courtesy: Duration,
}

/// A turn that is ours.
struct Turn {
    /// Nothing where there is no line.
    file: Option<Arc<File>>,
    state: State,
    /// Who may have SQLite's lock if we do not get it.
    other: Option<String>,
}

/// How the file was locked.
enum Locked {
    /// It is.
    Yes(Arc<File>),
    /// It can't be had at all.
    Never,
    /// Somebody stands still in their turn.
    Stuck(Option<String>),
}

impl Queue {
    /// The line for a store.
    pub(crate) fn of(store: &Path) -> Self {
        let store = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
        Self {
            path: beside(&store, ".queue"),
            file: None,
            line: Line::new(),
            turn: None,
            own: State::default(),
            last: None,
            stuck: STUCK,
            courtesy: COURTESY,
        }
    }

    /// The same with another measure of [`COURTESY`].
    #[cfg(test)]
    pub(crate) fn with_courtesy(mut self, courtesy: Duration) -> Self {
        self.courtesy = courtesy;
        self
    }

    /// Waits for our turn, which is ours until [`Queue::leave`]. `op` is what it is for, as a verb.
    pub(crate) fn enter(&mut self, op: &str, deadline: Instant) -> Result<(), Late> {
        let start = Instant::now();
        let locked = self.lock(deadline, None)?;
        report(op, start.elapsed(), &locked);
        self.begin(op, locked);
        Ok(())
    }

    /// The same, but takes no notice of a turn that does not end: SQLite's lock alone decides then.
    pub(crate) fn enter_or_pass(&mut self, op: &str, deadline: Instant) -> Result<(), Late> {
        let start = Instant::now();
        let locked = self.lock(deadline, Some(self.stuck))?;
        report(op, start.elapsed(), &locked);
        self.begin(op, locked);
        Ok(())
    }

    fn begin(&mut self, op: &str, locked: Locked) {
        debug_assert!(self.turn.is_none(), "one turn at a time");
        let now = Moment::now();
        let (file, mut state, other) = match locked {
            Locked::Yes(file) => {
                let state = State::read(&file, now);
                (Some(file), state, Some(OUTSIDER.to_owned()))
            }
            Locked::Never => (None, self.own.clone(), None),
            Locked::Stuck(holder) => (None, self.own.clone(), holder),
        };
        self.last = file.as_ref().map(|_| now);
        state.entered = now;
        state.holder = Some(Holder { process: std::process::id(), since: now, stage: Stage::Writing, op: op.into() });
        self.turn = Some(Turn { file, state, other });
        self.tell();
    }

    /// Says that our turn has to wait for somebody outside, or no longer.
    pub(crate) fn wait_for_outsider(&mut self, waits: bool) {
        if let Some(holder) = self.turn.as_mut().and_then(|turn| turn.state.holder.as_mut()) {
            holder.stage = if waits { Stage::Waiting } else { Stage::Writing };
            self.tell();
        }
    }

    /// Who has SQLite's lock if it is taken in our turn, as far as that can be told.
    pub(crate) fn other(&self) -> Option<String> {
        self.turn.as_ref()?.other.clone()
    }

    /// Takes in that SQLite's lock was ours from `start` until now, and which message was the newest before and after.
    pub(crate) fn used(&mut self, start: Moment, before: Option<i64>, after: Option<i64>) {
        let Some(turn) = &mut self.turn else { return };
        let (now, state) = (Moment::now(), &mut turn.state);
        if let Some(before) = before {
            state.look_for_foreign(before, start);
        }
        let beside_foreign = state.is_beside_foreign(now);
        state.strain = pace::strain(state.strain, start.since(state.released), now.since(start), beside_foreign);
        state.released = now;
        state.newest = after.or(state.newest);
    }

    /// For how long SQLite's lock is to be left alone before our turn ends. Whoever asks does so.
    pub(crate) fn rest(&mut self) -> Option<Duration> {
        let turn = self.turn.as_mut()?;
        let rest = pace::rest(turn.state.strain, turn.state.is_beside_foreign(Moment::now()))?;
        turn.state.strain = Duration::ZERO;
        Some(rest)
    }

    /// Whether it falls to us to fold the log: nobody went to do so within `span`.
    pub(crate) fn claim_fold(&mut self, span: Duration) -> bool {
        let Some(turn) = &mut self.turn else { return true };
        let now = Moment::now();
        let ours = turn.state.folded == Moment::default() || now.since(turn.state.folded) >= span;
        if ours {
            turn.state.folded = now;
        }
        ours
    }

    /// Ends our turn.
    pub(crate) fn leave(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        turn.state.holder = None;
        if let Some(file) = turn.file {
            turn.state.write(&file);
            // Closing the file would unlock it too.
            if let Err(error) = file.unlock() {
                warn!(%error, "writers' queue not unlocked");
            }
        }
        self.own = turn.state;
    }

    /// Writes down what the others should know.
    fn tell(&self) {
        if let Some(Turn { file: Some(file), state, .. }) = &self.turn {
            state.write(file);
        }
    }

    /// Locks the file, unless whoever has it has been at it for longer than `stuck`.
    fn lock(&mut self, deadline: Instant, stuck: Option<Duration>) -> Result<Locked, Late> {
        let Some(file) = self.open() else { return Ok(Locked::Never) };
        self.stand_back(&file, deadline);
        if !self.line.is_waiting() {
            match file.try_lock() {
                Ok(()) => return Ok(Locked::Yes(file)),
                Err(TryLockError::Error(_)) => return Ok(Locked::Never),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        state::come(&file, Moment::now());
        loop {
            let look = stuck.map_or(deadline, |stuck| deadline.min(Instant::now() + stuck.min(LOOK)));
            match self.line.wait(&file, look) {
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
        }
    }

    /// Lets somebody go first who waited in our last turn.
    fn stand_back(&self, file: &File, deadline: Instant) {
        let Some(last) = self.last else { return };
        let end = deadline.min(Instant::now() + self.courtesy);
        while state::is_somebody_next(file, last, Moment::now()) && Instant::now() < end {
            std::thread::sleep(GLANCE);
        }
    }

    /// Opens the queue file, again if it was removed since. Returns `None` for a file that is not ours, which is never written to.
    fn open(&mut self) -> Option<Arc<File>> {
        let place = std::fs::metadata(&self.path).ok().map(|found| (found.dev(), found.ino()));
        let ours = self.file.as_ref().and_then(|file| file.metadata().ok()).map(|found| (found.dev(), found.ino()));
        if place.is_none() || ours != place {
            if self.file.take().is_some() {
                self.line = Line::new();
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

/// Returns whether a file can be a queue file: a plain one, under one name, with our content and no more than that.
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

/// Who holds the queue.
fn holder(state: &State) -> Option<String> {
    let Holder { process, since, stage, op } = state.holder.as_ref()?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let name = if name.trim().is_empty() { String::new() } else { format!(" ({})", name.trim()) };
    let what = match stage {
        Stage::Writing => format!("began to {op}"),
        Stage::Waiting => format!("waits for {OUTSIDER} itself; it began to {op}"),
    };
    Some(format!("process {process}{name}, which {what} {:.1} s ago", Moment::now().since(*since).as_secs_f64()))
}

#[cfg(test)]
mod tests;
