//! A reader who follows the changes while others write.

use super::{PATIENCE, Reader};
use crate::fixture::{assistant, id, made, request, transcript, user};
use crate::{CaseResult, Setup};
use hermes_session::live::Kinds;
use hermes_session::{DeleteExtent, MessageId, MessageRequest, SessionId, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const WRITERS: usize = 6;
const ROUNDS: usize = 25;

/// The transcripts of a store as a reader knows them.
type Picture = BTreeMap<SessionId, Vec<MessageId>>;

/// Several writers create sessions, append to them and to a common one, rewrite and delete; a reader who looks only at
/// the sessions that are reported knows every message in the end.
pub async fn none_is_skipped_under_load(setup: Setup) -> CaseResult {
    let handles = [setup.store().await, setup.store().await];
    let common = made(&*handles[0], "common", 0).await;
    let mut reader = Reader::of(setup.store().await).await;
    let mut picture = Picture::from([(common.clone(), Vec::new())]);
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(handles[writer % 2].clone(), common.clone(), writer));
    }
    while !writers.is_empty() {
        follow(&mut reader, &mut picture).await?;
        while let Some(done) = writers.try_join_next() {
            done.unwrap()?;
        }
    }
    let start = tokio::time::Instant::now();
    let stored = stored_picture(&*handles[0]).await?;
    assert_eq!((stored[&common].len(), stored.len()), (WRITERS * ROUNDS * 2, WRITERS * ROUNDS * 4 / 5 + 1));
    while picture != stored {
        assert!(start.elapsed() < PATIENCE, "a change of {:?} was skipped", difference(&picture, &stored));
        tokio::time::sleep(Duration::from_millis(5)).await;
        follow(&mut reader, &mut picture).await?;
    }
    reader.is_quiet("after the writers").await;
    Ok(())
}

async fn write(store: Arc<dyn Store>, common: SessionId, writer: usize) -> Result<(), StoreError> {
    for round in 0..ROUNDS {
        let at = request(round as f64);
        let own = made(&*store, &format!("{writer} {round}"), round as f64).await;
        store.append(&common, &[user("question"), assistant("answer")], &at).await?;
        store.append(&own, &[user("first")], &at).await?;
        match round % 5 {
            0 => _ = store.delete(&own, DeleteExtent::Conversation, &at).await?,
            1 => _ = store.replace(&own, &[user("rewritten")], &at).await?,
            _ => _ = store.append(&own, &[user("second")], &at).await?,
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Reads the changes once, and of the sessions that are reported as much as the kinds ask for.
async fn follow(reader: &mut Reader, picture: &mut Picture) -> Result<(), StoreError> {
    let changes = reader.store.changes(Some(&reader.mark)).await?;
    assert!(!changes.is_reset);
    reader.mark = changes.next;
    for changed in changes.changed {
        if changed.conversation.is_none() {
            assert!(changed.kinds.contain(Kinds::DELETED), "{changed:?}");
            picture.remove(&changed.session);
            continue;
        }
        if changed.kinds.contain(Kinds::CREATED) || changed.kinds.contain(Kinds::REWRITTEN) {
            picture.insert(changed.session.clone(), Vec::new());
        }
        let known = picture.get_mut(&changed.session);
        let known = known.unwrap_or_else(|| panic!("{changed:?} was not reported as created"));
        let new = MessageRequest::after(known.last().copied().unwrap_or(MessageId(0)), u32::MAX);
        match reader.store.messages(&changed.session, &new).await {
            Ok(messages) => known.extend(messages.iter().map(|message| message.id)),
            // It was deleted since, which will be reported.
            Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn stored_picture(store: &dyn Store) -> Result<Picture, StoreError> {
    let own = (0..WRITERS).flat_map(|writer| (0..ROUNDS).map(move |round| id(&format!("{writer} {round}"))));
    let names: Vec<SessionId> = own.chain([id("common")]).collect();
    let mut picture = Picture::new();
    for session in store.sessions(&names).await? {
        let messages = transcript(store, &session.id).await;
        picture.insert(session.id, messages.iter().map(|message| message.id).collect());
    }
    Ok(picture)
}

/// Returns the first session that a reader knows otherwise than the store.
fn difference<'a>(picture: &Picture, stored: &'a Picture) -> Option<&'a SessionId> {
    stored.iter().find(|(session, messages)| picture.get(session) != Some(messages)).map(|(session, _)| session)
}
