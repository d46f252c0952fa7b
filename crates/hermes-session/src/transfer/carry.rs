//! Copies session by session to the target.

use super::checkpoint::Checkpoint;
use super::compare::{Standing, is_same_at_a_glance, standing};
use super::meanwhile::Meanwhile;
use super::pages::{Pages, Rows};
use super::report::{FindingKind, Phase, Progress, TransferError, TransferReport};
use super::{TransferOptions, Watch, catch_up, go_on, portable};
use crate::import::lacking::Lacking;
use crate::import::send::send;
use crate::import::{ImportPiece, Imported};
use crate::{Session, SessionFilter, SessionId, SessionSummary, StateCounts, Store, StoreError};
use std::collections::BTreeMap;

/// Maximum text per call in bytes, and maximum number of small sessions per call.
const BYTES: usize = 4 << 20;
const SESSIONS: usize = 64;
/// Numbers of sessions and messages after which a checkpoint is stored.
const NOTED_SESSIONS: u64 = 200;
const NOTED_MESSAGES: u64 = 20_000;
/// Maximum number of attempts to read a session that changes while it is read.
const TRIES: u32 = 5;
/// Maximum number of lost columns that are reported for a session.
const MAX_LOST: usize = 50;

/// A running transfer.
pub(super) struct Carrier<'a> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    options: TransferOptions,
    checkpoint: Checkpoint,
    report: TransferReport,
    /// Small sessions that are sent together, and their size.
    small: Vec<ImportPiece>,
    held: Size,
    done: u64,
    total: u64,
    /// Messages of sessions that are being sent, by state.
    states: BTreeMap<SessionId, StateCounts>,
    /// Columns that the target has no place for.
    lacking: Lacking,
    /// Sessions and messages since the last checkpoint.
    since: (u64, u64),
    /// The pieces that are being imported while the next ones are read.
    sending: Meanwhile<'a, Result<Sent, StoreError>>,
}

/// The result of importing pieces: the outcomes of sessions that are complete or were refused, and whether the last piece
/// was taken.
struct Sent {
    outcomes: Vec<Outcome>,
    is_taken: bool,
}

struct Outcome {
    session: SessionId,
    title: Option<String>,
    messages: u64,
    imported: Imported,
}

#[derive(Default, Clone, Copy)]
struct Size {
    messages: usize,
    bytes: usize,
}

impl Size {
    fn is_over(self, batch: u32) -> bool {
        self.messages >= batch.max(1) as usize || self.bytes >= BYTES
    }
}

impl<'a> Carrier<'a> {
    pub(super) fn new(
        from: &'a dyn Store,
        to: &'a dyn Store,
        options: TransferOptions,
        checkpoint: Checkpoint,
        report: TransferReport,
    ) -> Self {
        let (small, held, done, total, since) = (Vec::new(), Size::default(), 0, 0, (0, 0));
        let (states, lacking) = (BTreeMap::new(), Lacking::default());
        let sending = Meanwhile::new();
        Self { from, to, options, checkpoint, report, small, held, done, total, states, lacking, since, sending }
    }

    pub(super) async fn run(mut self, watch: Watch<'_>) -> Result<TransferReport, TransferError> {
        let copied = self.copy_all(watch).await;
        if matches!(copied, Err(TransferError::Stopped)) {
            // A transfer stops between two calls of the target, not within one.
            self.wait().await?;
        }
        copied.map(|()| self.report)
    }

    async fn copy_all(&mut self, watch: Watch<'_>) -> Result<(), TransferError> {
        self.total = self.from.counts(&SessionFilter::default()).await?.messages;
        let after = self.checkpoint.after.clone();
        let (mut source, mut target) = (Rows::new(self.from, after.as_ref()), Rows::new(self.to, after.as_ref()));
        while let Some(row) = self.sending.during(source.next()).await? {
            let there = self.sending.during(target.find(&row.id, &mut |_| {})).await?;
            let messages = u64::try_from(row.message_count).unwrap_or(0);
            self.take(&row, there, watch).await?;
            self.done += messages;
            self.since = (self.since.0 + 1, self.since.1 + messages);
            self.note(&row.id).await?;
            self.look(watch, 0)?;
        }
        self.flush().await?;
        self.wait().await?;
        for row in source.unreadable {
            let what = format!("{} {} can't be read: {}", row.table, row.id, row.why);
            self.report.find(FindingKind::Unreadable, None, what);
        }
        Ok(())
    }

    fn look(&self, watch: Watch<'_>, more: u64) -> Result<(), TransferError> {
        let done = self.done + more;
        go_on(watch, Progress { phase: Phase::Copying, done, total: self.total.max(done) })
    }

