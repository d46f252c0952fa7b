//! How an agent was used: what the server can count it counts; calls of tools are read by pages.

use super::row::{Restored, given};
use super::{Fields as _, LIST, Sql, Value, among, lineage};
use crate::{columns, decode, stored, values};
use hermes_session::insights::{Chains, Gathering, MessageCounts, SessionFacts};
use hermes_session::{Insights, InsightsRequest, MessageId, Relation, SessionId, Source, Timestamp};
use std::collections::HashMap;

/// Behind the columns of the usage.
const FACTS: usize = 14;
/// Calls are asked for by so many sessions at once, and come so many at a time.
const SESSIONS: usize = 64;
const PAGE: usize = 512;

/// What a message `m` must be to count in its session `s`: what a branch copied was said before it began.
const COUNTS: &str = "(h.relation <> 'branch' OR m.timestamp >= s.started_at)";

/// `insights` of the contract.
pub async fn insights<T: Sql>(transaction: &T, request: &InsightsRequest) -> Result<Insights, T::Failure> {
    let mut gathering = Gathering::new();
    let mut sessions = sessions(transaction, request).await?;
    chains(transaction, &sessions).await?.set_aside(&mut sessions);
    let places: HashMap<SessionId, usize> =
        sessions.iter().enumerate().map(|(place, facts)| (facts.id.clone(), place)).collect();
    count_messages(transaction, request, &places, &mut sessions).await?;
    count_results(transaction, request, &mut gathering).await?;
    let speaking: Vec<SessionId> =
        sessions.iter().filter(|facts| facts.messages.assistant > 0).map(|facts| facts.id.clone()).collect();
    for some in speaking.chunks(SESSIONS) {
        count_calls(transaction, some, &places, &mut sessions, &mut gathering).await?;
    }
    sessions.into_iter().for_each(|facts| gathering.session(facts));
    Ok(gathering.finish())
}

/// What the sessions of the span carry on, as far back as it goes.
async fn chains<T: Sql>(transaction: &T, sessions: &[SessionFacts]) -> Result<Chains, T::Failure> {
    let mut chains = Chains::of(sessions);
    let mut missing = chains.missing();
    while !missing.is_empty() {
        for some in missing.chunks(LIST) {
            let (among, values) = among("s.id", 1, some.iter().map(SessionId::as_str));
            let sql = format!(
                "SELECT s.id, s.parent_session_id, h.relation, s.started_at \
                 FROM hx_session h JOIN sessions s ON s.id = h.session_id WHERE {among}"
            );
            for row in transaction.rows(&sql, values).await? {
                chains.add(lineage::link::<T>(&row)?);
            }
        }
        missing = chains.missing();
    }
    Ok(chains)
}

/// The tables and the condition of a span: `h` and `s` are the session, `r` the one that its conversation starts with.
fn span<T: Sql>(transaction: &T, request: &InsightsRequest, messages: &str) -> (String, Vec<Value>) {
    let mut sql = format!(
        "FROM hx_session h JOIN sessions s ON s.id = h.session_id JOIN sessions r ON r.id = h.root {messages} WHERE s.started_at >= $1"
    );
    let mut values = values![request.since.seconds()];
    if let Some(source) = &request.source {
        sql.push_str(&format!(" AND {} = $2", (transaction.dialect().exact)("r.source")));
        values.push(source.as_str().into());
    }
    (sql, values)
}

const MESSAGES: &str = "JOIN messages m ON m.session_id = s.id";

/// Every session of the span by id, all but its messages.
async fn sessions<T: Sql>(transaction: &T, request: &InsightsRequest) -> Result<Vec<SessionFacts>, T::Failure> {
    let (span, values) = span(transaction, request, "");
    let sql = format!(
        "SELECT {}, s.id, h.root, h.relation, r.source, s.model, s.title, s.started_at, s.ended_at, h.last_active, s.parent_session_id {span} ORDER BY s.id",
        columns::USAGE
    );
    let mut sessions = Vec::new();
    for row in transaction.rows(&sql, values).await? {
        let time = |index: usize| -> Result<Option<Timestamp>, T::Failure> {
            let seconds: Option<f64> = row.try_get(FACTS + index)?;
            Ok(seconds.and_then(|seconds| Timestamp::from_seconds(seconds).ok()))
        };
        let Some(started_at) = time(6)? else { continue };
        sessions.push(SessionFacts {
            id: row.id(FACTS)?,
            conversation: row.id(FACTS + 1)?,
            parent: row.try_get::<Option<String>>(FACTS + 9)?.map(SessionId::from_stored),
            is_aside: false,
            relation: row.text(FACTS + 2).and_then(Relation::from_stored).unwrap_or(Relation::Root),
            source: Source::from_stored(row.try_get::<String>(FACTS + 3)?),
            model: given(&row, FACTS + 4),
            title: given(&row, FACTS + 5),
            started_at,
            ended_at: time(7)?,
            last_active: time(8)?.map_or(started_at, |active| active.max(started_at)),
            messages: MessageCounts::default(),
            tool_calls: 0,
            usage: decode::usage(&Restored::new(&row)),
        });
    }
    Ok(sessions)
}

