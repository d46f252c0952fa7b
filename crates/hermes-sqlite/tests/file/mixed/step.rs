//! The operations of a random sequence.

use hermes_session::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// The initial state of the file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {
    New,
    /// With the agent's indexes, as of schema 11.
    Inline,
    /// With the agent's indexes, half-way converted to compact ones.
    HalfOptimized,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Append(usize, Vec<usize>),
    Replace(usize, Vec<usize>),
    Split(usize, Vec<usize>),
    Branch(usize),
    Delete(usize),
    DeleteChain(usize),
    /// Makes the first a delegate of the second.
    Link(usize, usize),
    End(usize),
    Prune,
    Import,
    Upkeep,
    Optimize,
    Rebuild,
    Reopen {
        background: bool,
    },
    Foreign(Foreign),
}

#[derive(Debug, Clone)]
pub(super) enum Foreign {
    Insert(usize, usize),
    Change(usize, usize),
    /// Changes a column that no index has.
    Touch(usize),
    Remove(usize),
    RemoveSession(usize),
    /// Drops a trigger and creates it again as the agent does.
    Retrigger(usize),
    Optimize,
    Rebuild,
    Vacuum,
    /// Fills indexes whose triggers were missing as release 0.19 does: with every row, also those in our backlog.
    FillAnew,
}

/// Returns texts of every kind. Words are separated, so that each is one token whatever surrounds it.
pub(super) fn text(kind: usize) -> Vec<u8> {
    match kind % 10 {
        0 => b"alpha beta".to_vec(),
        1 => "alpha 大别山项目".into(),
        2 => "大别山".into(),
        3 => "beta \0 alpha 大别山".into(),
        4 => "\0json:[{\"type\": \"text\", \"text\": \"alpha 大别山\"}]".into(),
        5 => b"\0json:[{\"type\": \"text\", \"text\": \"beta \\u5927\\u522b\\u5c71\"}]".to_vec(),
        6 => Vec::new(),
        7 => b"alpha \xff\xfe beta".to_vec(),
        8 => [b"\xe5\xa4 ".as_slice(), "大别山 alpha".as_bytes(), b" \xc0"].concat(),
        _ => "gamma ".repeat(40).into(),
    }
}

pub(super) fn ours(kind: usize) -> NewMessage {
    let parts = r#"[{"type": "text", "text": "alpha 大别山"}]"#;
    match kind % 10 {
        4 | 5 => NewMessage::new(Role::User, Content::Json(Json::parse(parts).unwrap())),
        7 | 8 => {
            let body = MessageBody {
                tool_name: Some("alpha".to_owned()),
                tool_calls: Some(Json::parse(r#"[{"id": "beta 大别山"}]"#).unwrap()),
                ..MessageBody::empty(Role::Assistant)
            };
            body.into()
        }
        kind => NewMessage::new(Role::User, String::from_utf8(text(kind)).unwrap()),
    }
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kinds = || vec(0..10_usize, 0..5);
    let foreign = prop_oneof![
        4 => (0..4_usize, 0..10_usize).prop_map(|(session, kind)| Foreign::Insert(session, kind)),
        4 => (any::<usize>(), 0..10_usize).prop_map(|(place, kind)| Foreign::Change(place, kind)),
        1 => any::<usize>().prop_map(Foreign::Touch),
        3 => any::<usize>().prop_map(Foreign::Remove),
        1 => (0..4_usize).prop_map(Foreign::RemoveSession),
        2 => (0..6_usize).prop_map(Foreign::Retrigger),
        1 => Just(Foreign::Optimize),
        1 => Just(Foreign::Rebuild),
        1 => Just(Foreign::Vacuum),
        1 => Just(Foreign::FillAnew),
    ];
    let step = prop_oneof![
        5 => (0..4_usize, kinds()).prop_map(|(session, kinds)| Step::Append(session, kinds)),
        2 => (0..4_usize, kinds()).prop_map(|(session, kinds)| Step::Replace(session, kinds)),
        1 => (0..4_usize, kinds()).prop_map(|(session, kinds)| Step::Split(session, kinds)),
        1 => (0..4_usize).prop_map(Step::Branch),
        2 => (0..4_usize).prop_map(Step::Delete),
        2 => (0..4_usize).prop_map(Step::DeleteChain),
        3 => (0..4_usize, 0..4_usize).prop_map(|(child, parent)| Step::Link(child, parent)),
        1 => (0..4_usize).prop_map(Step::End),
        1 => Just(Step::Prune),
        1 => Just(Step::Import),
        3 => Just(Step::Upkeep),
        3 => Just(Step::Optimize),
        1 => Just(Step::Rebuild),
        1 => any::<bool>().prop_map(|background| Step::Reopen { background }),
        12 => foreign.prop_map(Step::Foreign),
    ];
    vec(step, 5..40)
}
