//! Verifies the whole store.

use super::row::{self, MESSAGE};
use super::{Fields as _, LIST, Sql, Words as _, among};
use crate::values;
use hermes_session::{Check, Json, Lineage, Link, MessageBody, Relation, Report, Role, SessionId, Timestamp};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Implements `verify` of the contract.
pub async fn verify<T: Sql>(transaction: &T) -> Result<Report, T::Failure> {
    Ok(Report {
        checks: vec![counters(transaction).await?, relations(transaction).await?, indexes(transaction).await?],
    })
}

/// Checks that the counters of sessions equal their messages and tool calls.
async fn counters<T: Sql>(transaction: &T) -> Result<Check, T::Failure> {
    let mut check = Check::new("counters", "sessions");
    // Tool calls of the transcript, and of all messages.
    let mut calls: HashMap<String, (i64, i64)> = HashMap::new();
    let mut after = i64::MIN;
    loop {
        let rows = transaction
            .rows(
                "SELECT id, session_id, tool_calls, active FROM messages WHERE id > $1 AND tool_calls IS NOT NULL ORDER BY id LIMIT 1000",
                values![after],
            )
            .await?;
        let Some(last) = rows.last() else { break };
        after = last.try_get(0)?;
        for row in &rows {
            let body = MessageBody {
                tool_calls: row.text(2).and_then(|calls| Json::parse(calls).ok()),
                ..MessageBody::empty(Role::Assistant)
            };
            let (live, all) = calls.entry(row.try_get(1)?).or_default();
            *all += body.tool_call_count();
            if row.try_get::<i64>(3)? == 1 {
                *live += body.tool_call_count();
            }
        }
    }
    let rows = transaction
        .rows(
            "SELECT s.id, s.message_count, s.tool_call_count, (SELECT count(*) FROM messages m WHERE m.session_id = s.id), (SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.active = 1) FROM sessions s ORDER BY s.id",
            values![],
        )
        .await?;
    for row in &rows {
        check.looked_at += 1;
        let name = &row.try_get::<String>(0)?;
        let (counted, counted_calls): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
        let (all, there): (i64, i64) = (row.try_get(3)?, row.try_get(4)?);
        // Newer agents keep inactive messages in the counter.
        if counted != there && counted != all {
            check.problem(format!("sessions {name}"), format!("counts {counted} messages and has {there}"));
        }
        let (there, all) = calls.get(name).copied().unwrap_or_default();
        if counted_calls != there && counted_calls != all {
            check.problem(format!("sessions {name}"), format!("counts {counted_calls} tool calls and has {there}"));
        }
    }
    let lost = transaction
        .rows(
            "SELECT m.session_id, count(*) FROM messages m WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session_id) \
             AND NOT EXISTS (SELECT 1 FROM hx_arrival a WHERE a.session_id = m.session_id) GROUP BY 1 ORDER BY 1",
            values![],
        )
        .await?;
    for row in &lost {
        let count: i64 = row.try_get(1)?;
        check.problem(
            format!("sessions {}", row.try_get::<String>(0)?),
            format!("does not exist, but has {count} messages"),
        );
    }
    let coming = transaction
        .rows("SELECT session_id, messages FROM hx_arrival WHERE messages >= 0 ORDER BY 1", values![])
        .await?;
    for row in &coming {
        let count: i64 = row.try_get(1)?;
        check.note(
            format!("sessions {}", row.try_get::<String>(0)?),
            format!("is partly imported, with {count} messages"),
        );
    }
    Ok(check)
}

