//! One thread that writes, a few that read.
//!
//! A write is a job that may run more than once until its transaction commits. A job is answered when the commit that holds it is on disk.
//! Whoever asked may be gone by then: the job is done all the same, or not at all.

use crate::connection;
use crate::database::Database;
use crate::error::{Circumstances, Failure};
use crate::indexes;
use crate::queue::Queue;
use crate::readers::{ReadJob, Readers, snapshot};
use crate::writer::{Order, Settings, WriteJob, Writer};
use hermes_session::StoreError;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::oneshot;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

struct Write<T, F> {
    op: &'static str,
    location: Arc<str>,
    asked: Instant,
    work: F,
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

    fn run(&mut self, database: &Database) -> bool {
        self.outcome.insert(indexes::despite_indexes(database, || (self.work)(database))).is_ok()
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

    fn refuse(self: Box<Self>, why: Failure) {
        // A reason of its own comes first.
        let failure = self.outcome.and_then(Result::err).unwrap_or(why);
        _ = self.answer.send(Err(failure.into_store_error(Circumstances {
            op: self.op,
            waited: self.asked.elapsed(),
            location: &self.location,
        })));
    }
}

/// The threads of one store. Dropping it lets the writer finish what it has, then waits for it.
pub(crate) struct Workers {
    orders: Option<mpsc::Sender<Order>>,
    writer: Option<JoinHandle<()>>,
    readers: Readers,
    location: Arc<str>,
}

impl Workers {
    /// Starts the writer, if there is one. Readers start when there is something to read.
    pub(crate) fn start(
        writer: Option<Database>,
        path: &Path,
        queue: Queue,
        settings: Settings,
    ) -> Result<Self, std::io::Error> {
        let opener = if writer.is_some() { connection::open_reader } else { connection::open_read_only };
        let readers = Readers::new(path.to_owned(), opener, settings.wait);
        let location = path.display().to_string().into();
        let Some(database) = writer else { return Ok(Self { orders: None, writer: None, readers, location }) };
        let (orders, received) = mpsc::channel();
        let writer = Writer::new(database, path, queue, settings);
        let writer = spawn("hermes-writer", move || writer.run(&received))?;
        Ok(Self { orders: Some(orders), writer: Some(writer), readers, location })
    }

    /// Runs `work` in a transaction of its own or of a group, and answers once it is on disk.
    ///
    /// `work` may be run more than once and must not keep anything between runs.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        op: &'static str,
        work: impl FnMut(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.orders.is_none() {
            return Err(StoreError::ReadOnly { op, location: self.location.to_string() });
        }
        let (answer, answered) = oneshot::channel();
        self.send(Order::Write(Box::new(Write {
            op,
            location: Arc::clone(&self.location),
            asked: Instant::now(),
            work,
            outcome: None,
            answer,
        })));
        answered.await.unwrap_or_else(|_| Err(self.stopped(op)))
    }

    /// Has background work done soon.
    pub(crate) fn nudge(&self) {
        self.send(Order::Nudge);
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

    fn send(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // The receiver lives until the sender is dropped, unless the thread panicked; then the answer says so.
            _ = orders.send(order);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(writer) = self.writer.take() {
            _ = writer.join();
        }
    }
}

pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, std::io::Error> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

#[cfg(test)]
mod tests;
