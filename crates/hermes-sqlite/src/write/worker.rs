//! One thread that writes, and a few that read.
//!
//! A write is a job that may run more than once until its transaction commits. A job is answered when its commit is on
//! disk. The caller may be gone by then: the job is done completely or not at all.

use crate::error::{Circumstances, Failure};
use crate::index::indexes;
use crate::open::damage::Damage;
use crate::open::schema;
use crate::write::database::Database;
use crate::write::queue::Queue;
use crate::write::readers::{Need, ReadJob, Readers, finish};
use crate::write::writer::{Settings, WriteJob, Writer, WriterMessage};
use hermes_session::{Location, ReadOnlyReason, StoreError};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

struct Write<T, F> {
    op: &'static str,
    location: Arc<Location>,
    asked: Instant,
    is_synced: bool,
    work: F,
    damage: Damage,
    outcome: Option<Result<T, Failure>>,
    answer: Answer<T>,
}

impl<T: Send, F: FnMut(&Database) -> Result<T, Failure> + Send> WriteJob for Write<T, F> {
    fn op(&self) -> &'static str {
        self.op
    }

    fn asked(&self) -> Instant {
        self.asked
    }

    fn is_synced(&self) -> bool {
        self.is_synced
    }

    fn run(&mut self, database: &Database) -> bool {
        let outcome = self.outcome.insert(
            schema::refuse_later(database, &self.location)
                .and_then(|()| indexes::despite_indexes(database, || (self.work)(database))),
        );
        if let Err(failure) = outcome
            // A failure that is blamed on an index is retried with a new one.
            && !database.has_blame()
        {
            self.damage.take_in(database, failure);
        }
        outcome.is_ok()
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // The caller may be gone; the work stays done.
            _ = self.answer.send(outcome.map_err(|failure| {
                failure.into_store_error(Circumstances {
                    op: self.op,
                    waited: self.asked.elapsed(),
                    location: &self.location,
                })
            }));
        }
    }

    fn refuse(self: Box<Self>, why: Failure) {
        // The job's own failure comes first.
        let failure = self.outcome.and_then(Result::err).unwrap_or(why);
        // The caller may be gone.
        _ = self.answer.send(Err(failure.into_store_error(Circumstances {
            op: self.op,
            waited: self.asked.elapsed(),
            location: &self.location,
        })));
    }
}

/// How the file is written.
pub(crate) enum Writing {
    /// Through this connection, with slots of this queue.
    Now(Box<(Database, Queue)>),
    /// Through a connection that the first write opens.
    Later(OpenLater),
    /// Not at all.
    Never(ReadOnlyReason),
}

/// Opens the file for writing. The argument is the maximum time to wait for locks.
pub(crate) type OpenLater = Box<dyn FnMut(Duration) -> Result<(Database, Queue), StoreError> + Send>;

/// The threads of one store. Dropping it lets the writer finish its jobs, then waits for it.
pub(crate) struct Workers {
    messages: Option<mpsc::Sender<WriterMessage>>,
    writer: Option<JoinHandle<()>>,
    readers: Readers,
    location: Arc<Location>,
    /// Whether the file is open for writing.
    is_written: Arc<AtomicBool>,
    damage: Damage,
    /// Why the file can't be written at all; `None` if it can.
    read_only: Option<ReadOnlyReason>,
}

impl Workers {
    /// Starts the writer, if there is one. Readers start when they are needed; `reader` is a connection for the first
    /// of them.
    pub(crate) fn start(
        writing: Writing,
        reader: Option<Database>,
        path: &Path,
        settings: Settings,
    ) -> Result<Self, std::io::Error> {
        let is_written = Arc::new(AtomicBool::new(matches!(writing, Writing::Now(_))));
        let damage = Damage::none_in(path);
        let readers = Readers::new(path.to_owned(), reader, Arc::clone(&is_written), damage.clone(), settings.wait);
        let location = Arc::new(Location::from(path));
        let (messages, received) = mpsc::channel();
        let writer = match writing {
            Writing::Never(reason) => {
                return Ok(Self {
                    messages: None,
                    writer: None,
                    readers,
                    location,
                    is_written,
                    damage,
                    read_only: Some(reason),
                });
            }
            Writing::Now(open) => {
                let (database, queue) = *open;
                let writer = Writer::new(database, path, queue, settings, damage.clone());
                spawn("hermes-writer", move || writer.run(&received, None))?
            }
            Writing::Later(mut open) => {
                let (path, is_written, damage) = (path.to_owned(), Arc::clone(&is_written), damage.clone());
                spawn("hermes-writer", move || {
                    let Some((database, queue, first)) = wait_for_write(&received, &mut open, settings.wait) else {
                        return;
                    };
                    is_written.store(true, Ordering::Release);
                    Writer::new(database, &path, queue, settings, damage).run(&received, Some(first));
                })?
            }
        };
        Ok(Self {
            messages: Some(messages),
            writer: Some(writer),
            readers,
            location,
            is_written,
            damage,
            read_only: None,
        })
    }

