//! Tables, indexes and triggers that have to exist, and the agent's schema version.

use super::count;
use crate::error::Failure;
use crate::open::schema;
use crate::write::database::Database;
use hermes_session::Check;
use std::collections::BTreeSet;

/// Objects that every agent since schema 11 has.
const AGENT: [(&str, &str); 12] = [
    ("table", "schema_version"),
    ("table", "sessions"),
    ("table", "messages"),
    ("table", "state_meta"),
    ("table", "messages_fts"),
    ("table", "messages_fts_trigram"),
    ("trigger", "messages_fts_insert"),
    ("trigger", "messages_fts_delete"),
    ("trigger", "messages_fts_update"),
    ("trigger", "messages_fts_trigram_insert"),
    ("trigger", "messages_fts_trigram_delete"),
    ("trigger", "messages_fts_trigram_update"),
];

/// Objects that newer agents may define differently.
const SCHEMA_11: [(&str, &str); 5] = [
    ("index", "idx_sessions_source"),
    ("index", "idx_sessions_parent"),
    ("index", "idx_sessions_started"),
    ("index", "idx_messages_session"),
    ("index", "idx_sessions_title_unique"),
];

/// Our own objects that came with revision 2.
const LIVE: [(&str, &str); 13] = [
    ("table", "hx_lease"),
    ("table", "hx_turn"),
    ("table", "hx_inbox"),
    ("table", "hx_cursor"),
    ("table", "hx_outbox"),
    ("table", "hx_route"),
    ("table", "hx_route_alias"),
    ("index", "hx_inbox_message"),
    ("index", "hx_inbox_open"),
    ("index", "hx_inbox_session"),
    ("index", "hx_outbox_open"),
    ("index", "hx_outbox_session"),
    ("index", "hx_route_session"),
];

/// Our own objects.
const SIDE: [(&str, &str); 29] = [
    ("table", "hx_again"),
    ("trigger", "hx_message_edited"),
    ("table", "hx_term"),
    ("table", "hx_term_block"),
    ("table", "hx_term_trigram"),
    ("table", "hx_term_unlisted"),
    ("table", "hx_cjk"),
    ("table", "hx_doclen"),
    ("table", "hx_pending"),
    ("view", "hx_message_text"),
    ("view", "hx_cjk_text"),
    ("table", "hx_session"),
    ("table", "hx_request"),
    ("table", "hx_state"),
    ("table", "hx_hidden"),
    ("index", "hx_session_active"),
    ("index", "hx_session_started"),
    ("index", "hx_session_last_active"),
    ("index", "hx_session_root"),
    ("index", "hx_session_dirty"),
    ("index", "hx_request_session"),
    ("trigger", "hx_session_joins"),
    ("trigger", "hx_session_born"),
    ("trigger", "hx_session_gone"),
    ("trigger", "hx_session_moved"),
    ("trigger", "hx_session_restarted"),
    ("trigger", "hx_message_said"),
    ("trigger", "hx_message_changed"),
    ("trigger", "hx_message_gone"),
];

pub(super) fn look(database: &Database, check: &mut Check) -> Result<(), Failure> {
    let there: BTreeSet<(String, String)> = database
        .prepare("SELECT type, name FROM main.sqlite_schema")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let version = schema::version(database)?;
    let is_adopted = database.memory().is_none();
    // Older agents had fewer tables, and adopting their files creates the rest.
    let is_old = !is_adopted && version.is_none_or(|version| version < schema::VERSION);
    let mut expected: Vec<(&str, &str)> = if is_old { AGENT[..3].to_vec() } else { AGENT.to_vec() };
    if !is_old && version.is_none_or(|version| version == schema::VERSION) {
        expected.extend(SCHEMA_11);
    }
    if is_adopted {
        expected.extend(SIDE);
        if schema::is_behind(database) {
            check.note("file", "is of an earlier revision of hermes; the next write adds what is new");
        } else {
            expected.extend(LIVE);
        }
    } else {
        check.note("file", "is not adopted: nothing of ours is in it");
    }
    for (kind, name) in expected {
        check.looked_at += 1;
        if !there.contains(&(kind.to_owned(), name.to_owned())) {
            check.problem(format!("{kind} {name}"), "is missing");
        }
    }
    match count(database, "SELECT count(*) FROM schema_version")? {
        1 => {}
        0 => check.problem("table schema_version", "has no row, so the agent takes the file for its newest schema"),
        rows => {
            check.problem("table schema_version", format!("has {rows} rows; the agent reads whichever comes first"))
        }
    }
    Ok(())
}
