//! Reads messages and sessions for a search.

use super::score;
use crate::calls::hidden::seen;
use crate::calls::pins_and_tags;
use crate::calls::row::{text, time};
use crate::care::refresh;
use crate::care::stale::Stale;
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use hermes_session::search::{SearchFilter, SessionFacts};
use hermes_session::{Role, SessionId, Source, Timestamp};
use hermes_sql::scope;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, params, params_from_iter};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

/// A message, borrowed from its row.
pub(super) struct Said<'r> {
    pub(super) id: i64,
    pub(super) session: Rc<Card>,
    pub(super) role: Role,
    pub(super) at: Timestamp,
    row: &'r rusqlite::Row<'r>,
}

const COLUMNS: &str = "id, session_id, role, timestamp, content, tool_name, tool_calls";

impl Said<'_> {
    fn columns(&self) -> Result<[Option<Cow<'_, str>>; 3], Failure> {
        let column = |index| -> Result<Option<Cow<'_, str>>, Failure> {
            Ok(match self.row.get_ref(index)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    // Nearly all text is valid, and this check is the faster one.
                    Some(std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed))
                }
                _ => text(self.row, index)?.map(Cow::Owned),
            })
        };
        Ok([column(4)?, column(5)?, column(6)?])
    }

    /// Returns its number of tokens, as the index stores it once the message is indexed.
    pub(super) fn length(&self) -> Result<u32, Failure> {
        let columns = self.columns()?;
        let tokens = columns.iter().flatten().map(|text| score::tokens(text));
        Ok(tokens.fold(0, u32::saturating_add).min(vocabulary::MAX_LENGTH))
    }

    /// Returns the text as a person wrote it.
    pub(super) fn text(&self) -> Result<Cow<'_, str>, Failure> {
        let [content, tool, calls] = self.columns()?;
        if let (Some(Cow::Borrowed(content)), None, None) = (&content, &tool, &calls) {
            return Ok(vocabulary::decoded(Some(content), None, None));
        }
        Ok(Cow::Owned(vocabulary::decoded(content.as_deref(), tool.as_deref(), calls.as_deref()).into_owned()))
    }

    /// Returns the tool name of a tool's result.
    pub(super) fn tool_name(&self) -> Result<Option<String>, Failure> {
        Ok(text(self.row, 5)?)
    }
}

/// The fields of a session that hits and filters need.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: SessionId,
    pub(super) source: Source,
    pub(super) user_id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) title: Option<String>,
    pub(super) started_at: Timestamp,
    /// Whether the filter admits its messages.
    pub(super) is_admitted: bool,
}

/// Reads rows of the store during one search. Sessions are looked up once.
pub(super) struct Rows<'d> {
    database: &'d Database,
    filter: &'d SearchFilter,
    cards: HashMap<String, Option<Rc<Card>>>,
    /// The session of the last lookup.
    last: Option<Rc<Card>>,
    /// The conversations of sessions: their tip and title.
    conversations: HashMap<SessionId, (SessionId, Option<String>)>,
}

impl<'d> Rows<'d> {
    pub(super) fn new(database: &'d Database, filter: &'d SearchFilter) -> Self {
        Self { database, filter, cards: HashMap::new(), last: None, conversations: HashMap::new() }
    }

    /// Returns the session with this id; `None` if it does not exist or is hidden.
    fn card(&mut self, id: &str) -> Result<Option<Rc<Card>>, Failure> {
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
        let card = statement
            .query_row([id], |row| {
                Ok(Card {
                    id: SessionId::from_stored(id.to_owned()),
                    source: Source::from_stored(text(row, 0)?.unwrap_or_default()),
                    user_id: text(row, 1)?,
                    model: text(row, 2)?,
                    title: text(row, 3)?,
                    started_at: time(row, 4)?.unwrap_or(Timestamp::EPOCH),
                    is_admitted: false,
                })
            })
            .optional()?;
        let has_admitted_conversation = card.is_some() && self.has_admitted_conversation(id)?;
        let card = card.map(|mut card| {
            card.is_admitted = self.filter.admits_session(SessionFacts {
                id: &card.id,
                source: &card.source,
                user_id: card.user_id.as_deref(),
                model: card.model.as_deref(),
                title: card.title.as_deref(),
                has_admitted_conversation,
            });
            Rc::new(card)
        });
        self.cards.insert(id.to_owned(), card.clone());
        Ok(card)
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
                if self.card(id.as_str())?.is_some_and(|card| card.is_admitted) {
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
                if self.card(&name)?.is_some_and(|card| card.is_admitted) {
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

    /// Passes a message to `visit`, if it exists and is admitted.
    pub(super) fn one<T>(
        &mut self,
        id: i64,
        visit: impl FnOnce(&Said<'_>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let sql = format!("SELECT {COLUMNS} FROM messages WHERE id = ? AND {}", self.database.shape().was_said());
        let database = self.database;
        let mut statement = database.prepare_cached(&sql)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        self.admit(row)?.map(|said| visit(&said)).transpose()
    }

    /// Passes every admitted message to `visit`, newest first from `newest` on, until it breaks.
    pub(super) fn all(
        &mut self,
        newest: i64,
        mut visit: impl FnMut(&Said<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        let sql = format!(
            "SELECT {COLUMNS} FROM messages WHERE id <= ? AND {} ORDER BY id DESC",
            self.database.shape().was_said()
        );
        let database = self.database;
        let mut statement = database.prepare_cached(&sql)?;
        let mut rows = statement.query([newest])?;
        while let Some(row) = rows.next()? {
            if let Some(said) = self.admit(row)?
                && visit(&said)?.is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn admit<'r>(&mut self, row: &'r rusqlite::Row<'r>) -> Result<Option<Said<'r>>, Failure> {
        // Adjacent messages are mostly of one session.
        let is_last =
            |card: &Rc<Card>| matches!(row.get_ref(1), Ok(ValueRef::Text(id)) if id == card.id.as_str().as_bytes());
        let session = match &self.last {
            Some(last) if is_last(last) => Some(Rc::clone(last)),
            _ => {
                let found = self.card(&text(row, 1)?.unwrap_or_default())?;
                self.last.clone_from(&found);
                found
            }
        };
        let Some(session) = session.filter(|card| card.is_admitted) else { return Ok(None) };
        let role = match row.get_ref(2)?.as_str() {
            Ok(role) => Role::from_stored(role),
            Err(_) => Role::from_stored(&text(row, 2)?.unwrap_or_default()),
        };
        let at = time(row, 3)?.unwrap_or(session.started_at);
        if !self.filter.admits_message(&role, at) {
            return Ok(None);
        }
        Ok(Some(Said { id: row.get(0)?, session, role, at, row }))
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
        let mut title = self.card(tip.as_str())?.and_then(|card| card.title.clone());
        if title.is_none() {
            title = self.card(session.as_str())?.and_then(|card| card.title.clone());
        }
        self.conversations.insert(session.clone(), (tip.clone(), title.clone()));
        Ok((tip, title))
    }
}
