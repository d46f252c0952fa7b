//! Checks whether the content of a line is in the store already.

use super::lacking::Lacking;
use super::line::Parsed;
use crate::extra::Table;
use crate::title::split_number;
use crate::{ConversationStore, Maintenance, Message, MessageRequest, Relation, Session, StoreError, Title};

/// Messages compared at once.
const PAGE: u32 = 100;

/// Result of comparing a line with the session stored under its id.
pub(super) enum Comparison {
    /// There is no such session.
    New,
    /// The content is the same.
    Same,
    /// The content is the same, but the stored session has lost its parent, or has not got it yet.
    WithoutParent,
    /// The content differs in this respect.
    Other(String),
}

/// Compares a line with the session of its id. Ignores columns that the store has no place for, because an earlier
/// import of the line left them out.
pub(super) async fn compare(
    store: &dyn Maintenance,
    line: &Parsed<'_>,
    lacking: &mut Lacking,
) -> Result<Comparison, StoreError> {
    let stored = match store.session(&line.session.id).await {
        Ok(None) => return Ok(Comparison::New),
        Ok(Some(stored)) => stored,
        Err(StoreError::Corrupt { what, .. }) => {
            return Ok(Comparison::Other(format!("the stored one is damaged: {what}")));
        }
        Err(error) => return Err(error),
    };
    let other = |column: &str| Ok(Comparison::Other(format!("{column} differs")));
    let kept = lacking.kept(store, Table::Sessions, &line.session.extra).await?;
    if let Some(column) = difference(&stored, &Session { extra: kept, ..line.session.clone() }) {
        return other(column);
    }
    if stored.title != line.session.title && !is_renamed(store, &stored, &line.session).await? {
        return other("title");
    }
    let is_without_parent = stored.parent_session_id.is_none() && line.session.parent_session_id.is_some();
    if is_without_parent && stored.relation != Relation::Root {
        return other("relation");
    }
    if !is_without_parent {
        if stored.parent_session_id != line.session.parent_session_id {
            return other("parent_session_id");
        }
        if line.relation.is_some_and(|relation| relation != stored.relation) {
            return other("relation");
        }
    }
    if let Some(what) = transcript(store, line, lacking).await? {
        return Ok(Comparison::Other(what));
    }
    Ok(if is_without_parent { Comparison::WithoutParent } else { Comparison::Same })
}

/// Returns the first column that differs, apart from the title and the relation to the parent.
pub(crate) fn difference(stored: &Session, line: &Session) -> Option<&'static str> {
    let bits = |time: Option<crate::Timestamp>| time.map(|time| time.seconds().to_bits());
    let (s, l) = (stored, line);
    let columns = [
        ("source", s.source == l.source),
        ("user_id", s.user_id == l.user_id),
        ("model", s.model == l.model),
        ("model_config", s.model_config == l.model_config),
        ("system_prompt", s.system_prompt == l.system_prompt),
        ("started_at", bits(Some(s.started_at)) == bits(Some(l.started_at))),
        ("ended_at", bits(s.ended_at) == bits(l.ended_at)),
        ("end_reason", s.end_reason == l.end_reason),
        ("message_count", s.message_count == l.message_count),
        ("tool_call_count", s.tool_call_count == l.tool_call_count),
        ("usage", s.usage == l.usage),
        ("handoff", s.handoff == l.handoff),
        ("archived", s.archived == l.archived),
        ("further columns", s.extra == l.extra),
    ];
    columns.into_iter().find(|(_, is_same)| !is_same).map(|(column, _)| column)
}

/// Returns whether the stored session has another title because another session has the line's title, as an import
/// leaves it.
pub(crate) async fn is_renamed(
    store: &dyn ConversationStore,
    stored: &Session,
    line: &Session,
) -> Result<bool, StoreError> {
    let Some(title) = &line.title else { return Ok(false) };
    let is_taken = store.titled(title).await?.iter().any(|other| other.title == *title && other.id != stored.id);
    let stems = Title::clean(title).ok().flatten().map(|title| title.stems());
    let is_next = match (&stored.title, stems) {
        (Some(has), Some(stems)) => stems.iter().any(|stem| split_number(has).0 == *stem),
        (has, None) => has.is_none(),
        (None, Some(_)) => false,
    };
    Ok(is_taken && is_next)
}

/// Returns the difference between the messages; `None` if there is none.
async fn transcript(
    store: &dyn Maintenance,
    line: &Parsed<'_>,
    lacking: &mut Lacking,
) -> Result<Option<String>, StoreError> {
    let (mut request, mut place, mut scratch) = (MessageRequest::first(PAGE).every(), 0, Vec::new());
    loop {
        let page = store.messages(&line.session.id, &request).await?;
        for stored in &page {
            let is_same = match (place < line.messages.len()).then(|| line.messages.read(place, &mut scratch)) {
                Some(Ok(message)) => {
                    let extra = lacking.kept(store, Table::Messages, &message.extra).await?;
                    is_same_message(stored, &Message { extra, ..message })
                }
                Some(Err(_)) | None => false,
            };
            place += 1;
            if !is_same {
                return Ok(Some(format!("message {place} differs")));
            }
        }
        match page.last() {
            Some(last) if page.len() == PAGE as usize => request = MessageRequest::after(last.id, PAGE).every(),
            _ if place < line.messages.len() => return Ok(Some(format!("message {} is missing", place + 1))),
            _ => return Ok(None),
        }
    }
}

pub(crate) fn is_same_message(stored: &Message, message: &Message) -> bool {
    stored.body == message.body
        && stored.state == message.state
        && stored.extra == message.extra
        && stored.timestamp.seconds().to_bits() == message.timestamp.seconds().to_bits()
}
