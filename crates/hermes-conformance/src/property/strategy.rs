//! Generation of operations.

mod lines;

use super::live::{self, Live};
use super::operation::{Operation, Step};
use crate::fixture::{at, id, json, key, source, structured, title};
use hermes_session::live::{Switch, SwitchTo};
use hermes_session::retention::RetentionPolicy;
use hermes_session::{
    Content, Emptying, EndReason, Json, MessageBody, NewChild, NewMessage, NewSession, Relation, Request, RequestKey,
    Role, SessionId, SessionPatch, Tag, Timestamp, Title, UsageMode, UsageUpdate,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;
use std::collections::BTreeSet;

/// The pool of ids; two of them differ only by case.
pub(super) const SESSIONS: [&str; 10] = ["a", "A", "ab", "b", "c", "d", "e", "f", "g", "é"];
/// The pool of titles, including numbered ones.
pub(super) const TITLES: [&str; 7] = ["t", "T", "t #2", "t #3", "t #10", "u", "u #2"];

/// Generates operations. Most concern sessions that should exist, and a change with a key may be repeated.
pub(super) struct Machine;

/// The expected result of the operations so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Traces {
    made: BTreeSet<SessionId>,
    trashed: BTreeSet<SessionId>,
    sent: Vec<Step>,
}

impl ReferenceStateMachine for Machine {
    type State = Traces;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Traces> {
        Just(Traces::default()).boxed()
    }

    fn transitions(traces: &Traces) -> BoxedStrategy<Step> {
        let new = (operation(traces), time(), option::weighted(0.2, request_key()), live::strategy::relies()).prop_map(
            |(operation, at, key, relies)| Step { operation, request: Request { key, ..Request::at(at) }, relies },
        );
        if traces.sent.is_empty() {
            return new.boxed();
        }
        let again = (select(traces.sent.clone()), time())
            .prop_map(|(step, at)| Step { request: Request { at, ..step.request }, ..step });
        prop_oneof![7 => new, 1 => again].boxed()
    }

    fn apply(mut traces: Traces, step: &Step) -> Traces {
        let made = match &step.operation {
            Operation::Create(new) | Operation::Ensure(new) => Some((&new.id, new.parent_session_id.as_ref())),
            Operation::Live(Live::Switch { switch: Switch { to: SwitchTo::New(new), .. }, .. }) => {
                Some((&new.id, None))
            }
            Operation::Split(parent, child, _) | Operation::Branch(parent, child) => Some((&child.id, Some(parent))),
            _ => None,
        };
        if let Some((id, parent)) = made
            && parent.is_none_or(|parent| traces.made.contains(parent))
        {
            traces.made.insert(id.clone());
        }
        match &step.operation {
            Operation::DeleteConversation(id) | Operation::DeleteChain(id) | Operation::DeleteSession(id) => {
                _ = traces.made.remove(id);
            }
            Operation::TrashChain(id) if traces.made.remove(id) => _ = traces.trashed.insert(id.clone()),
            Operation::Restore(id) if traces.trashed.remove(id) => _ = traces.made.insert(id.clone()),
            _ => {}
        }
        if let Operation::Import(lines) = &step.operation {
            traces.made.extend(lines.iter().map(|(id, _)| id.clone()));
        }
        traces.sent.extend(step.request.key.is_some().then(|| step.clone()));
        traces
    }
}

impl Traces {
    /// Usually generates a session that should exist.
    pub(super) fn known(&self) -> BoxedStrategy<SessionId> {
        any_of(self.made.iter().cloned().collect())
    }

    /// Usually generates a session that should not exist yet.
    pub(super) fn unknown(&self) -> BoxedStrategy<SessionId> {
        any_of(SESSIONS.map(id).into_iter().filter(|id| !self.made.contains(id)).collect())
    }
}

fn any_of(likely: Vec<SessionId>) -> BoxedStrategy<SessionId> {
    let any = select(&SESSIONS[..]).prop_map(id);
    if likely.is_empty() { any.boxed() } else { prop_oneof![6 => select(likely), 1 => any].boxed() }
}

