//! The writer thread.
//!
//! Jobs that wait together commit together, each in a savepoint of its own if there are several. If their transaction
//! is lost, each runs again alone. Each group waits for a slot in the queue of all processes, and its jobs are answered
//! when it is on disk.

use crate::error::{self, Failure};
use crate::index::indexes;
use crate::open::connection;
use crate::open::damage::{self, Damage};
use crate::open::options::{IndexAtClose, Synchronous};
use crate::open::schema;
use crate::write::background::{Background, Chores, LAST, Work};
use crate::write::checkpoint::Folder;
use crate::write::database::{Blame, Database};
use crate::write::long_wait::{self, is_busy};
use crate::write::queue::{Moment, Queue};
use crate::write::wal::{Durability, Sync};
use hermes_session::Location;
use rusqlite::OptionalExtension as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tracing::{debug, error, trace, warn};

/// Maximum number of jobs that commit together.
const GROUP: usize = 256;
/// The time after which a group takes no more jobs, so that other processes get a slot.
const GROUP_TIME: Duration = Duration::from_millis(50);
/// How long background work waits for a slot while no job waits.
const PATIENCE: Duration = Duration::from_millis(100);
/// After a group that took longer than this, background work takes a slot of its own, so that waiting writers wait for
/// at most one long transaction.
const SHORT: Duration = Duration::from_millis(10);

/// A write that can be repeated, with any type of answer.
pub(crate) trait WriteJob: Send {
    /// Returns the operation, as a verb.
    fn op(&self) -> &'static str;
    /// Returns when it was requested; its deadline counts from then.
    fn asked(&self) -> Instant;
    /// Returns whether it is answered only once it is on disk. The others may be lost with the power, in the order of
    /// the commits.
    fn is_synced(&self) -> bool {
        true
    }
    /// Runs the work and keeps the outcome. Returns whether it succeeded.
    fn run(&mut self, database: &Database) -> bool;
    /// Sends the outcome to the caller.
    fn answer(self: Box<Self>);
    /// Reports to the caller that it was not done.
    fn refuse(self: Box<Self>, why: Failure);
}

type Jobs = Vec<Box<dyn WriteJob>>;

/// A message to the writer thread.
pub(crate) enum WriterMessage {
    Write(Box<dyn WriteJob>),
    /// Background work should be done now.
    Nudge,
}

/// Settings of the writer.
#[derive(Clone)]
pub(crate) struct Settings {
    /// How long a job waits for other writers.
    pub(crate) wait: Duration,
    pub(crate) synchronous: Synchronous,
    /// The background work, if any.
    pub(crate) background: Option<Background>,
    pub(crate) sync: Sync,
    /// Indexes the backlog when the store is closed.
    pub(crate) index_at_close: Option<IndexAtClose>,
}

/// State of the writer thread.
pub(crate) struct Writer {
    database: Database,
    path: PathBuf,
    queue: Queue,
    settings: Settings,
    chores: Chores,
    folder: Folder,
    durability: Durability,
    /// Why nothing can be written any more; `None` if all is well.
    broken: Option<String>,
    damage: Damage,
}

impl Writer {
    pub(crate) fn new(database: Database, path: &Path, queue: Queue, settings: Settings, damage: Damage) -> Self {
        Self {
            database,
            path: path.to_owned(),
            queue,
            settings,
            chores: Chores::default(),
            folder: Folder::new(path),
            durability: Durability::InCommit,
            broken: None,
            damage,
        }
    }

