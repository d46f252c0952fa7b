//! Writes the relation of a session to its parent where the agent looks for it.
//!
//! The agent infers it from end reasons and times, unless the settings of the session name the parent under
//! `_branched_from` or `_delegate_from` (releases from 0.16 and 0.17 on). Our tables record it when the session is
//! created. Where the two differ, the key is added.

use crate::error::Failure;
use crate::open::schema;
use crate::write::budget::Budget;
use crate::write::database::Database;
use hermes_session::Json;
use rusqlite::params;
use rusqlite::types::{Value, ValueRef};

/// Sessions read by one statement.
const PIECE: i64 = 200;
/// From this schema on the agent takes every unmarked child of a compressed session for its continuation, whatever its
/// start.
const MARKED_SINCE: i64 = 16;

/// Progress of writing relations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Relations {
    /// The last session that was checked.
    pub(super) after: String,
    /// How many sessions got a key.
    pub(super) written: u64,
    /// Sessions whose settings can't hold one.
    pub(super) left: Vec<String>,
    pub(super) is_over: bool,
}

/// The relation that the agent would infer for a session `s` with a parent `p`; `schema/side.rs` infers it the same
/// way.
const INFERRED: &str = "CASE
    WHEN p.end_reason = 'compression' AND s.started_at >= p.ended_at THEN
        CASE WHEN EXISTS (SELECT 1 FROM sessions o WHERE o.parent_session_id = p.id AND o.started_at >= p.ended_at
            AND (o.started_at < s.started_at OR (o.started_at = s.started_at AND o.id < s.id)))
        THEN 'branch' ELSE 'continuation' END
    WHEN p.end_reason = 'branched' AND s.started_at >= p.ended_at THEN 'branch'
    ELSE 'delegate' END";

/// Checks the next sessions, as many as a step allows.
pub(super) fn step(database: &Database, mut so_far: Relations) -> Result<Relations, Failure> {
    let mut budget = Budget::step();
    let is_timeless = schema::version(database)?.is_some_and(|version| version >= MARKED_SINCE);
    let mut statement = database.prepare_cached(&format!(
        "SELECT s.id, h.relation, p.id, s.model_config, h.relation <> {INFERRED} OR (?3 AND h.relation = 'delegate' \
             AND p.end_reason = 'compression' AND s.source IS NOT 'tool') \
         FROM hx_session h JOIN sessions s ON s.id = h.session_id JOIN sessions p ON p.id = s.parent_session_id AND p.id <> s.id \
         WHERE h.session_id > ?1 AND h.relation IN ('branch', 'delegate') ORDER BY h.session_id LIMIT ?2"
    ))?;
    loop {
        let mut rows = statement.query(params![so_far.after, PIECE, is_timeless])?;
        let (mut seen, mut changes) = (0, Vec::new());
        while let Some(row) = rows.next()? {
            seen += 1;
            so_far.after = row.get(0)?;
            if row.get::<_, Option<bool>>(4)?.unwrap_or(true) {
                let key = if row.get_ref(1)?.as_str() == Ok("branch") { "_branched_from" } else { "_delegate_from" };
                changes.push((so_far.after.clone(), key, row.get::<_, String>(2)?, settings(row.get_ref(3)?)));
            }
        }
        drop(rows);
        for (id, key, parent, settings) in changes {
            match settings.and_then(|settings| with_key(&settings, key, &parent)) {
                Ok(None) => {}
                Ok(Some(text)) => {
                    database
                        .prepare_cached("UPDATE sessions SET model_config = ? WHERE id = ?")?
                        .execute(params![text, id])?;
                    so_far.written += 1;
                }
                Err(()) => so_far.left.push(id),
            }
            budget.spend();
        }
        if seen < PIECE {
            so_far.is_over = true;
            return Ok(so_far);
        }
        if budget.is_spent() {
            return Ok(so_far);
        }
    }
}

fn settings(value: ValueRef<'_>) -> Result<String, ()> {
    match Value::try_from(value) {
        Ok(Value::Null) => Ok("{}".to_owned()),
        Ok(Value::Text(text)) => Ok(text),
        _ => Err(()),
    }
}

/// Adds a key to settings without changing the spelling of the rest. Returns `None` if they already name a parent.
///
/// # Errors
/// If they are not a JSON object.
fn with_key(settings: &str, key: &str, parent: &str) -> Result<Option<String>, ()> {
    let value = Json::parse(settings).ok().and_then(|json| json.to_value()).ok_or(())?;
    let object = value.as_object().ok_or(())?;
    if ["_branched_from", "_delegate_from"].iter().any(|key| object.get(*key).is_some_and(|value| !value.is_null())) {
        return Ok(None);
    }
    if object.contains_key(key) {
        return Err(());
    }
    let open = settings.trim_end().strip_suffix('}').ok_or(())?;
    let between = if object.is_empty() { "" } else { ", " };
    Ok(Some(format!("{}{between}\"{key}\": {}}}", open.trim_end(), Json::string(parent))))
}

#[cfg(test)]
mod tests {
    use super::with_key;

    #[test]
    fn settings_stay_as_they_are_spelled() {
        let added = |settings| with_key(settings, "_branched_from", "a\"b");
        assert_eq!(added("{}"), Ok(Some(r#"{"_branched_from": "a\"b"}"#.into())));
        assert_eq!(
            added("{\"x\":1.0,\n \"y\": \"\\u00e9\" } \n"),
            Ok(Some("{\"x\":1.0,\n \"y\": \"\\u00e9\", \"_branched_from\": \"a\\\"b\"}".into()))
        );
        assert_eq!(added(r#"{"_delegate_from": "z"}"#), Ok(None));
        for odd in ["", "null", "[]", "{", "{\"_branched_from\": null}"] {
            assert_eq!(added(odd), Err(()), "{odd}");
        }
    }
}
