//! Parses a line of an export into a session and its messages.

use super::TableRow;
use super::extra;
use super::fields::{Fields, missing, strange};
use super::live::{self, Live};
use super::trashed::InTrash;
use crate::export::{FORMAT, PINS_AND_TAGS_FORMAT, base64};
use crate::extra::Table;
use crate::json::parts;
use crate::{
    Content, EndReason, HandoffColumns, Invalid, Json, JsonKind, Message, MessageBody, MessageId, PinAndTags, Relation,
    Role, Session, SessionId, Source, StateCounts, Tag, Timestamp, Usage,
};

/// Maximum number of lost columns that are reported for a line.
const MAX_LOST: usize = 50;

/// A line in its canonical JSON spelling.
pub(super) struct ImportLine(Json);

/// A parsed line. Messages are parsed one by one, so that a long session is not held twice.
pub(super) struct Parsed<'a> {
    pub(super) session: Session,
    /// Relation to the parent; `None` if the line does not say, as in the agent's own lines.
    pub(super) relation: Option<Relation>,
    pub(super) messages: Messages<'a>,
    /// Number of messages of each state.
    pub(super) states: StateCounts,
    /// Pin and tags stored with the session.
    pub(super) pins_and_tags: PinAndTags,
    /// Trash entry that the session belongs to, if it is in the trash.
    pub(super) trash: Option<InTrash>,
    /// Rows of other tables that were in the trash with the session.
    pub(super) rows: Vec<TableRow>,
    /// Columns that are not imported, with the reason.
    pub(super) lost: Vec<String>,
}

/// Notes of people on a session that should exist already.
pub(super) struct Notes {
    pub(super) id: SessionId,
    pub(super) pins_and_tags: PinAndTags,
    pub(super) is_archived: bool,
    /// Values that are not imported, with the reason.
    pub(super) lost: Vec<String>,
}

/// The messages of a line.
pub(super) struct Messages<'a> {
    session: SessionId,
    texts: Vec<&'a str>,
    is_ours: bool,
    started_at: Timestamp,
}

impl ImportLine {
    /// Reads a line. The bytes can be dropped afterwards.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Invalid> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| strange("line", &format!("not UTF-8 from byte {} on", error.valid_up_to())))?;
        // Without its break, a line that was cut in a string is not reported to have a control character there.
        Json::parse(text.strip_prefix('\u{feff}').unwrap_or(text).trim_end_matches(['\n', '\r'])).map(Self)
    }

    /// Returns the notes on a session of a line that has nothing else; `None` for any other line.
    pub(super) fn notes(&self) -> Result<Option<Notes>, Invalid> {
        let fields = Fields::of("line", self.0.as_str())?;
        if fields.text("format").ok().flatten().as_deref() != Some(PINS_AND_TAGS_FORMAT) {
            return Ok(None);
        }
        let id = SessionId::parse(fields.text("id")?.ok_or_else(|| missing("id"))?)?;
        let mut lost = Vec::new();
        let pins_and_tags = pins_and_tags(&fields, &mut lost)?;
        Ok(Some(Notes { id, pins_and_tags, is_archived: is_archived(&fields), lost }))
    }

    /// Returns the data of live clients of a line that has nothing else; `None` for any other line.
    pub(super) fn live(&self) -> Result<Option<Live>, Invalid> {
        live::read(&Fields::of("line", self.0.as_str())?)
    }

    /// Parses the line and checks that every message can be read.
    pub(super) fn parse(&self) -> Result<Parsed<'_>, Invalid> {
        let fields = Fields::of("line", self.0.as_str())?;
        let is_ours = match fields.text("format")? {
            None => false,
            Some(format) if format == FORMAT => true,
            Some(format) => return Err(strange("format", &format)),
        };
        let texts = match fields.raw("messages") {
            Some(list) if list.starts_with('[') => parts(list),
            Some(_) => return Err(strange("messages", "no list")),
            None => return Err(missing("messages")),
        };
        let mut lost = Vec::new();
        let relation = match fields.text("relation")? {
            None => None,
            Some(text) => Some(Relation::from_stored(&text).ok_or_else(|| strange("relation", &text))?),
        };
        let mut session = session(&fields, is_ours, &mut lost)?;
        let messages = Messages { session: session.id.clone(), texts, is_ours, started_at: session.started_at };
        let (mut count, mut calls, mut states) = (0, 0, StateCounts::default());
        for place in 0..messages.len() {
            let message = messages.read(place, &mut lost).map_err(|error| {
                Invalid::new("message", format!("{}: {error}", place + 1), "give a line of an export")
            })?;
            if message.state.is_active() {
                count += 1;
                calls += message.body.tool_call_count();
            }
            states.add(message.state);
        }
        if !fields.has("message_count") {
            session.message_count = count;
        }
        if !fields.has("tool_call_count") {
            session.tool_call_count = calls;
        }
        session.relation = relation.unwrap_or(Relation::Root);
        let pins_and_tags = if is_ours { pins_and_tags(&fields, &mut lost)? } else { PinAndTags::default() };
        let trash = fields.raw("trash").filter(|_| is_ours).map(InTrash::read).transpose()?;
        let (trash, rows) = trash.map_or_else(Default::default, |(trash, rows)| (Some(trash), rows));
        Ok(Parsed { session, relation, messages, states, pins_and_tags, trash, rows, lost })
    }
}

