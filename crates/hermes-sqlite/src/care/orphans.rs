//! Rows of live clients whose session, route or turn is gone. Our own deletions and a trigger leave none; they appear if
//! a foreign writer dropped the trigger. The verification reports them, and upkeep removes them.

use crate::calls::row::text;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::Check;

/// Rows of a table that refer to nothing.
struct Orphans {
    table: &'static str,
    /// The column that names a row.
    key: &'static str,
    /// The condition on a row `r`.
    are: &'static str,
    what: &'static str,
    /// The statement that settles them, without the condition.
    settle: &'static str,
}

const NO_SESSION: &str = "belongs to a session that does not exist";

const ALL: [Orphans; 6] = [
    Orphans {
        table: "hx_turn",
        key: "turn",
        are: "NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = r.session_id)",
        what: NO_SESSION,
        settle: "DELETE FROM hx_turn AS r",
    },
    Orphans {
        table: "hx_inbox",
        key: "id",
        are: "r.settled_at IS NULL AND r.state = 'taken' AND NOT EXISTS (SELECT 1 FROM hx_turn t WHERE t.turn = r.turn)",
        what: "is taken by a turn that is not open",
        settle: "UPDATE hx_inbox AS r SET state = 'done', payload = '', settled_at = received_at",
    },
    Orphans {
        table: "hx_outbox",
        key: "id",
        are: "r.session_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = r.session_id)",
        what: NO_SESSION,
        settle: "DELETE FROM hx_outbox AS r",
    },
    Orphans {
        table: "hx_route",
        key: "key",
        are: "NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = r.session_id)",
        what: "leads to a session that does not exist",
        settle: "DELETE FROM hx_route AS r",
    },
    Orphans {
        table: "hx_route_alias",
        key: "old",
        are: "NOT EXISTS (SELECT 1 FROM hx_route o WHERE o.key = r.key)",
        what: "leads to a route that does not exist",
        settle: "DELETE FROM hx_route_alias AS r",
    },
    Orphans {
        table: "hx_lease",
        key: "resource",
        are: "r.resource GLOB 'c:*' AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = substr(r.resource, 3))",
        what: NO_SESSION,
        settle: "DELETE FROM hx_lease AS r",
    },
];

/// Reports these rows.
pub(crate) fn report(database: &Database, check: &mut Check) -> Result<(), Failure> {
    for Orphans { table, key, are, what, .. } in ALL {
        let mut statement = database.prepare(&format!("SELECT r.{key} FROM {table} r WHERE {are} ORDER BY 1"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            check.problem(format!("{table} {}", text(row, 0)?.unwrap_or_default()), what);
        }
    }
    Ok(())
}

/// Removes these rows.
pub(crate) fn remove(database: &Database) -> Result<(), Failure> {
    for Orphans { settle, are, .. } in ALL {
        database.prepare_cached(&format!("{settle} WHERE {are}"))?.execute([])?;
    }
    Ok(())
}
