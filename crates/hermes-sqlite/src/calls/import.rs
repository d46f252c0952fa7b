//! Imports sessions in pieces. They are hidden until they are complete.

use crate::calls::hidden::{self, Arrival, Hidden};
use crate::calls::row::require;
use crate::calls::{deletion, extra, messages, sessions, titles, undo, usage};
use crate::care::refresh;
use crate::care::stale::place_bit;
use crate::error::Failure;
use crate::index::indexes;
use crate::write::budget::Budget;
use crate::write::database::Database;
use hermes_session::import::{ImportPiece, Imported, MAX_KEPT_ID};
use hermes_session::{Json, Message, MessageId, MessageState, Relation, Session, SessionId, Timestamp, Title};
use hermes_sql::statements;
use rusqlite::{OptionalExtension as _, ToSql, params, params_from_iter};

/// Imports as many pieces as one step allows. Returns the outcome of each, and the columns that had to be added for
/// them.
pub(crate) fn take(database: &Database, pieces: &[ImportPiece]) -> Result<(Vec<Imported>, Vec<String>), Failure> {
    let added = extra::make_room(database, pieces)?;
    let mut budget = Budget::step();
    let mut outcomes = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let outcome = take_one(database, piece, &mut budget)?;
        let is_taken =
            !matches!(outcome, Imported::Partly(taken) if taken < piece.messages.len() as u64 || piece.is_last);
        outcomes.push(outcome);
        if !is_taken || !budget.spend() {
            break;
        }
    }
    deletion::settle(database, &budget)?;
    Ok((outcomes, added))
}

fn take_one(database: &Database, piece: &ImportPiece, budget: &mut Budget) -> Result<Imported, Failure> {
    let id = &piece.session.id;
    if piece.start == 0 {
        // A killed import may have left a part of the session.
        if !deletion::clear(database, id, budget)? {
            return Ok(Imported::Partly(0));
        }
        if database.prepare_cached("SELECT 1 FROM sessions WHERE id = ?")?.exists(params![id.as_str()])? {
            return Ok(Imported::Exists);
        }
        begin(database, &piece.session)?;
    }
    let Some(arrival) = hidden::arrival(database, id)?.filter(|arrival| arrival.messages == piece.start as i64) else {
        return Ok(Imported::Exists);
    };
    let arrival = add(database, id, &piece.messages, arrival, budget)?;
    let taken = arrival.messages as u64 - piece.start;
    if taken < piece.messages.len() as u64 || !piece.is_last {
        hidden::set_arrival(database, id, arrival)?;
        return Ok(Imported::Partly(taken));
    }
    let there: i64 = database
        .prepare_cached("SELECT count(*) FROM messages WHERE session_id = ?")?
        .query_row(params![id.as_str()], |row| row.get(0))?;
    let there = there + undo::count(database, id)? as i64;
    if there != arrival.messages {
        // The agent sees a session before it is complete, and has written to this one.
        return Ok(Imported::Exists);
    }
    show(database, &piece.session)
}

/// Inserts the session row, hidden.
fn begin(database: &Database, session: &Session) -> Result<(), Failure> {
    let id = &session.id;
    hidden::hide(database, id, Hidden::Coming)?;
    let further = database.extras().columns_of_session(session);
    let (sql, further) = messages::statement_with(statements::IMPORT_SESSION, further);
    let (name, source) = (id.as_str(), session.source.as_str());
    let config = session.model_config.as_ref().map(Json::as_str);
    let (started_at, ended_at) = (session.started_at.seconds(), session.ended_at.map(Timestamp::seconds));
    let end_reason = session.end_reason.as_ref().map(|reason| reason.as_str());
    let modelled = params![
        name,
        source,
        session.user_id,
        session.model,
        config,
        session.system_prompt,
        started_at,
        ended_at,
        end_reason,
        session.handoff.state,
        session.handoff.platform,
        session.handoff.error,
    ];
    let values = further.iter().map(|value| value as &dyn ToSql).chain(modelled.iter().copied());
    database.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    usage::set(database, id, &session.usage, None)?;
    // The trigger for foreign writers has added a side row; a hidden session must not have one.
    database.prepare_cached("DELETE FROM hx_session WHERE session_id = ?")?.execute(params![id.as_str()])?;
    Ok(())
}

