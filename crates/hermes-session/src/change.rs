//! Fingerprints of changes, compared when an idempotency key is used a second time.
//!
//! Every field that says what should happen counts. The request's time does not, because a caller that retries a change
//! may read the clock again.

use crate::digest::Fingerprint;
use crate::gateway::{Claim, HandoffEnd, HandoffProgress, HandoffRequest};
use crate::live::{NewTurn, ResetCause, RouteKey, RoutePatch, Switch, SwitchTo, TurnClose, TurnId};
use crate::{
    DeleteExtent, EndReason, Json, MessageId, NewChild, NewMessage, NewSession, SessionId, SessionPatch, Tag,
    Timestamp, Title, UsageMode, UsageUpdate,
};

fn on(change: &str, id: &SessionId) -> Fingerprint {
    Fingerprint::of(change).field(id.as_str())
}

fn new_session(print: Fingerprint, session: &NewSession) -> String {
    print
        .field(session.source.as_str())
        .optional(session.user_id.as_deref())
        .optional(session.model.as_deref())
        .optional(session.model_config.as_ref().map(Json::as_str))
        .optional(session.system_prompt.as_deref())
        .optional(session.parent_session_id.as_ref().map(SessionId::as_str))
        .optional(session.relation.map(crate::Relation::as_str))
        .double(session.started_at.map(Timestamp::seconds))
        .finish()
}

fn child(print: Fingerprint, child: &NewChild) -> Fingerprint {
    print
        .field(child.id.as_str())
        .optional(child.system_prompt.as_deref())
        .optional(child.model.as_deref())
        .optional(child.title.as_ref().map(Title::as_str))
}

fn messages(print: Fingerprint, messages: &[NewMessage]) -> String {
    let start = print.number(i64::try_from(messages.len()).ok());
    messages.iter().fold(start, |print, message| print.message(&message.body, message.timestamp)).finish()
}

fn usage(print: Fingerprint, update: &UsageUpdate) -> Fingerprint {
    print
        .field(if update.mode == UsageMode::Add { "add" } else { "set" })
        .number(update.input_tokens)
        .number(update.output_tokens)
        .number(update.cache_read_tokens)
        .number(update.cache_write_tokens)
        .number(update.reasoning_tokens)
        .number(update.api_call_count)
        .double(update.estimated_cost_usd)
        .double(update.actual_cost_usd)
        .optional(update.cost_status.as_deref())
        .optional(update.cost_source.as_deref())
        .optional(update.pricing_version.as_deref())
        .optional(update.billing_provider.as_deref())
        .optional(update.billing_base_url.as_deref())
        .optional(update.billing_mode.as_deref())
        .optional(update.model.as_deref())
}

/// Returns the fingerprint of creating a session.
pub fn create(session: &NewSession) -> String {
    new_session(on("create", &session.id), session)
}

/// Returns the fingerprint of creating a session unless it exists.
pub fn ensure(session: &NewSession) -> String {
    new_session(on("ensure", &session.id), session)
}

/// Returns the fingerprint of patching a session.
pub fn update(id: &SessionId, patch: &SessionPatch) -> String {
    let change = |print: Fingerprint, value: Option<Option<&str>>| match value {
        None => print.number(None),
        Some(value) => print.number(Some(1)).optional(value),
    };
    let print = change(on("update", id), patch.system_prompt.as_ref().map(Option::as_deref));
    let print = change(print, patch.model.as_ref().map(Option::as_deref));
    let print = change(print, patch.model_config.as_ref().map(|config| config.as_ref().map(Json::as_str)));
    change(print, patch.user_id.as_ref().map(Option::as_deref)).finish()
}

/// Returns the fingerprint of ending a session.
pub fn end(id: &SessionId, reason: &EndReason) -> String {
    on("end", id).field(reason.as_str()).finish()
}

/// Returns the fingerprint of reopening a session.
pub fn reopen(id: &SessionId) -> String {
    on("reopen", id).finish()
}

/// Returns the fingerprint of setting a title.
pub fn set_title(id: &SessionId, title: Option<&Title>) -> String {
    on("set_title", id).optional(title.map(Title::as_str)).finish()
}

/// Returns the fingerprint of allocating a title.
pub fn allocate_title(id: &SessionId, base: &Title) -> String {
    on("allocate_title", id).field(base.as_str()).finish()
}

