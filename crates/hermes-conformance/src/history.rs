//! A checker of histories: workers fight for one conversation, record what they saw, and the transcript proves that no
//! owner wrote after the next one was granted the lease.
//!
//! The proof needs no clock. Ids of messages within one session are in the order of their commits, and a grant names the
//! newest message as its own transaction sees it. So a message of an earlier owner with an id after the newest one of a
//! grant was committed after that grant.

mod worker;

pub use worker::{Plan, work};

use crate::fixture::live::conversation;
use hermes_session::{MessageRequest, SessionId, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An observation of a worker. Each worker records its own, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The worker got the lease.
    Granted {
        /// Its token.
        fence: i64,
        /// Newest message at the grant; 0 if there was none.
        newest: i64,
    },
    /// The worker is about to write. Without a result it may have been written.
    Trying(Write),
    /// The write was acknowledged.
    Wrote(Write),
    /// The write was refused because of its token.
    Refused(Write),
    /// The worker released the lease, or was told that somebody else has it. Its token is not valid any more.
    Ended {
        /// The token.
        fence: i64,
    },
}

/// A write, which is the text of its message too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Write {
    /// The token under which it was made.
    pub fence: i64,
    /// Its number under this token.
    pub number: u32,
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.fence, self.number)
    }
}

impl Write {
    fn parse(text: &str) -> Option<Self> {
        let (fence, number) = text.split_once(' ')?;
        Some(Self { fence: fence.parse().ok()?, number: number.parse().ok()? })
    }
}

impl Event {
    /// Returns the event as a line without its end, for a worker in a process of its own.
    pub fn to_line(self) -> String {
        match self {
            Self::Granted { fence, newest } => format!("granted {fence} {newest}"),
            Self::Trying(write) => format!("trying {write}"),
            Self::Wrote(write) => format!("wrote {write}"),
            Self::Refused(write) => format!("refused {write}"),
            Self::Ended { fence } => format!("ended {fence}"),
        }
    }

    /// Parses such a line; `None` if it is none, such as the cut line of a worker that was killed.
    pub fn from_line(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "granted" => {
                let (fence, newest) = rest.split_once(' ')?;
                Some(Self::Granted { fence: fence.parse().ok()?, newest: newest.parse().ok()? })
            }
            "trying" => Write::parse(rest).map(Self::Trying),
            "wrote" => Write::parse(rest).map(Self::Wrote),
            "refused" => Write::parse(rest).map(Self::Refused),
            "ended" => Some(Self::Ended { fence: rest.parse().ok()? }),
            _ => None,
        }
    }
}

/// A message of the transcript: its id, and the write that made it.
type Committed = (i64, Write);

/// Numbers of a history that was proved to be sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proved {
    /// Grants.
    pub grants: usize,
    /// Acknowledged writes.
    pub writes: usize,
    /// Writes that were refused because of their tokens.
    pub refused: usize,
    /// Stored writes that were not acknowledged.
    pub unacknowledged: usize,
}

impl fmt::Display for Proved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grants, writes, refused, unacknowledged } = self;
        write!(f, "{grants} grants, {writes} writes, {refused} refused, {unacknowledged} without an answer")
    }
}

/// Proves the histories of workers that fought for a conversation with the transcript of its session. No other messages
/// may be in it.
///
/// # Errors
/// If the store fails.
///
/// # Panics
/// If the histories contradict the transcript.
pub async fn prove(store: &dyn Store, session: &SessionId, histories: &[Vec<Event>]) -> Result<Proved, StoreError> {
    let messages = store.messages(session, &MessageRequest::first(u32::MAX)).await?;
    let committed: Vec<Committed> = messages
        .iter()
        .map(|message| (message.id.0, Write::parse(&message.body.plain_text()).expect("only workers write")))
        .collect();
    let leases = store.leases(&conversation(session).key()).await?;
    assert!(leases.len() <= 1, "several leases: {leases:?}");
    Ok(check(histories, &committed).unwrap_or_else(|violation| panic!("{violation}")))
}

/// Checks histories against the messages of the transcript, in the order of their ids.
fn check(histories: &[Vec<Event>], committed: &[Committed]) -> Result<Proved, String> {
    let mut proved = Proved::default();
    let mut newest_at_grant: BTreeMap<i64, i64> = BTreeMap::new();
    let (mut tried, mut wrote, mut refused) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for history in histories {
        let mut ended = BTreeSet::new();
        for event in history {
            match *event {
                Event::Granted { fence, newest } => {
                    if newest_at_grant.insert(fence, newest).is_some() {
                        return Err(format!("token {fence} was granted twice"));
                    }
                }
                Event::Trying(write) => _ = tried.insert(write),
                Event::Wrote(write) if ended.contains(&write.fence) => {
                    return Err(format!("write {write} was acknowledged although its lease had ended"));
                }
                Event::Wrote(write) => _ = wrote.insert(write),
                Event::Refused(write) => _ = refused.insert(write),
                Event::Ended { fence } => _ = ended.insert(fence),
            }
        }
    }
    let mut stored = BTreeSet::new();
    for (id, write) in committed {
        if !stored.insert(*write) {
            return Err(format!("write {write} is stored twice, the second time as message {id}"));
        }
        if refused.contains(write) {
            return Err(format!("write {write} was refused, and is stored as message {id}"));
        }
        if !tried.contains(write) {
            return Err(format!("message {id} is a write {write} that nobody made"));
        }
    }
    if let Some(lost) = wrote.difference(&stored).next() {
        return Err(format!("write {lost} was acknowledged, and is not stored"));
    }
    owners_follow_each_other(&newest_at_grant, committed)?;
    proved.grants = newest_at_grant.len();
    proved.writes = wrote.len();
    proved.refused = refused.len();
    proved.unacknowledged = stored.len() - wrote.len();
    Ok(proved)
}

/// Checks that each message was written by the last owner that was granted the lease before it.
fn owners_follow_each_other(newest_at_grant: &BTreeMap<i64, i64>, committed: &[Committed]) -> Result<(), String> {
    let mut grants: Vec<(i64, i64)> = newest_at_grant.iter().map(|(fence, newest)| (*newest, *fence)).collect();
    grants.sort_unstable();
    // Of grants with the same newest message only the last one can have been followed by a message of its owner.
    let mut owners: BTreeMap<i64, i64> = BTreeMap::new();
    for (id, write) in committed {
        let Some(granted) = newest_at_grant.get(&write.fence) else {
            return Err(format!("message {id} has the token {}, which was not granted", write.fence));
        };
        if granted >= id {
            return Err(format!("message {id} is older than the grant of its token {}", write.fence));
        }
        let later = grants.iter().find(|(newest, fence)| newest > granted && newest < id && *fence != write.fence);
        if let Some((newest, fence)) = later {
            return Err(format!(
                "message {id} of token {} was committed after token {fence} was granted, when message {newest} was the newest",
                write.fence
            ));
        }
        let owner = *owners.entry(*granted).or_insert(write.fence);
        if owner != write.fence {
            return Err(format!(
                "message {id} of token {} and others of token {owner}: both were granted after message {granted}",
                write.fence
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
