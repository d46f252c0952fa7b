//! Lines in, lines out: reads requests, lets those run side by side that may, answers each when it is done.

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

/// How much may be under way at once, in units of [`UNIT`] bytes: no more is read until something of it is answered. A line that is larger
/// than all of it waits until it is alone.
const UNITS: u32 = 64 * 1024;
const UNIT: usize = 1024;
/// What the smallest call counts as, so that there are never more than a thousand.
const LEAST: u32 = 64;

/// An answer, and the room that its request took until it is written.
struct Answered {
    text: String,
    _room: OwnedSemaphorePermit,
}

impl Service {
    /// Writes the first line, then answers requests until the reader ends.
    ///
    /// # Errors
    /// If reading or writing fails. What was accepted has been carried out by then.
    pub async fn serve<R, W>(&self, reader: R, writer: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        self.serve_until(reader, writer, std::future::pending()).await
    }

    /// The same, until the reader ends or `stop` does. Every line that was read by then as a whole is answered.
    ///
    /// # Errors
    /// If reading or writing fails. What was accepted has been carried out by then.
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
            // Nobody reads the answers any more.
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

    /// Takes requests; returns when there are no more, and those that were taken may still be under way.
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

    /// Runs a call once the calls that it has to wait for have ended.
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
            // In a task of its own, so that a caller is answered whatever happens there.
            let work = tokio::spawn(async move { service.answer(&line).await });
            let answer = work.await.unwrap_or_else(|error| {
                error!(method, is_panic = error.is_panic(), "call ended unexpectedly");
                Err(Fail::new(ErrorType::Operational, format!("the call came to an unexpected end: {error}")))
            });
            let (took, error) = (received.elapsed(), answer.as_ref().err().map(|fail| fail.error.name()));
            debug!(method, ?waited, ?took, error, "call answered");
            drop(running);
            send(&answers, id, answer, room);
        });
    }
}

/// What was accepted is done, whether or not somebody hears of it.
async fn all_done(room: &Semaphore) {
    // Fails only if the semaphore is closed, and nobody closes it.
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
    // The end of the line goes with it: written by itself it would wake the reader once more.
    if answers.send(Answered { text: out.finish() + "\n", _room: room }).is_err() {
        debug!("answer dropped: nobody reads answers any more");
    }
}

/// Writes answers as they come, and all that are there before it lets them go.
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
