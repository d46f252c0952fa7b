//! Reads that depend on derived data. They see values that match the messages, even if a foreign writer left the stored
//! ones stale.
//!
//! A reader changes nothing in the file and waits for no writer. So while stale times or places are there, it reads a
//! copy of `hx_session` in memory, in which they are recomputed. The writer's next step recomputes the stored rows, and
//! then no copy is needed.

use crate::care::refresh;
use crate::care::stale::{place_bit, preview_bit};
use crate::error::Failure;
use crate::open::schema;
use crate::write::database::Database;

/// SQL for the last activity of a session `s`, computed from its messages. Numbers sort before text, so the bound
/// excludes values that are not times.
macro_rules! computed_activity {
    () => {
        "max(s.started_at, coalesce((SELECT m.timestamp FROM messages m WHERE m.session_id = s.id AND m.timestamp <= 9e999 \
         ORDER BY m.timestamp DESC LIMIT 1), s.started_at))"
    };
}

/// The derived data that a read decides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decides {
    /// Which conversation a session is part of.
    ByPlace,
    /// That, and when a session was last active.
    ByPlaceAndTime,
}

/// Reads with derived data that matches the messages and the lineage. Previews may still be stale.
pub(crate) fn read<T>(
    database: &Database,
    decides: Decides,
    work: impl FnOnce(&Database) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // The side tables of a file that is not adopted are filled for this very read.
    if database.memory().is_some() || !is_misleading(database, decides)? {
        return work(database);
    }
    database.pragma_update(None, "query_only", false)?;
    let prepared = schema::copy_sessions_to_memory(database).and_then(|()| recompute(database));
    let outcome = prepared.and_then(|()| work(database));
    let dropped = database.execute_batch("DROP TABLE IF EXISTS temp.hx_session");
    database.pragma_update(None, "query_only", true)?;
    let outcome = outcome?;
    dropped?;
    Ok(outcome)
}

/// Returns whether a stale row would change the answer: its place is stale, or its time differs from the computed one.
/// A row with only a stale preview does not.
fn is_misleading(database: &Database, decides: Decides) -> Result<bool, Failure> {
    let sql = match decides {
        Decides::ByPlace => {
            concat!("SELECT 1 FROM hx_session WHERE dirty <> 0 AND dirty & ", place_bit!(), " <> 0 LIMIT 1")
        }
        Decides::ByPlaceAndTime => concat!(
            "SELECT 1 FROM hx_session h JOIN sessions s ON s.id = h.session_id \
             WHERE h.dirty <> 0 AND (h.dirty & ",
            place_bit!(),
            " <> 0 OR h.last_active IS NOT ",
            computed_activity!(),
            ") LIMIT 1"
        ),
    };
    Ok(database.prepare_cached(sql)?.exists([])?)
}

/// Recomputes stale times and places.
fn recompute(database: &Database) -> Result<(), Failure> {
    database.execute_batch(concat!(
        "UPDATE hx_session SET last_active = coalesce((SELECT ",
        computed_activity!(),
        " FROM sessions s WHERE s.id = hx_session.session_id), last_active) WHERE dirty & ",
        preview_bit!(),
        " <> 0;
         UPDATE hx_session SET active = (SELECT max(x.last_active) FROM hx_session x WHERE x.root = hx_session.session_id)
         WHERE root = session_id AND session_id IN (SELECT root FROM hx_session WHERE dirty & ",
        preview_bit!(),
        " <> 0);"
    ))?;
    refresh::places(database)
}
