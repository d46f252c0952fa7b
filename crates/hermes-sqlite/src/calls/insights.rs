//! Usage of an agent: the sessions of a time span, and for their messages the roles and the tools they call. Messages
//! are read one by one.

use crate::calls::lineage;
use crate::calls::row::{Row, text, time};
use crate::care::refresh;
use crate::care::stale::preview_bit;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::insights::{Chains, Gathering, MessageCounts, SessionFacts, Trace, repeats};
use hermes_session::{Insights, InsightsRequest, MessageId, Relation, SessionId, Source};
use hermes_sql::{columns, decode};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{params, params_from_iter};
use std::collections::HashSet;

/// First column after those of the usage.
const FACTS: usize = 14;
/// Column after those of a message.
const COMPACTED: usize = 15;

pub(crate) fn insights(database: &Database, request: &InsightsRequest) -> Result<Insights, Failure> {
    let never = request.exclude_sources.len();
    let mut statement = match database.prepare_cached(&sessions("INDEXED BY hx_sessions_card", never)) {
        Ok(statement) => statement,
        // A foreign writer dropped the index: the answer is the same, but slower.
        Err(_) => database.prepare_cached(&sessions("", never))?,
    };
    let mut sessions = Vec::new();
    let asked = request.source.as_ref().map(|source| source.as_str().to_owned());
    let never = request.exclude_sources.iter().map(|source| Value::from(source.as_str().to_owned()));
    let values = [Value::from(request.since.seconds()), Value::from(asked)].into_iter().chain(never);
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        sessions.extend(facts(database, row)?);
    }
    let chains = chains(database, &sessions)?;
    chains.set_aside(&mut sessions);
    let repeated = repeated(database, &sessions, chains.carried_on(&sessions))?;
    let mut gathering = Gathering::new();
    for mut facts in sessions {
        messages(database, &mut facts, &repeated, &mut gathering)?;
        gathering.session(facts);
    }
    Ok(gathering.finish())
}

/// Returns the sessions that those of the span continue, back to the first one.
fn chains(database: &Database, sessions: &[SessionFacts]) -> Result<Chains, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT s.id, s.parent_session_id, h.relation, s.started_at \
         FROM hx_session h JOIN sessions s ON s.id = h.session_id WHERE h.session_id = ?",
    )?;
    let mut chains = Chains::of(sessions);
    let mut missing = chains.missing();
    while !missing.is_empty() {
        for id in &missing {
            let mut rows = statement.query(params![id.as_str()])?;
            while let Some(row) = rows.next()? {
                lineage::link(row)?.into_iter().for_each(|link| chains.add(link));
            }
        }
        missing = chains.missing();
    }
    Ok(chains)
}

/// Returns the messages that the agent stored again when it compressed a context: along these chains, and within a
/// session.
fn repeated(
    database: &Database,
    sessions: &[SessionFacts],
    mut chains: Vec<Vec<SessionId>>,
) -> Result<HashSet<MessageId>, Failure> {
    if let Some(compacted) = database.shape().was_compacted() {
        let sql = format!("SELECT 1 FROM messages WHERE session_id = ? AND {compacted} LIMIT 1");
        let mut statement = database.prepare_cached(&sql)?;
        let counted: HashSet<SessionId> = chains.iter().flatten().cloned().collect();
        for facts in sessions.iter().filter(|facts| !counted.contains(&facts.id)) {
            if statement.exists(params![facts.id.as_str()])? {
                chains.push(vec![facts.id.clone()]);
            }
        }
    }
    let mut repeated = HashSet::new();
    for chain in chains {
        let mut before = Vec::new();
        for id in chain {
            let (said, compacted) = traces(database, &id)?;
            repeated.extend(repeats(&before, &said, compacted));
            before = if said.is_empty() { before } else { said };
        }
    }
    Ok(repeated)
}

