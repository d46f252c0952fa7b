//! Reads as much of a conversation as a window can show.

use crate::conversation::Conversation;
use crate::render;
use hermes_session::{
    ConversationStore, Message, MessageId, MessageRequest, SessionId, SessionSummary, StoreError, Window as Stretch,
    replay::{self, Joined},
};
use std::collections::BTreeMap;

/// A session of so many messages is read whole.
const WHOLE: u32 = 1_000;
/// Of a longer one, so many messages before and after each that was found; more if these don't use up the budget.
const AROUND: u32 = 100;
/// So many times more.
const MORE: u32 = 4;

/// What was read of a conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Transcript {
    /// Its messages, in order.
    pub(crate) said: Vec<Said>,
    /// Whether the last of them ends it.
    pub(crate) to_end: bool,
    /// How many messages were not read, as its sessions count them.
    pub(crate) unread: usize,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) message: Message,
    /// If it was found, how good it is: nought is the best.
    pub(crate) rank: Option<usize>,
    /// Whether nothing was said between the one before it in the list, or the start of the conversation, and this one.
    pub(crate) follows: bool,
}

/// What was read of a session: stretches in order, and whether the first begins with it and the last ends with it.
struct Read {
    stretches: Vec<Vec<Message>>,
    from_start: bool,
    to_end: bool,
}

impl Read {
    fn is_whole(&self) -> bool {
        self.from_start && self.to_end && self.stretches.len() <= 1
    }

    /// How many characters it has.
    fn size(&self) -> usize {
        self.stretches.iter().flatten().map(render::size).sum()
    }

    /// How many messages of the session were not read.
    fn unread(&self, session: &SessionSummary) -> usize {
        let read = self.stretches.iter().map(Vec::len).sum();
        if self.is_whole() { 0 } else { count(session).saturating_sub(read) }
    }
}

fn count(session: &SessionSummary) -> usize {
    usize::try_from(session.message_count).unwrap_or(0)
}

/// Reads the sessions in which something was found, and those next to them as long as a budget of characters is not used up. What a session repeats of
/// the one before comes once.
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
    // The best comes first.
    let ranks: BTreeMap<MessageId, usize> = found.iter().map(|(_, message)| *message).zip(0..).collect();
    let mut to_end = read.last_key_value().is_some_and(|(place, read)| place + 1 == chain.len() && read.to_end);
    let mut said = chained(read, &ranks);
    for delegate in &conversation.delegates {
        let wanted = in_session(delegate);
        if !wanted.is_empty() {
            let session = session(store, &delegate.id, &wanted, budget).await?;
            unread += session.unread(delegate);
            to_end = session.to_end;
            // What came before it was not said in it.
            let mut work = chained(BTreeMap::from([(0, session)]), &ranks);
            work.iter_mut().take(1).for_each(|first| first.follows = false);
            said.extend(work);
        }
    }
    Ok(Transcript { said, to_end, unread })
}

/// Reads a session, or if it is long the messages around those that were found, or its end: as many as the budget has room for.
async fn session(
    store: &dyn ConversationStore,
    id: &SessionId,
    found: &[MessageId],
    budget: usize,
) -> Result<Read, StoreError> {
    let page = async |window, limit| match store.messages(id, &MessageRequest::new(window, limit).as_said()).await {
        // It went meanwhile.
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
            // Behind the one before it comes the message itself.
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

/// Adds a stretch that begins behind where the ones before begin; one that overlaps the last becomes a part of it.
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

/// Puts sessions of a chain, by their places in it, behind one another.
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
        // What was found in a copy is found where it was said first.
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
