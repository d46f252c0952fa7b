//! Single sessions: create, change, end.

use super::State;
use hermes_session::lineage::{ParentAtBirth, relation_at_birth};
use hermes_session::live::Kinds;
use hermes_session::{
    Conflict, EndReason, Ensured, Extra, HandoffColumns, Invalid, NewSession, Relation, Session, SessionId,
    SessionPatch, Source, StoreError, Timestamp, Usage, UsageUpdate,
};

impl State {
    pub(super) fn create(&mut self, new: &NewSession, at: Timestamp) -> Result<(), StoreError> {
        let relation = self.relation_to_parent(new)?;
        self.id_is_free(&new.id)?;
        self.may_be(relation, new.parent_session_id.as_ref())?;
        let session = Session {
            id: new.id.clone(),
            source: new.source.clone(),
            user_id: new.user_id.clone(),
            model: new.model.clone(),
            model_config: new.model_config.clone(),
            system_prompt: new.system_prompt.clone(),
            parent_session_id: new.parent_session_id.clone(),
            relation,
            started_at: new.started_at.unwrap_or(at),
            ended_at: None,
            end_reason: None,
            message_count: 0,
            tool_call_count: 0,
            usage: Usage::default(),
            title: None,
            handoff: HandoffColumns::default(),
            archived: false,
            extra: Extra::new(),
            faults: Vec::new(),
        };
        self.coming.remove(&session.id);
        self.sessions.insert(session.id.clone(), session);
        self.note(&new.id, Kinds::CREATED);
        Ok(())
    }

    pub(super) fn ensure(&mut self, new: &NewSession, at: Timestamp) -> Result<Ensured, StoreError> {
        let Some(session) = self.sessions.get(&new.id) else {
            return self.create(new, at).map(|()| Ensured::Created);
        };
        if session.source.as_str() != Source::UNKNOWN {
            return Ok(Ensured::Existed);
        }
        let parent = new.parent_session_id.as_ref().filter(|_| session.parent_session_id.is_none());
        let mut kin = (None, Relation::Root);
        if let Some(parent) = parent {
            let relation = self.relation_to_parent(new)?;
            if self.links().ancestors(parent).contains(&new.id) {
                return Err(Invalid::new("parent session", "comes from the session itself", "name another").into());
            }
            self.may_be(relation, Some(parent))?;
            kin = (Some(parent.clone()), relation);
        }
        let session = self.existing_mut(&new.id)?;
        session.source = new.source.clone();
        fill(&mut session.user_id, &new.user_id);
        fill(&mut session.model, &new.model);
        fill(&mut session.model_config, &new.model_config);
        fill(&mut session.system_prompt, &new.system_prompt);
        if let (Some(parent), relation) = kin {
            session.parent_session_id = Some(parent);
            session.relation = relation;
        }
        self.note(&new.id, Kinds::SESSION);
        Ok(Ensured::Filled)
    }

    pub(super) fn update(&mut self, id: &SessionId, patch: &SessionPatch) -> Result<(), StoreError> {
        let session = self.existing_mut(id)?;
        let patch = patch.clone();
        session.system_prompt = patch.system_prompt.unwrap_or(session.system_prompt.take());
        session.model = patch.model.unwrap_or(session.model.take());
        session.model_config = patch.model_config.unwrap_or(session.model_config.take());
        session.user_id = patch.user_id.unwrap_or(session.user_id.take());
        self.note(id, Kinds::SESSION);
        Ok(())
    }

    pub(super) fn end(&mut self, id: &SessionId, reason: &EndReason, at: Timestamp) -> Result<bool, StoreError> {
        let session = self.existing_mut(id)?;
        if session.ended_at.is_some() {
            return Ok(false);
        }
        session.ended_at = Some(at);
        session.end_reason = Some(reason.clone());
        self.note(id, Kinds::SESSION);
        Ok(true)
    }

    pub(super) fn reopen(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        self.causes.remove(id);
        let session = self.existing_mut(id)?;
        session.end_reason = None;
        let had_ended = session.ended_at.take().is_some();
        if had_ended {
            self.note(id, Kinds::SESSION);
        }
        Ok(had_ended)
    }

    pub(super) fn record_usage(&mut self, id: &SessionId, update: &UsageUpdate) -> Result<(), StoreError> {
        let session = self.existing_mut(id)?;
        session.usage = session.usage.clone().after(update);
        fill(&mut session.model, &update.model);
        self.note(id, Kinds::SESSION);
        Ok(())
    }

    pub(super) fn id_is_free(&self, id: &SessionId) -> Result<(), StoreError> {
        if self.sessions.contains_key(id) { Err(Conflict::Exists(id.clone()).into()) } else { Ok(()) }
    }

    /// Returns the relation of a new session to its parent, which must exist.
    fn relation_to_parent(&self, new: &NewSession) -> Result<Relation, StoreError> {
        let Some(id) = &new.parent_session_id else { return Ok(Relation::Root) };
        let parent = self.existing(id)?;
        let told = ParentAtBirth {
            end_reason: parent.end_reason.as_ref().map(EndReason::as_str),
            has_continuation: self.continuation(id).is_some(),
        };
        Ok(new.relation.unwrap_or_else(|| relation_at_birth(told, new.model_config.as_ref())))
    }
}

fn fill<T: Clone>(have: &mut Option<T>, given: &Option<T>) {
    if have.is_none() {
        have.clone_from(given);
    }
}