/// Counts messages by who said them.
async fn count_messages<T: Sql>(
    transaction: &T,
    request: &InsightsRequest,
    places: &HashMap<SessionId, usize>,
    sessions: &mut [SessionFacts],
) -> Result<(), T::Failure> {
    let (span, values) = span(transaction, request, MESSAGES);
    let role = (transaction.dialect().exact)("m.role");
    let counted = |name: &str| format!("count(CASE WHEN {role} = '{name}' THEN 1 END)");
    let sql = format!(
        "SELECT s.id, count(*), {}, {}, {} {span} AND {COUNTS} GROUP BY s.id",
        counted("user"),
        counted("assistant"),
        counted("tool")
    );
    for row in transaction.rows(&sql, values).await? {
        let Some(place) = places.get(&row.id(0)?) else { continue };
        let count = |index: usize| -> Result<u64, T::Failure> { Ok(row.try_get::<i64>(index)?.unsigned_abs()) };
        let (all, user, assistant, tool) = (count(1)?, count(2)?, count(3)?, count(4)?);
        sessions[*place].messages =
            MessageCounts { user, assistant, tool, other: all.saturating_sub(user + assistant + tool) };
    }
    Ok(())
}

/// Counts results by the tool that they name.
async fn count_results<T: Sql>(
    transaction: &T,
    request: &InsightsRequest,
    gathering: &mut Gathering,
) -> Result<(), T::Failure> {
    let (span, values) = span(transaction, request, MESSAGES);
    let exact = transaction.dialect().exact;
    let (role, name) = (exact("m.role"), exact("m.tool_name"));
    let sql = format!(
        "SELECT {name}, count(*) {span} AND {COUNTS} AND {role} = 'tool' AND m.tool_name IS NOT NULL GROUP BY {name}"
    );
    for row in transaction.rows(&sql, values).await? {
        let kept: String = row.try_get(0)?;
        let name = stored::with_nul(&kept).unwrap_or(kept);
        gathering.results(&name, row.try_get::<i64>(1)?.unsigned_abs());
    }
    Ok(())
}

/// Counts the calls in messages of these sessions, page by page.
async fn count_calls<T: Sql>(
    transaction: &T,
    some: &[SessionId],
    places: &HashMap<SessionId, usize>,
    sessions: &mut [SessionFacts],
    gathering: &mut Gathering,
) -> Result<(), T::Failure> {
    let (among, ids) = among("m.session_id", 1, some.iter().map(SessionId::as_str));
    let (after, limit) = (ids.len() + 1, ids.len() + 2);
    let role = (transaction.dialect().exact)("m.role");
    let sql = format!(
        "SELECT m.id, m.session_id, m.tool_calls, m.timestamp FROM messages m JOIN sessions s ON s.id = m.session_id \
         JOIN hx_session h ON h.session_id = s.id WHERE {among} AND m.id > ${after} AND {role} = 'assistant' \
         AND m.tool_calls IS NOT NULL AND {COUNTS} ORDER BY m.id LIMIT ${limit}"
    );
    let mut last = MessageId(i64::MIN);
    loop {
        let values = [ids.clone(), values![last.0, PAGE]].concat();
        let rows = transaction.rows(&sql, values).await?;
        for row in &rows {
            last = MessageId(row.try_get(0)?);
            let Some(place) = places.get(&row.id(1)?) else { continue };
            let Some(stored) = given(row, 2) else { continue };
            let said_at = Timestamp::from_seconds(row.try_get(3)?).ok();
            sessions[*place].tool_calls += gathering.calls(&stored, said_at);
        }
        if rows.len() < PAGE {
            return Ok(());
        }
    }
}
