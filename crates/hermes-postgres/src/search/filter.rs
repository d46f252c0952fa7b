//! Filter of a search, as SQL conditions.

use super::question::Values;
use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_session::search::SearchFilter;
use hermes_sql::{pins_and_tags, scope, stored};

/// Maximum number of sessions that are listed first to look up their messages. With more, each candidate is checked.
const MAX_LISTED_SESSIONS: usize = 64;
/// Maximum number of sessions that a statement excludes by their ids.
const MAX_EXCLUDED_SESSIONS: usize = 4_096;

/// The messages that a filter admits.
pub(super) struct Admitted {
    filter: SearchFilter,
    sessions: Sessions,
}

enum Sessions {
    /// All sessions.
    All,
    /// Sessions with the properties that the filter asks for.
    Such,
    /// These sessions.
    Listed(Vec<String>),
    /// All sessions but these.
    But(Vec<String>),
}

impl Admitted {
    /// Looks up the sessions of a filter, if they are few or the server cannot evaluate the filter alone.
    pub(super) async fn new(transaction: &Transaction, filter: &SearchFilter) -> Result<Self, Failure> {
        if !filter.asks_of_session() {
            return Ok(Self { filter: filter.clone(), sessions: Sessions::All });
        }
        if !filter.names_sessions()
            && let Some(excluded) = excluded(transaction, filter).await?
        {
            return Ok(Self { filter: filter.clone(), sessions: Sessions::But(excluded) });
        }
        let mut values = Values::default();
        let conditions = such(filter, &mut values);
        // Pieces of titles and models are compared by the domain's rules.
        let limit = if filter.asks_for_pieces() { i64::MAX } else { MAX_LISTED_SESSIONS as i64 + 1 };
        let limit = if filter.sessions.is_some() { i64::MAX } else { limit };
        let limit = values.bind(limit);
        let sql = format!("SELECT s.id, s.title, s.model FROM sessions s WHERE true{conditions} LIMIT {limit}");
        let mut listed = Vec::new();
        for row in values.rows(transaction, &sql).await? {
            if !filter.asks_for_pieces() || has_pieces(&row, filter) {
                listed.push(row.try_get(0)?);
            }
        }
        let is_told = filter.asks_for_pieces() || filter.sessions.is_some() || listed.len() <= MAX_LISTED_SESSIONS;
        let sessions = if is_told { Sessions::Listed(listed) } else { Sessions::Such };
        Ok(Self { filter: filter.clone(), sessions })
    }

    /// Returns whether the conditions are decided by the row of `hx_search` alone.
    pub(super) fn is_of_row(&self) -> bool {
        matches!(self.sessions, Sessions::All | Sessions::But(_))
            && said(&self.filter, &mut Values::default()).is_empty()
    }

    /// Returns the conditions on the row `name` of `hx_search`, each preceded by `AND`.
    pub(super) fn conditions(&self, name: &str, values: &mut Values) -> String {
        let mut sql = match &self.sessions {
            Sessions::All => String::new(),
            Sessions::Such => {
                let such = such(&self.filter, values);
                // As a value, not as a join: the server takes a search for more selective than it is, and would join each message
                // with each session. So it looks up the session of each message, or the sessions once, if they are few.
                format!(" AND (EXISTS (SELECT 1 FROM sessions s WHERE s.id = {name}.session_id{such})) IS TRUE")
            }
            Sessions::Listed(ids) => {
                let list = values.bind(ids.clone());
                match ids.len() <= MAX_LISTED_SESSIONS {
                    true => format!(
                        " AND {name}.message_id IN (SELECT f.id FROM messages f WHERE f.session_id = ANY({list}::text[]))"
                    ),
                    false => format!(" AND {name}.session_id IN (SELECT unnest({list}::text[]) COLLATE \"C\")"),
                }
            }
            Sessions::But(ids) if ids.is_empty() => String::new(),
            Sessions::But(ids) => {
                // The server hashes the list once.
                let list = values.bind(ids.clone());
                format!(" AND {name}.session_id NOT IN (SELECT unnest({list}::text[]) COLLATE \"C\")")
            }
        };
        let said = said(&self.filter, values);
        if !said.is_empty() {
            sql += &format!(" AND EXISTS (SELECT 1 FROM messages m WHERE m.id = {name}.message_id{said})");
        }
        sql
    }
}