/// Checks that each session's places follow from its parents, and its times from its messages.
async fn relations<T: Sql>(transaction: &T) -> Result<Check, T::Failure> {
    let mut check = Check::new("relations", "sessions");
    let rows = transaction
        .rows(
            "SELECT s.id, s.parent_session_id, h.relation, s.started_at, h.root, h.tip, h.started_at, h.last_active, h.active, \
             greatest(s.started_at, coalesce((SELECT max(timestamp) FROM messages m WHERE m.session_id = s.id), s.started_at)) \
             FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id ORDER BY s.id",
            values![],
        )
        .await?;
    let mut links = Vec::with_capacity(rows.len());
    let mut activity: HashMap<SessionId, f64> = HashMap::new();
    for row in &rows {
        let relation = row.text(2).and_then(Relation::from_stored);
        if let (Some(relation), Ok(started_at)) = (relation, Timestamp::from_seconds(row.try_get(3)?)) {
            let parent = row.try_get::<Option<String>>(1)?.map(SessionId::from_stored);
            links.push(Link { id: row.id(0)?, parent, relation, started_at });
        }
    }
    let lineage = Lineage::new(links);
    for row in &rows {
        let root = lineage.conversation_root(&row.id(0)?);
        let last: f64 = row.try_get(9)?;
        activity.entry(root).and_modify(|newest| *newest = newest.max(last)).or_insert(last);
    }
    for row in &rows {
        check.looked_at += 1;
        let session = row.id(0)?;
        let Some(known_root) = row.text(4) else {
            check.problem(format!("hx_session {session}"), "is missing");
            continue;
        };
        let root = lineage.conversation_root(&session);
        let (start, known_start, known_last): (f64, f64, f64) = (row.try_get(3)?, row.try_get(6)?, row.try_get(7)?);
        let mut is_wrong =
            known_root != root.as_str() || start != known_start || known_last != row.try_get::<f64>(9)?;
        if root == session {
            is_wrong |= row.text(5) != Some(lineage.tip(&root).as_str());
            is_wrong |= activity.get(&root).copied() != Some(row.try_get(8)?);
        }
        if is_wrong {
            check.problem(format!("hx_session {session}"), "does not match the place or times of its session");
        }
    }
    Ok(check)
}

/// Checks that every message can be found by search.
async fn indexes<T: Sql>(transaction: &T) -> Result<Check, T::Failure> {
    let mut check = Check::new("indexes", "messages");
    let counted = transaction.one("SELECT count(*) FROM messages", values![]).await?;
    check.looked_at = counted.try_get::<i64>(0)?.unsigned_abs();
    let missing = transaction
        .rows(
            "SELECT m.id, w.message_id IS NOT NULL FROM messages m LEFT JOIN hx_search w ON w.message_id = m.id \
             WHERE (w.message_id IS NULL AND (m.active = 1 OR m.compacted = 1)) OR (w.words IS NULL) <> (w.form = 2) ORDER BY 1 LIMIT 100000",
            values![],
        )
        .await?;
    for row in &missing {
        let what =
            if row.try_get(1)? { "is indexed in a form that does not match its words" } else { "is in no index" };
        check.problem(format!("messages {}", row.try_get::<i64>(0)?), what);
    }
    let gone = transaction
        .rows(
            "SELECT w.message_id FROM hx_search w LEFT JOIN messages m ON m.id = w.message_id WHERE m.id IS NULL ORDER BY 1 LIMIT 100000",
            values![],
        )
        .await?;
    for row in &gone {
        check.problem(format!("hx_search {}", row.try_get::<i64>(0)?), "belongs to a message that does not exist");
    }
    let undone = transaction
        .rows(
            "SELECT m.id FROM messages m JOIN hx_search w ON w.message_id = m.id WHERE m.active = 0 AND m.compacted = 0 ORDER BY 1 LIMIT 100000",
            values![],
        )
        .await?;
    for row in &undone {
        check.problem(format!("messages {}", row.try_get::<i64>(0)?), "was undone, but is in an index");
    }
    for word in missing_words(transaction).await? {
        check.problem(
            format!("hx_term {word}"),
            "is missing: searches for a part of this word do not find its messages",
        );
    }
    Ok(check)
}

/// Returns the words of listed messages that the vocabulary lacks.
async fn missing_words<T: Sql>(transaction: &T) -> Result<BTreeSet<String>, T::Failure> {
    /// Number of messages read at once.
    const PAGE: i64 = 200;
    let sql = format!(
        "SELECT {} FROM messages WHERE id > $1 AND EXISTS (SELECT 1 FROM hx_search w WHERE w.message_id = messages.id AND w.form <> 2) \
         ORDER BY id LIMIT $2",
        *MESSAGE
    );
    let (mut there, mut missing, mut after) = (HashSet::new(), BTreeSet::new(), i64::MIN);
    loop {
        let rows = transaction.rows(&sql, values![after, PAGE]).await?;
        let mut asked = BTreeSet::new();
        for row in &rows {
            let message = row::message(row, &row.id(1)?);
            after = message.id.0;
            let words = T::Written::of(&message.body);
            asked.extend(words.terms().iter().filter(|word| !there.contains(*word)).cloned());
        }
        if rows.is_empty() {
            return Ok(missing);
        }
        let lots: Vec<&String> = asked.iter().collect();
        for lot in lots.chunks(LIST) {
            let (condition, values) = among("term", 1, lot.iter().map(|word| word.as_str()));
            for row in transaction.rows(&format!("SELECT term FROM hx_term WHERE {condition}"), values).await? {
                there.insert(row.try_get::<String>(0)?);
            }
        }
        missing.extend(asked.into_iter().filter(|word| !there.contains(word)));
    }
}
