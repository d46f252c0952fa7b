//! Usage statistics. The server counts as far as it can; tool calls are read page by page.

mod repeated;

use super::row::{Restored, given};
use super::{Fields as _, LIST, Sql, Value, among, lineage};
use crate::{columns, decode, stored, values};
use hermes_session::insights::{Chains, Gathering, MessageCounts, SessionFacts};
use hermes_session::{Insights, InsightsRequest, Relation, SessionId, Source, Timestamp};
use repeated::Repeated;
use std::collections::HashMap;

/// Index of the first column after those of the usage.
const FACTS: usize = 14;
/// Number of sessions per statement that reads tool calls. Each page has at most `PAGE` messages.
const SESSIONS: usize = 64;
const PAGE: usize = 512;
/// Maximum bytes read at a time, unless a single message is larger.
const BYTES: i64 = 4 << 20;

/// Condition for a message `m` to count in its session `s`. Messages copied by a branch are older than the branch and
/// do not count, nor do undone messages.
const COUNTS: &str = "(h.relation <> 'branch' OR m.timestamp >= s.started_at) AND (m.active = 1 OR m.compacted = 1)";

/// Implements `insights` of the contract.
pub async fn insights<T: Sql>(transaction: &T, request: &InsightsRequest) -> Result<Insights, T::Failure> {
    let mut gathering = Gathering::new();
    let mut sessions = sessions(transaction, request).await?;
    let chains = chains(transaction, &sessions).await?;
    chains.set_aside(&mut sessions);
    let places: HashMap<SessionId, usize> =
        sessions.iter().enumerate().map(|(place, facts)| (facts.id.clone(), place)).collect();
    count_messages(transaction, request, &places, &mut sessions).await?;
    let mut carried_on = chains.carried_on(&sessions);
    repeated::add_compacted(transaction, request, &mut carried_on).await?;
    let repeated = Repeated::of(transaction, carried_on, &places, &mut sessions).await?;
    count_results(transaction, request, &repeated, &mut gathering).await?;
    let speaking: Vec<SessionId> =
        sessions.iter().filter(|facts| facts.messages.assistant > 0).map(|facts| facts.id.clone()).collect();
    for some in speaking.chunks(SESSIONS) {
        count_calls(transaction, some, &places, &repeated, &mut sessions, &mut gathering).await?;
    }
    sessions.into_iter().for_each(|facts| gathering.session(facts));
    Ok(gathering.finish())
}

/// Returns the chains that the sessions of the span continue, as far back as they go.
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

/// Returns the tables and the condition of a span: `h` and `s` are the session, `r` the first one of its conversation.
fn span<T: Sql>(transaction: &T, request: &InsightsRequest, messages: &str) -> (String, Vec<Value>) {
    let mut sql = format!(
        "FROM hx_session h JOIN sessions s ON s.id = h.session_id JOIN sessions r ON r.id = h.root {messages} WHERE s.started_at >= $1"
    );
    let mut values = values![request.since.seconds()];
    let tag = (transaction.dialect().exact)("r.source");
    let asked = request.source.iter().map(|source| ("=", source));
    for (comparison, source) in asked.chain(request.exclude_sources.iter().map(|source| ("<>", source))) {
        values.push(source.as_str().into());
        sql.push_str(&format!(" AND {tag} {comparison} ${}", values.len()));
    }
    (sql, values)
}

const MESSAGES: &str = "JOIN messages m ON m.session_id = s.id";

/// Returns all sessions of the span in the order of their ids, without their messages.
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

/// Counts messages by role.
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

/// Counts tool results by the name of the tool.
async fn count_results<T: Sql>(
    transaction: &T,
    request: &InsightsRequest,
    repeated: &Repeated,
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
        let count = row.try_get::<i64>(1)?.unsigned_abs().saturating_sub(repeated.results(&name));
        if count > 0 {
            gathering.results(&name, count);
        }
    }
    Ok(())
}

/// Counts the tool calls in messages of these sessions, page by page.
async fn count_calls<T: Sql>(
    transaction: &T,
    some: &[SessionId],
    places: &HashMap<SessionId, usize>,
    repeated: &Repeated,
    sessions: &mut [SessionFacts],
    gathering: &mut Gathering,
) -> Result<(), T::Failure> {
    let (among_sessions, ids) = among("m.session_id", 1, some.iter().map(SessionId::as_str));
    let (after, limit) = (ids.len() + 1, ids.len() + 2);
    let role = (transaction.dialect().exact)("m.role");
    let sql = format!(
        "SELECT m.id, octet_length(m.tool_calls) FROM messages m JOIN sessions s ON s.id = m.session_id \
         JOIN hx_session h ON h.session_id = s.id WHERE {among_sessions} AND m.id > ${after} AND {role} = 'assistant' \
         AND m.tool_calls IS NOT NULL AND {COUNTS} ORDER BY m.id LIMIT ${limit}"
    );
    let mut last = i64::MIN;
    loop {
        let sizes = sizes(transaction, &sql, [ids.clone(), values![last, PAGE]].concat()).await?;
        for some in groups(&sizes) {
            let (among, values) = among("id", 1, some.into_iter().filter(|id| !repeated.contains(*id)));
            let sql = format!("SELECT session_id, tool_calls, timestamp FROM messages WHERE {among}");
            for row in transaction.rows(&sql, values).await? {
                let Some(place) = places.get(&row.id(0)?) else { continue };
                let Some(stored) = given(&row, 1) else { continue };
                let said_at = Timestamp::from_seconds(row.try_get(2)?).ok();
                sessions[*place].tool_calls += gathering.calls(&stored, said_at);
            }
        }
        let Some((end, _)) = sizes.last().filter(|_| sizes.len() == PAGE) else { return Ok(()) };
        last = *end;
    }
}

/// Returns ids of messages with their sizes in bytes.
async fn sizes<T: Sql>(transaction: &T, sql: &str, values: Vec<Value>) -> Result<Vec<(i64, i64)>, T::Failure> {
    let rows = transaction.rows(sql, values).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Groups messages that are read at once.
fn groups(sizes: &[(i64, i64)]) -> Vec<Vec<i64>> {
    let (mut groups, mut bytes) = (Vec::<Vec<i64>>::new(), 0);
    for (id, size) in sizes {
        bytes += size;
        match groups.last_mut().filter(|_| bytes <= BYTES) {
            Some(group) => group.push(*id),
            None => {
                groups.push(vec![*id]);
                bytes = *size;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_messages_are_read_one_by_one() {
        assert_eq!(groups(&[]), [[0_i64; 0]; 0]);
        assert_eq!(
            groups(&[(1, 10), (2, BYTES - 10), (3, 1), (4, BYTES * 2), (5, 0)]),
            [vec![1, 2], vec![3], vec![4], vec![5]]
        );
        assert_eq!(groups(&[(7, BYTES * 2)]), [[7]]);
    }
}
