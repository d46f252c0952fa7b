//! Generated lines of an export: in our format, and some in the agent's.

use super::{Traces, any_title, config, end_reason, message, relation, text, time};
use crate::fixture::source;
use hermes_session::export::{FORMAT, SESSION_LINE_END, message_object, session_line_head};
use hermes_session::{
    EndReason, Extra, HandoffColumns, Message, MessageId, NewMessage, Relation, Session, SessionId, Timestamp, Usage,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Generates a few lines, each with the id of its session.
pub(super) fn some(traces: &Traces) -> impl Strategy<Value = Vec<(SessionId, String)>> + use<> {
    let id = prop_oneof![4 => traces.unknown(), 1 => traces.known()];
    let parent = prop_oneof![1 => traces.unknown(), 2 => traces.known()];
    prop::collection::vec(line(id.boxed(), parent.boxed()), 1..4)
}

fn line(id: BoxedStrategy<SessionId>, parent: BoxedStrategy<SessionId>) -> impl Strategy<Value = (SessionId, String)> {
    let said = (message(), -1..40_i64, time());
    let ended = option::of((time(), end_reason()));
    let is_plain = select(&[false, false, true][..]);
    let kin = option::of((parent, relation()));
    (id, kin, time(), ended, text(), config(), option::of(any_title()), prop::collection::vec(said, 0..4), is_plain)
        .prop_map(|(id, kin, started_at, ended, model, model_config, title, said, is_plain)| {
            let (parent, relation) = kin.unzip();
            let messages: Vec<Message> = said.into_iter().map(|said| said_in(&id, said)).collect();
            let session = Session {
                model,
                model_config,
                parent_session_id: parent,
                relation: relation.unwrap_or(Relation::Root),
                ended_at: ended.as_ref().map(|(at, _)| *at),
                end_reason: ended.map(|(_, reason): (_, EndReason)| reason),
                message_count: messages.len() as i64,
                tool_call_count: messages.iter().map(|message| message.body.tool_call_count()).sum(),
                title: title.map(|title| title.as_str().to_owned()),
                ..empty(id.clone(), started_at)
            };
            (id, written(&session, &messages, is_plain))
        })
}

fn said_in(session: &SessionId, (message, number, at): (NewMessage, i64, Timestamp)) -> Message {
    let timestamp = message.timestamp.unwrap_or(at);
    Message::new(MessageId(number), session.clone(), timestamp, message.body)
}

fn empty(id: SessionId, started_at: Timestamp) -> Session {
    Session {
        id,
        source: source("cli"),
        user_id: None,
        model: None,
        model_config: None,
        system_prompt: None,
        parent_session_id: None,
        relation: Relation::Root,
        started_at,
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
    }
}

/// Returns the line. A plain one contains neither the format nor the relation, like those of the agent.
fn written(session: &Session, messages: &[Message], is_plain: bool) -> String {
    let mut head = session_line_head(session);
    if is_plain {
        head = head.replace(&format!("\"format\": \"{FORMAT}\", "), "");
        head = head.replace(&format!(", \"relation\": \"{}\"", session.relation.as_str()), "");
    }
    let messages: Vec<String> = messages.iter().map(message_object).collect();
    format!("{head}{}{SESSION_LINE_END}", messages.join(", "))
}