    /// Stores a checkpoint now and then, once everything before it is in the target.
    async fn note(&mut self, id: &SessionId) -> Result<(), StoreError> {
        if self.options.is_rehearsal || (self.since.0 < NOTED_SESSIONS && self.since.1 < NOTED_MESSAGES) {
            return Ok(());
        }
        self.flush().await?;
        self.wait().await?;
        self.since = (0, 0);
        self.checkpoint.after = Some(id.clone());
        self.checkpoint.write(self.to).await
    }

    /// Copies a session, or reports why it can't be copied.
    async fn take(
        &mut self,
        row: &SessionSummary,
        there: Option<SessionSummary>,
        watch: Watch<'_>,
    ) -> Result<(), TransferError> {
        if there.as_ref().is_some_and(|there| is_same_at_a_glance(row, there)) {
            self.report.skipped += 1;
            return Ok(());
        }
        for _ in 0..TRIES {
            let Some((session, lost)) = self.read(&row.id).await? else { return Ok(()) };
            let is_done = match &there {
                Some(_) => self.settle(&session).await?,
                None => self.send(&session, lost, watch).await?,
            };
            if is_done {
                return Ok(());
            }
        }
        self.report.find(FindingKind::Changed, Some(&row.id), "it changed each time it was read; it was not copied");
        Ok(())
    }

