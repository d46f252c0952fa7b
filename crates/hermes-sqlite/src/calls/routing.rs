//! The places where newer agents keep what a route says: their table `gateway_routing`, whose entries are JSON, and
//! columns of `sessions`. Both are kept in step with our routes where they exist. Fields and rows that we do not know
//! stay as they are.

use crate::error::Failure;
use crate::open::foreign::quoted;
use crate::write::database::Database;
use hermes_session::SessionId;
use hermes_session::extra::Table;
use hermes_session::live::Route;
use rusqlite::{ToSql, params};

/// SQL for a time as the agent's entries have it: local, without a zone.
macro_rules! local_time {
    ($seconds:literal) => {
        concat!("strftime('%Y-%m-%dT%H:%M:%f', ", $seconds, ", 'unixepoch', 'localtime')")
    };
}

/// Name of the folder beside the store that an agent's gateway keeps its files in; its path is the scope of the
/// gateway's entries.
const FOLDER: &str = "sessions";

/// Writes a route to the agent's table. A route without the agent's key is left out.
pub(crate) fn mirror(database: &Database, route: &Route) -> Result<(), Failure> {
    if !database.shape().routing || route.origin.session_key.is_empty() {
        return Ok(());
    }
    let (key, session, now) = (&route.origin.session_key, route.session.as_str(), route.touched_at.seconds());
    let tokens = route.last_prompt_tokens.unwrap_or(0);
    let known = database
        .prepare_cached(concat!(
            "UPDATE gateway_routing SET updated_at = ?3, entry_json = json_set(entry_json, '$.session_id', ?2, '$.updated_at', ",
            local_time!("?3"),
            ", '$.suspended', json(?4), '$.last_prompt_tokens', ?5) WHERE session_key = ?1 AND json_valid(entry_json)"
        ))?
        .execute(params![key, session, now, if route.suspended { "true" } else { "false" }, tokens])?;
    let is_there = "SELECT 1 FROM gateway_routing WHERE session_key = ?";
    if known > 0 || database.prepare_cached(is_there)?.exists([key])? {
        return Ok(());
    }
    database
        .prepare_cached(concat!(
            "INSERT INTO gateway_routing (scope, session_key, updated_at, entry_json) VALUES (?1, ?2, ?4, \
             json_patch(json_object('session_key', ?2, 'session_id', ?3, 'created_at', ",
            local_time!("?5"),
            ", 'updated_at', ",
            local_time!("?4"),
            ", 'display_name', ?6, 'platform', ?7, 'chat_type', ?8, 'last_prompt_tokens', ?10), \
             CASE WHEN json_valid(?9) THEN json_object('origin', json(?9)) ELSE '{}' END))"
        ))?
        .execute(params![
            scope(database),
            key,
            session,
            now,
            route.created_at.seconds(),
            route.origin.display_name,
            route.key.platform,
            route.key.chat_type,
            route.origin.source,
            tokens,
        ])?;
    Ok(())
}

/// Returns the scope of the entries of a gateway beside this store.
fn scope(database: &Database) -> String {
    let folder = database.path().and_then(|path| std::path::Path::new(path).parent()).map(|home| home.join(FOLDER));
    folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Removes the entries that lead to a session that is deleted.
pub(crate) fn forget(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if database.shape().routing {
        database
            .prepare_cached(
                "DELETE FROM gateway_routing WHERE session_key IN (SELECT session_key FROM hx_route WHERE session_id = ?1) \
                 AND json_valid(entry_json) AND json_extract(entry_json, '$.session_id') = ?1",
            )?
            .execute(params![id.as_str()])?;
    }
    Ok(())
}

/// Writes the place that a new session belongs to into the columns of the session that newer agents have for it.
pub(crate) fn describe(database: &Database, route: &Route) -> Result<(), Failure> {
    let extras = database.extras();
    let values: [(&str, &dyn ToSql); 6] = [
        ("session_key", &route.origin.session_key),
        ("chat_id", &route.key.chat),
        ("chat_type", &route.key.chat_type),
        ("thread_id", &route.key.thread),
        ("display_name", &route.origin.display_name),
        ("origin_json", &route.origin.source),
    ];
    for (column, value) in values.into_iter().filter(|(column, _)| extras.has(Table::Sessions, column)) {
        let sql = format!("UPDATE sessions SET {} = ? WHERE id = ?", quoted(column));
        database.prepare_cached(&sql)?.execute(params![value, route.session.as_str()])?;
    }
    Ok(())
}