fn operation(traces: &Traces) -> BoxedStrategy<Operation> {
    let known = || traces.known();
    if traces.made.is_empty() {
        return new_session(known(), known()).prop_map(Operation::Create).boxed();
    }
    prop_oneof![
        5 => new_session(traces.unknown(), known()).prop_map(Operation::Create),
        1 => new_session(known(), known()).prop_map(Operation::Create),
        2 => new_session(traces.unknown(), known()).prop_map(Operation::Ensure),
        2 => new_session(known(), known()).prop_map(Operation::Ensure),
        2 => (known(), patch()).prop_map(|(id, patch)| Operation::Update(id, patch)),
        3 => (known(), end_reason()).prop_map(|(id, reason)| Operation::End(id, reason)),
        2 => known().prop_map(Operation::Reopen),
        3 => (known(), option::weighted(0.8, any_title())).prop_map(|(id, title)| Operation::SetTitle(id, title)),
        3 => (known(), any_title()).prop_map(|(id, base)| Operation::AllocateTitle(id, base)),
        4 => (known(), child(traces), batch()).prop_map(|(id, child, batch)| Operation::Split(id, child, batch)),
        3 => (known(), child(traces)).prop_map(|(id, child)| Operation::Branch(id, child)),
        5 => (known(), batch()).prop_map(|(id, batch)| Operation::Append(id, batch)),
        2 => (known(), batch()).prop_map(|(id, batch)| Operation::Replace(id, batch)),
        2 => (known(), usage()).prop_map(|(id, update)| Operation::RecordUsage(id, update)),
        1 => known().prop_map(Operation::DeleteConversation),
        2 => known().prop_map(Operation::DeleteChain),
        2 => known().prop_map(Operation::DeleteSession),
        2 => known().prop_map(Operation::TrashChain),
        3 => any_of(traces.trashed.iter().cloned().collect()).prop_map(Operation::Restore),
        1 => prop_oneof![
            4 => time().prop_map(Emptying::Over),
            2 => any_of(traces.trashed.iter().cloned().collect()).prop_map(Emptying::One),
            1 => Just(Emptying::All),
        ].prop_map(Operation::EmptyTrash),
        1 => policy().prop_map(Operation::Prune),
        2 => lines::some(traces).prop_map(Operation::Import),
        1 => (known(), known(), relation()).prop_map(|(child, parent, relation)| Operation::Link(child, parent, relation)),
        3 => (known(), prop::bool::weighted(0.7)).prop_map(|(id, is_pinned)| Operation::SetPinned(id, is_pinned)),
        3 => (known(), prop::bool::weighted(0.7)).prop_map(|(id, is_archived)| Operation::SetArchived(id, is_archived)),
        3 => (known(), tags(), tags()).prop_map(|(id, add, remove)| Operation::ChangeTags(id, add, remove)),
        36 => live::strategy::operation(traces).prop_map(Operation::Live),
    ]
    .boxed()
}

/// Generates a retention policy of a few seconds, because all operations take place within two minutes.
fn policy() -> impl Strategy<Value = RetentionPolicy> {
    let source = option::weighted(0.3, select(&["cli", "unknown"][..]).prop_map(source));
    (0..20_i32, source, any::<bool>()).prop_map(|(seconds, source, each)| {
        let policy = RetentionPolicy::new(f64::from(seconds) * 2.5 / 86_400.0, source).unwrap();
        if each { policy.each_session() } else { policy }
    })
}

fn tags() -> impl Strategy<Value = Vec<Tag>> {
    prop::collection::vec(select(&["x", "y", "z"][..]).prop_map(Tag::from_stored), 0..3)
}

fn any_title() -> impl Strategy<Value = Title> {
    select(&TITLES[..]).prop_map(title)
}

fn request_key() -> impl Strategy<Value = RequestKey> {
    select(&["k", "K", "l", "m", "n"][..]).prop_map(key)
}

/// Generates one of a few times, so that some are equal, in no order.
pub(super) fn time() -> impl Strategy<Value = Timestamp> {
    (-6..30_i32).prop_map(|step| at(f64::from(step) * 2.5))
}

pub(super) fn end_reason() -> impl Strategy<Value = EndReason> {
    select(&["compression", "branched", "cli_close"][..]).prop_map(|text| EndReason::parse(text).unwrap())
}

fn text() -> impl Strategy<Value = Option<String>> {
    option::of(select(&["u", "U", "", "\u{202e} 🚀 '"][..]).prop_map(str::to_owned))
}