/// Returns the fingerprint of giving a title to a session without one.
pub fn entitle(id: &SessionId, base: &Title) -> String {
    on("entitle", id).field(base.as_str()).finish()
}

/// Returns the fingerprint of continuing a session in a new one.
pub fn split(parent: &SessionId, new: &NewChild, transcript: &[NewMessage]) -> String {
    messages(child(on("split", parent), new), transcript)
}

/// Returns the fingerprint of branching from a session.
pub fn branch(parent: &SessionId, new: &NewChild) -> String {
    child(on("branch", parent), new).finish()
}

/// Returns the fingerprint of appending messages.
pub fn append(id: &SessionId, batch: &[NewMessage]) -> String {
    messages(on("append", id), batch)
}

/// Returns the fingerprint of replacing messages.
pub fn replace(id: &SessionId, transcript: &[NewMessage]) -> String {
    messages(on("replace", id), transcript)
}

/// Returns the fingerprint of changing usage counters.
pub fn record_usage(id: &SessionId, update: &UsageUpdate) -> String {
    usage(on("record_usage", id), update).finish()
}

/// Returns the fingerprint of pinning or unpinning a conversation.
pub fn set_pinned(id: &SessionId, is_pinned: bool) -> String {
    on("set_pinned", id).number(Some(is_pinned.into())).finish()
}

/// Returns the fingerprint of archiving or unarchiving a conversation.
pub fn set_archived(id: &SessionId, is_archived: bool) -> String {
    on("set_archived", id).number(Some(is_archived.into())).finish()
}

/// Returns the fingerprint of adding and removing tags.
pub fn change_tags(id: &SessionId, add: &[Tag], remove: &[Tag]) -> String {
    let tags = |print: Fingerprint, tags: &[Tag]| {
        let start = print.number(i64::try_from(tags.len()).ok());
        tags.iter().fold(start, |print, tag| print.field(tag.as_str()))
    };
    tags(tags(on("change_tags", id), add), remove).finish()
}

/// Returns the fingerprint of deleting sessions. Each extent keeps the name that earlier releases stored.
pub fn delete(id: &SessionId, extent: DeleteExtent) -> String {
    let name = match extent {
        DeleteExtent::Conversation => "delete_conversation",
        DeleteExtent::Chain => "delete_chain",
        DeleteExtent::Session => "delete_session",
    };
    on(name, id).finish()
}

/// Returns the fingerprint of moving a chain to the trash. The retention time does not count.
pub fn trash_chain(id: &SessionId) -> String {
    on("trash_chain", id).finish()
}

/// Returns the fingerprint of restoring a conversation from the trash.
pub fn restore(id: &SessionId) -> String {
    on("restore", id).finish()
}

/// Returns the fingerprint of requesting a handoff. The time until it expires does not count.
pub fn request_handoff(id: &SessionId, what: &HandoffRequest) -> String {
    let print = on("request_handoff", id).field(&what.platform);
    match &what.destination {
        // The form that earlier releases stored.
        None => print.finish(),
        Some(destination) => print.field(destination).finish(),
    }
}

/// Returns the fingerprint of claiming a handoff. The holder and the length of the lease do not count.
pub fn claim_handoff(id: &SessionId) -> String {
    on("claim_handoff", id).finish()
}

/// Returns the fingerprint of recording the progress of a handoff. The length of the lease does not count.
pub fn advance_handoff(id: &SessionId, claim: Claim, progress: &HandoffProgress) -> String {
    on("advance_handoff", id)
        .number(Some(claim.0))
        .optional(progress.thread.as_deref())
        .number(progress.turn.map(|turn| turn.0))
        .number(progress.synthetic_from.map(|message| message.0))
        .finish()
}

/// Returns the fingerprint of ending a handoff.
pub fn end_handoff(id: &SessionId, claim: Option<Claim>, end: &HandoffEnd) -> String {
    let print = on("end_handoff", id).number(claim.map(|claim| claim.0));
    match end {
        HandoffEnd::Completed => print.optional(None).finish(),
        HandoffEnd::Failed(why) => print.optional(Some(why)).finish(),
        HandoffEnd::Arrived(route) => switched(print.field("arrived"), route),
    }
}

