//! Context of a hit: its conversation and the messages beside it.

use super::rows::Rows;
use crate::calls::row::text;
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use hermes_session::Role;
use hermes_session::search::{Hit, Neighbour, snippet};
use hermes_sql::stored;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, params};

/// Adds to each hit the current session of its conversation, the title of that session, whether it is archived, and, if
/// they are wanted, the neighbouring messages.
pub(super) fn surround(
    database: &Database,
    rows: &mut Rows<'_>,
    hits: &mut [Hit],
    with_neighbours: bool,
) -> Result<(), Failure> {
    for hit in hits {
        (hit.conversation, hit.title) = rows.conversation(&hit.session)?;
        hit.is_archived = rows.is_archived(&hit.session)?;
        if with_neighbours {
            hit.before = neighbour(database, hit, Side::Before)?;
            hit.after = neighbour(database, hit, Side::After)?;
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Before,
    After,
}

/// Returns the message beside a hit, in the order of the transcript; `None` if there is none.
fn neighbour(database: &Database, hit: &Hit, side: Side) -> Result<Option<Neighbour>, Failure> {
    let (comparison, order, nearest) = match side {
        Side::Before => ("<", "DESC", "max"),
        Side::After => (">", "ASC", "min"),
    };
    let said = database.shape().was_said();
    // It is nearly always close by. If not, the agent's index lists all ids of the session.
    let near = format!(
        "SELECT id FROM (SELECT id, session_id FROM messages WHERE id {comparison} ?1 AND {said} ORDER BY id {order} LIMIT 24) \
         WHERE session_id = ?2 LIMIT 1"
    );
    let far = format!("SELECT {nearest}(id) FROM messages WHERE session_id = ?2 AND id {comparison} ?1 AND {said}");
    for place in [near, far] {
        let sql = format!("SELECT role, content, tool_calls FROM messages WHERE id = ({place})");
        let neighbour = database
            .prepare_cached(&sql)?
            .query_row(params![hit.message.0, hit.session.as_str()], |row| {
                let role = Role::from_stored(&text(row, 0)?.unwrap_or_default());
                Ok(Neighbour { role, text: beginning(row)? })
            })
            .optional()?;
        if neighbour.is_some() {
            return Ok(neighbour);
        }
    }
    Ok(None)
}

/// Returns the beginning of a neighbour's text.
fn beginning(row: &rusqlite::Row<'_>) -> Result<String, rusqlite::Error> {
    /// More bytes than the shown characters have, except in unusual texts.
    const BYTES: usize = 4_096;
    // Of a long text the first part nearly always suffices.
    if let ValueRef::Text(content) = row.get_ref(1)?
        && content.len() > BYTES
        && !content.starts_with(stored::MARK.as_bytes())
    {
        let part = &content[..BYTES];
        let valid = std::str::from_utf8(part).map_or_else(|error| error.valid_up_to(), str::len);
        let head = snippet::head(&String::from_utf8_lossy(&part[..valid]), snippet::NEIGHBOUR);
        if head.chars().count() >= snippet::NEIGHBOUR {
            return Ok(head);
        }
    }
    let (content, calls) = (text(row, 1)?, text(row, 2)?);
    Ok(snippet::head(&vocabulary::decoded(content.as_deref(), None, calls.as_deref()), snippet::NEIGHBOUR))
}
