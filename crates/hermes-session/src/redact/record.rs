//! Secrets in sessions and messages.

use super::json::masked_json;
use super::{Counts, Kind, masked};
use crate::extra::Table;
use crate::{Content, Extra, Fault, Json, Message, Scalar, Session, SessionId};
use std::collections::BTreeMap;

/// Masks the sessions and messages of an export, and remembers what it masked.
#[derive(Debug, Default)]
pub struct Redactor {
    found: BTreeMap<SessionId, Counts>,
}

/// A number of secrets of one kind that were masked in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// The kind.
    pub kind: Kind,
    /// The number.
    pub count: u64,
}

impl Redactor {
    /// Masks the texts of a session.
    pub fn session(&mut self, session: &mut Session) {
        let id = session.id.clone();
        self.count(&id, |counts| {
            text(&mut session.title, counts);
            text(&mut session.system_prompt, counts);
            text(&mut session.handoff.error, counts);
            text(&mut session.usage.billing_base_url, counts);
            json(&mut session.model_config, counts);
            extra(Table::Sessions, &mut session.extra, counts);
            faults(&mut session.faults, counts);
        });
    }

    /// Masks the texts of a message: its content, tool calls and reasoning.
    pub fn message(&mut self, message: &mut Message) {
        let id = message.session_id.clone();
        self.count(&id, |counts| {
            let body = &mut message.body;
            content(&mut body.content, counts);
            json(&mut body.tool_calls, counts);
            text(&mut body.reasoning, counts);
            text(&mut body.reasoning_content, counts);
            json(&mut body.reasoning_details, counts);
            json(&mut body.codex_reasoning_items, counts);
            json(&mut body.codex_message_items, counts);
            extra(Table::Messages, &mut message.extra, counts);
            faults(&mut message.faults, counts);
        });
    }

    /// Returns what was masked, by session and kind.
    pub fn found(&self) -> impl Iterator<Item = Masked<'_>> {
        self.found.iter().flat_map(|(session, counts)| {
            counts.iter().map(move |(kind, count)| Masked { session, kind: *kind, count: *count })
        })
    }

    fn count(&mut self, id: &SessionId, mask: impl FnOnce(&mut Counts)) {
        let mut counts = Counts::new();
        mask(&mut counts);
        if !counts.is_empty() {
            let all = self.found.entry(id.clone()).or_default();
            counts.into_iter().for_each(|(kind, count)| *all.entry(kind).or_default() += count);
        }
    }
}

fn text(value: &mut Option<String>, counts: &mut Counts) {
    if let Some(text) = value
        && let std::borrow::Cow::Owned(masked) = masked(text, counts)
    {
        *text = masked;
    }
}

fn json(value: &mut Option<Json>, counts: &mut Counts) {
    if let Some(json) = value
        && let Some(masked) = masked_json(json, counts)
    {
        *json = masked;
    }
}

/// Returns bytes without their secrets, as text; `None` if they have none.
fn bytes(bytes: &[u8], counts: &mut Counts) -> Option<String> {
    let lossy = String::from_utf8_lossy(bytes);
    match masked(&lossy, counts) {
        std::borrow::Cow::Owned(masked) => Some(masked),
        std::borrow::Cow::Borrowed(_) => None,
    }
}

fn content(value: &mut Option<Content>, counts: &mut Counts) {
    let changed = match value {
        None => None,
        Some(Content::Text(text)) => match masked(text, counts) {
            std::borrow::Cow::Owned(masked) => Some(Content::Text(masked)),
            std::borrow::Cow::Borrowed(_) => None,
        },
        Some(Content::Json(json)) => masked_json(json, counts).map(Content::Json),
        Some(Content::Bytes(raw)) => bytes(raw, counts).map(Content::Text),
    };
    if changed.is_some() {
        *value = changed;
    }
}

/// Masks columns of newer agents. One that holds JSON is masked as JSON.
fn extra(table: Table, values: &mut Extra, counts: &mut Counts) {
    let mut changed = Vec::new();
    for (column, value) in values.iter() {
        let masked = match value {
            Scalar::Text(text) => match Json::parse(text) {
                Ok(json) if text.starts_with(['{', '[']) => masked_json(&json, counts).map(|json| json.to_string()),
                _ => bytes(text.as_bytes(), counts),
            },
            Scalar::Bytes(raw) => bytes(raw, counts),
            Scalar::Null | Scalar::Integer(_) | Scalar::Real(_) => None,
        };
        changed.extend(masked.map(|masked| (column.to_owned(), masked)));
    }
    changed.into_iter().for_each(|(column, masked)| values.set(table, &column, Scalar::Text(masked)));
}

fn faults(values: &mut [Fault], counts: &mut Counts) {
    for fault in values {
        if let Some(masked) = bytes(&fault.raw, counts) {
            fault.raw = masked.into_bytes();
        }
    }
}
