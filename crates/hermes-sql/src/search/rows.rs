//! Reads messages for a search.

use crate::server::row::given as text;
use crate::server::{Fields as _, Odd, ServerRow, Sql, among};
use crate::{pins_and_tags, scope, stored};
use hermes_search::postings::{Card, Said};
use hermes_session::search::{SearchFilter, SessionFacts};
use hermes_session::search_text::{self, Columns};
use hermes_session::{Content, MessageBody, Role, SessionId, Source, Timestamp};
use std::sync::Arc;

/// Returns the messages with these ids that a filter admits and whose session exists. An import writes messages before
/// the session that makes them visible.
pub async fn said<T: Sql>(transaction: &T, filter: &SearchFilter, ids: &[i64]) -> Result<Vec<Said>, T::Failure> {
    const SQL: &str = "SELECT m.id, m.session_id, m.role, m.timestamp, m.content_kind, m.content, m.tool_name, m.tool_calls, \
        s.source, s.user_id, s.model, s.title, s.started_at \
        FROM messages m JOIN sessions s ON s.id = m.session_id WHERE ";
    let mut all = Vec::with_capacity(ids.len());
    let (mut condition, mut values) = among("m.id", 1, ids.iter().copied());
    let mut bind = |value: &str| {
        values.push(stored::without_nul(value).as_ref().into());
        format!("${}", values.len())
    };
    condition += &scope::condition(&filter.scope, &scope::root_of("s.id"), transaction.dialect().exact, &mut bind);
    condition += &pins_and_tags::session_has(&filter.tags, "s.id", bind);
    for row in transaction.rows(&format!("{SQL}{condition}"), values).await? {
        let user_id = text(&row, 9);
        let tool_name = text(&row, 6);
        let card = Card {
            id: SessionId::from_stored(row.try_get::<String>(1)?),
            source: Source::from_stored(text(&row, 8).unwrap_or_default()),
            model: text(&row, 10),
            title: text(&row, 11),
            started_at: time(&row, 12, "sessions")?,
        };
        let said = Said {
            id: row.try_get(0)?,
            session: Arc::new(card),
            role: Role::from_stored(&text(&row, 2).unwrap_or_default()),
            said_at: time(&row, 3, "messages")?,
            text: spoken(&row, 4, tool_name.as_deref(), text(&row, 7).as_deref())?,
            tool_name,
        };
        let facts = SessionFacts {
            id: &said.session.id,
            source: &said.session.source,
            user_id: user_id.as_deref(),
            model: said.session.model.as_deref(),
            title: said.session.title.as_deref(),
            // Guaranteed by the statement.
            has_admitted_conversation: true,
        };
        if filter.admits_session(facts) && filter.admits_message(&said.role, said.said_at) {
            all.push(said);
        }
    }
    Ok(all)
}

/// Returns the conversations of messages, named by their first sessions.
pub async fn conversations<T: Sql>(transaction: &T, ids: &[i64]) -> Result<Vec<(i64, String)>, T::Failure> {
    const SQL: &str = "SELECT w.message_id, h.root FROM hx_search w JOIN hx_session h ON h.session_id = w.session_id \
        WHERE ";
    let (condition, values) = among("w.message_id", 1, ids.iter().copied());
    let rows = transaction.rows(&format!("{SQL}{condition}"), values).await?;
    Ok(rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Odd>>()?)
}

/// Returns the text of a message as a person wrote it. The kind of its content is in the column `kind`, the content in
/// the next column.
pub(super) fn spoken<R: ServerRow>(
    row: &R,
    kind: usize,
    tool_name: Option<&str>,
    tool_calls: Option<&str>,
) -> Result<String, Odd> {
    let content = match (row.try_get::<String>(kind)?, row.try_get::<Option<String>>(kind + 1)?) {
        (_, None) => String::new(),
        (kind, Some(text)) if kind == "text" => text,
        (kind, Some(text)) => match stored::recall(&kind, text) {
            Content::Text(text) => text,
            content => {
                let body = MessageBody { content: Some(content), ..MessageBody::empty(Role::User) };
                search_text::of_body(&body).into_owned()
            }
        },
    };
    if tool_name.is_none() && tool_calls.is_none() {
        return Ok(content);
    }
    let columns = Columns { content: Some(&content), structured: None, tool_name, tool_calls };
    Ok(search_text::of_columns(columns).into_owned())
}

fn time<R: ServerRow>(row: &R, index: usize, table: &str) -> Result<Timestamp, Odd> {
    Timestamp::from_seconds(row.try_get(index)?).map_err(|_| Odd(format!("{table}: not a time")))
}
