//! Reads as much of a conversation as a window can show.

use crate::conversation::Conversation;
use crate::render;
use hermes_session::{
    ConversationStore, Message, MessageId, MessageRequest, SessionId, SessionSummary, StoreError, Window as Stretch,
    replay::{self, Joined},
};
use std::collections::BTreeMap;

/// A session of fewer messages than this is read whole.
const WHOLE: u32 = 1_000;
/// In a longer session, number of messages that are read before and after each match at first.
const AROUND: u32 = 100;
/// Factor by which that number grows while the messages don't use up the budget.
const MORE: u32 = 4;

/// The part of a conversation that was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Transcript {
    /// Its messages, in order.
    pub(crate) said: Vec<Said>,
    /// Whether it includes the end of the conversation.
    pub(crate) to_end: bool,
    /// Number of messages that were not read, as its sessions count them.
    pub(crate) unread: usize,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) message: Message,
    /// Rank if it matched: 0 is the best.
    pub(crate) rank: Option<usize>,
    /// Whether no message is missing between the previous one in the list, or the start of the conversation, and this
    /// one.
    pub(crate) follows: bool,
}

/// The part of a session that was read: stretches in order, and whether they include its start and its end.
struct Read {
    stretches: Vec<Vec<Message>>,
    from_start: bool,
    to_end: bool,
}

impl Read {
    fn is_whole(&self) -> bool {
        self.from_start && self.to_end && self.stretches.len() <= 1
    }

    /// Returns its number of characters.
    fn size(&self) -> usize {
        self.stretches.iter().flatten().map(render::size).sum()
    }

    /// Returns the number of messages of the session that were not read.
    fn unread(&self, session: &SessionSummary) -> usize {
        let read = self.stretches.iter().map(Vec::len).sum();
        if self.is_whole() { 0 } else { count(session).saturating_sub(read) }
    }
}

fn count(session: &SessionSummary) -> usize {
    usize::try_from(session.message_count).unwrap_or(0)
}

/// Reads the sessions with matches, and the sessions next to them until the budget of characters is used up. Messages
/// that a session repeats from the previous one are returned once.
pub(crate) async fn read(
    store: &dyn ConversationStore,
    conversation: &Conversation,
    found: &[(SessionId, MessageId)],
    budget: usize,
) -> Result<Transcript, StoreError> {
    let in_session = |session: &SessionSummary| -> Vec<MessageId> {
        found.iter().filter(|(id, _)| *id == session.id).map(|(_, message)| *message).collect()
    };
    let chain = &conversation.chain;
    let places: Vec<usize> = (0..chain.len()).filter(|place| !in_session(&chain[*place]).is_empty()).collect();
    let far = |place: usize| places.iter().map(|found| found.abs_diff(place)).min().unwrap_or(chain.len() - 1 - place);
    let mut order: Vec<usize> = (0..chain.len()).collect();
    order.sort_by_key(|place| far(*place));
    let mut read: BTreeMap<usize, Read> = BTreeMap::new();
    let mut size = 0;
    let mut unread = 0;
    for place in order {
        let wanted = in_session(&chain[place]);
        if wanted.is_empty() && (size >= budget || (places.is_empty() && !found.is_empty())) {
            unread += count(&chain[place]);
            continue;
        }
        let session = session(store, &chain[place].id, &wanted, budget).await?;
        size += session.size();
        unread += session.unread(&chain[place]);
        read.insert(place, session);
    }
    // `found` is ordered by rank, best first.
    let ranks: BTreeMap<MessageId, usize> = found.iter().map(|(_, message)| *message).zip(0..).collect();
    let mut to_end = read.last_key_value().is_some_and(|(place, read)| place + 1 == chain.len() && read.to_end);
    let mut said = chained(read, &ranks);
    for delegate in &conversation.delegates {
        let wanted = in_session(delegate);
        if !wanted.is_empty() {
            let session = session(store, &delegate.id, &wanted, budget).await?;
            unread += session.unread(delegate);
            to_end = session.to_end;
            // There is a gap between the chain and the delegate.
            let mut work = chained(BTreeMap::from([(0, session)]), &ranks);
            work.iter_mut().take(1).for_each(|first| first.follows = false);
            said.extend(work);
        }
    }
    Ok(Transcript { said, to_end, unread })
}