/// Returns the fingerprint of opening a turn.
pub fn open_turn(turn: &NewTurn) -> String {
    let print = on("open_turn", &turn.session)
        .field(turn.kind.as_str())
        .optional(turn.route.as_ref().map(RouteKey::to_stored).as_deref())
        .number(i64::try_from(turn.said.len()).ok());
    let said = turn.said.iter().fold(print, |print, said| {
        print.number(said.inbox.map(|id| id.0)).message(&said.message.body, said.message.timestamp)
    });
    said.finish()
}

/// Returns the fingerprint of resuming a turn.
pub fn resume_turn(turn: TurnId) -> String {
    Fingerprint::of("resume_turn").number(Some(turn.0)).finish()
}

/// Returns the fingerprint of closing a turn.
pub fn close_turn(turn: TurnId, close: &TurnClose) -> String {
    let print = Fingerprint::of("close_turn").number(Some(turn.0)).number(close.prompt_tokens);
    let print = match &close.usage {
        None => print.number(None),
        Some(update) => usage(print, update),
    };
    let print = print.number(i64::try_from(close.outbound.len()).ok());
    let print = close.outbound.iter().fold(print, |print, reply| {
        let print =
            print.field(reply.account.as_str()).field(&reply.destination).number(i64::try_from(reply.parts.len()).ok());
        reply
            .parts
            .iter()
            .fold(print, |print, part| print.field(&part.body).optional(part.plain.as_deref()).field(&part.nonce))
    });
    messages(print, &close.messages)
}

/// Returns the fingerprint of undoing messages.
pub fn undo(id: &SessionId, from: MessageId) -> String {
    on("undo", id).number(Some(from.0)).finish()
}

/// Returns the fingerprint of switching a route.
pub fn switch(switch: &Switch) -> String {
    switched(Fingerprint::of("switch"), switch)
}

fn switched(print: Fingerprint, switch: &Switch) -> String {
    let end = switch.end.as_ref();
    let origin = switch.origin.as_ref();
    let print = print
        .field(&switch.key.to_stored())
        .number(switch.expected)
        .optional(end.map(|end| end.reason.as_str()))
        .optional(end.and_then(|end| end.cause).map(ResetCause::as_str))
        .optional(origin.map(|origin| origin.session_key.as_str()))
        .optional(origin.and_then(|origin| origin.source.as_deref()))
        .optional(origin.and_then(|origin| origin.display_name.as_deref()))
        .optional(switch.notice.as_deref());
    match &switch.to {
        SwitchTo::Existing(id) => print.field("existing").field(id.as_str()).finish(),
        SwitchTo::New(new) => new_session(print.field("new").field(new.id.as_str()), new),
    }
}

/// Returns the fingerprint of moving a route to another key.
pub fn rekey(from: &RouteKey, to: &RouteKey) -> String {
    Fingerprint::of("rekey").field(&from.to_stored()).field(&to.to_stored()).finish()
}

/// Returns the fingerprint of changing attributes of a route.
pub fn patch_route(key: &RouteKey, patch: &RoutePatch) -> String {
    let print = Fingerprint::of("patch_route").field(&key.to_stored()).number(patch.suspended.map(i64::from));
    let print = match &patch.notice {
        None => print.number(None),
        Some(notice) => print.number(Some(1)).optional(notice.as_deref()),
    };
    match patch.last_prompt_tokens {
        None => print.number(None).finish(),
        Some(tokens) => print.number(Some(1)).number(tokens).finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Request keys that earlier releases stored with these fingerprints are still recognised.
    #[test]
    fn deletions_keep_their_stored_fingerprints() {
        let id = SessionId::from_stored("s");
        let prints =
            [DeleteExtent::Conversation, DeleteExtent::Chain, DeleteExtent::Session].map(|extent| delete(&id, extent));
        assert_eq!(
            prints,
            [
                "0b3b0711b4df70dbd78d878cd1d2e457975989ad7e820944f08a9f845f803c5d",
                "2d98a03c52d2a7c6da14df9c5123ccd7c060fa21f7d6f533ac1297b0f6a6d694",
                "002e84c7d8e5cc06f7aa95b8548617bd9edb326e2313861abbf1c6dba14ca3ce"
            ]
        );
    }
}