fn config() -> impl Strategy<Value = Option<Json>> {
    option::weighted(
        0.3,
        select(&[r#"{"a": 1}"#, r#"{"_branched_from": "a"}"#, r#"{"_delegate_from": "a"}"#][..]).prop_map(json),
    )
}

fn new_session(id: BoxedStrategy<SessionId>, parent: BoxedStrategy<SessionId>) -> impl Strategy<Value = NewSession> {
    let kin = prop_oneof![
        3 => Just((None, None)),
        3 => parent.clone().prop_map(|parent| (Some(parent), None)),
        3 => (parent, relation()).prop_map(|(parent, relation)| (Some(parent), Some(relation))),
        1 => option::of(Just(Relation::Root)).prop_map(|relation| (None, relation)),
    ];
    let tag = select(&["cli", "unknown", "unknown", "cron"][..]);
    (id, tag, text(), text(), config(), kin, option::weighted(0.3, time())).prop_map(
        |(id, tag, user_id, model, model_config, (parent_session_id, relation), started_at)| NewSession {
            user_id,
            model,
            model_config,
            parent_session_id,
            relation,
            started_at,
            ..NewSession::new(id, source(tag))
        },
    )
}

fn relation() -> impl Strategy<Value = Relation> {
    prop_oneof![
        6 => select(&[Relation::Continuation, Relation::Branch, Relation::Delegate][..]),
        1 => Just(Relation::Root),
    ]
}

fn child(traces: &Traces) -> impl Strategy<Value = NewChild> + use<> {
    (traces.unknown(), text(), option::weighted(0.2, any_title())).prop_map(|(id, model, title)| NewChild {
        id,
        system_prompt: None,
        model,
        title,
    })
}

fn patch() -> impl Strategy<Value = SessionPatch> {
    (option::of(text()), option::of(text()), option::of(config()), option::of(text())).prop_map(
        |(system_prompt, model, model_config, user_id)| SessionPatch { system_prompt, model, model_config, user_id },
    )
}

pub(super) fn batch() -> impl Strategy<Value = Vec<NewMessage>> {
    prop::collection::vec(message(), 0..4)
}

pub(super) fn message() -> impl Strategy<Value = NewMessage> {
    let role = select(&["user", "user", "assistant", "tool", "session_meta"][..]);
    let plain = select(&["", " \n", "hi", "a\0b", "\0json:[1]", "<memory-context>x</memory-context>\nyes", "大"][..]);
    let content = prop_oneof![
        5 => plain.prop_map(Content::from),
        1 => select(&[r#""\ud800""#, r#"[{"type": "text", "text": "part"}]"#, "[]", "NaN"][..]).prop_map(structured),
    ];
    let calls = select(&["[]", "[{}]", r#"[{"id": "x"}, {"id": "y"}]"#][..]).prop_map(json);
    let short = option::weighted(0.1, Just("x".to_owned()));
    // Sometimes an invalid message.
    let tool_name = prop_oneof![20 => short.clone(), 1 => Just(Some("\0".to_owned()))];
    (
        role,
        option::weighted(0.9, content),
        option::weighted(0.3, calls),
        tool_name,
        short,
        option::weighted(0.4, time()),
    )
        .prop_map(|(role, content, tool_calls, tool_name, reasoning, timestamp)| {
            let role = Role::parse(role).unwrap();
            let body = MessageBody { content, tool_calls, tool_name, reasoning, ..MessageBody::empty(role) };
            NewMessage { body, timestamp }
        })
}

pub(super) fn usage() -> impl Strategy<Value = UsageUpdate> {
    let count = || option::of(-2..9_i64);
    // Quarters are exact, so that a sum does not depend on the order.
    let cost = || option::of((-2..9_i32).prop_map(|quarters| f64::from(quarters) * 0.25));
    let mode = select(&[UsageMode::Add, UsageMode::Add, UsageMode::Set][..]);
    (mode, count(), count(), cost(), cost(), text(), text(), text()).prop_map(
        |(
            mode,
            input_tokens,
            api_call_count,
            estimated_cost_usd,
            actual_cost_usd,
            cost_status,
            billing_mode,
            model,
        )| {
            UsageUpdate {
                mode,
                input_tokens,
                api_call_count,
                estimated_cost_usd,
                actual_cost_usd,
                cost_status,
                billing_mode,
                model,
                ..UsageUpdate::default()
            }
        },
    )
}