/// Reads a session. Of a long one, reads the messages around the matches, or its end, as many as the budget has room
/// for.
async fn session(
    store: &dyn ConversationStore,
    id: &SessionId,
    found: &[MessageId],
    budget: usize,
) -> Result<Read, StoreError> {
    let page = async |window, limit| match store.messages(id, &MessageRequest::new(window, limit).as_said()).await {
        // It was deleted meanwhile.
        Err(StoreError::NotFound(_)) => Ok(Vec::new()),
        answer => answer,
    };
    let whole = page(Stretch::After(None), WHOLE).await?;
    if whole.len() < WHOLE as usize {
        return Ok(Read { stretches: vec![whole], from_start: true, to_end: true });
    }
    let mut found = found.to_vec();
    found.sort_unstable();
    let mut around = AROUND;
    loop {
        let mut read = Read { stretches: Vec::new(), from_start: false, to_end: found.is_empty() };
        if found.is_empty() {
            let end = page(Stretch::Before(None), around).await?;
            read.from_start = end.len() < around as usize;
            read.stretches.push(end);
        }
        for id in &found {
            let mut stretch = page(Stretch::Before(Some(*id)), around).await?;
            read.from_start |= stretch.len() < around as usize;
            // After the id before it, so that the message itself is included.
            let itself = MessageId(id.0 - 1);
            let after = page(Stretch::After(Some(itself)), around + 1).await?;
            read.to_end = after.len() <= around as usize;
            stretch.extend(after);
            join(&mut read.stretches, stretch);
        }
        if read.is_whole() || read.size() >= budget {
            return Ok(read);
        }
        around = around.saturating_mul(MORE).min(u32::MAX - 1);
    }
}

/// Adds a stretch. It starts after the start of the previous ones; if it overlaps the last one, they are merged.
fn join(stretches: &mut Vec<Vec<Message>>, next: Vec<Message>) {
    match stretches.last_mut() {
        Some(last) if last.last().is_some_and(|end| next.first().is_some_and(|start| start.id <= end.id)) => {
            let end = last.last().map(|message| message.id);
            last.extend(next.into_iter().filter(|message| Some(message.id) > end));
        }
        _ if next.is_empty() => {}
        _ => stretches.push(next),
    }
}

/// Joins sessions of a chain, given by their index in it.
fn chained(read: BTreeMap<usize, Read>, ranks: &BTreeMap<MessageId, usize>) -> Vec<Said> {
    let mut said = Vec::new();
    let mut runs: Vec<Vec<Vec<Message>>> = Vec::new();
    let mut before: Option<(usize, bool)> = None;
    let from_start = read.first_key_value().is_some_and(|(place, read)| *place == 0 && read.from_start);
    for (place, read) in read {
        let joins = read.from_start && before == Some((place.wrapping_sub(1), true));
        let to_end = read.to_end;
        let mut stretches = read.stretches.into_iter();
        if let Some(run) = runs.last_mut().filter(|_| joins) {
            run.extend(stretches.next());
        }
        runs.extend(stretches.map(|stretch| vec![stretch]));
        before = Some((place, to_end));
    }
    for (run_number, run) in runs.into_iter().enumerate() {
        let Joined { messages, copies } = replay::without_repeats(run);
        // A match in a copy counts as a match of the original message.
        let mut found: BTreeMap<MessageId, usize> = BTreeMap::new();
        for (id, rank) in ranks {
            let best = found.entry(*copies.get(id).unwrap_or(id)).or_insert(*rank);
            *best = (*best).min(*rank);
        }
        said.extend(messages.into_iter().enumerate().map(|(number, message)| Said {
            rank: found.get(&message.id).copied(),
            follows: number > 0 || (run_number == 0 && from_start),
            message,
        }));
    }
    said
}
