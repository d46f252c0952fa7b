//! Every version of a conversation: the one in the store, and those in the trash.
//!
//! An id that is in the trash is free, and the agent may have reused it. Erasing a conversation has to consider both.

use crate::{DeleteExtent, Deleted, Emptying, Maintenance, Request, SessionId, StoreError, Trashed};
use std::collections::BTreeSet;

/// Entries of the trash read at once.
const PAGE: u32 = 500;

/// All versions of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Versions {
    /// Versions in the store, each by one of its sessions; a deletion of its [chain](crate::DeleteExtent::Chain)
    /// removes it.
    pub live: Vec<SessionId>,
    /// Versions in the trash.
    pub trashed: Vec<Trashed>,
    /// Sessions of all versions.
    pub members: BTreeSet<SessionId>,
}

impl Versions {
    /// Returns whether there is no version.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty() && self.trashed.is_empty()
    }

    /// Deletes all versions permanently, in the store and in the trash. Those that another caller deleted meanwhile are
    /// not counted.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn delete(&self, store: &dyn Maintenance, request: &Request) -> Result<Deleted, StoreError> {
        let mut sum = Deleted { sessions: 0, messages: 0 };
        for id in &self.live {
            if store.session(id).await?.is_some() {
                let deleted = store.delete(id, DeleteExtent::Chain, request).await?;
                sum.sessions += deleted.sessions;
                sum.messages += deleted.messages;
            }
        }
        for gone in store.empty_trash(&Emptying::These(self.trashed.clone())).await? {
            sum.sessions += gone.sessions;
            sum.messages += gone.messages;
        }
        Ok(sum)
    }
}

/// Finds every version of the conversation of a session: its chain, entries of the trash that hold one of its ids, and
/// conversations of the store that reuse ids of those.
///
/// # Errors
/// If the store fails.
//  Cases: trash::every_version_is_found
pub async fn versions(store: &dyn Maintenance, id: &SessionId) -> Result<Versions, StoreError> {
    let in_trash = in_trash(store).await?;
    let (mut found, mut covered, mut open) = (Versions::default(), BTreeSet::new(), vec![id.clone()]);
    while let Some(session) = open.pop() {
        if !found.members.insert(session.clone()) {
            continue;
        }
        for (entry, kept) in &in_trash {
            if kept.contains(&session) && !found.trashed.contains(entry) {
                found.trashed.push(entry.clone());
                open.extend(kept.iter().cloned());
            }
        }
        if !covered.contains(&session) && store.session(&session).await?.is_some() {
            let chain = store.lineage(&session).await?.chain(&session);
            covered.extend(chain.iter().cloned());
            open.extend(chain);
            found.live.push(session);
        }
    }
    Ok(found)
}

/// Returns all entries of the trash, with the sessions that each holds.
async fn in_trash(store: &dyn Maintenance) -> Result<Vec<(Trashed, Vec<SessionId>)>, StoreError> {
    let mut all: Vec<(Trashed, Vec<SessionId>)> = Vec::new();
    loop {
        let page = store.trash(all.last().map(|(entry, _)| entry), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        for entry in page {
            // For several entries under one id the store returns the newest; of the others only that id is known.
            let newest_entry = store.trashed(&entry.id).await?.filter(|(newest, _)| *newest == entry);
            let kept = newest_entry.map_or_else(|| vec![entry.id.clone()], |(_, kept)| kept);
            all.push((entry, kept));
        }
    }
}
