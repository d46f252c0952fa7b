//! The proof: reads both sides again and compares them session by session.

use super::compare::{Messages, Standing, standing};
use super::meanwhile::Meanwhile;
use super::pages::Rows;
use super::report::{MAX_FINDINGS, Phase, Progress, TransferError};
use super::sample::Sample;
use super::spot::{self, Known};
use super::{Watch, go_on, live, portable};
use crate::export::{SESSION_LINE_END, message_object, session_line_head};
use crate::import::compare::is_renamed;
use crate::{
    ConversationStore, Message, MessageId, Relation, Session, SessionFilter, SessionId, StateCounts, Store, StoreError,
    pins_and_tags,
};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

/// Maximum number of attempts to read a session that changes while it is read.
const TRIES: u32 = 5;

/// Options of a proof.
#[derive(Debug, Clone, Copy)]
pub struct Proving<'a> {
    /// Sessions that are left out because their differences were reported already.
    pub reported: &'a BTreeSet<SessionId>,
    /// Number of words that both sides are searched for. A side without indexes scans all of its messages for each.
    pub words: usize,
}

impl<'a> Proving<'a> {
    /// Compares everything but these sessions, and searches for twelve words.
    pub const fn but(reported: &'a BTreeSet<SessionId>) -> Self {
        Self { reported, words: 12 }
    }
}

/// Result of comparing two stores.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proof {
    /// Sessions of the source that were compared.
    pub sessions: u64,
    /// Their messages.
    pub messages: u64,
    /// Messages of these sessions by state, in the source and in the target.
    pub states: (StateCounts, StateCounts),
    /// Messages of the source that are not in the target.
    pub missing: u64,
    /// Sessions that are equal on both sides, byte by byte.
    pub equal: u64,
    /// Equal sessions whose messages have other ids in the target.
    pub renumbered: u64,
    /// Equal sessions that have another title in the target, because theirs is taken.
    pub renamed: u64,
    /// Equal sessions without a parent in the target, because the parent does not exist or would close a cycle.
    pub unlinked: u64,
    /// Conversations of the source whose pins and tags were compared.
    pub pins_and_tags: u64,
    /// Records of live data of the source that were compared.
    pub live: u64,
    /// Those of them that are not in the target.
    pub live_missing: u64,
    /// Sessions that were not compared: reported conflicts and unreadable sessions.
    pub left_out: u64,
    /// Hash over the hashes of all compared sessions, in the source and in the target.
    pub hashes: (String, String),
    /// Number of sessions that differ.
    pub mismatches: u64,
    /// The first of them, at most [`MAX_FINDINGS`].
    pub found: Vec<Mismatch>,
    /// Words that both sides were searched for.
    pub queries: Vec<SpotQuery>,
}

/// A session that differs between the two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The session.
    pub session: SessionId,
    /// The difference, as the end of a sentence.
    pub what: String,
    /// Whether the source has more than the target: it changed while it was copied, and another transfer copies the
    /// rest.
    pub is_behind: bool,
}

/// A word that both sides were searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpotQuery {
    /// The word.
    pub word: String,
    /// Number of messages of the source that contain it.
    pub hits: u64,
    /// Number of these that are not found in the target.
    pub missing: u64,
    /// Number of messages of these sessions that are found in the target only.
    pub extra: u64,
}

impl Proof {
    /// Returns whether everything that was compared is equal.
    pub fn holds(&self) -> bool {
        self.mismatches == 0
            && self.live_missing == 0
            && self.queries.iter().all(|query| query.missing == 0 && query.extra == 0)
    }
}

