//! Every version of a conversation: the one in the store, and those in the trash.
//!
//! An id that is in the trash is free, and the agent may have gone on under it. Whoever erases a conversation has to see both.

use crate::{DeleteExtent, Deleted, Emptying, Maintenance, Request, SessionId, StoreError, Trashed};
use std::collections::BTreeSet;

/// How much of the trash is read at once.
const PAGE: u32 = 500;

/// What there is of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Versions {
    /// What the store has, each by one of its sessions: what a deletion of a [chain](crate::DeleteExtent::Chain) takes.
    pub live: Vec<SessionId>,
    /// What the trash has.
    pub trashed: Vec<Trashed>,
    /// The sessions of all of them.
    pub members: BTreeSet<SessionId>,
}

impl Versions {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty() && self.trashed.is_empty()
    }

    /// Deletes all of them for good, in the store and in the trash. What somebody else deleted meanwhile is not counted.
    ///
    /// # Errors
    /// What the store says.
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

/// Finds every version of what a session stands for: its chain, what is in the trash and holds one of its ids, and what is in the store under the ids
/// of that.
///
/// # Errors
/// What the store says.
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

/// All that is in the trash, with the sessions that it holds.
async fn in_trash(store: &dyn Maintenance) -> Result<Vec<(Trashed, Vec<SessionId>)>, StoreError> {
    let mut all: Vec<(Trashed, Vec<SessionId>)> = Vec::new();
    loop {
        let page = store.trash(all.last().map(|(entry, _)| entry), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        for entry in page {
            // Of several under one id the newest is told; of the others that id is known.
            let told = store.trashed(&entry.id).await?.filter(|(newest, _)| *newest == entry);
            let kept = told.map_or_else(|| vec![entry.id.clone()], |(_, kept)| kept);
            all.push((entry, kept));
        }
    }
}
