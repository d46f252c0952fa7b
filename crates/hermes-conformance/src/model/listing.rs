//! Lists of sessions.

use super::State;
use hermes_session::live::Kinds;
use hermes_session::scope::ConversationFacts;
use hermes_session::{
    Counts, Field, Lineage, ListCursor, ListRequest, Listing, Order, Scope, Session, SessionFilter, SessionId,
    SessionPart, SessionSummary, Statistics, StoreError, Timestamp, View, preview,
};

impl State {
    pub(super) fn list(&self, request: &ListRequest) -> Listing {
        let mut rows = self.rows(request.view, &request.filter);
        let order = request.order;
        let place = |row: &SessionSummary| ListCursor {
            key: order.key(row),
            id: if request.view == View::Sessions { row.id.clone() } else { row.conversation.clone() },
            is_pinned: order == Order::PinnedFirst && row.pinned_at.is_some(),
        };
        let compare = |one: &ListCursor, other: &ListCursor| match order {
            Order::Id => one.id.cmp(&other.id),
            // Keys are finite; positive and negative zero are equal.
            _ => {
                let by_key = (other.key + 0.0).total_cmp(&(one.key + 0.0)).then_with(|| other.id.cmp(&one.id));
                other.is_pinned.cmp(&one.is_pinned).then(by_key)
            }
        };
        rows.sort_by(|one, other| compare(&place(one), &place(other)));
        if let Some(after) = &request.after {
            rows.retain(|row| compare(&place(row), after).is_gt());
        }
        let (offset, limit) = (usize::try_from(request.page.offset()).unwrap_or(usize::MAX), request.page.limit());
        let rows: Vec<SessionSummary> = rows.into_iter().skip(offset).take(limit as usize).collect();
        let next = rows.last().filter(|_| rows.len() == limit as usize).map(place);
        Listing { rows, unreadable: Vec::new(), next }
    }

    pub(super) fn counts(&self, filter: &SessionFilter) -> Counts {
        let sessions = self.rows(View::Sessions, filter);
        let messages = sessions.iter().map(|row| self.transcripts.get(&row.id).map_or(0, Vec::len) as u64).sum();
        Counts {
            conversations: self.rows(View::Conversations, filter).len() as u64,
            sessions: sessions.len() as u64,
            messages,
        }
    }

