//! What stands around a hit: its conversation, and the messages beside it.

use super::rows::{spoken, text};
use crate::database::Transaction;
use crate::error::Failure;
use hermes_session::search::{Hit, Neighbour, snippet};
use hermes_session::{Role, SessionId};
use std::collections::HashMap;
use tokio_postgres::Row;

/// Of a long text so many characters are read: more than is shown of it, but for the strangest.
const CHARACTERS: usize = 16_384;
/// If it begins with more blanks than that, all of it is read.
const BLANKS: usize = 2_000;

/// Tells of each hit where its conversation goes on, what that is called, and the messages beside it.
pub(super) async fn surround(transaction: &Transaction, hits: &mut [Hit]) -> Result<(), Failure> {
    const TIPS: &str = "SELECT h.session_id, r.tip, t.title FROM hx_session h JOIN hx_session r ON r.session_id = h.root \
        LEFT JOIN sessions t ON t.id = r.tip WHERE h.session_id = ANY($1)";
    let sessions: Vec<String> = hits.iter().map(|hit| hit.session.as_str().to_owned()).collect();
    let mut tips: HashMap<String, (SessionId, Option<String>)> = HashMap::new();
    for row in transaction.query_rows(TIPS, &[&sessions]).await? {
        tips.insert(row.try_get(0)?, (SessionId::from_stored(row.try_get::<_, String>(1)?), text(&row, 2)?));
    }
    for hit in &mut *hits {
        if let Some((tip, title)) = tips.get(hit.session.as_str()) {
            hit.conversation = tip.clone();
            hit.title = title.clone().or(hit.title.take());
        }
    }
    let ids: Vec<i64> = hits.iter().map(|hit| hit.message.0).collect();
    for (side, comparison, order) in [(Side::Before, "<", "DESC"), (Side::After, ">", "ASC")] {
        let sql = format!(
            "SELECT x.place, n.role, n.content_kind, n.content, n.tool_calls, n.id \
             FROM unnest($1::int8[], $2::text[]) WITH ORDINALITY x(id, session, place), LATERAL \
             (SELECT m.id, m.role, m.content_kind, m.tool_calls, \
             CASE m.content_kind WHEN 'text' THEN left(m.content, {CHARACTERS}) ELSE m.content END AS content \
             FROM messages m WHERE m.session_id = x.session COLLATE \"C\" AND m.id {comparison} x.id ORDER BY m.id {order} LIMIT 1) n"
        );
        for row in transaction.query_rows(&sql, &[&ids, &sessions]).await? {
            let place = usize::try_from(row.try_get::<_, i64>(0)? - 1).unwrap_or(usize::MAX);
            let neighbour = neighbour(transaction, &row).await?;
            if let Some(hit) = hits.get_mut(place) {
                match side {
                    Side::Before => hit.before = Some(neighbour),
                    Side::After => hit.after = Some(neighbour),
                }
            }
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Before,
    After,
}

async fn neighbour(transaction: &Transaction, row: &Row) -> Result<Neighbour, Failure> {
    const WHOLE: &str = "SELECT id, role, content_kind, content, tool_calls FROM messages WHERE id = $1";
    let role = Role::from_stored(&text(row, 1)?.unwrap_or_default());
    let said = spoken(row, 2, None, text(row, 4)?.as_deref())?;
    let is_blank = |character: char| character.is_whitespace() || character.is_control();
    let blanks = said.len() - said.trim_start_matches(is_blank).len();
    let mut head = snippet::head(&said, snippet::NEIGHBOUR);
    let is_cut = said.len() >= CHARACTERS && (blanks > BLANKS || head.chars().count() < snippet::NEIGHBOUR);
    if is_cut {
        let row = transaction.only(WHOLE, &[&row.try_get::<_, i64>(5)?]).await?;
        head = snippet::head(&spoken(&row, 2, None, text(&row, 4)?.as_deref())?, snippet::NEIGHBOUR);
    }
    Ok(Neighbour { role, text: head })
}
