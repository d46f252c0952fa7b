//! Imports an export line by line.

use super::compare::{Comparison, compare};
use super::lacking::Lacking;
use super::line::{ImportLine, Notes, Parsed};
use super::link::{Waiting, link_all};
use super::live::Live;
use super::rehearsal::Rehearsal;
use super::report::{FindingKind, ImportError, ImportReport};
use super::send::send;
use super::trashed::Binning;
use super::{ImportPiece, Imported, InTrash};
use crate::live::Carried;
use crate::{
    Invalid, Maintenance, Message, PinAndTags, Relation, Request, Session, SessionId, StateCounts, StoreError,
    Timestamp,
};
use std::io::BufRead;

/// A session with more messages than this, or more text, is sent in pieces of this size. Smaller sessions are sent
/// together.
const PIECE_MESSAGES: usize = 200;
const PIECE_BYTES: usize = 256 << 10;
/// Maximum number of small sessions held before they are sent.
const PIECES: usize = 64;

/// Options of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Whether to stop at the first line that can't be read.
    pub is_strict: bool,
    /// Whether only to report what an import would do. The store is read and not changed.
    pub is_rehearsal: bool,
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Lines read.
    pub lines: u64,
    /// Bytes of these lines.
    pub bytes: u64,
    /// Messages imported.
    pub messages: u64,
}

/// Imports the sessions of an export (ours, or the agent's own lines), one per line.
///
/// * A session that exists already with the same content is skipped. One that exists with other content is reported as
///   a conflict and left unchanged. Message ids do not count as content.
/// * Parents may come after their children. A session whose parent does not exist becomes a conversation of its own,
///   which is reported.
/// * A title that another session has is replaced by the next free one of its lineage, which is reported.
/// * The pin and the tags of a line are added to those of the conversation, even if the session existed already.
/// * A line that can't be read is reported and the others are imported, unless the options say to stop there.
///
/// Memory use is bounded by one line and a few small sessions. A session becomes visible when it is complete. After an
/// error or a kill the import can be run again from the start, with the same final result.
///
/// # Errors
/// If the input or the store fails. Sessions imported by then stay.
pub async fn import(
    store: &dyn Maintenance,
    input: &mut (dyn BufRead + Send),
    options: ImportOptions,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<ImportReport, ImportError> {
    let mut run = Run {
        store,
        report: ImportReport::default(),
        small: Vec::new(),
        held: 0,
        waiting: Vec::new(),
        marked: Vec::new(),
        binning: Binning::default(),
        lacking: Lacking::default(),
        rehearsal: options.is_rehearsal.then(Rehearsal::default),
    };
    let (mut bytes, mut done) = (Vec::new(), Progress::default());
    loop {
        bytes.clear();
        let size =
            input.read_until(b'\n', &mut bytes).map_err(|source| ImportError::Read { line: done.lines + 1, source })?;
        if size == 0 {
            break;
        }
        done.lines += 1;
        done.bytes += size as u64;
        if !bytes.trim_ascii().is_empty() {
            let line = ImportLine::read(&bytes);
            // Frees the buffer, so that a long line is held only once from here on.
            if bytes.capacity() > PIECE_BYTES {
                bytes = Vec::new();
            }
            let read = line.as_ref().map_err(Clone::clone);
            match read.and_then(Read::of) {
                Ok(Read::Session(parsed)) => run.take(done.lines, *parsed).await?,
                Ok(Read::Notes(notes)) => run.take_notes(done.lines, notes).await?,
                Ok(Read::Live(live)) => run.take_live(done.lines, live).await?,
                Err(error) if options.is_strict => {
                    run.flush().await?;
                    return Err(ImportError::Bad { line: done.lines, what: error.to_string() });
                }
                Err(error) => run.report.find(done.lines, None, FindingKind::Bad, error.to_string()),
            }
        }
        progress(Progress { messages: run.report.messages, ..done });
    }
    run.end_conversation(None).await?;
    run.flush().await?;
    run.mark().await?;
    match run.rehearsal {
        Some(rehearsal) => rehearsal.link_all(store, &run.waiting, &mut run.report).await?,
        None => link_all(store, run.waiting, &mut run.report).await?,
    }
    run.report.findings.sort_by_key(|finding| finding.line);
    progress(Progress { messages: run.report.messages, ..done });
    Ok(run.report)
}

/// Content of a line.
enum Read<'a> {
    Session(Box<Parsed<'a>>),
    Notes(Notes),
    Live(Live),
}

impl<'a> Read<'a> {
    fn of(line: &'a ImportLine) -> Result<Self, Invalid> {
        if let Some(notes) = line.notes()? {
            return Ok(Self::Notes(notes));
        }
        match line.live()? {
            Some(live) => Ok(Self::Live(live)),
            None => line.parse().map(|parsed| Self::Session(Box::new(parsed))),
        }
    }
}

/// A piece and the line it comes from.
struct Sent {
    line: u64,
    piece: ImportPiece,
    /// Parent that the line names, and the relation to it if the line gives one.
    parent: Option<SessionId>,
    relation: Option<Relation>,
    pins_and_tags: PinAndTags,
    states: StateCounts,
}

/// Origin of a piece that was sent.
struct Sender {
    line: u64,
    parent: Option<SessionId>,
    relation: Option<Relation>,
    pins_and_tags: PinAndTags,
    states: StateCounts,
}

struct Run<'a> {
    store: &'a dyn Maintenance,
    report: ImportReport,
    /// Small sessions that are sent together, and the number of their messages.
    small: Vec<Sent>,
    held: usize,
    waiting: Vec<Waiting>,
    /// Pins and tags of sessions that are complete.
    marked: Vec<(SessionId, PinAndTags)>,
    /// Conversation of the trash whose lines are being read.
    binning: Binning,
    /// Columns that the store has no place for.
    lacking: Lacking,
    /// State of the dry run, if nothing is to be changed.
    rehearsal: Option<Rehearsal>,
}