    /// Returns whether the file is opened read-only until the first write.
    pub(crate) fn is_deferred(&self) -> bool {
        self.read_only.is_none() && !self.is_written.load(Ordering::Acquire)
    }

    /// Fails as [`Workers::write`] does if this process may not write.
    pub(crate) fn may_write(&self, op: &'static str) -> Result<(), StoreError> {
        match self.read_only {
            Some(reason) => Err(StoreError::ReadOnly { op, location: Location::clone(&self.location), reason }),
            None => self.damage.refusal(&self.location).map_or(Ok(()), Err),
        }
    }

    /// Runs `work` in a transaction of its own or of a group, and returns once it is on disk.
    ///
    /// `work` may run more than once and must not keep state between runs.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        op: &'static str,
        work: impl FnMut(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_as(op, true, work).await
    }

    /// Runs `work` like [`Workers::write`], and returns once it is committed. It is lost if the power fails before
    /// another write reaches the disk.
    pub(crate) async fn write_unsynced<T: Send + 'static>(
        &self,
        op: &'static str,
        work: impl FnMut(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_as(op, false, work).await
    }

    async fn write_as<T: Send + 'static>(
        &self,
        op: &'static str,
        is_synced: bool,
        work: impl FnMut(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.may_write(op)?;
        let (answer, answered) = oneshot::channel();
        self.send(WriterMessage::Write(Box::new(Write {
            op,
            location: Arc::clone(&self.location),
            asked: Instant::now(),
            is_synced,
            work,
            damage: self.damage.clone(),
            outcome: None,
            answer,
        })));
        answered.await.unwrap_or_else(|_| Err(self.stopped(op)))
    }

    /// Asks for background work to be done soon.
    pub(crate) fn nudge(&self) {
        self.send(WriterMessage::Nudge);
    }

    /// Runs `work`, which is short, on one state of the store: at once if possible, else like [`Workers::read`].
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
        self.read_with(Need::Side, op, work).await
    }

    /// Runs `work`, which does not need our side tables. It works on a damaged file too, as far as that can be read.
    pub(crate) async fn read_file<T: Send + 'static>(
        &self,
        op: &'static str,
        work: impl FnOnce(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read_with(Need::File, op, work).await
    }

    async fn read_with<T: Send + 'static>(
        &self,
        need: Need,
        op: &'static str,
        work: impl FnOnce(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let (asked, location) = (Instant::now(), Arc::clone(&self.location));
        let damage = self.damage.clone();
        let run = Box::new(move |database: Result<&Database, Failure>| {
            let outcome = database
                .and_then(|database| finish(database, work).inspect_err(|failure| damage.take_in(database, failure)));
            // The caller may be gone.
            _ = answer.send(outcome.map_err(|failure| {
                failure.into_store_error(Circumstances { op, waited: asked.elapsed(), location: &location })
            }));
        });
        self.readers.send(ReadJob { need, run });
        answered.await.unwrap_or_else(|_| Err(self.stopped(op)))
    }

    fn stopped(&self, op: &'static str) -> StoreError {
        StoreError::Backend {
            location: Location::clone(&self.location),
            op,
            source: "the store's thread has stopped".into(),
        }
    }

    fn send(&self, message: WriterMessage) {
        if let Some(messages) = &self.messages {
            // The receiver lives until the sender is dropped, unless the thread panicked; then the answer reports that.
            _ = messages.send(message);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
    }
}

/// Waits for the first write, and opens the file for it. Returns `None` if the store is closed before. If the file
/// can't be opened, the write fails with the reason, and the next one tries again.
fn wait_for_write(
    messages: &mpsc::Receiver<WriterMessage>,
    open: &mut OpenLater,
    wait: Duration,
) -> Option<(Database, Queue, Box<dyn WriteJob>)> {
    loop {
        match messages.recv().ok()? {
            // Background work alone does not adopt a file.
            WriterMessage::Nudge => {}
            WriterMessage::Write(job) => match open(wait.saturating_sub(job.asked().elapsed())) {
                Ok((database, queue)) => return Some((database, queue, job)),
                Err(error) => job.refuse(Failure::Store(error)),
            },
        }
    }
}

pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, std::io::Error> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

#[cfg(test)]
mod tests;