/// Returns the sessions that a filter excludes, if it only excludes some and they are few.
async fn excluded(transaction: &Transaction, filter: &SearchFilter) -> Result<Option<Vec<String>>, Failure> {
    const SQL: &str = "SELECT id FROM sessions WHERE source = ANY($1::text[]) UNION SELECT unnest($2::text[]) LIMIT $3";
    let sources: Vec<String> =
        filter.exclude_sources.iter().map(|source| stored::without_nul(source.as_str()).into_owned()).collect();
    let sessions: Vec<&str> = filter.exclude_sessions.iter().map(|id| id.as_str()).collect();
    let limit = MAX_EXCLUDED_SESSIONS as i64 + 1;
    let rows = transaction.query_rows(SQL, &[&sources, &sessions, &limit]).await?;
    if rows.len() > MAX_EXCLUDED_SESSIONS {
        return Ok(None);
    }
    Ok(Some(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?))
}

/// Returns the conditions of a filter on the session `s`, without those on title and model.
fn such(filter: &SearchFilter, values: &mut Values) -> String {
    let kept = |text: &str| stored::without_nul(text).into_owned();
    let mut sql = String::new();
    let mut ask = |condition: &str, place: String| sql += &format!(" AND {}", condition.replace('?', &place));
    if let Some(sources) = &filter.sources {
        let sources: Vec<String> = sources.iter().map(|source| kept(source.as_str())).collect();
        ask("s.source = ANY(?::text[])", values.bind(sources));
    }
    if !filter.exclude_sources.is_empty() {
        let sources: Vec<String> = filter.exclude_sources.iter().map(|source| kept(source.as_str())).collect();
        ask("s.source <> ALL(?::text[])", values.bind(sources));
    }
    if let Some(user) = &filter.user_id {
        ask("s.user_id = ?::text", values.bind(kept(user)));
    }
    if let Some(sessions) = &filter.sessions {
        let sessions: Vec<String> = sessions.iter().map(|id| id.as_str().to_owned()).collect();
        ask("s.id = ANY(?::text[])", values.bind(sessions));
    }
    if !filter.exclude_sessions.is_empty() {
        let sessions: Vec<String> = filter.exclude_sessions.iter().map(|id| id.as_str().to_owned()).collect();
        ask("s.id <> ALL(?::text[])", values.bind(sessions));
    }
    let mut bind = |value: &str| format!("{}::text", values.bind(kept(value)));
    sql += &scope::condition(&filter.scope, &scope::root_of("s.id"), ToOwned::to_owned, &mut bind);
    sql += &pins_and_tags::session_has(&filter.tags, "s.id", bind);
    sql
}

/// Returns the conditions of a filter on the message `m`.
fn said(filter: &SearchFilter, values: &mut Values) -> String {
    let mut sql = String::new();
    let mut ask = |condition: &str, place: String| sql += &format!(" AND {}", condition.replace('?', &place));
    if let Some(roles) = &filter.roles {
        let roles: Vec<String> = roles.iter().map(|role| stored::without_nul(role.as_str()).into_owned()).collect();
        ask("m.role = ANY(?::text[])", values.bind(roles));
    }
    if let Some(since) = filter.since {
        ask("m.timestamp >= ?::float8", values.bind(since.seconds()));
    }
    if let Some(before) = filter.before {
        ask("m.timestamp < ?::float8", values.bind(before.seconds()));
    }
    sql
}

/// Returns whether the title and the model of a row have the pieces that a filter asks for.
fn has_pieces(row: &tokio_postgres::Row, filter: &SearchFilter) -> bool {
    let text = |index: usize| {
        let text = row.try_get::<_, Option<&str>>(index).ok().flatten();
        text.map(|text| stored::with_nul(text).unwrap_or_else(|| text.to_owned()))
    };
    filter.admits_pieces(text(1).as_deref(), text(2).as_deref())
}
