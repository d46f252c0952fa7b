//! Reads messages and sessions for a search.

use crate::calls::hidden::seen;
use crate::calls::pins_and_tags;
use crate::calls::row::{text, time};
use crate::care::refresh;
use crate::care::stale::Stale;
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use hermes_search::postings::{Card, Said};
use hermes_session::search::{SearchFilter, SessionFacts};
use hermes_session::{Role, SessionId, Source, Timestamp};
use hermes_sql::scope;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, params, params_from_iter};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

const COLUMNS: &str = "id, session_id, role, timestamp, content, tool_name, tool_calls";

/// Returns the content, the tool name and the tool calls of a message, from the column `first` on.
pub(super) fn columns<'r>(row: &'r rusqlite::Row<'_>, first: usize) -> Result<[Option<Cow<'r, str>>; 3], Failure> {
    let column = |index| -> Result<Option<Cow<'r, str>>, Failure> {
        Ok(match row.get_ref(index)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                // Nearly all text is valid, and this check is the faster one.
                Some(std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed))
            }
            _ => text(row, index)?.map(Cow::Owned),
        })
    };
    Ok([column(first)?, column(first + 1)?, column(first + 2)?])
}

/// A session, as hits and filters need it.
#[derive(Debug, Clone)]
struct Known {
    card: Arc<Card>,
    /// Whether the filter admits its messages.
    is_admitted: bool,
}

/// Reads rows of the store during one search. Sessions are looked up once.
pub(super) struct Rows<'d> {
    database: &'d Database,
    filter: &'d SearchFilter,
    cards: HashMap<String, Option<Known>>,
    /// The session of the last lookup.
    last: Option<Known>,
    /// The conversations of sessions: their tip and title.
    conversations: HashMap<SessionId, (SessionId, Option<String>)>,
}

impl<'d> Rows<'d> {
    pub(super) fn new(database: &'d Database, filter: &'d SearchFilter) -> Self {
        Self { database, filter, cards: HashMap::new(), last: None, conversations: HashMap::new() }
    }

    /// Returns the session with this id; `None` if it does not exist or is hidden.
    fn card(&mut self, id: &str) -> Result<Option<Known>, Failure> {
        if let Some(card) = self.cards.get(id) {
            return Ok(card.clone());
        }
        let sql = |card: &str| {
            format!(
                "SELECT s.source, s.user_id, s.model, s.title, s.started_at FROM sessions s {card} WHERE s.id = ?1 AND {}",
                seen!()
            )
        };
        // In the table itself the title lies behind the system prompt, so the covering index is used unless it is
        // missing.
        let mut statement = match self.database.prepare_cached(&sql("INDEXED BY hx_sessions_card")) {
            Ok(statement) => statement,
            Err(_) => self.database.prepare_cached(&sql(""))?,
        };
        let found = statement
            .query_row([id], |row| {
                let card = Card {
                    id: SessionId::from_stored(id.to_owned()),
                    source: Source::from_stored(text(row, 0)?.unwrap_or_default()),
                    model: text(row, 2)?,
                    title: text(row, 3)?,
                    started_at: time(row, 4)?.unwrap_or(Timestamp::EPOCH),
                };
                Ok((card, text(row, 1)?))
            })
            .optional()?;
        let has_admitted_conversation = found.is_some() && self.has_admitted_conversation(id)?;
        let known = found.map(|(card, user_id)| {
            let is_admitted = self.filter.admits_session(SessionFacts {
                id: &card.id,
                source: &card.source,
                user_id: user_id.as_deref(),
                model: card.model.as_deref(),
                title: card.title.as_deref(),
                has_admitted_conversation,
            });
            Known { card: Arc::new(card), is_admitted }
        });
        self.cards.insert(id.to_owned(), known.clone());
        Ok(known)
    }

    /// Returns whether the conversation of a session is within the filter's scope and has its tags.
    fn has_admitted_conversation(&self, id: &str) -> Result<bool, Failure> {
        if !self.filter.asks_of_conversation() {
            return Ok(true);
        }
        let (sql, mut values) = self.in_admitted_conversations();
        values.push(id.to_owned());
        let mut statement = self.database.prepare_cached(&format!("{sql} AND h.session_id = ?"))?;
        Ok(statement.exists(params_from_iter(values))?)
    }

    /// Returns the statement for all sessions of conversations within the filter's scope that have its tags, and its values.
    fn in_admitted_conversations(&self) -> (String, Vec<String>) {
        let mut values = Vec::new();
        let mut bind = |value: &str| {
            values.push(value.to_owned());
            "?".to_owned()
        };
        let scope = scope::condition(&self.filter.scope, "h.root", ToOwned::to_owned, &mut bind);
        let tags = pins_and_tags::tags_condition(self.database.shape(), &self.filter.tags, bind);
        (format!("SELECT h.session_id FROM hx_session h WHERE 1{scope}{tags}"), values)
    }