    /// Runs jobs, starting with `first`, until all senders are dropped.
    pub(crate) fn run(mut self, messages: &Receiver<WriterMessage>, first: Option<Box<dyn WriteJob>>) {
        let mut waiting: Jobs = first.into_iter().collect();
        loop {
            if waiting.is_empty() {
                match self.next(messages) {
                    Ok(WriterMessage::Write(job)) => waiting.push(job),
                    Ok(WriterMessage::Nudge) => {
                        self.chores.nudge();
                        continue;
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        self.chore(PATIENCE, self.chores.work(Instant::now()));
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            self.absorb(messages, &mut waiting);
            waiting = self.run_group(waiting, Some(messages));
        }
        let end = Instant::now() + LAST;
        while self.chores.is_left_at_the_end(Instant::now()) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.chore(left, Work::All) {
                break;
            }
        }
        self.finish_indexing();
    }

    /// Indexes the backlog of compact indexes, if the settings ask for it. Indexes in the agent's layout have no
    /// backlog. A failure ends it: the next process continues.
    fn finish_indexing(&mut self) {
        let Some(watch) = self.settings.index_at_close.clone().filter(|_| self.settings.background.is_some()) else {
            return;
        };
        // Messages that other processes append meanwhile are theirs to index: this process is about to end.
        let last = match self.database.layout().is_compact() {
            true => indexes::last_pending(&self.database).unwrap_or_default(),
            false => None,
        };
        let Some(last) = last else { return };
        let backlog = |writer: &Self| indexes::backlog_until(&writer.database, last).unwrap_or(0);
        let total = backlog(self);
        let mut left = total;
        while left > 0 && watch.goes_on(total.saturating_sub(left), total) {
            if !self.chore(self.settings.wait, Work::Pressing) {
                return;
            }
            left = backlog(self);
        }
    }

    /// Returns the next message, or a timeout if background work is due first.
    fn next(&self, messages: &Receiver<WriterMessage>) -> Result<WriterMessage, RecvTimeoutError> {
        let now = Instant::now();
        match self.chores.next(now) {
            Some(due) => messages.recv_timeout(due.saturating_duration_since(now)),
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Takes the messages that have arrived meanwhile.
    fn absorb(&mut self, messages: &Receiver<WriterMessage>, waiting: &mut Jobs) {
        while waiting.len() < GROUP {
            match messages.try_recv() {
                Ok(WriterMessage::Write(job)) => waiting.push(job),
                Ok(WriterMessage::Nudge) => self.chores.nudge(),
                Err(_) => return,
            }
        }
    }

    /// Commits as many jobs as fit the time of a group. Returns the others, which are to be tried again.
    fn run_group(&mut self, mut jobs: Jobs, messages: Option<&Receiver<WriterMessage>>) -> Jobs {
        if self.damage.found().is_some() {
            let location = Location::from(&self.path);
            let refusals = jobs.into_iter().filter_map(|job| Some((job, self.damage.refusal(&location)?)));
            refusals.for_each(|(job, refusal)| job.refuse(Failure::Store(refusal)));
            damage::stop_checkpoints(&self.database);
            return Vec::new();
        }
        if let Some(why) = &self.broken {
            jobs.into_iter().for_each(|job| job.refuse(Failure::Broken(why.clone())));
            return Vec::new();
        }
        let Some(deadline) = jobs.iter().map(|job| job.asked() + self.settings.wait).min() else { return jobs };
        // Not done when the store is opened: a process that only reads has nothing to sync.
        self.durability.settle(&self.database, &self.path, &self.settings);
        if let Err(late) = self.queue.enter_or_pass(jobs[0].op(), deadline) {
            debug!(jobs = jobs.len(), holder = late.holder, "no writer slot before the deadline");
            return self.refuse_late(jobs, &|| Failure::Late { holder: late.holder.clone() });
        }
        if let Some(messages) = messages {
            self.absorb(messages, &mut jobs);
        }
        let start = match self.begin(deadline) {
            Ok(start) => start,
            Err(error) => {
                let holder = self.queue.other();
                self.queue.leave();
                debug!(op = jobs[0].op(), jobs = jobs.len(), error = error::code(&error), "transaction not begun");
                if !is_busy(&error) {
                    jobs.into_iter().for_each(|job| job.refuse(repeatable(&error)));
                    return Vec::new();
                }
                let others = self.refuse_late(jobs, &|| Failure::Late { holder: holder.clone() });
                if !others.is_empty() {
                    // SQLite reports some locks as busy at once, without calling the busy handler.
                    std::thread::sleep(Duration::from_millis(1));
                }
                return others;
            }
        };
        connection::set_deadline(self.settings.wait);
        let locked = Instant::now();
        let (mut tried, mut lost, is_alone) = (0, None, jobs.len() == 1);
        for job in &mut jobs {
            if tried > 0 && locked.elapsed() > GROUP_TIME {
                break;
            }
            tried += 1;
            let run = if is_alone { by_itself } else { in_savepoint };
            if let Err(error) = run(&self.database, job.as_mut()) {
                lost = Some(error);
                break;
            }
        }
        let mut rest = jobs.split_off(tried);
        match lost.map_or_else(|| self.commit(start), Err) {
            Ok(()) => {
                trace!(op = jobs[0].op(), jobs = tried, held = ?locked.elapsed(), "committed");
                self.end(jobs, locked.elapsed() <= SHORT);
            }
            Err(error) => {
                let (op, has_blame, error_code) = (jobs[0].op(), self.database.has_blame(), error::code(&error));
                debug!(op, jobs = tried, has_blame, error = error_code, "transaction lost");
                roll_back(&self.database);
                self.queue.leave();
                if tried > 1 {
                    // One of the jobs, or an index, made the transaction fail: each gets a transaction of its own, and
                    // new indexes only if it fails by itself.
                    self.database.blame(Blame::default());
                    jobs.into_iter().for_each(|job| self.alone(job));
                } else if self.database.has_blame() {
                    // Retried without what it failed in. Nothing is blamed twice.
                    jobs.append(&mut rest);
                    return jobs;
                } else {
                    jobs.into_iter().for_each(|job| job.refuse(repeatable(&error)));
                }
            }
        }
        rest
    }

    /// Commits a job by itself, with as many attempts as it takes.
    fn alone(&mut self, job: Box<dyn WriteJob>) {
        let mut waiting = vec![job];
        while !waiting.is_empty() {
            waiting = self.run_group(waiting, None);
        }
    }

    /// Refuses the jobs whose deadline has passed. Returns the others.
    fn refuse_late(&self, jobs: Jobs, why: &dyn Fn() -> Failure) -> Jobs {
        let wait = self.settings.wait;
        let (late, others): (Jobs, Jobs) = jobs.into_iter().partition(|job| job.asked().elapsed() >= wait);
        late.into_iter().for_each(|job| job.refuse(why()));
        others
    }

    /// Takes SQLite's lock. Returns when that was, and the newest message.
    fn begin(&mut self, deadline: Instant) -> Result<(Moment, Option<i64>), rusqlite::Error> {
        const BEGIN: &str = "BEGIN IMMEDIATE";
        connection::set_deadline(Duration::ZERO);
        let mut begun = self.database.prepare_cached(BEGIN)?.execute([]);
        if begun.as_ref().is_err_and(is_busy) {
            let start = Instant::now();
            debug!("waiting for a foreign writer");
            self.queue.wait_for_foreign_writer(true);
            begun = long_wait::reporting(&self.path, deadline, || self.database.prepare_cached(BEGIN)?.execute([]));
            self.queue.wait_for_foreign_writer(false);
            debug!(waited = ?start.elapsed(), is_ours = begun.is_ok(), "waited for a foreign writer");
        }
        begun?;
        let start = Moment::now();
        if let Err(error) = self.database.refresh() {
            roll_back(&self.database);
            return Err(error);
        }
        Ok((start, newest(&self.database)))
    }

    fn commit(&mut self, (start, before): (Moment, Option<i64>)) -> Result<(), rusqlite::Error> {
        let after = newest(&self.database);
        // A single job that failed has rolled back everything.
        if !self.database.is_autocommit() {
            self.database.prepare_cached("COMMIT")?.execute([])?;
        }
        self.queue.used(start, before, after);
        Ok(())
    }

    /// Ends a slot whose transaction was committed. Its jobs are answered when it is on disk.
    fn end(&mut self, jobs: Jobs, was_short: bool) {
        self.chores.wrote(jobs.len(), Instant::now());
        self.folder.look(&self.database, &mut self.queue);
        let (mut free, mut rest) = (Instant::now(), self.queue.rest());
        let (is_overdue, work) = (self.chores.is_overdue(free), self.chores.work(free));
        let goes_on = is_overdue && was_short;
        if rest.is_none() && !goes_on {
            self.queue.leave();
            self.answer(jobs);
        } else {
            self.answer(jobs);
            if goes_on {
                self.step(Instant::now() + PATIENCE, work);
                free = Instant::now();
                rest = rest.max(self.queue.rest());
            }
            self.rest(free, rest);
        }
        if is_overdue && !was_short {
            self.chore(PATIENCE, work);
        }
    }

    /// Leaves SQLite's lock free for a while after `free`, then ends the slot. Our other writers wait in the queue
    /// meanwhile; foreign writers may take the lock.
    fn rest(&mut self, free: Instant, rest: Option<Duration>) {
        if let Some(left) = rest.and_then(|rest| rest.checked_sub(free.elapsed())) {
            std::thread::sleep(left);
        }
        self.queue.leave();
    }

    /// Answers committed jobs, once they are on disk.
    ///
    /// This includes jobs that changed nothing: what they read may have been committed by another process a moment ago.
    fn answer(&mut self, jobs: Jobs) {
        let synced = if jobs.iter().any(|job| job.is_synced()) { self.durability.sync() } else { Ok(()) };
        match synced {
            Ok(()) => {
                jobs.into_iter().for_each(|job| job.answer());
            }
            Err(error) => {
                error!(jobs = jobs.len(), %error, "commit not synced to disk; this process writes nothing more");
                // The kernel may mark pages as clean that it could not write, so a repeated sync would succeed without
                // meaning anything.
                jobs.into_iter().for_each(|job| job.refuse(Failure::InDoubt(error.to_string())));
                self.broken = Some(error.to_string());
            }
        }
    }

    /// Does a piece of background work in a slot of its own. Returns whether it could be done.
    fn chore(&mut self, patience: Duration, work: Work) -> bool {
        let deadline = Instant::now() + patience;
        if self.damage.found().is_some() {
            damage::stop_checkpoints(&self.database);
            self.chores.put_off(Instant::now());
            return false;
        }
        if self.broken.is_some() || self.queue.enter("run background work", deadline).is_err() {
            trace!("background work postponed: no writer slot");
            self.chores.put_off(Instant::now());
            return false;
        }
        let done = self.step(deadline, work);
        self.folder.look(&self.database, &mut self.queue);
        let rest = self.queue.rest();
        self.rest(Instant::now(), rest);
        done
    }

    /// Does a piece of background work in a transaction of its own. Returns whether it could be done. The commit is not
    /// synced: lost results are recomputed.
    fn step(&mut self, deadline: Instant, work: Work) -> bool {
        let mut outcome = self.attempt(deadline, work);
        while outcome.is_err() && self.database.has_blame() {
            // Retried with new indexes. They stay only if that helps, so no other write may start with them.
            outcome = self.attempt(deadline, work);
        }
        match &outcome {
            Ok(more) => trace!(?work, more, "background step"),
            Err(failure) if failure.is_passing() => debug!(?work, error = failure.code(), "background step postponed"),
            Err(failure) => warn!(?work, error = failure.code(), "background step failed"),
        }
        if let Err(failure) = &outcome {
            self.damage.take_in(&self.database, failure);
        }
        match &outcome {
            Err(failure) if failure.is_passing() => self.chores.put_off(Instant::now()),
            _ => self.chores.stepped(work, outcome.as_ref().copied().map_err(drop), Instant::now()),
        }
        outcome.is_ok()
    }

    fn attempt(&mut self, deadline: Instant, work: Work) -> Result<bool, Failure> {
        let Some(background) = self.settings.background else { return Ok(false) };
        let start = self.begin(deadline).inspect_err(|_| self.database.blame(Blame::default()))?;
        let database = &self.database;
        if schema::is_later(database) {
            roll_back(database);
            return Ok(false);
        }
        let outcome = indexes::despite_indexes(database, || (background.of(work))(database))
            .and_then(|more| self.commit(start).map(|()| more).map_err(Failure::from));
        roll_back(&self.database);
        outcome
    }
}

/// Returns the highest message id ever used, if SQLite has recorded one.
fn newest(database: &Database) -> Option<i64> {
    let mut statement = database.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'messages'").ok()?;
    statement.query_row([], |row| row.get(0)).optional().ok().flatten()
}

/// Copies an error for another job: SQLite's errors can't be cloned.
fn repeatable(error: &rusqlite::Error) -> Failure {
    let code = error.sqlite_error().copied().unwrap_or(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR));
    Failure::Sqlite(rusqlite::Error::SqliteFailure(code, Some(error.to_string())))
}

/// Runs a job so that its failure rolls back only its own changes.
///
/// # Errors
/// If the whole transaction is lost: some errors (a full disk, say) make SQLite roll back everything.
fn in_savepoint(database: &Database, job: &mut dyn WriteJob) -> Result<(), rusqlite::Error> {
    let opened = database.prepare_cached("SAVEPOINT job").and_then(|mut statement| statement.execute([]));
    // An earlier blame does not apply to this failure.
    opened.inspect_err(|_| database.blame(Blame::default()))?;
    if !has_succeeded(database, job)? {
        database.execute_batch("ROLLBACK TO job")?;
        // The job may have changed the schema, which later jobs see as it was.
        database.refresh()?;
    }
    database.prepare_cached("RELEASE job")?.execute([])?;
    Ok(())
}

/// Runs the only job of a transaction. While a savepoint is open, SQLite keeps a copy of every changed page; rolling
/// back the whole transaction needs none.
fn by_itself(database: &Database, job: &mut dyn WriteJob) -> Result<(), rusqlite::Error> {
    if !has_succeeded(database, job)? {
        database.execute_batch("ROLLBACK")?;
    }
    Ok(())
}

fn has_succeeded(database: &Database, job: &mut dyn WriteJob) -> Result<bool, rusqlite::Error> {
    let succeeded = job.run(database);
    if database.is_autocommit() {
        return Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT), None));
    }
    Ok(succeeded)
}

fn roll_back(database: &Database) {
    if !database.is_autocommit()
        && let Err(error) = database.execute_batch("ROLLBACK")
    {
        // The next BEGIN fails too and reports it.
        debug!(error = error::code(&error), "rollback failed");
    }
}
