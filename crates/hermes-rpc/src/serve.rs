//! Reads request lines, runs calls concurrently where they may be, and writes each answer when it is done.

use crate::fail::{ErrorType, Fail};
use crate::request_line::Received;
use crate::scheduler::Scheduler;
use crate::service::Service;
use hermes_session::json::ObjectWriter;
use std::io;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tracing::{debug, error};

/// Maximum size of the requests in flight, in units of [`UNIT`] bytes. No more is read until some of them are answered.
/// A line that is larger than that waits until it is alone.
const UNITS: u32 = 64 * 1024;
const UNIT: usize = 1024;
/// Minimum cost of a call in units, so that at most 1,024 are in flight.
const LEAST: u32 = 64;

/// An answer, and the room that its request takes until the answer is written.
struct Answered {
    text: String,
    _room: OwnedSemaphorePermit,
}

impl Service {
    /// Writes the first line, then answers requests until the reader ends.
    ///
    /// # Errors
    /// If reading or writing fails. Accepted requests have been executed by then.
    pub async fn serve<R, W>(&self, reader: R, writer: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        self.serve_until(reader, writer, std::future::pending()).await
    }

    /// Serves like [`Service::serve`], until the reader ends or `stop` completes. Every complete line that was read by
    /// then is answered.
    ///
    /// # Errors
    /// If reading or writing fails. Accepted requests have been executed by then.
    pub async fn serve_until<R, W>(&self, reader: R, mut writer: W, stop: impl Future<Output = ()>) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let hello = self.hello().await.map_err(io::Error::other)?;
        writer.write_all(format!("{hello}\n").as_bytes()).await?;
        writer.flush().await?;
        let (answers, queue) = mpsc::unbounded_channel();
        let mut writing = tokio::spawn(write(writer, queue));
        let room = Arc::new(Semaphore::new(UNITS as usize));
        let read = tokio::select! {
            read = self.read(reader, answers, &room, stop) => read,
            // The client no longer reads answers.
            written = &mut writing => {
                all_done(&room).await;
                return written.map_err(io::Error::other)?;
            }
        };
        let written = writing.await;
        all_done(&room).await;
        written.map_err(io::Error::other)??;
        read
    }

    /// Reads requests. Returns when there are no more; calls may still be running.
    async fn read<R: AsyncRead + Unpin>(
        &self,
        reader: R,
        answers: mpsc::UnboundedSender<Answered>,
        room: &Arc<Semaphore>,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(64 * 1024, reader);
        let mut scheduler = Scheduler::default();
        let mut stop = std::pin::pin!(stop);
        loop {
            let mut line = Vec::new();
            let size = tokio::select! {
                size = reader.read_until(b'\n', &mut line) => size?,
                () = &mut stop => return Ok(()),
            };
            if size == 0 {
                return Ok(());
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let units = u32::try_from(line.len() / UNIT).unwrap_or(UNITS).clamp(LEAST, UNITS);
            let room = Arc::clone(room).acquire_many_owned(units).await.map_err(io::Error::other)?;
            self.start(Received::read(line), room, &mut scheduler, answers.clone());
        }
    }

    /// Runs a call after the calls that it has to wait for.
    fn start(
        &self,
        received: Received,
        room: OwnedSemaphorePermit,
        scheduler: &mut Scheduler,
        answers: mpsc::UnboundedSender<Answered>,
    ) {
        let Received { id, line } = received;
        let line = match line {
            Ok(line) => line,
            Err(fail) => {
                // The text of the refusal may quote arguments.
                debug!(error = fail.error.name(), "request refused");
                return send(&answers, id, Err(fail), room);
            }
        };
        let (before, running) = scheduler.enter(line.method.lane, line.sessions());
        let service = self.clone();
        let (method, received) = (line.method.signature.name, Instant::now());
        tokio::spawn(async move {
            before.wait().await;
            let waited = received.elapsed();
            // In a task of its own, so that a panic there is answered as an error.
            let work = tokio::spawn(async move { service.answer(&line).await });
            let answer = work.await.unwrap_or_else(|error| {
                error!(method, is_panic = error.is_panic(), "call ended unexpectedly");
                Err(Fail::new(ErrorType::Operational, format!("the call ended unexpectedly: {error}")))
            });
            let (took, error) = (received.elapsed(), answer.as_ref().err().map(|fail| fail.error.name()));
            debug!(method, ?waited, ?took, error, "call answered");
            drop(running);
            send(&answers, id, answer, room);
        });
    }
}

/// Waits until all accepted calls have finished, whether or not their answers can be written.
async fn all_done(room: &Semaphore) {
    // Fails only if the semaphore is closed, which never happens.
    _ = room.acquire_many(UNITS).await;
}

fn send(
    answers: &mpsc::UnboundedSender<Answered>,
    id: Option<String>,
    answer: Result<String, Fail>,
    room: OwnedSemaphorePermit,
) {
    let mut out = ObjectWriter::with_room(answer.as_ref().map_or(0, String::len) + 64);
    if let Some(id) = id {
        out.raw("id", &id);
    }
    match answer {
        Ok(result) => out.raw("r", &result),
        Err(fail) => out.text("e", Some(fail.error.name())).text("t", Some(&fail.text)),
    };
    // The newline is part of the same write: written separately it would wake the reader twice.
    if answers.send(Answered { text: out.finish() + "\n", _room: room }).is_err() {
        debug!("answer dropped: the client no longer reads answers");
    }
}

/// Writes answers in order of arrival, and flushes when the queue is empty.
async fn write<W: AsyncWrite + Unpin>(writer: W, mut queue: mpsc::UnboundedReceiver<Answered>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(64 * 1024, writer);
    while let Some(answer) = queue.recv().await {
        writer.write_all(answer.text.as_bytes()).await?;
        if queue.is_empty() {
            writer.flush().await?;
        }
    }
    writer.flush().await
}