fn session(fields: &Fields<'_>, is_ours: bool, lost: &mut Vec<String>) -> Result<Session, Invalid> {
    let id = SessionId::parse(fields.text("id")?.ok_or_else(|| missing("id"))?)?;
    let short = |key: &'static str| without_nul(key, fields.text(key)?);
    let parent = fields.text("parent_session_id")?.map(SessionId::parse).transpose()?;
    faults(fields, lost);
    Ok(Session {
        source: Source::from_stored(short("source")?.ok_or_else(|| missing("source"))?),
        user_id: short("user_id")?,
        model: short("model")?,
        model_config: column(fields, "model_config", is_ours, lost),
        system_prompt: fields.text("system_prompt")?,
        parent_session_id: parent.filter(|parent| *parent != id),
        relation: Relation::Root,
        started_at: fields.time("started_at")?.ok_or_else(|| missing("started_at"))?,
        ended_at: fields.time("ended_at")?,
        end_reason: short("end_reason")?.map(EndReason::from_stored),
        message_count: fields.integer("message_count")?.unwrap_or(0),
        tool_call_count: fields.integer("tool_call_count")?.unwrap_or(0),
        usage: Usage {
            input_tokens: fields.integer("input_tokens")?.unwrap_or(0),
            output_tokens: fields.integer("output_tokens")?.unwrap_or(0),
            cache_read_tokens: fields.integer("cache_read_tokens")?.unwrap_or(0),
            cache_write_tokens: fields.integer("cache_write_tokens")?.unwrap_or(0),
            reasoning_tokens: fields.integer("reasoning_tokens")?.unwrap_or(0),
            api_call_count: fields.integer("api_call_count")?.unwrap_or(0),
            estimated_cost_usd: fields.double("estimated_cost_usd")?,
            actual_cost_usd: fields.double("actual_cost_usd")?,
            cost_status: short("cost_status")?,
            cost_source: short("cost_source")?,
            pricing_version: short("pricing_version")?,
            billing_provider: short("billing_provider")?,
            billing_base_url: short("billing_base_url")?,
            billing_mode: short("billing_mode")?,
        },
        title: short("title")?,
        handoff: HandoffColumns {
            state: short("handoff_state")?,
            platform: short("handoff_platform")?,
            error: short("handoff_error")?,
        },
        archived: is_archived(fields),
        extra: extra::read(fields, Table::Sessions, is_ours, lost),
        faults: Vec::new(),
        id,
    })
}

/// Reads whether the session is archived.
fn is_archived(fields: &Fields<'_>) -> bool {
    fields.raw("archived").is_some_and(|value| !matches!(value, "0" | "false"))
}

/// Reads the pin and the tags. An invalid tag is reported and does not prevent the rest from being read.
fn pins_and_tags(fields: &Fields<'_>, lost: &mut Vec<String>) -> Result<PinAndTags, Invalid> {
    let mut pins_and_tags = PinAndTags { pinned_at: fields.time("pinned_at")?, tags: Vec::new() };
    match fields.raw("tags") {
        None => {}
        Some(list) if list.starts_with('[') => {
            for text in parts(list) {
                let tag = Json::of_spelled(text).to_plain_string().map(|text| Tag::parse(&text));
                match tag {
                    Some(Ok(tag)) => pins_and_tags.tags.push(tag),
                    Some(Err(why)) => lose(lost, format!("a tag is not valid: {why}")),
                    None => lose(lost, "a tag is not text".to_owned()),
                }
            }
        }
        Some(_) => lose(lost, "tags is not a list".to_owned()),
    }
    Ok(PinAndTags::default().joined(&pins_and_tags))
}

