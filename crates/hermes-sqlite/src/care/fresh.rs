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

/// Returns the SQL expression for the last activity of a session `s`, computed from its messages.
fn computed_activity(database: &Database) -> String {
    format!("max(s.started_at, coalesce({}, s.started_at))", database.shape().newest_time())
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
            concat!("SELECT 1 FROM hx_session WHERE dirty <> 0 AND dirty & ", place_bit!(), " <> 0 LIMIT 1").to_owned()
        }
        Decides::ByPlaceAndTime => format!(
            "SELECT 1 FROM hx_session h JOIN sessions s ON s.id = h.session_id \
             WHERE h.dirty <> 0 AND (h.dirty & {} <> 0 OR h.last_active IS NOT {}) LIMIT 1",
            place_bit!(),
            computed_activity(database)
        ),
    };
    Ok(database.prepare_cached(&sql)?.exists([])?)
}

/// Recomputes stale times and places.
fn recompute(database: &Database) -> Result<(), Failure> {
    database.execute_batch(&format!(
        "UPDATE hx_session SET last_active = coalesce((SELECT {computed} FROM sessions s WHERE s.id = hx_session.session_id), \
         last_active) WHERE dirty & {preview} <> 0;
         UPDATE hx_session SET active = (SELECT max(x.last_active) FROM hx_session x WHERE x.root = hx_session.session_id)
         WHERE root = session_id AND session_id IN (SELECT root FROM hx_session WHERE dirty & {preview} <> 0);",
        computed = computed_activity(database),
        preview = preview_bit!(),
    ))?;
    refresh::places(database)
}
