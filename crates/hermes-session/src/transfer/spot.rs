//! Searches both sides for the same words.

use super::compare::Messages;
use super::proof::SpotQuery;
use crate::search::{Query, SearchOrder, SearchRequest};
use crate::{ConversationStore, MessageId, PageRequest, SessionId, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Hits per page, and maximum number of hits of a word that is compared.
const PAGE: u32 = 500;
const MAX_HITS: usize = 5_000;
/// Time limit of one page.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message that was found.
type Found = (SessionId, MessageId);

/// Facts about sessions that the comparison of searches needs.
pub(super) struct Known<'a> {
    /// Sessions that differ between the sides, which was reported already.
    pub(super) unsound: &'a BTreeSet<SessionId>,
    /// Sessions whose messages have other ids in the target.
    pub(super) renumbered: &'a BTreeSet<SessionId>,
}

/// Searches both sides for a word; `None` if it occurs too often, or time ran out.
pub(super) async fn compare(
    from: &dyn Store,
    to: &dyn Store,
    word: &str,
    known: &Known<'_>,
) -> Result<Option<SpotQuery>, StoreError> {
    let (Some(source), Some(target)) = (hits(from, word).await?, hits(to, word).await?) else { return Ok(None) };
    let (mut missing, mut extra) = (0, 0);
    let mut places = Places::default();
    let mut translated = BTreeSet::new();
    for (session, message) in target {
        if known.unsound.contains(&session) {
            continue;
        }
        if !known.renumbered.contains(&session) {
            translated.insert((session, message));
        } else if let Some(id) = places.translate(from, to, &session, message).await? {
            translated.insert((session, id));
        }
    }
    for (session, _) in source.difference(&translated) {
        if !known.unsound.contains(session) {
            missing += 1;
        }
    }
    for (session, _) in translated.difference(&source) {
        // The target may hold sessions that the source does not have.
        if from.session(session).await?.is_some() {
            extra += 1;
        }
    }
    Ok(Some(SpotQuery { word: word.to_owned(), hits: source.len() as u64, missing, extra }))
}

/// Returns every message that contains a word.
async fn hits(store: &dyn Store, word: &str) -> Result<Option<BTreeSet<Found>>, StoreError> {
    let mut request = SearchRequest {
        order: SearchOrder::Newest,
        page: PageRequest::first(PAGE),
        relax: false,
        timeout: PATIENCE,
        ..SearchRequest::new(Query::parse(word))
    };
    let mut found = BTreeSet::new();
    loop {
        let answer = store.search(&request).await?;
        if answer.served.is_partial || found.len() + answer.hits.len() > MAX_HITS {
            return Ok(None);
        }
        found.extend(answer.hits.into_iter().map(|hit| (hit.session, hit.message)));
        match answer.next {
            Some(next) => request.after = Some(next),
            None => return Ok(Some(found)),
        }
    }
}

/// Ids of messages on both sides, for sessions where they differ.
#[derive(Default)]
struct Places {
    sessions: BTreeMap<SessionId, BTreeMap<MessageId, MessageId>>,
}

impl Places {
    /// Returns the id in the source of a message of the target: the one at the same position.
    async fn translate(
        &mut self,
        from: &dyn ConversationStore,
        to: &dyn ConversationStore,
        session: &SessionId,
        message: MessageId,
    ) -> Result<Option<MessageId>, StoreError> {
        if !self.sessions.contains_key(session) {
            let (mut source, mut target) = (Messages::new(from, session), Messages::new(to, session));
            let mut ids = BTreeMap::new();
            while let (Some(source), Some(target)) =
                (source.next(&mut Vec::new()).await?, target.next(&mut Vec::new()).await?)
            {
                ids.insert(target.id, source.id);
            }
            self.sessions.insert(session.clone(), ids);
        }
        Ok(self.sessions.get(session).and_then(|ids| ids.get(&message)).copied())
    }
}
