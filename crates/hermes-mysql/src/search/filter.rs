//! Filter of a search, as SQL conditions.

use super::question::Values;
use crate::error::Failure;
use crate::row::Row;
use crate::transaction::Transaction;
use hermes_session::search::SearchFilter;
use hermes_sql::server::Fields as _;
use hermes_sql::{pins_and_tags, scope, stored};

/// Maximum number of sessions that are listed first. With more, each candidate is checked.
const MAX_LISTED_SESSIONS: usize = 64;

/// Maximum number of sessions that a statement excludes by their ids.
const MAX_EXCLUDED_SESSIONS: usize = 1_024;

/// Maximum number of sessions bound to one statement, which limits its parameters. With more, the statement
/// over-approximates and the rows are checked.
const MAX_BOUND_SESSIONS: usize = 10_000;

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
        let sql = format!("SELECT s.id, s.title, s.model FROM sessions s WHERE TRUE{conditions} LIMIT {limit}");
        let mut listed = Vec::new();
        for row in values.rows(transaction, &sql).await? {
            if !filter.asks_for_pieces() || has_pieces(&row, filter) {
                listed.push(row.try_get(0)?);
            }
        }
        let is_told = (filter.asks_for_pieces() || filter.sessions.is_some() || listed.len() <= MAX_LISTED_SESSIONS)
            && listed.len() <= MAX_BOUND_SESSIONS;
        let sessions = if is_told { Sessions::Listed(listed) } else { Sessions::Such };
        Ok(Self { filter: filter.clone(), sessions })
    }

    /// Returns whether every message is admitted.
    pub(super) fn is_all(&self) -> bool {
        let has_sessions = match &self.sessions {
            Sessions::All => false,
            Sessions::But(excluded) => !excluded.is_empty(),
            Sessions::Such | Sessions::Listed(_) => true,
        };
        !has_sessions && said(&self.filter, &mut Values::default()).is_empty()
    }

    /// Returns the conditions on the row `name` of `hx_search`, each preceded by `AND`.
    pub(super) fn conditions(&self, name: &str, values: &mut Values) -> String {
        let mut sql = match &self.sessions {
            Sessions::All => String::new(),
            Sessions::Such => {
                let such = such(&self.filter, values);
                format!(" AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = {name}.session_id{such})")
            }
            Sessions::Listed(ids) => {
                format!(" AND {}", values.among(&format!("{name}.session_id"), ids.iter().map(String::as_str)))
            }
            Sessions::But(ids) if ids.is_empty() => String::new(),
            // The server sorts the list once. Looking up the session of each message took half of the time of a search.
            Sessions::But(ids) => {
                format!(" AND NOT ({})", values.among(&format!("{name}.session_id"), ids.iter().map(String::as_str)))
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
    let mut excluded: Vec<String> = filter.exclude_sessions.iter().map(|id| id.as_str().to_owned()).collect();
    if !filter.exclude_sources.is_empty() && excluded.len() <= MAX_EXCLUDED_SESSIONS {
        let mut values = Values::default();
        let sources = filter.exclude_sources.iter().map(|source| stored::without_nul(source.as_str()).into_owned());
        // Compared as bytes, as in `such`.
        let among = values.among("CAST(s.source AS BINARY)", sources);
        let limit = values.bind(MAX_EXCLUDED_SESSIONS as i64 + 1);
        let sql = format!("SELECT s.id FROM sessions s WHERE {among} LIMIT {limit}");
        for row in values.rows(transaction, &sql).await? {
            excluded.push(row.try_get(0)?);
        }
    }
    Ok((excluded.len() <= MAX_EXCLUDED_SESSIONS).then_some(excluded))
}

/// Returns the conditions of a filter on the session `s`, without those on title and model.
fn such(filter: &SearchFilter, values: &mut Values) -> String {
    let kept = |text: &str| stored::without_nul(text).into_owned();
    let mut sql = String::new();
    if let Some(sources) = &filter.sources {
        let sources = sources.iter().map(|source| kept(source.as_str()));
        sql += &format!(" AND {}", values.among("s.source", sources));
    }
    if !filter.exclude_sources.is_empty() {
        let sources = filter.exclude_sources.iter().map(|source| kept(source.as_str()));
        // Compared as bytes: a text comparison ignores trailing blanks, and would exclude those texts as well.
        sql += &format!(" AND NOT ({})", values.among("CAST(s.source AS BINARY)", sources));
    }
    if let Some(user) = &filter.user_id {
        sql += &format!(" AND s.user_id = {}", values.bind(kept(user)));
    }
    if let Some(sessions) = filter.sessions.as_ref().filter(|sessions| sessions.len() <= MAX_BOUND_SESSIONS) {
        sql += &format!(" AND {}", values.among("s.id", sessions.iter().map(|id| id.as_str())));
    }
    // A list too long for a statement is checked against the rows.
    if !filter.exclude_sessions.is_empty() && filter.exclude_sessions.len() <= MAX_BOUND_SESSIONS {
        sql += &format!(" AND NOT ({})", values.among("s.id", filter.exclude_sessions.iter().map(|id| id.as_str())));
    }
    let exact = |column: &str| format!("CAST({column} AS BINARY)");
    let mut bind = |value: &str| values.bind(kept(value));
    sql += &scope::condition(&filter.scope, &scope::root_of("s.id"), exact, &mut bind);
    sql += &pins_and_tags::session_has(&filter.tags, "s.id", bind);
    sql
}

/// Returns the conditions of a filter on the message `m`.
fn said(filter: &SearchFilter, values: &mut Values) -> String {
    let mut sql = String::new();
    if let Some(roles) = &filter.roles {
        let roles = roles.iter().map(|role| stored::without_nul(role.as_str()).into_owned());
        sql += &format!(" AND {}", values.among("m.role", roles));
    }
    if let Some(since) = filter.since {
        sql += &format!(" AND m.timestamp >= {}", values.bind(since.seconds()));
    }
    if let Some(before) = filter.before {
        sql += &format!(" AND m.timestamp < {}", values.bind(before.seconds()));
    }
    sql
}

/// Returns whether the title and the model of a row have the pieces that a filter asks for.
fn has_pieces(row: &Row, filter: &SearchFilter) -> bool {
    let text = |index: usize| hermes_sql::server::row::given(row, index);
    filter.admits_pieces(text(1).as_deref(), text(2).as_deref())
}