    /// Reads a session of the source in the form that any store can keep; `None` if it is gone or can't be read.
    async fn read(&mut self, id: &SessionId) -> Result<Option<(Session, Vec<String>)>, StoreError> {
        let session = match self.sending.during(self.from.session(id)).await {
            Ok(Some(session)) => session,
            Ok(None) => {
                self.report.find(FindingKind::Changed, Some(id), "it was deleted meanwhile");
                return Ok(None);
            }
            Err(StoreError::Corrupt { what, .. }) => {
                self.report.find(FindingKind::Unreadable, Some(id), format!("it can't be read: {what}"));
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let mut lost = Vec::new();
        match portable::session(session, &mut lost) {
            Ok(session) => Ok(Some((session, lost))),
            Err(why) => {
                self.report.find(FindingKind::Unreadable, Some(id), format!("no store accepts it: {why}"));
                Ok(None)
            }
        }
    }

    /// Handles a session that exists and looks different in the list. Always terminates.
    async fn settle(&mut self, session: &Session) -> Result<bool, StoreError> {
        self.wait().await?;
        match standing(self.from, self.to, session).await? {
            Standing::Same => self.report.skipped += 1,
            Standing::Behind { messages } => {
                let left = catch_up::not_appendable(self.from, &session.id, messages).await?;
                if left > 0 {
                    let what = format!(
                        "the target has an earlier state of it, and {left} of its new messages can't be added: they are not active, or have \
                         columns of a newer agent; delete the session in the target, and migrate again"
                    );
                    self.report.find(FindingKind::Conflict, Some(&session.id), what);
                    return Ok(true);
                }
                if !self.options.is_rehearsal {
                    match catch_up::catch_up(self.from, self.to, session, messages, self.options.batch).await {
                        Ok(()) => {}
                        Err(StoreError::Invalid(why)) => {
                            let what = format!("the target has an earlier state of it, which can't be updated: {why}");
                            self.report.find(FindingKind::Conflict, Some(&session.id), what);
                            return Ok(true);
                        }
                        Err(error) => return Err(error),
                    }
                }
                self.report.caught_up += 1;
            }
            Standing::Other(what) => self.report.find(FindingKind::Conflict, Some(&session.id), what),
        }
        Ok(true)
    }

    /// Sends a session that does not exist in the target. Returns whether it was unchanged from beginning to end.
    async fn send(
        &mut self,
        session: &Session,
        mut lost: Vec<String>,
        watch: Watch<'_>,
    ) -> Result<bool, TransferError> {
        let mut pages = Pages::new(self.from, &session.id);
        let mut piece = ImportPiece { session: session.clone(), start: 0, messages: Vec::new(), is_last: false };
        let (mut size, mut states) = (Size::default(), StateCounts::default());
        loop {
            let page = match self.sending.during(pages.next()).await {
                Err(StoreError::NotFound(_)) => return Ok(false),
                page => page?,
            };
            if page.is_empty() {
                break;
            }
            for message in page {
                if size.is_over(self.options.batch) {
                    self.flush().await?;
                    size = Size::default();
                    let next = piece.start + piece.messages.len() as u64;
                    let messages = std::mem::take(&mut piece.messages);
                    let part = ImportPiece { session: session.clone(), start: piece.start, messages, is_last: false };
                    if !self.hand_over(vec![part]).await? {
                        return Ok(true);
                    }
                    piece.start = next;
                    self.look(watch, next)?;
                }
                size.messages += 1;
                states.add(message.state);
                size.bytes += portable::size(&message);
                piece.messages.push(portable::message(message, &mut lost));
                if lost.len() > MAX_LOST {
                    lost.sort_unstable();
                    lost.dedup();
                    lost.truncate(MAX_LOST);
                }
            }
        }
        // Messages added since the row was read would belong to another state of the row.
        let is_same = match self.sending.during(self.from.session(&session.id)).await? {
            Some(again) => portable::session(again, &mut Vec::new()).is_ok_and(|again| again == *session),
            None => false,
        };
        if !is_same {
            return Ok(false);
        }
        lost.sort_unstable();
        lost.dedup();
        for what in lost {
            self.report.find(FindingKind::Column, Some(&session.id), what);
        }
        self.states.insert(session.id.clone(), states);
        piece.is_last = true;
        if piece.start > 0 {
            self.flush().await?;
            self.hand_over(vec![piece]).await?;
            return Ok(true);
        }
        self.held = Size { messages: self.held.messages + size.messages, bytes: self.held.bytes + size.bytes };
        self.small.push(piece);
        if self.small.len() >= SESSIONS || self.held.is_over(self.options.batch) {
            self.flush().await?;
        }
        Ok(true)
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        self.held = Size::default();
        let small = std::mem::take(&mut self.small);
        self.start(small).await
    }

    /// Sends pieces that do not fit with others, and waits for them. Returns whether the last one was taken.
    async fn hand_over(&mut self, pieces: Vec<ImportPiece>) -> Result<bool, StoreError> {
        self.start(pieces).await?;
        self.wait().await
    }

    /// Starts to send pieces, once those before them are sent.
    async fn start(&mut self, pieces: Vec<ImportPiece>) -> Result<(), StoreError> {
        for piece in &pieces {
            for what in self.sending.during(self.lacking.of(self.to, piece)).await? {
                self.report.find(FindingKind::Column, Some(&piece.session.id), what);
            }
        }
        if self.options.is_rehearsal {
            return self.rehearse(&pieces).await;
        }
        self.wait().await?;
        if !pieces.is_empty() {
            self.sending.start(sent(self.to, pieces));
        }
        Ok(())
    }

    /// Waits until everything is sent, and reports what became of it. Returns whether the last piece was taken.
    async fn wait(&mut self) -> Result<bool, StoreError> {
        let Some(sent) = self.sending.end().await else { return Ok(true) };
        let Sent { outcomes, is_taken } = sent?;
        for Outcome { session, title: wanted, messages, imported } in outcomes {
            match imported {
                Imported::Whole { title, .. } => {
                    self.report.sessions += 1;
                    self.report.messages += messages;
                    self.report.states.add_all(self.states.remove(&session).unwrap_or_default());
                    if title != wanted {
                        let what = match &title {
                            Some(title) => format!("its title is taken; it has the title {title:?}"),
                            None => "its title is taken; it has none".to_owned(),
                        };
                        self.report.find(FindingKind::Title, Some(&session), what);
                    }
                }
                Imported::Exists => {
                    let what = "another process created it or wrote to it meanwhile";
                    self.report.find(FindingKind::Conflict, Some(&session), what);
                }
                Imported::Partly(_) => {}
            }
        }
        Ok(is_taken)
    }

    /// Reports what would happen to pieces.
    async fn rehearse(&mut self, pieces: &[ImportPiece]) -> Result<(), StoreError> {
        for piece in pieces.iter().filter(|piece| piece.is_last) {
            let id = &piece.session.id;
            self.report.sessions += 1;
            self.report.messages += piece.start + piece.messages.len() as u64;
            self.report.states.add_all(self.states.remove(id).unwrap_or_default());
            if let Some(title) = &piece.session.title
                && self.to.titled(title).await?.iter().any(|other| other.title == *title && other.id != *id)
            {
                let what = format!("its title {title:?} is taken; it would get the next free one");
                self.report.find(FindingKind::Title, Some(id), what);
            }
        }
        Ok(())
    }
}

/// Sends pieces until all are taken.
async fn sent(to: &dyn Store, mut pieces: Vec<ImportPiece>) -> Result<Sent, StoreError> {
    let mut outcomes = Vec::new();
    let mut on_taken = |_: usize, piece: &ImportPiece, imported: Imported| {
        let (session, title) = (piece.session.id.clone(), piece.session.title.clone());
        let messages = piece.start + piece.messages.len() as u64;
        outcomes.push(Outcome { session, title, messages, imported });
    };
    let is_taken = send(to, &mut pieces, &mut on_taken).await?;
    Ok(Sent { outcomes, is_taken })
}
