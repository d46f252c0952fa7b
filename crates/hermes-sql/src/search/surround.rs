//! Context of a hit: its conversation and the neighbouring messages.

use super::rows::spoken;
use crate::server::row::{WAS_SAID, given as text};
use crate::server::{Fields as _, Sql, among};
use crate::values;
use hermes_session::search::{Hit, Neighbour, snippet};
use hermes_session::{Role, SessionId};
use std::collections::HashMap;

/// Number of characters read of a long text: more than is shown of it, except in extreme cases.
const CHARACTERS: usize = 16_384;
/// Number of leading blanks, in bytes, beyond which the whole text is read.
const BLANKS: usize = 2_000;

/// Adds to each hit the current session of its conversation, the title of that session, whether it is archived, and, if
/// they are wanted, the neighbouring messages.
pub async fn surround<T: Sql>(transaction: &T, hits: &mut [Hit], with_neighbours: bool) -> Result<(), T::Failure> {
    let (condition, values) = among("h.session_id", 1, hits.iter().map(|hit| hit.session.as_str()));
    let sql = format!(
        "SELECT h.session_id, r.tip, t.title, EXISTS (SELECT 1 FROM sessions f WHERE f.id = h.root AND f.archived <> 0) \
         FROM hx_session h JOIN hx_session r ON r.session_id = h.root \
         LEFT JOIN sessions t ON t.id = r.tip WHERE {condition}"
    );
    let mut tips: HashMap<String, (SessionId, Option<String>, bool)> = HashMap::new();
    for row in transaction.rows(&sql, values).await? {
        let tip = SessionId::from_stored(row.try_get::<String>(1)?);
        tips.insert(row.try_get(0)?, (tip, text(&row, 2), row.try_get(3)?));
    }
    for hit in &mut *hits {
        if let Some((tip, title, is_archived)) = tips.get(hit.session.as_str()) {
            (hit.conversation, hit.is_archived) = (tip.clone(), *is_archived);
            hit.title = title.clone().or(hit.title.take());
        }
    }
    if !with_neighbours {
        return Ok(());
    }
    let beside = beside(transaction, hits).await?;
    let said = neighbours(transaction, beside.values().flatten().flatten().copied().collect()).await?;
    for hit in hits {
        let [before, after] = beside.get(&hit.message.0).copied().unwrap_or_default();
        hit.before = before.and_then(|id| said.get(&id).cloned());
        hit.after = after.and_then(|id| said.get(&id).cloned());
    }
    Ok(())
}

/// Returns for each hit the messages before and after it in its session.
async fn beside<T: Sql>(transaction: &T, hits: &[Hit]) -> Result<HashMap<i64, [Option<i64>; 2]>, T::Failure> {
    let Some(last) = hits.last() else { return Ok(HashMap::new()) };
    let (mut values, mut parts) = (Vec::new(), Vec::new());
    // Padded to a power of two, so that the server sees few distinct statements. Each part has its own values, because
    // only then it is a single step in the index.
    let filling = std::iter::repeat_n(last, hits.len().next_power_of_two() - hits.len());
    for (place, hit) in hits.iter().chain(filling).enumerate() {
        let (session, id) = (values.len() + 1, values.len() + 2);
        values.extend(values![hit.session.as_str(), hit.message.0]);
        let side = |comparison: &str, direction: &str| {
            format!(
                "(SELECT id FROM messages WHERE session_id = ${session} AND id {comparison} ${id} AND {WAS_SAID} \
                 ORDER BY id {direction} LIMIT 1)"
            )
        };
        parts.push(format!("SELECT {place}, {}, {}", side("<", "DESC"), side(">", "ASC")));
    }
    let mut beside = HashMap::new();
    for row in transaction.rows(&parts.join(" UNION ALL "), values).await? {
        let place = usize::try_from(row.try_get::<i64>(0)?).unwrap_or(usize::MAX);
        if let Some(hit) = hits.get(place) {
            beside.insert(hit.message.0, [row.try_get(1)?, row.try_get(2)?]);
        }
    }
    Ok(beside)
}

/// Returns the beginnings of messages that are shown beside others.
async fn neighbours<T: Sql>(transaction: &T, ids: Vec<i64>) -> Result<HashMap<i64, Neighbour>, T::Failure> {
    let (condition, values) = among("id", 1, ids);
    let sql = format!(
        "SELECT id, role, content_kind, CASE content_kind WHEN 'text' THEN left(content, {CHARACTERS}) ELSE content END, tool_calls \
         FROM messages WHERE {condition}"
    );
    let mut neighbours = HashMap::new();
    for row in transaction.rows(&sql, values).await? {
        neighbours.insert(row.try_get(0)?, neighbour(transaction, &row).await?);
    }
    Ok(neighbours)
}

async fn neighbour<T: Sql>(transaction: &T, row: &T::Row) -> Result<Neighbour, T::Failure> {
    const WHOLE: &str = "SELECT id, role, content_kind, content, tool_calls FROM messages WHERE id = $1";
    let role = Role::from_stored(&text(row, 1).unwrap_or_default());
    let said = spoken(row, 2, None, text(row, 4).as_deref())?;
    let is_blank = |character: char| character.is_whitespace() || character.is_control();
    let blanks = said.len() - said.trim_start_matches(is_blank).len();
    let mut head = snippet::head(&said, snippet::NEIGHBOUR);
    let is_cut = said.len() >= CHARACTERS && (blanks > BLANKS || head.chars().count() < snippet::NEIGHBOUR);
    if is_cut {
        let row = transaction.one(WHOLE, values![row.try_get::<i64>(0)?]).await?;
        head = snippet::head(&spoken(&row, 2, None, text(&row, 4).as_deref())?, snippet::NEIGHBOUR);
    }
    Ok(Neighbour { role, text: head })
}