/// Returns a trace of each message of a session, and how many of them were compacted away. Ids are sorted, not texts.
fn traces(database: &Database, id: &SessionId) -> Result<(Vec<Trace>, usize), Failure> {
    let shape = database.shape();
    let mut statement = database.prepare_cached(&format!(
        "SELECT {}, {} FROM messages WHERE id IN (SELECT id FROM messages WHERE session_id = ?1 AND {}) ORDER BY id",
        columns::COMPARED,
        shape.was_compacted().unwrap_or("0"),
        shape.was_said(),
    ))?;
    let (mut said, mut compacted) = (Vec::new(), 0);
    let mut rows = statement.query(params![id.as_str()])?;
    while let Some(row) = rows.next()? {
        compacted += usize::from(row.get::<_, Option<bool>>(COMPACTED)?.unwrap_or(false));
        said.push(Trace::of(&decode::message(&Row(row), id)));
    }
    Ok((said, compacted))
}

/// Returns the statement for the sessions of the span. `card` names the covering index, or is empty; `never` is the
/// number of excluded sources.
fn sessions(card: &str, never: usize) -> String {
    let never = vec!["?"; never].join(", ");
    format!(
        "SELECT {}, s.id, h.root, h.relation, coalesce(r.source, s.source), s.model, s.title, s.started_at, s.ended_at, h.last_active, h.dirty & {}, s.parent_session_id \
         FROM hx_session h CROSS JOIN sessions s {card} ON s.id = h.session_id LEFT JOIN sessions r {card} ON r.id = h.root \
         WHERE s.started_at >= ?1 AND (?2 IS NULL OR coalesce(r.source, s.source) = ?2) AND coalesce(r.source, s.source) NOT IN ({never}) ORDER BY h.session_id",
        columns::USAGE,
        preview_bit!()
    )
}

/// Reads the facts of a row, without its messages; `None` if its start can't be read.
fn facts(database: &Database, row: &rusqlite::Row<'_>) -> Result<Option<SessionFacts>, Failure> {
    let id = |index: usize| -> Result<SessionId, Failure> {
        Ok(SessionId::from_stored(text(row, FACTS + index)?.unwrap_or_default()))
    };
    let Some(started_at) = time(row, FACTS + 6)? else { return Ok(None) };
    let session = id(0)?;
    let last_active = match row.get::<_, bool>(FACTS + 9)? {
        false => time(row, FACTS + 8)?,
        // A foreign writer changed something: the stored time is stale.
        true => refresh::last_active(database, &session)?,
    };
    Ok(Some(SessionFacts {
        conversation: id(1)?,
        parent: text(row, FACTS + 10)?.map(SessionId::from_stored),
        is_aside: false,
        relation: text(row, FACTS + 2)?.and_then(|stored| Relation::from_stored(&stored)).unwrap_or(Relation::Root),
        source: Source::from_stored(text(row, FACTS + 3)?.unwrap_or_default()),
        model: text(row, FACTS + 4)?,
        title: text(row, FACTS + 5)?,
        started_at,
        ended_at: time(row, FACTS + 7)?,
        last_active: last_active.map_or(started_at, |active| active.max(started_at)),
        messages: MessageCounts::default(),
        tool_calls: 0,
        usage: decode::usage(&Row(row)),
        id: session,
    }))
}

/// Counts the messages of a session. Texts that do not count are not read.
fn messages(
    database: &Database,
    facts: &mut SessionFacts,
    repeated: &HashSet<MessageId>,
    gathering: &mut Gathering,
) -> Result<(), Failure> {
    let mut statement = database.prepare_cached(&format!(
        "SELECT role, CASE role WHEN 'assistant' THEN tool_calls WHEN 'tool' THEN tool_name END, timestamp, id FROM messages \
         WHERE session_id = ?1 AND (?2 IS NULL OR timestamp >= ?2) AND {}",
        database.shape().was_said()
    ))?;
    let from = facts.counts_from().map(hermes_session::Timestamp::seconds);
    let mut rows = statement.query(params![facts.id.as_str(), from])?;
    while let Some(row) = rows.next()? {
        if repeated.contains(&MessageId(row.get(3)?)) {
            continue;
        }
        let role = match row.get_ref(0)? {
            ValueRef::Text(role) => role,
            _ => b"",
        };
        facts.messages.count(std::str::from_utf8(role).unwrap_or_default(), 1);
        let (ValueRef::Text(named) | ValueRef::Blob(named)) = row.get_ref(1)? else { continue };
        let named = String::from_utf8_lossy(named);
        match role {
            b"assistant" => facts.tool_calls += gathering.calls(&named, time(row, 2)?),
            _ => gathering.results(&named, 1),
        }
    }
    Ok(())
}
