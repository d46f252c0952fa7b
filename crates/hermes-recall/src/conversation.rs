//! Conversations within a scope.

use hermes_session::{
    ConversationStore, Lineage, Link, ListRequest, MAX_PAGE, Order, PageRequest, Scope, SessionFilter, SessionId,
    SessionSummary, StoreError, Timestamp, View,
};
use std::collections::BTreeMap;

/// A conversation, by its sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The chain from its first session to the one in which it continues, each with its summary.
    pub chain: Vec<SessionSummary>,
    /// Delegates: sessions that did a part of its work.
    pub delegates: Vec<SessionSummary>,
}

impl Conversation {
    /// Returns its id: that of the session in which it continues.
    pub fn id(&self) -> &SessionId {
        &self.tip().id
    }

    /// Returns its first session.
    pub fn first(&self) -> &SessionSummary {
        &self.chain[0]
    }

    /// Returns the session in which it continues.
    pub fn tip(&self) -> &SessionSummary {
        &self.chain[self.chain.len() - 1]
    }

    /// Returns its newest title.
    pub fn title(&self) -> Option<&str> {
        self.chain.iter().rev().find_map(|session| session.title.as_deref())
    }

    /// Returns the time of the newest activity in any of its sessions.
    pub fn last_active(&self) -> Timestamp {
        self.members().map(|session| session.last_active).max().unwrap_or(Timestamp::EPOCH)
    }

    /// Returns the number of messages in the transcripts of its sessions. Compacted and undone ones do not count; a
    /// message that was carried over from one session to the next counts in both.
    pub fn message_count(&self) -> i64 {
        self.members().map(|session| session.messages).sum()
    }

    /// Returns every session, the chain first.
    pub fn members(&self) -> impl Iterator<Item = &SessionSummary> {
        self.chain.iter().chain(&self.delegates)
    }
}

/// Returns the conversations within a scope that these sessions belong to, ordered by their first session. Sessions
/// outside the scope and sessions that do not exist are left out.
pub(crate) async fn conversations(
    store: &dyn ConversationStore,
    scope: &Scope,
    sessions: Vec<SessionId>,
) -> Result<Vec<Conversation>, StoreError> {
    let filter = SessionFilter { conversations: Some(sessions), scope: scope.clone(), ..SessionFilter::default() };
    let mut request =
        ListRequest { view: View::Sessions, filter, order: Order::Id, page: PageRequest::first(MAX_PAGE), after: None };
    let mut by_root: BTreeMap<SessionId, Vec<SessionSummary>> = BTreeMap::new();
    loop {
        let listing = store.list(&request).await?;
        for row in listing.rows {
            by_root.entry(row.conversation.clone()).or_default().push(row);
        }
        request.after = listing.next;
        if request.after.is_none() {
            return Ok(by_root.into_iter().filter_map(|(root, rows)| put_together(&root, rows)).collect());
        }
    }
}

/// Returns the rows of one conversation in their order, or `None` if its first session is not among them.
fn put_together(root: &SessionId, rows: Vec<SessionSummary>) -> Option<Conversation> {
    let links = rows.iter().map(|row| Link {
        id: row.id.clone(),
        parent: row.parent_session_id.clone(),
        relation: row.relation,
        started_at: row.started_at,
    });
    let lineage = Lineage::new(links);
    let mut rows: BTreeMap<SessionId, SessionSummary> = rows.into_iter().map(|row| (row.id.clone(), row)).collect();
    if !rows.contains_key(root) {
        return None;
    }
    let tip = lineage.tip(root);
    let mut ids = lineage.compressed_into(&tip);
    // A cycle left by a foreign writer has no first session; the row that represents it is used.
    if ids.first().is_none_or(|first| first != root) {
        ids = if tip == *root { Vec::new() } else { vec![root.clone()] };
    }
    ids.push(tip);
    let chain: Vec<SessionSummary> = ids.iter().filter_map(|id| rows.remove(id)).collect();
    Some(Conversation { chain, delegates: rows.into_values().collect() })
}

/// Returns the sessions of the conversation that a session belongs to, and of the conversations it originates from, up
/// to the border of the scope. Empty if it is outside the scope or does not exist.
pub(crate) async fn known_to(
    store: &dyn ConversationStore,
    scope: &Scope,
    current: &SessionId,
) -> Result<Vec<SessionId>, StoreError> {
    let lineage = match store.lineage(current).await {
        Ok(lineage) => lineage,
        Err(StoreError::NotFound(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let line: Vec<SessionId> = lineage.ancestors(current).into_iter().rev().collect();
    let within = conversations(store, scope, line.iter().chain([current]).cloned().collect()).await?;
    let mut known = Vec::new();
    for session in [current].into_iter().chain(&line) {
        let is_its = |one: &&Conversation| one.members().any(|member| member.id == *session);
        // A link beyond a conversation outside the scope must not be revealed.
        let Some(conversation) = within.iter().find(is_its) else { break };
        known.extend(conversation.members().map(|member| member.id.clone()));
    }
    known.sort_unstable();
    known.dedup();
    Ok(known)
}