impl Run<'_> {
    /// Imports a session.
    async fn take(&mut self, line: u64, parsed: Parsed<'_>) -> Result<(), StoreError> {
        self.end_conversation(parsed.trash.as_ref()).await?;
        let id = &parsed.session.id;
        if let Some(trash) = &parsed.trash
            && !self.binning.take(self.store, line, trash, id, &parsed.rows).await?
        {
            self.report.skipped += 1;
            return Ok(());
        }
        if self.small.iter().any(|sent| sent.piece.session.id == *id) {
            self.flush().await?;
        }
        let comparison = match self.rehearsal.as_ref().and_then(|rehearsal| rehearsal.compare(&parsed)) {
            Some(comparison) => comparison,
            None => compare(self.store, &parsed, &mut self.lacking).await?,
        };
        match comparison {
            Comparison::New => self.binning.brings(),
            Comparison::Same => {
                self.report.skipped += 1;
                return self.keep_pins_and_tags(id.clone(), parsed.pins_and_tags).await;
            }
            Comparison::WithoutParent => {
                self.report.skipped += 1;
                self.keep_pins_and_tags(id.clone(), parsed.pins_and_tags.clone()).await?;
                let Parsed { session, relation, .. } = parsed;
                self.wait(line, &session, session.parent_session_id.as_ref(), relation);
                return Ok(());
            }
            Comparison::Other(what) => {
                self.binning.fail();
                self.report.find(line, Some(id), FindingKind::Conflict, what);
                return Ok(());
            }
        }
        for what in &parsed.lost {
            self.report.find(line, Some(id), FindingKind::Column, what.clone());
        }
        if self.rehearsal.is_some() {
            self.rehearse_lacking(line, &parsed).await?;
        }
        if let Some(rehearsal) = &mut self.rehearsal {
            self.report.sessions += 1;
            self.report.messages += parsed.messages.len() as u64;
            self.report.states.add_all(parsed.states);
            rehearsal.take(self.store, line, &parsed, &mut self.report).await?;
            let Parsed { session, relation, .. } = parsed;
            self.wait(line, &session, session.parent_session_id.as_ref(), relation);
            return Ok(());
        }
        let sent = |piece| {
            let parent = parsed.session.parent_session_id.clone();
            Sent {
                line,
                piece,
                parent,
                relation: parsed.relation,
                pins_and_tags: parsed.pins_and_tags.clone(),
                states: parsed.states,
            }
        };
        let (mut place, total) = (0, parsed.messages.len());
        let (first, end) = self.piece(&parsed, place);
        self.tell_lacking(line, &first).await?;
        if end == total {
            self.held += end;
            self.small.push(sent(first));
            if self.small.len() >= PIECES || self.held >= PIECE_MESSAGES {
                self.flush().await?;
            }
            return Ok(());
        }
        self.flush().await?;
        let mut next = (first, end);
        loop {
            let (piece, end) = next;
            if !self.send(vec![sent(piece)]).await? || end == total {
                return Ok(());
            }
            place = end;
            next = self.piece(&parsed, place);
            self.tell_lacking(line, &next.0).await?;
        }
    }

    /// Moves the conversation before this line to the trash, if it belongs there and the line is not part of it.
    async fn end_conversation(&mut self, next: Option<&InTrash>) -> Result<(), StoreError> {
        if !self.binning.is_over(next) || self.rehearsal.is_some() {
            return Ok(());
        }
        self.flush().await?;
        self.mark().await?;
        self.binning.finish(self.store, &mut self.waiting, &mut self.report).await
    }

    /// Takes the notes on a session that should exist already.
    async fn take_notes(&mut self, line: u64, notes: Notes) -> Result<(), StoreError> {
        self.end_conversation(None).await?;
        self.flush().await?;
        let Notes { id, pins_and_tags, is_archived, lost } = notes;
        for what in lost {
            self.report.find(line, Some(&id), FindingKind::Column, what);
        }
        if self.store.session(&id).await?.is_none() {
            let what = "it does not exist here, so its pin, tags and archiving were not set".to_owned();
            self.report.find(line, Some(&id), FindingKind::Column, what);
            return Ok(());
        }
        self.report.marked += 1;
        if is_archived && self.rehearsal.is_none() {
            // The time of the request is not stored.
            self.store.set_archived(&id, true, &Request::at(Timestamp::EPOCH)).await?;
        }
        self.keep_pins_and_tags(id, pins_and_tags).await
    }

    /// Imports data of live clients.
    async fn take_live(&mut self, line: u64, live: Live) -> Result<(), StoreError> {
        self.end_conversation(None).await?;
        self.flush().await?;
        match live {
            Live::Undone(id) => {
                let what = "an undone message is not imported; it stays in this file".to_owned();
                self.report.find(line, Some(&id), FindingKind::Column, what);
            }
            Live::Record(_) if self.rehearsal.is_some() => {}
            Live::Record(record) => {
                for carried in self.store.import_live(&[*record]).await? {
                    if let Carried::Left(why) = carried {
                        self.report.find(line, None, FindingKind::Column, format!("it is not imported: {why}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the piece that begins with the message at `place`, and the place where it ends.
    fn piece(&self, parsed: &Parsed<'_>, place: usize) -> (ImportPiece, usize) {
        let (mut end, mut bytes, mut scratch) = (place, 0, Vec::new());
        let mut messages: Vec<Message> = Vec::new();
        while end < parsed.messages.len() && messages.len() < PIECE_MESSAGES && bytes < PIECE_BYTES {
            bytes += parsed.messages.size(end);
            messages.extend(parsed.messages.read(end, &mut scratch));
            end += 1;
        }
        let mut session = parsed.session.clone();
        if parsed.relation.is_none() {
            // The relation to the parent is determined when all siblings exist.
            session.parent_session_id = None;
        }
        let is_last = end == parsed.messages.len();
        (ImportPiece { session, start: place as u64, messages, is_last }, end)
    }

    /// Reports columns of a piece that the store will not keep.
    async fn tell_lacking(&mut self, line: u64, piece: &ImportPiece) -> Result<(), StoreError> {
        for what in self.lacking.of(self.store, piece).await? {
            self.report.find(line, Some(&piece.session.id), FindingKind::Column, what);
        }
        Ok(())
    }

    /// Reports columns of a whole session that the store would not keep.
    async fn rehearse_lacking(&mut self, line: u64, parsed: &Parsed<'_>) -> Result<(), StoreError> {
        let mut place = 0;
        loop {
            let (piece, end) = self.piece(parsed, place);
            self.tell_lacking(line, &piece).await?;
            if piece.is_last {
                return Ok(());
            }
            place = end;
        }
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        self.held = 0;
        let small = std::mem::take(&mut self.small);
        self.send(small).await.map(drop)
    }

    /// Sends pieces of different sessions until all are taken. Returns whether the last one was.
    async fn send(&mut self, sent: Vec<Sent>) -> Result<bool, StoreError> {
        let (mut pieces, lines): (Vec<ImportPiece>, Vec<Sender>) = sent
            .into_iter()
            .map(|Sent { line, piece, parent, relation, pins_and_tags, states }| {
                (piece, Sender { line, parent, relation, pins_and_tags, states })
            })
            .unzip();
        let store = self.store;
        let mut on_taken = |at: usize, piece: &ImportPiece, outcome: Imported| {
            let (Sender { line, parent: wanted, relation, pins_and_tags, states }, session) =
                (&lines[at], &piece.session);
            match outcome {
                Imported::Whole { title, parent } => {
                    self.report.sessions += 1;
                    self.report.messages += piece.start + piece.messages.len() as u64;
                    self.report.states.add_all(*states);
                    if title != session.title {
                        let what = match &title {
                            Some(title) => format!("its title is taken; it has the title {title:?}"),
                            None => "its title is taken; it has none".to_owned(),
                        };
                        self.report.find(*line, Some(&session.id), FindingKind::Title, what);
                    }
                    if !pins_and_tags.is_empty() {
                        self.marked.push((session.id.clone(), pins_and_tags.clone()));
                    }
                    if parent.is_none() {
                        self.wait(*line, session, wanted.as_ref(), *relation);
                    }
                }
                Imported::Exists => {
                    self.binning.fail();
                    let what = "another process created it or wrote to it meanwhile".to_owned();
                    self.report.find(*line, Some(&session.id), FindingKind::Conflict, what);
                }
                Imported::Partly(_) => {}
            }
        };
        let is_taken = send(store, &mut pieces, &mut on_taken).await?;
        self.mark().await?;
        Ok(is_taken)
    }

    /// Remembers the pin and tags of a session that exists. If the process dies before they are written, another run of
    /// the import writes them.
    async fn keep_pins_and_tags(&mut self, id: SessionId, pins_and_tags: PinAndTags) -> Result<(), StoreError> {
        if pins_and_tags.is_empty() || self.rehearsal.is_some() {
            return Ok(());
        }
        self.marked.push((id, pins_and_tags));
        if self.marked.len() >= PIECES { self.mark().await } else { Ok(()) }
    }

    /// Writes the pins and tags that were remembered.
    async fn mark(&mut self) -> Result<(), StoreError> {
        if !self.marked.is_empty() {
            let marked = std::mem::take(&mut self.marked);
            self.store.import_pins_and_tags(&marked).await?;
        }
        Ok(())
    }

    /// Remembers a session whose parent is still to be linked.
    fn wait(&mut self, line: u64, session: &Session, parent: Option<&SessionId>, relation: Option<Relation>) {
        if let Some(parent) = parent {
            self.waiting.push(Waiting {
                line,
                child: session.id.clone(),
                parent: parent.clone(),
                relation,
                started_at: session.started_at,
            });
        }
    }
}
