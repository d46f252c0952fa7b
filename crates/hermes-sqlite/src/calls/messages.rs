//! Appending, replacing and reading messages.

use crate::calls::row::{Row, require};
use crate::calls::undo;
use crate::care::refresh;
use crate::care::stale::{Stale, preview_bit};
use crate::error::Failure;
use crate::index::indexes;
use crate::open::foreign::quoted;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::extra::Table;
use hermes_session::{
    Content, Extent, Json, Message, MessageBody, MessageId, MessageRequest, NewMessage, Request, Role, SessionId,
    StoreError, Timestamp, Window, change, preview,
};
use hermes_sql::{decode, statements, stored};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, ToSql, params, params_from_iter};

/// Column of newer agents for a platform's id of a message.
const PLATFORM_ID: &str = "platform_message_id";

pub(crate) fn append(
    database: &Database,
    id: &SessionId,
    messages: &[NewMessage],
    request: &Request,
) -> Result<Vec<MessageId>, Failure> {
    once(database, request, id, &change::append(id, messages), || add(database, id, messages, request.at))
}

/// Adds messages to a session and updates its counters, preview and times.
pub(crate) fn add(
    database: &Database,
    id: &SessionId,
    messages: &[NewMessage],
    now: Timestamp,
) -> Result<Vec<MessageId>, Failure> {
    add_from(database, id, messages, &[], now)
}