    pub(super) fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        for row in self.rows(View::Sessions, &SessionFilter::default()) {
            statistics.add(SessionPart {
                is_listed: row.conversation == row.id && !row.is_archived,
                messages: self.transcripts.get(&row.id).map_or(0, Vec::len) as u64,
                source: row.source,
                model: row.model,
                started_at: Some(row.started_at),
                has_ended: row.ended_at.is_some(),
                last_active: Some(row.last_active),
                usage: row.usage,
            });
        }
        statistics
    }

    /// Returns every row that the filter admits, unordered.
    pub(super) fn rows(&self, view: View, filter: &SessionFilter) -> Vec<SessionSummary> {
        let links = self.links();
        let mut rows = Vec::new();
        for link in links.links().filter(|link| link.relation.starts_conversation()) {
            let is_meant =
                |sessions: &Vec<SessionId>| links.conversation(&link.id).iter().any(|id| sessions.contains(id));
            if !self.is_within(&filter.scope, &links, &link.id) || !filter.conversations.as_ref().is_none_or(is_meant) {
                continue;
            }
            let members: Vec<&Session> =
                links.conversation(&link.id).iter().filter_map(|id| self.sessions.get(id)).collect();
            match view {
                View::Sessions => rows.extend(members.into_iter().map(|session| self.session_row(session, &link.id))),
                View::Conversations => rows.push(self.conversation_row(&links, &members)),
            }
        }
        let mut rows: Vec<SessionSummary> = rows.into_iter().map(|row| self.marked(row)).collect();
        rows.retain(|row| {
            let first = if view == View::Sessions { &row.id } else { &row.conversation };
            let has_recorded = self
                .sessions
                .get(first)
                .is_some_and(|first| filter.recorded.iter().all(|asked| asked.admits(&first.extra)));
            filter.admits(row) && filter.archived.admits(view, row.is_archived) && has_recorded
        });
        rows
    }

    /// Returns whether the conversation of a session is within a scope.
    pub(super) fn is_within(&self, scope: &Scope, links: &Lineage, id: &SessionId) -> bool {
        let root = links.conversation_root(id);
        self.sessions.get(&root).is_some_and(|first| {
            scope.admits(ConversationFacts {
                source: &first.source,
                user_id: first.user_id.as_deref(),
                members: &links.conversation(&root),
            })
        })
    }

    fn session_row(&self, session: &Session, conversation: &SessionId) -> SessionSummary {
        SessionSummary {
            id: session.id.clone(),
            conversation: conversation.clone(),
            segments: 1,
            source: session.source.clone(),
            user_id: session.user_id.clone(),
            model: session.model.clone(),
            parent_session_id: session.parent_session_id.clone(),
            relation: session.relation,
            started_at: session.started_at,
            ended_at: session.ended_at,
            end_reason: session.end_reason.clone(),
            message_count: session.message_count,
            tool_call_count: session.tool_call_count,
            messages: self
                .transcripts
                .get(&session.id)
                .into_iter()
                .flatten()
                .filter(|said| said.state.is_active())
                .count() as i64,
            tool_calls: session.tool_call_count,
            usage: session.usage.clone(),
            title: session.title.clone(),
            last_active: self.last_active(session),
            preview: self.preview(&session.id),
            pinned_at: None,
            tags: Vec::new(),
            is_archived: self.is_archived(conversation),
        }
    }

    /// Returns the row of a conversation; `members` starts with its root.
    fn conversation_row(&self, links: &Lineage, members: &[&Session]) -> SessionSummary {
        let root = self.session_row(members[0], &members[0].id);
        let tip = self.session_row(&self.sessions[&links.tip(&root.id)], &root.id);
        SessionSummary {
            segments: members.len() as u64,
            source: root.source,
            user_id: root.user_id,
            parent_session_id: root.parent_session_id,
            relation: root.relation,
            started_at: root.started_at,
            messages: members.iter().map(|member| self.session_row(member, &root.conversation).messages).sum(),
            tool_calls: members.iter().map(|member| member.tool_call_count).sum(),
            usage: members[1..].iter().fold(root.usage, |sum, member| sum.plus(&member.usage)),
            last_active: members.iter().map(|member| self.last_active(member)).max().unwrap_or(root.last_active),
            preview: if root.preview.is_empty() { tip.preview } else { root.preview },
            ..tip
        }
    }

    pub(super) fn last_active(&self, session: &Session) -> Timestamp {
        let said = self.transcripts.get(&session.id).into_iter().flatten().map(|message| message.timestamp);
        said.fold(session.started_at, Timestamp::max)
    }

    /// Returns whether the conversation that starts with this session is archived.
    pub(super) fn is_archived(&self, root: &SessionId) -> bool {
        self.sessions.get(root).is_some_and(|first| first.archived)
    }

    /// Archives or unarchives the conversation of a session.
    pub(super) fn set_archived(&mut self, id: &SessionId, is_archived: bool) -> Result<bool, StoreError> {
        self.existing(id)?;
        let links = self.links();
        let root = links.conversation_root(id);
        let was_archived = self.is_archived(&root);
        for member in links.conversation(&root) {
            if let Some(session) = self.sessions.get_mut(&member) {
                session.archived = is_archived;
                self.note(&member, Kinds::SESSION);
            }
        }
        Ok(was_archived != is_archived)
    }

    /// Fails if a filter asks for a column of which no session has a value.
    pub(super) fn refuse_unrecorded(&self, filter: &SessionFilter) -> Result<(), StoreError> {
        let is_absent =
            |field: Field| self.sessions.values().all(|session| session.extra.get(field.column()).is_none());
        match filter.recorded.iter().find(|asked| is_absent(asked.field)) {
            Some(asked) => Err(asked.field.not_recorded().into()),
            None => Ok(()),
        }
    }

    fn preview(&self, id: &SessionId) -> String {
        let said = self.transcripts.get(id).into_iter().flatten();
        said.filter(|message| message.state.is_said())
            .filter_map(|message| preview(&message.body))
            .next()
            .unwrap_or_default()
    }
}