impl Messages<'_> {
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the length of a message's text on the line, in bytes.
    pub(super) fn size(&self, place: usize) -> usize {
        self.texts[place].len()
    }

    /// Reads the message at `place`. Columns that are not imported are added to `lost`.
    pub(super) fn read(&self, place: usize, lost: &mut Vec<String>) -> Result<Message, Invalid> {
        let fields = Fields::of("message", self.texts[place])?;
        let short = |key: &'static str| without_nul(key, fields.text(key)?);
        let json = |key: &'static str, lost: &mut Vec<String>| column(&fields, key, self.is_ours, lost);
        faults(&fields, lost);
        let body = MessageBody {
            role: Role::parse(&fields.text("role")?.ok_or_else(|| missing("role"))?)?,
            content: content(&fields)?,
            tool_call_id: short("tool_call_id")?,
            // The agent too writes this column as JSON, not as text.
            tool_calls: fields.json("tool_calls"),
            tool_name: short("tool_name")?,
            token_count: fields.integer("token_count")?,
            finish_reason: short("finish_reason")?,
            reasoning: fields.text("reasoning")?,
            reasoning_content: fields.text("reasoning_content")?,
            reasoning_details: json("reasoning_details", lost),
            codex_reasoning_items: json("codex_reasoning_items", lost),
            codex_message_items: json("codex_message_items", lost),
        };
        Ok(Message {
            id: MessageId(fields.integer("id")?.unwrap_or(0)),
            session_id: self.session.clone(),
            timestamp: fields.time("timestamp")?.unwrap_or(self.started_at),
            body,
            state: extra::state(&fields)?,
            extra: extra::read(&fields, Table::Messages, self.is_ours, lost),
            faults: Vec::new(),
        })
    }
}

fn content(fields: &Fields<'_>) -> Result<Option<Content>, Invalid> {
    let encoding = fields.text("content_encoding")?;
    match (encoding.as_deref(), fields.json("content")) {
        (None, content) => Ok(content.map(Content::from_json)),
        (Some("json"), None) => Ok(Some(Content::Json(Json::of_spelled("null")))),
        (Some("json"), Some(content)) => Ok(Some(Content::from_json(content))),
        (Some("base64"), Some(content)) => {
            let text = Fields::of("content", content.as_str())?.text("base64")?.ok_or_else(|| missing("base64"))?;
            let bytes = base64::decode(&text).ok_or_else(|| strange("content", "not base64"))?;
            Ok(Some(Content::Bytes(bytes).normalized()))
        }
        (Some(other), _) => Err(strange("content_encoding", other)),
    }
}

/// Reads a column of JSON. In the agent's own lines it is text that holds JSON.
fn column(fields: &Fields<'_>, key: &'static str, is_ours: bool, lost: &mut Vec<String>) -> Option<Json> {
    let json = fields.json(key)?;
    if is_ours || json.kind() != JsonKind::String {
        return Some(json);
    }
    let parsed = json.to_plain_string().and_then(|text| Json::parse(&text).ok());
    if parsed.is_none() {
        lose(lost, format!("{key} is not JSON"));
    }
    parsed
}

/// Reports the columns that could not be read when the line was written. They have no value in the line.
fn faults(fields: &Fields<'_>, lost: &mut Vec<String>) {
    let Some(faults) = fields.raw("faults").and_then(|faults| Fields::of("faults", faults).ok()) else { return };
    faults.keys().for_each(|column| lose(lost, format!("{column} could not be read in the store it comes from")));
}

/// Reports a column once, however many messages have it.
pub(super) fn lose(lost: &mut Vec<String>, what: String) {
    if lost.len() < MAX_LOST && !lost.contains(&what) {
        lost.push(what);
    }
}

fn without_nul(what: &'static str, text: Option<String>) -> Result<Option<String>, Invalid> {
    match text {
        Some(text) if text.contains('\0') => Err(Invalid::new(what, "holds a NUL character", "leave it out")),
        text => Ok(text),
    }
}

#[cfg(test)]
mod tests;