/// Compares every session of one store with its copy in another, and searches both for the same words.
///
/// A session is compared by a hash over the line that [`export`](crate::export) writes for it, with the positions of
/// messages instead of their ids.
///
/// # Errors
/// If a store fails, or `watch` asks to stop.
pub async fn prove(
    from: &dyn Store,
    to: &dyn Store,
    proving: Proving<'_>,
    watch: Watch<'_>,
) -> Result<Proof, TransferError> {
    let Proving { reported, words } = proving;
    let mut prover = Prover {
        proof: Proof::default(),
        sample: Sample::default(),
        unsound: reported.clone(),
        renumbered: BTreeSet::new(),
        all: (Sha256::new(), Sha256::new()),
    };
    let total = from.counts(&SessionFilter::default()).await?.messages;
    let mut rows = Rows::new(from, None);
    while let Some(row) = rows.next().await? {
        if reported.contains(&row.id) {
            prover.proof.left_out += 1;
            continue;
        }
        prover.compare(from, to, &row.id).await?;
        let done = prover.proof.messages;
        go_on(watch, Progress { phase: Phase::Proving, done, total: total.max(done) })?;
    }
    prover.proof.left_out += rows.unreadable.len() as u64;
    let Prover { mut proof, sample, unsound, renumbered, all } = prover;
    proof.hashes = (hexadecimal(all.0), hexadecimal(all.1));
    compare_pins_and_tags(from, to, &unsound, &mut proof).await?;
    live::compare(from, to, &unsound, &mut proof).await?;
    let known = Known { unsound: &unsound, renumbered: &renumbered };
    for word in sample.words() {
        if proof.queries.len() == words {
            break;
        }
        proof.queries.extend(spot::compare(from, to, &word, &known).await?);
        go_on(watch, Progress { phase: Phase::Searching, done: proof.queries.len() as u64, total: words as u64 })?;
    }
    Ok(proof)
}

struct Prover {
    proof: Proof,
    sample: Sample,
    unsound: BTreeSet<SessionId>,
    renumbered: BTreeSet<SessionId>,
    all: (Sha256, Sha256),
}

/// Hashes of a session.
struct Hashed {
    content: [u8; 32],
    /// Hash over the ids of its messages.
    ids: [u8; 32],
    states: StateCounts,
}

impl Prover {
    async fn compare(&mut self, from: &dyn Store, to: &dyn Store, id: &SessionId) -> Result<(), StoreError> {
        for _ in 1..TRIES {
            if self.attempt(from, to, id, false).await? {
                return Ok(());
            }
        }
        self.attempt(from, to, id, true).await.map(drop)
    }

    /// Compares a session. Returns `false`, and counts nothing, if the session changed meanwhile and the attempt
    /// should be repeated.
    async fn attempt(
        &mut self,
        from: &dyn Store,
        to: &dyn Store,
        id: &SessionId,
        is_last: bool,
    ) -> Result<bool, StoreError> {
        let Some(session) = readable(from.session(id).await)? else {
            self.proof.left_out += 1;
            return Ok(true);
        };
        let Ok(session) = portable::session(session, &mut Vec::new()) else {
            self.proof.left_out += 1;
            return Ok(true);
        };
        let Some(there) = to.session(id).await? else {
            let there = hash(from, &session, |_| {}).await;
            let states = there.map_or_else(|_| StateCounts::default(), |hashed| hashed.states);
            self.proof.sessions += 1;
            self.proof.missing += states.total();
            self.proof.states.0.add_all(states);
            self.mismatch(id, &format!("it is missing, with {} messages", states.total()), true);
            return Ok(true);
        };
        let there = portable::session(there, &mut Vec::new())?;
        let mut expected = session.clone();
        let is_renamed = there.title != session.title && is_renamed(to, &there, &session).await?;
        if is_renamed {
            expected.title = there.title.clone();
        }
        let is_unlinked = is_unlinked(to, &session, &there).await?;
        if is_unlinked {
            (expected.parent_session_id, expected.relation) = (None, Relation::Root);
        }
        let sample = &mut self.sample;
        // Both sides at once: each waits for its store most of the time.
        let mut target = Meanwhile::new();
        target.start(hash(to, &there, |_| {}));
        let source = match target.during(hash(from, &expected, |message| sample.add(message))).await {
            Err(StoreError::NotFound(_)) => {
                self.proof.left_out += 1;
                return Ok(true);
            }
            hashed => hashed?,
        };
        let Some(target) = target.end().await.transpose()? else { return Ok(false) };
        if source.content != target.content && !is_last && changed(from, &session).await? {
            return Ok(false);
        }
        self.proof.sessions += 1;
        self.proof.messages += source.states.total();
        self.proof.states.0.add_all(source.states);
        self.proof.states.1.add_all(target.states);
        let missing = source.states.total().saturating_sub(target.states.total());
        self.proof.missing += missing;
        self.all.0.update(source.content);
        self.all.1.update(target.content);
        if source.content != target.content {
            let (what, is_behind) = match standing(from, to, &session).await? {
                Standing::Same => ("its relation to its parent differs".to_owned(), false),
                Standing::Behind { messages } => {
                    (format!("the target has an earlier state of it, with {messages} messages"), true)
                }
                Standing::Other(what) => (what, false),
            };
            self.mismatch(id, &what, is_behind);
            return Ok(true);
        }
        self.proof.equal += 1;
        self.proof.renamed += u64::from(is_renamed);
        self.proof.unlinked += u64::from(is_unlinked);
        if source.ids != target.ids {
            self.proof.renumbered += 1;
            self.renumbered.insert(id.clone());
        }
        Ok(true)
    }