/// Adds messages, as many as one step allows.
fn add(
    database: &Database,
    session: &SessionId,
    messages: &[Message],
    mut arrival: Arrival,
    budget: &mut Budget,
) -> Result<Arrival, Failure> {
    let (mut first, mut has_nul) = (None, false);
    let is_deferred = database.layout().is_deferred();
    for message in messages {
        let wanted = Some(message.id).filter(|id| id.0 > arrival.last && *id <= MAX_KEPT_ID);
        let wanted = match wanted {
            Some(id) if is_taken(database, id)? => None,
            wanted => wanted,
        };
        if message.state == MessageState::Undone && !database.shape().has_active() {
            let id = undo::put(database, session, wanted, message)?;
            arrival = Arrival { messages: arrival.messages + 1, last: id.0 };
            if !budget.spend() {
                break;
            }
            continue;
        }
        // If indexing is deferred, the id has to be noted in the backlog before the insert.
        let wanted = match wanted {
            _ if !is_deferred => wanted,
            Some(id) => indexes::note(database, id.0).map(|()| Some(id))?,
            None => Some(MessageId(indexes::reserve(database, 1)?.first)),
        };
        let id = messages::put_whole(database, session, wanted, message)?;
        if !is_deferred {
            indexes::late(database, id.0)?;
        }
        first.get_or_insert(id);
        has_nul |= messages::has_nul(&message.body);
        arrival = Arrival { messages: arrival.messages + 1, last: id.0 };
        if !budget.spend() {
            break;
        }
    }
    if let Some(first) = first.filter(|_| has_nul && !is_deferred) {
        indexes::settle(database, session, first)?;
    }
    Ok(arrival)
}

pub(crate) fn is_taken(database: &Database, id: MessageId) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM messages WHERE id = ?")?.exists([id.0])? || undo::has(database, id)?)
}

/// Shows a session that is complete.
fn show(database: &Database, session: &Session) -> Result<Imported, Failure> {
    let id = &session.id;
    let title = match &session.title {
        Some(title) => free_title(database, id, title)?,
        None => None,
    };
    let parent = match &session.parent_session_id {
        Some(parent) if parent != id && require(database, parent).is_ok() => Some(parent),
        _ => None,
    };
    let relation = if parent.is_some() { session.relation } else { Relation::Root };
    place(database, id, parent, relation, || {
        database
            .prepare_cached(
                "UPDATE sessions SET parent_session_id = ?, title = ?, message_count = ?, tool_call_count = ? WHERE id = ?",
            )?
            .execute(params![
                parent.map(SessionId::as_str),
                title,
                session.message_count,
                session.tool_call_count,
                id.as_str()
            ])?;
        sessions::stamp(database, id, parent, relation, session.started_at)
    })?;
    refresh::summary(database, id)?;
    Ok(Imported::Whole { title, parent: parent.cloned() })
}

/// Sets the place of a session by calling `put`, and shows it.
///
/// The parent is set before the side row exists: changing it afterwards would make the whole conversation stale.
pub(crate) fn place(
    database: &Database,
    id: &SessionId,
    parent: Option<&SessionId>,
    relation: Relation,
    put: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let is_second = relation == Relation::Continuation
        && parent.map(|parent| sessions::continuation(database, parent)).transpose()?.flatten().is_some();
    put()?;
    hidden::show(database, id)?;
    if is_second {
        // Their start times decide which of the two is the tip.
        database
            .prepare_cached(concat!("UPDATE hx_session SET dirty = dirty | ", place_bit!(), " WHERE session_id = ?"))?
            .execute(params![id.as_str()])?;
    }
    Ok(())
}

/// Returns the title of an imported session, or the next free one if another session has it.
pub(crate) fn free_title(database: &Database, id: &SessionId, title: &str) -> Result<Option<String>, Failure> {
    let holder: Option<String> = database
        .prepare_cached(statements::TITLE_HOLDER)?
        .query_row(params![title, id.as_str()], |row| row.get(0))
        .optional()?;
    if holder.is_none() {
        return Ok(Some(title.to_owned()));
    }
    match Title::clean(title) {
        Ok(Some(base)) => Ok(Some(titles::next(database, id, &base)?.as_str().to_owned())),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Sets the parent of a session that has none. Returns `false` if it already had one.
pub(crate) fn link(
    database: &Database,
    child: &SessionId,
    parent: &SessionId,
    relation: Relation,
) -> Result<bool, Failure> {
    require(database, child)?;
    require(database, parent)?;
    let has_parent = database
        .prepare_cached("SELECT 1 FROM sessions WHERE id = ? AND parent_session_id IS NOT NULL")?
        .exists(params![child.as_str()])?;
    if has_parent {
        return Ok(false);
    }
    sessions::refuse_cycle(database, child, Some(parent))?;
    database
        .prepare_cached("UPDATE sessions SET parent_session_id = ? WHERE id = ?")?
        .execute(params![parent.as_str(), child.as_str()])?;
    // The trigger has recorded every session whose place changes as stale.
    database
        .prepare_cached("UPDATE hx_session SET relation = ?, origin = ? WHERE session_id = ?")?
        .execute(params![relation.as_str(), parent.as_str(), child.as_str()])?;
    deletion::settle(database, &Budget::step())?;
    Ok(true)
}
