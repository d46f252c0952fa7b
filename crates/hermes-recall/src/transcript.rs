//! Reads as much of a conversation as a window can show.

use crate::conversation::Conversation;
use hermes_session::{
    Message, MessageId, MessageRequest, SessionId, SessionStore, SessionSummary, StoreError, Window as Stretch,
    replay::{self, Joined},
};
use std::collections::BTreeMap;

/// A session of so many messages is read whole.
const WHOLE: u32 = 1_000;
/// Of a longer one, so many messages before and after each that was found.
const AROUND: u32 = 100;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) message: Message,
    /// If it was found, how good it is: nought is the best.
    pub(crate) rank: Option<usize>,
    /// Whether nothing was said between the one before it in the list and this one.
    pub(crate) follows: bool,
}

/// What was read of a session: stretches in order, and whether the first begins with it and the last ends with it.
struct Read {
    stretches: Vec<Vec<Message>>,
    from_start: bool,
    to_end: bool,
}

/// Reads the sessions in which something was found, and those next to them as long as a budget of characters is not used up. What a session repeats of
/// the one before comes once.
pub(crate) async fn read(
    store: &dyn SessionStore,
    conversation: &Conversation,
    found: &[(SessionId, MessageId)],
    budget: usize,
) -> Result<Vec<Said>, StoreError> {
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
    for place in order {
        let wanted = in_session(&chain[place]);
        if wanted.is_empty() && (size >= budget || (places.is_empty() && !found.is_empty())) {
            continue;
        }
        let session = session(store, &chain[place].id, &wanted).await?;
        size += session.stretches.iter().flatten().map(length).sum::<usize>();
        read.insert(place, session);
    }
    // The best comes first.
    let ranks: BTreeMap<MessageId, usize> = found.iter().map(|(_, message)| *message).zip(0..).collect();
    let mut said = chained(read, &ranks);
    for delegate in &conversation.delegates {
        let wanted = in_session(delegate);
        if !wanted.is_empty() {
            let read = BTreeMap::from([(0, session(store, &delegate.id, &wanted).await?)]);
            said.extend(chained(read, &ranks));
        }
    }
    Ok(said)
}

fn length(message: &Message) -> usize {
    message.body.plain_text().len()
}

/// Reads a session, or if it is long the messages around those that were found, or its end.
async fn session(store: &dyn SessionStore, id: &SessionId, found: &[MessageId]) -> Result<Read, StoreError> {
    let page = async |window, limit| match store.messages(id, &MessageRequest::new(window, limit).as_said()).await {
        // It went meanwhile.
        Err(StoreError::NotFound(_)) => Ok(Vec::new()),
        answer => answer,
    };
    let whole = page(Stretch::After(None), WHOLE).await?;
    if whole.len() < WHOLE as usize {
        return Ok(Read { stretches: vec![whole], from_start: true, to_end: true });
    }
    if found.is_empty() {
        let stretches = vec![page(Stretch::Before(None), AROUND).await?];
        return Ok(Read { stretches, from_start: false, to_end: true });
    }
    let mut found = found.to_vec();
    found.sort_unstable();
    let mut read = Read { stretches: Vec::new(), from_start: false, to_end: false };
    for id in found {
        let mut stretch = page(Stretch::Before(Some(id)), AROUND).await?;
        read.from_start |= stretch.len() < AROUND as usize;
        // Behind the one before it comes the message itself.
        let itself = MessageId(id.0 - 1);
        let after = page(Stretch::After(Some(itself)), AROUND + 1).await?;
        read.to_end = after.len() <= AROUND as usize;
        stretch.extend(after);
        join(&mut read.stretches, stretch);
    }
    Ok(read)
}

/// Adds a stretch that begins behind where the ones before begin; one that overlaps the last becomes a part of it.
fn join(stretches: &mut Vec<Vec<Message>>, next: Vec<Message>) {
    match stretches.last_mut() {
        Some(last) if last.last().is_some_and(|end| next.first().is_some_and(|start| start.id <= end.id)) => {
            let end = last.last().map(|message| message.id);
            last.extend(next.into_iter().filter(|message| Some(message.id) > end));
        }
        _ => stretches.push(next),
    }
}

/// Puts sessions of a chain, by their places in it, behind one another.
fn chained(read: BTreeMap<usize, Read>, ranks: &BTreeMap<MessageId, usize>) -> Vec<Said> {
    let mut said = Vec::new();
    let mut runs: Vec<Vec<Vec<Message>>> = Vec::new();
    let mut before: Option<(usize, bool)> = None;
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
    for run in runs {
        let Joined { messages, copies } = replay::without_repeats(run);
        // What was found in a copy is found where it was said first.
        let mut found: BTreeMap<MessageId, usize> = BTreeMap::new();
        for (id, rank) in ranks {
            let best = found.entry(*copies.get(id).unwrap_or(id)).or_insert(*rank);
            *best = (*best).min(*rank);
        }
        said.extend(messages.into_iter().enumerate().map(|(number, message)| Said {
            rank: found.get(&message.id).copied(),
            follows: number > 0,
            message,
        }));
    }
    said
}