    fn mismatch(&mut self, id: &SessionId, what: &str, is_behind: bool) {
        self.proof.mismatches += 1;
        self.unsound.insert(id.clone());
        if self.proof.found.len() < MAX_FINDINGS {
            self.proof.found.push(Mismatch { session: id.clone(), what: what.to_owned(), is_behind });
        }
    }
}

/// Checks that every pin and every tag is in the target. The target may have more, because it may have been used
/// already.
async fn compare_pins_and_tags(
    from: &dyn Store,
    to: &dyn Store,
    unsound: &BTreeSet<SessionId>,
    proof: &mut Proof,
) -> Result<(), StoreError> {
    let there = pins_and_tags::all(to).await?;
    for (id, pins_and_tags) in pins_and_tags::all(from).await? {
        // A session that belongs to another conversation in the target has no pin and tags of its own there.
        if unsound.contains(&id) || to.session(&id).await?.is_none_or(|session| !session.relation.starts_conversation())
        {
            continue;
        }
        proof.pins_and_tags += 1;
        if !there.get(&id).is_some_and(|there| there.hold(&pins_and_tags)) {
            let what = "its pin or its tags are missing".to_owned();
            proof.mismatches += 1;
            if proof.found.len() < MAX_FINDINGS {
                proof.found.push(Mismatch { session: id, what, is_behind: true });
            }
        }
    }
    Ok(())
}

/// Returns whether a session of the source has changed since it was read.
async fn changed(from: &dyn Store, session: &Session) -> Result<bool, StoreError> {
    let again = readable(from.session(&session.id).await)?;
    Ok(!again.is_some_and(|again| portable::session(again, &mut Vec::new()).is_ok_and(|again| again == *session)))
}

/// Returns whether a session has no parent in the target because it can't have it there.
async fn is_unlinked(to: &dyn Store, session: &Session, there: &Session) -> Result<bool, StoreError> {
    let Some(parent) = &session.parent_session_id else { return Ok(false) };
    if there.parent_session_id.is_some() {
        return Ok(false);
    }
    match to.lineage(parent).await {
        Err(StoreError::NotFound(_)) => Ok(true),
        lineage => Ok(lineage?.ancestors(parent).contains(&session.id)),
    }
}

/// Returns the hash of a session's line.
async fn hash(
    store: &dyn ConversationStore,
    session: &Session,
    mut read: impl FnMut(&Message) + Send,
) -> Result<Hashed, StoreError> {
    let (mut content, mut ids, mut place) = (Sha256::new(), Sha256::new(), 0_i64);
    let mut states = StateCounts::default();
    content.update(session_line_head(session));
    let mut messages = Messages::new(store, &session.id);
    while let Some(message) = messages.next(&mut Vec::new()).await? {
        read(&message);
        place += 1;
        states.add(message.state);
        ids.update(message.id.0.to_le_bytes());
        content.update(message_object(&Message { id: MessageId(place), ..message }));
    }
    content.update(SESSION_LINE_END);
    Ok(Hashed { content: content.finalize().into(), ids: ids.finalize().into(), states })
}

/// Treats an unreadable session as missing. It was reported when it was to be copied.
fn readable(session: Result<Option<Session>, StoreError>) -> Result<Option<Session>, StoreError> {
    match session {
        Err(StoreError::Corrupt { .. }) => Ok(None),
        session => session,
    }
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
