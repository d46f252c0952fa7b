//! Sessions with parents.

use super::{Life, State};
use hermes_session::lineage::child_of;
use hermes_session::live::Kinds;
use hermes_session::retention::{Pruned, RetentionPolicy};
use hermes_session::{
    Conflict, DeleteExtent, Deleted, EndReason, Lineage, Link, NewChild, NewMessage, Relation, Session, SessionId,
    StoreError, Timestamp, Title,
};
use std::collections::BTreeSet;

impl State {
    pub(super) fn split(
        &mut self,
        parent: &SessionId,
        child: &NewChild,
        messages: &[NewMessage],
        at: Timestamp,
    ) -> Result<Option<Title>, StoreError> {
        let before = self.existing(parent)?.clone();
        self.id_is_free(&child.id)?;
        self.may_be(Relation::Continuation, Some(parent))?;
        let title = self.child_title(&before, child)?;
        let ended_at = before.ended_at.unwrap_or(at);
        let session = self.existing_mut(parent)?;
        session.ended_at = Some(ended_at);
        session.end_reason = Some(EndReason::compression());
        self.note(parent, Kinds::SESSION);
        self.bear(&before, child, Relation::Continuation, title.as_ref(), at.max(ended_at))?;
        self.existing_mut(&child.id)?.archived = before.archived;
        self.append(&child.id, messages, at)?;
        self.carry_turn(parent, &child.id);
        self.carry_routes(parent, &child.id, at);
        Ok(title)
    }

    pub(super) fn branch(
        &mut self,
        parent: &SessionId,
        child: &NewChild,
        at: Timestamp,
    ) -> Result<Option<Title>, StoreError> {
        let before = self.existing(parent)?.clone();
        self.id_is_free(&child.id)?;
        let title = self.child_title(&before, child)?;
        self.end(parent, &EndReason::branched(), at)?;
        let ended_at = before.ended_at.unwrap_or(at);
        self.bear(&before, child, Relation::Branch, title.as_ref(), at.max(ended_at))?;
        let copies = self.transcripts.get(parent).into_iter().flatten().filter(|message| message.state.is_active());
        let copies: Vec<NewMessage> =
            copies.map(|message| NewMessage::from(message.body.clone()).said_at(message.timestamp)).collect();
        self.append(&child.id, &copies, at)?;
        Ok(title)
    }

    pub(super) fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError> {
        self.existing(id)?;
        let all = self.links();
        let root = all.root(id);
        let mut linked = all.descendants(&root);
        linked.push(root);
        Ok(Lineage::new(linked.iter().filter_map(|id| all.link(id).cloned())))
    }

    pub(super) fn delete(
        &mut self,
        id: &SessionId,
        extent: DeleteExtent,
        at: Timestamp,
    ) -> Result<Deleted, StoreError> {
        self.existing(id)?;
        Ok(self.delete_all(extent.sessions(&self.links(), id), at))
    }

    fn delete_all(&mut self, members: Vec<SessionId>, at: Timestamp) -> Deleted {
        let gone: BTreeSet<SessionId> = members.into_iter().collect();
        let mut messages = 0;
        self.forget_mail_of(&gone, at);
        self.forget_turns(&gone);
        self.forget_leases(&gone);
        self.forget_undone(&gone);
        self.forget_routes(&gone);
        for id in &gone {
            self.note(id, Kinds::DELETED);
            self.sessions.remove(id);
            messages += self.transcripts.remove(id).map_or(0, |transcript| transcript.len() as u64);
        }
        self.bindings.retain(|_, binding| !gone.contains(&binding.session_id));
        self.handoffs.retain(|session, _| !gone.contains(session));
        self.pins_and_tags.retain(|session, _| !gone.contains(session));
        for session in self.sessions.values_mut() {
            if session.parent_session_id.as_ref().is_some_and(|parent| gone.contains(parent)) {
                session.parent_session_id = None;
                session.relation = Relation::Root;
                self.changes.note(&session.id, Kinds::SESSION);
            }
        }
        self.forget_requests(|life| match life {
            Life::Session(session) | Life::Messages { session, .. } => gone.contains(session),
        });
        Deleted { sessions: gone.len() as u64, messages }
    }

    pub(super) fn prune(
        &mut self,
        conversations: &[SessionId],
        policy: &RetentionPolicy,
        now: Timestamp,
    ) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned { looked_at: conversations.len() as u64, ..Pruned::default() };
        for id in conversations.iter() {
            let Some(first) = self.sessions.get(id) else { continue };
            let links = self.links();
            let is_alone = policy.takes_each_session();
            let members = if is_alone { vec![id.clone()] } else { links.conversation(id) };
            let is_idle = |member: &SessionId| {
                let member = &self.sessions[member];
                let is_ghost = member.title.is_none() && !self.transcripts.contains_key(&member.id);
                member.ended_at.is_some()
                    && policy.admits(self.last_active(member), now)
                    && (is_ghost || !policy.only_ghosts())
            };
            let is_meant = policy.source().is_none_or(|only| *only == first.source);
            let root = links.conversation_root(id);
            let is_pinned = self.pins_and_tags_of(&root).pinned_at.is_some();
            if !is_meant || is_pinned || (root != *id && !is_alone) || !members.iter().all(is_idle) {
                pruned.kept += 1;
                continue;
            }
            let deleted = self.delete_all(members, now);
            pruned.conversations += 1;
            pruned.sessions += deleted.sessions;
            pruned.messages += deleted.messages;
        }
        Ok(pruned)
    }

    /// Returns the links of all sessions.
    pub(super) fn links(&self) -> Lineage {
        Lineage::new(self.sessions.values().map(|session| Link {
            id: session.id.clone(),
            parent: session.parent_session_id.clone(),
            relation: session.relation,
            started_at: session.started_at,
        }))
    }

    /// Returns the continuation of a session; of two that were imported, the later one.
    pub(super) fn continuation(&self, id: &SessionId) -> Option<&SessionId> {
        let carries_on = |session: &&Session| {
            session.relation == Relation::Continuation && session.parent_session_id.as_ref() == Some(id)
        };
        let children = self.sessions.values().filter(carries_on);
        children.max_by_key(|session| (session.started_at, &session.id)).map(|session| &session.id)
    }

    /// Checks that a session gets only one continuation.
    pub(super) fn may_be(&self, relation: Relation, parent: Option<&SessionId>) -> Result<(), StoreError> {
        let parent = parent.filter(|_| relation == Relation::Continuation);
        match parent.and_then(|parent| Some((parent, self.continuation(parent)?))) {
            Some((parent, continuation)) => {
                Err(Conflict::AlreadySplit { parent: parent.clone(), continuation: continuation.clone() }.into())
            }
            None => Ok(()),
        }
    }

    fn bear(
        &mut self,
        parent: &Session,
        child: &NewChild,
        relation: Relation,
        title: Option<&Title>,
        started_at: Timestamp,
    ) -> Result<(), StoreError> {
        let new = child_of(parent, child, relation, started_at);
        self.create(&new, started_at)?;
        self.existing_mut(&child.id)?.title = title.map(|title| title.as_str().to_owned());
        Ok(())
    }
}