/// Adds messages like [`add`], with the platform's ids of those that came from one, if the table has a column for them.
pub(crate) fn add_from(
    database: &Database,
    id: &SessionId,
    messages: &[NewMessage],
    platform_ids: &[Option<String>],
    now: Timestamp,
) -> Result<Vec<MessageId>, Failure> {
    let known: Option<(String, Stale)> = database
        .prepare_cached(
            "SELECT h.preview, h.dirty FROM sessions s JOIN hx_session h ON h.session_id = s.id WHERE s.id = ?",
        )?
        .query_row(params![id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((known_preview, stale)) = known else { return Err(StoreError::no_session(id).into()) };
    let ids = insert(database, id, messages, platform_ids, now)?;
    let tool_calls: i64 = messages.iter().map(|message| message.body.tool_call_count()).sum();
    database.prepare_cached(statements::ADD_COUNTS)?.execute(params![
        messages.len() as i64,
        tool_calls,
        id.as_str()
    ])?;
    // The trigger for foreign writers has just recorded the preview as stale; here it is known.
    let said = messages.iter().any(|message| message.body.role == Role::User);
    if said && known_preview.is_empty() && !stale.preview {
        let first = messages.iter().find_map(|message| preview(&message.body)).unwrap_or_default();
        database
            .prepare_cached(concat!(
                "UPDATE hx_session SET preview = ?, dirty = dirty & ~",
                preview_bit!(),
                " WHERE session_id = ?"
            ))?
            .execute(params![first, id.as_str()])?;
    }
    Ok(ids)
}

fn insert(
    database: &Database,
    id: &SessionId,
    messages: &[NewMessage],
    platform_ids: &[Option<String>],
    now: Timestamp,
) -> Result<Vec<MessageId>, Failure> {
    // If indexing is deferred, ids are reserved first, so that the triggers skip these messages.
    let is_deferred = database.layout().is_deferred() && !messages.is_empty();
    let mut reserved = match is_deferred {
        true => Some(indexes::reserve(database, messages.len())?.first),
        false => None,
    };
    let mut ids = Vec::with_capacity(messages.len());
    for (at, NewMessage { body, timestamp }) in messages.iter().enumerate() {
        let further = match platform_ids.get(at).and_then(Option::as_ref) {
            Some(platform_id) if database.extras().has(Table::Messages, PLATFORM_ID) => {
                vec![(PLATFORM_ID.to_owned(), Value::Text(platform_id.clone()))]
            }
            _ => Vec::new(),
        };
        ids.push(put_with(database, id, reserved.map(MessageId), body, timestamp.unwrap_or(now), further)?);
        reserved = reserved.map(|id| id + 1);
    }
    if is_deferred {
        return Ok(ids);
    }
    if let Some(first) = ids.first().filter(|_| messages.iter().any(|message| has_nul(&message.body))) {
        indexes::settle(database, id, *first)?;
    }
    Ok(ids)
}

/// Inserts a message, under the given id or the next one, with its state and the columns of newer agents, as far as the
/// table has them. If it [`has_nul`], the indexes have to be corrected in the same transaction.
pub(crate) fn put_whole(
    database: &Database,
    session: &SessionId,
    id: Option<MessageId>,
    message: &Message,
) -> Result<MessageId, Failure> {
    let further = database.extras().columns_of_message(message);
    put_with(database, session, id, &message.body, message.timestamp, further)
}

/// Inserts an undone message into our own table.
pub(crate) fn put_undone(
    database: &Database,
    session: &SessionId,
    id: MessageId,
    message: &Message,
) -> Result<(), Failure> {
    let insert = statements::INSERT_MESSAGE.replacen("INTO messages", "INTO hx_undone", 1);
    let further = database.extras().columns_of_message(message);
    put_into(database, &insert, session, Some(id), &message.body, message.timestamp, further)
}

fn put_with(
    database: &Database,
    session: &SessionId,
    id: Option<MessageId>,
    body: &MessageBody,
    timestamp: Timestamp,
    further: Vec<(String, Value)>,
) -> Result<MessageId, Failure> {
    put_into(database, statements::INSERT_MESSAGE, session, id, body, timestamp, further)?;
    Ok(MessageId(database.last_insert_rowid()))
}

fn put_into(
    database: &Database,
    insert: &str,
    session: &SessionId,
    id: Option<MessageId>,
    body: &MessageBody,
    timestamp: Timestamp,
    further: Vec<(String, Value)>,
) -> Result<(), Failure> {
    let json = |json: &Option<Json>| json.as_ref().map(|json| json.as_str().to_owned());
    let content = body.content.as_ref().map(|content| match content {
        Content::Bytes(bytes) => Value::Blob(bytes.clone()),
        content => Value::Text(stored::encode(content).into_owned()),
    });
    let (sql, further) = statement_with(insert, further);
    let (id, details, reasoning_items, message_items) = (
        id.map(|id| id.0),
        json(&body.reasoning_details),
        json(&body.codex_reasoning_items),
        json(&body.codex_message_items),
    );
    let (session, timestamp, role, calls) =
        (session.as_str(), timestamp.seconds(), body.role.as_str(), json(&body.tool_calls));
    let modelled = params![
        id,
        session,
        timestamp,
        role,
        content,
        body.tool_call_id,
        calls,
        body.tool_name,
        body.token_count,
        body.finish_reason,
        body.reasoning,
        body.reasoning_content,
        details,
        reasoning_items,
        message_items,
    ];
    let values = further.iter().map(|value| value as &dyn ToSql).chain(modelled.iter().copied());
    database.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

/// Returns an `INSERT … (…) VALUES (…)` with further columns in front, and their values.
pub(crate) fn statement_with(insert: &str, further: Vec<(String, Value)>) -> (String, Vec<Value>) {
    let (mut sql, mut values) = (insert.to_owned(), Vec::with_capacity(further.len()));
    if !further.is_empty() {
        let names: Vec<String> = further.iter().map(|(name, _)| quoted(name)).collect();
        let places = vec!["?"; further.len()].join(", ");
        sql = sql.replacen('(', &format!("({}, ", names.join(", ")), 1);
        sql = sql.replacen("VALUES (", &format!("VALUES ({places}, "), 1);
        values.extend(further.into_iter().map(|(_, value)| value));
    }
    (sql, values)
}

/// Returns whether the stored form of a message contains a NUL.
pub(crate) fn has_nul(body: &MessageBody) -> bool {
    body.content.as_ref().is_some_and(|content| match content {
        Content::Bytes(bytes) => bytes.contains(&0),
        content => stored::encode(content).contains('\0'),
    })
}

pub(crate) fn replace(
    database: &Database,
    id: &SessionId,
    messages: &[NewMessage],
    request: &Request,
) -> Result<Vec<MessageId>, Failure> {
    once(database, request, id, &change::replace(id, messages), || {
        require(database, id)?;
        // Messages that were rewound or compacted away are not part of the transcript, and stay.
        let goes = database.shape().in_transcript();
        indexes::before_removal(database, id, goes)?;
        let delete = format!("{} AND {goes}", statements::DELETE_MESSAGES);
        database.prepare_cached(&delete)?.execute(params![id.as_str()])?;
        let ids = insert(database, id, messages, &[], request.at)?;
        let tool_calls: i64 = messages.iter().map(|message| message.body.tool_call_count()).sum();
        database.prepare_cached(statements::SET_COUNTS)?.execute(params![
            messages.len() as i64,
            tool_calls,
            id.as_str()
        ])?;
        refresh::summary(database, id)?;
        Ok(ids)
    })
}

/// Copies the messages of one session to another and sets its counters. Returns how many were copied.
pub(crate) fn copy(database: &Database, from: &SessionId, to: &SessionId) -> Result<usize, Failure> {
    let copy = format!("{} AND {} ORDER BY id", statements::COPY_MESSAGES, database.shape().in_transcript());
    let copied = if database.layout().is_deferred() {
        let count =
            format!("SELECT count(*) FROM messages WHERE session_id = ? AND {}", database.shape().in_transcript());
        let count: i64 = database.prepare_cached(&count)?.query_row(params![from.as_str()], |row| row.get(0))?;
        if count > 0 {
            indexes::reserve(database, count as usize)?;
        }
        // SQLite assigns exactly the reserved ids: this transaction holds the write lock.
        database.prepare_cached(&copy)?.execute(params![to.as_str(), from.as_str()])?
    } else {
        let copied = database.prepare_cached(&copy)?.execute(params![to.as_str(), from.as_str()])?;
        indexes::settle(database, to, MessageId(i64::MIN))?;
        copied
    };
    let mut statement =
        database.prepare_cached("SELECT tool_calls FROM messages WHERE session_id = ? AND tool_calls IS NOT NULL")?;
    let mut rows = statement.query(params![to.as_str()])?;
    let mut tool_calls = 0;
    while let Some(row) = rows.next()? {
        let calls = crate::calls::row::text(row, 0)?.and_then(|text| Json::parse(&text).ok());
        let body = MessageBody { tool_calls: calls, ..MessageBody::empty(Role::Assistant) };
        tool_calls += body.tool_call_count();
    }
    database.prepare_cached(statements::SET_COUNTS)?.execute(params![copied as i64, tool_calls, to.as_str()])?;
    refresh::summary(database, to)?;
    Ok(copied)
}

/// Returns whether a message is part of a session's transcript.
pub(crate) fn is_in_transcript(database: &Database, id: &SessionId, message: MessageId) -> Result<bool, Failure> {
    let is_said = database.shape().in_transcript();
    let sql = format!("SELECT 1 FROM messages WHERE id = ? AND session_id = ? AND {is_said}");
    Ok(database.prepare_cached(&sql)?.exists(params![message.0, id.as_str()])?)
}

/// Returns the last message of a session before an id, and up to two from that id on.
pub(crate) fn around(database: &Database, id: &SessionId, place: MessageId) -> Result<Vec<Message>, Failure> {
    // They are nearly always close by. If not, the agent's index lists all ids of the session.
    const CLOSE: &str = "24";
    let mut messages = Vec::with_capacity(3);
    let before = MessageRequest::new(Window::Before(Some(place)), 1);
    let from = MessageRequest::new(Window::After(place.0.checked_sub(1).map(MessageId)), 2);
    for request in [before, from] {
        let mut found = nearest(database, id, &request, Some(CLOSE))?;
        if found.len() < request.limit as usize {
            found = nearest(database, id, &request, None)?;
        }
        messages.append(&mut found);
    }
    Ok(messages)
}

pub(crate) fn read(database: &Database, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, Failure> {
    require(database, id)?;
    let page = nearest(database, id, request, None)?;
    undo::complete(database, id, request, page)
}

/// Returns the messages of a session at the edge of a window, oldest first. If `among` is set, looks only at that many
/// messages of the store next to the edge.
fn nearest(
    database: &Database,
    id: &SessionId,
    request: &MessageRequest,
    among: Option<&str>,
) -> Result<Vec<Message>, Failure> {
    let (comparison, direction, edge) = match request.window {
        Window::After(edge) => (">", "ASC", edge.map_or(i64::MIN, |edge| edge.0)),
        Window::Before(edge) => ("<", "DESC", edge.map_or(i64::MAX, |edge| edge.0)),
    };
    let (shape, extras) = (database.shape(), database.extras());
    let is_meant = match request.extent {
        Extent::Transcript => shape.in_transcript(),
        Extent::Said => shape.was_said(),
        Extent::Every => "1",
    };
    let place = match among {
        Some(close) => format!(
            "(SELECT id, session_id FROM messages WHERE id {comparison} ?2 AND {is_meant} ORDER BY id {direction} LIMIT {close}) \
             WHERE session_id = ?1"
        ),
        None => format!("messages WHERE session_id = ?1 AND id {comparison} ?2 AND {is_meant}"),
    };
    // Ids first: the agent's index orders a session by time, and sorting ids is much cheaper than sorting messages.
    let mut statement = database.prepare_cached(&format!(
        "SELECT {} FROM messages WHERE id IN (SELECT id FROM {place} ORDER BY id {direction} LIMIT ?3) ORDER BY id {direction}",
        extras.message_list(),
    ))?;
    let mut rows = statement.query(params![id.as_str(), edge, request.limit])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        messages.push(extras.message(row, decode::message(&Row(row), id))?);
    }
    if matches!(request.window, Window::Before(_)) {
        messages.reverse();
    }
    Ok(messages)
}
