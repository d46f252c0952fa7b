//! Compares our side rows with recomputed values.

use crate::calls::row::{text, time};
use crate::care::orphans;
use crate::care::refresh::{self, Places};
use crate::care::stale::{Stale, place_bit};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{Check, Relation, SessionId, Timestamp};
use rusqlite::params;
use std::collections::BTreeSet;

/// A side row.
struct Side {
    id: SessionId,
    root: Option<String>,
    tip: Option<String>,
    last_active: Option<Timestamp>,
    active: Option<Timestamp>,
    preview: Option<String>,
    stale: Stale,
}

pub(super) fn look(database: &Database, check: &mut Check) -> Result<(), Failure> {
    if database.memory().is_some() {
        // The file is not adopted: there are no rows of ours to check.
        return Ok(());
    }
    surplus(database, check)?;
    hidden(database, check)?;
    orphans::report(database, check)?;
    let mut places = Places::default();
    let unsettled = unsettled(database, &mut places)?;
    let mut statement = database.prepare(
        "SELECT s.id, h.session_id IS NULL, h.relation, h.started_at IS NOT s.started_at, h.root, h.tip, h.last_active, h.active, h.preview, \
         coalesce(h.dirty, 0) FROM sessions s NOT INDEXED LEFT JOIN hx_session h ON h.session_id = s.id WHERE typeof(s.id) = 'text' \
         AND s.id NOT IN (SELECT session_id FROM hx_hidden)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Some(name) = text(row, 0)? else { continue };
        check.looked_at += 1;
        let object = format!("hx_session {name}");
        if row.get(1)? {
            check.problem(object, "is missing, so the session is not listed");
            continue;
        }
        let relation = text(row, 2)?.unwrap_or_default();
        if Relation::from_stored(&relation).is_none() {
            check.problem(&object, format!("has the unknown relation {relation:?}"));
        }
        if row.get(3)? {
            check.problem(&object, "has another started_at than the session");
        }
        let side = Side {
            id: SessionId::from_stored(name),
            root: text(row, 4)?,
            tip: text(row, 5)?,
            last_active: time(row, 6)?,
            active: time(row, 7)?,
            preview: text(row, 8)?,
            stale: row.get(9)?,
        };
        match (side.stale.preview, side.stale.place) {
            (false, false) => {}
            (true, false) => check.note(&object, "has a stale preview and stale times; the next write refreshes them"),
            (false, true) => check.note(&object, "has a stale place in the lineage; the next write refreshes it"),
            (true, true) => check.note(&object, "is stale; the next write refreshes it"),
        }
        if !side.stale.preview {
            said(database, check, &side)?;
        }
        if !side.stale.place {
            placed(database, check, &side, &mut places, &unsettled)?;
        }
    }
    Ok(())
}

fn surplus(database: &Database, check: &mut Check) -> Result<(), Failure> {
    let mut statement = database.prepare(
        "SELECT session_id FROM hx_session h WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = h.session_id)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = text(row, 0)?.unwrap_or_default();
        check.problem(format!("hx_session {id}"), "belongs to a session that does not exist");
    }
    Ok(())
}

/// Notes sessions whose deletion, import or restore is not complete.
fn hidden(database: &Database, check: &mut Check) -> Result<(), Failure> {
    let mut statement = database.prepare("SELECT session_id, state FROM hx_hidden")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let what = match text(row, 1)?.as_deref() {
            Some("coming") => "is imported in part, and hidden until you run the import again",
            Some("binned") => "is moved to the trash in part; upkeep moves the rest",
            Some("restoring") => "is restored from the trash in part, and hidden until you run the restore again",
            _ => "was deleted in part; upkeep deletes the rest",
        };
        check.note(format!("hx_hidden {}", text(row, 0)?.unwrap_or_default()), what);
    }
    Ok(())
}

/// Returns the conversations that a row with a stale place has left or will join. Their roots are right only after a
/// recomputation.
fn unsettled(database: &Database, places: &mut Places) -> Result<BTreeSet<SessionId>, Failure> {
    let mut statement =
        database.prepare(concat!("SELECT session_id, root FROM hx_session WHERE dirty & ", place_bit!(), " <> 0"))?;
    let mut rows = statement.query([])?;
    let mut roots = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let (Some(id), Some(root)) = (text(row, 0)?, text(row, 1)?) else { continue };
        roots.insert(places.root(database, &SessionId::from_stored(id))?);
        roots.insert(SessionId::from_stored(root));
    }
    Ok(roots)
}

/// Compares the preview and the last activity of a session with its messages.
fn said(database: &Database, check: &mut Check, side: &Side) -> Result<(), Failure> {
    let object = format!("hx_session {}", side.id);
    let preview = refresh::first_preview(database, &side.id)?;
    if side.preview.as_deref() != Some(preview.as_str()) {
        check.problem(&object, format!("has the preview {:?}, not {preview:?}", side.preview.as_deref().unwrap_or("")));
    }
    let last_active = refresh::last_active(database, &side.id)?;
    // A session without a readable start may have no times at all.
    if last_active.is_some() && side.last_active != last_active {
        check.problem(
            &object,
            format!("has the last_active {}, not {}", seconds(side.last_active), seconds(last_active)),
        );
    }
    Ok(())
}

/// Compares a session's place in its conversation. If the conversation starts with it, also compares the tip and
/// activity of the whole.
fn placed(
    database: &Database,
    check: &mut Check,
    side: &Side,
    places: &mut Places,
    unsettled: &BTreeSet<SessionId>,
) -> Result<(), Failure> {
    let object = format!("hx_session {}", side.id);
    let root = places.root(database, &side.id)?;
    if unsettled.contains(&root) {
        return Ok(());
    }
    if side.root.as_deref() != Some(root.as_str()) {
        check.problem(&object, format!("has the root {}, not {root}", side.root.as_deref().unwrap_or("nothing")));
        return Ok(());
    }
    if root != side.id {
        return Ok(());
    }
    let tip = refresh::tip(database, &side.id)?;
    if side.tip.as_deref() != Some(tip.as_str()) {
        check.problem(&object, format!("has the tip {}, not {tip}", side.tip.as_deref().unwrap_or("nothing")));
    }
    let active = database
        .prepare_cached("SELECT max(last_active) FROM hx_session WHERE root = ?")?
        .query_row(params![side.id.as_str()], |row| time(row, 0))?;
    if side.active != active {
        check.problem(&object, format!("has the active {}, not {}", seconds(side.active), seconds(active)));
    }
    Ok(())
}

fn seconds(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "nothing".to_owned(), |time| time.seconds().to_string())
}