    /// Returns the messages of the few sessions that a filter admits. Returns `None` if it admits many, so that
    /// checking each message is faster.
    pub(super) fn admitted(&mut self) -> Result<Option<Vec<i64>>, Failure> {
        const MAX_LISTED_SESSIONS: usize = 64;
        // A filter that only excludes sessions usually admits most of them.
        if !self.filter.names_sessions() {
            return Ok(None);
        }
        let mut few = Vec::new();
        if let Some(sessions) = &self.filter.sessions {
            for id in sessions {
                if self.card(id.as_str())?.is_some_and(|known| known.is_admitted) {
                    few.push(id.as_str().to_owned());
                }
            }
        } else {
            // Usually the first rows show that there are many.
            let ((sql, values), database) = (self.in_admitted_conversations(), self.database);
            let mut statement = database.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                let name: String = row.get(0)?;
                if self.card(&name)?.is_some_and(|known| known.is_admitted) {
                    few.push(name);
                    if few.len() > MAX_LISTED_SESSIONS {
                        return Ok(None);
                    }
                }
            }
        }
        let mut ids = Vec::new();
        let mut statement = self.database.prepare_cached("SELECT id FROM messages WHERE session_id = ?")?;
        for name in few {
            for id in statement.query_map([name], |row| row.get(0))? {
                ids.push(id?);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(Some(ids))
    }

    /// Returns a message; `None` if it does not exist or is not admitted.
    pub(super) fn said(&mut self, id: i64) -> Result<Option<Said>, Failure> {
        let sql = format!("SELECT {COLUMNS} FROM messages WHERE id = ? AND {}", self.database.shape().was_said());
        let database = self.database;
        let mut statement = database.prepare_cached(&sql)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        // Messages of a page are often of one session.
        let is_last =
            |known: &Known| matches!(row.get_ref(1), Ok(ValueRef::Text(id)) if id == known.card.id.as_str().as_bytes());
        let known = match &self.last {
            Some(last) if is_last(last) => Some(last.clone()),
            _ => {
                let found = self.card(&text(row, 1)?.unwrap_or_default())?;
                self.last.clone_from(&found);
                found
            }
        };
        let Some(known) = known.filter(|known| known.is_admitted) else { return Ok(None) };
        let role = match row.get_ref(2)?.as_str() {
            Ok(role) => Role::from_stored(role),
            Err(_) => Role::from_stored(&text(row, 2)?.unwrap_or_default()),
        };
        let said_at = time(row, 3)?.unwrap_or(known.card.started_at);
        if !self.filter.admits_message(&role, said_at) {
            return Ok(None);
        }
        let [content, tool_name, calls] = columns(row, 4)?;
        let text = vocabulary::decoded(content.as_deref(), tool_name.as_deref(), calls.as_deref()).into_owned();
        let tool_name = tool_name.map(Cow::into_owned);
        Ok(Some(Said { id, session: known.card, role, said_at, tool_name, text }))
    }

    /// Returns whether the conversation of a session is archived.
    pub(super) fn is_archived(&self, session: &SessionId) -> Result<bool, Failure> {
        let shape = self.database.shape();
        if !(shape.archived || shape.archived_beside) {
            return Ok(false);
        }
        let sql = format!(
            "SELECT 1 FROM hx_session h JOIN sessions f ON f.id = h.root WHERE h.session_id = ? AND {}",
            shape.is_archived("f")
        );
        Ok(self.database.prepare_cached(&sql)?.exists([session.as_str()])?)
    }

    /// Returns the tip and the title of the conversation of a session.
    pub(super) fn conversation(&mut self, session: &SessionId) -> Result<(SessionId, Option<String>), Failure> {
        if let Some(known) = self.conversations.get(session) {
            return Ok(known.clone());
        }
        let tip: Option<(String, Stale, String)> = self
            .database
            .prepare_cached(
                "SELECT r.tip, h.dirty | r.dirty, r.session_id FROM hx_session h JOIN hx_session r ON r.session_id = h.root \
                 WHERE h.session_id = ?",
            )?
            .query_row(params![session.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let tip = match tip {
            None => session.clone(),
            Some((tip, stale, _)) if !stale.place => SessionId::from_stored(tip),
            Some((_, _, root)) => refresh::tip(self.database, &SessionId::from_stored(root))?,
        };
        let mut title = self.card(tip.as_str())?.and_then(|known| known.card.title.clone());
        if title.is_none() {
            title = self.card(session.as_str())?.and_then(|known| known.card.title.clone());
        }
        self.conversations.insert(session.clone(), (tip.clone(), title.clone()));
        Ok((tip, title))
    }
}

/// Returns the conversations of messages, by their first sessions.
pub(super) fn conversations(database: &Database, ids: &[i64]) -> Result<Vec<(i64, String)>, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT coalesce(h.root, m.session_id) FROM messages m LEFT JOIN hx_session h ON h.session_id = m.session_id WHERE m.id = ?",
    )?;
    let mut conversations = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(name) = statement.query_row([id], |row| row.get(0)).optional()? {
            conversations.push((*id, name));
        }
    }
    Ok(conversations)
}
