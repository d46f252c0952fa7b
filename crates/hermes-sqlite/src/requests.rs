//! Requests that may be sent again: each key is applied once and answers the same.

use crate::error::Failure;
use hermes_session::{Conflict, Deleted, Ensured, MessageId, Request, SessionId, Title};
use hermes_sql::statements;
use rusqlite::{Connection, OptionalExtension as _, params};

/// An answer that can be kept beside its key.
pub(crate) trait Answer: Sized {
    /// The answer as text.
    fn keep(&self) -> String;
    /// The answer from its text; `None` if it is none.
    fn recall(text: &str) -> Option<Self>;
    /// Whether what the answer speaks of is still there: a key lives as long as its row.
    fn is_alive(&self, _connection: &Connection) -> Result<bool, rusqlite::Error> {
        Ok(true)
    }
}

impl Answer for () {
    fn keep(&self) -> String {
        String::new()
    }
    fn recall(_text: &str) -> Option<Self> {
        Some(())
    }
}

impl Answer for bool {
    fn keep(&self) -> String {
        self.to_string()
    }
    fn recall(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Answer for Ensured {
    fn keep(&self) -> String {
        format!("{self:?}")
    }
    fn recall(text: &str) -> Option<Self> {
        [Self::Created, Self::Filled, Self::Existed].into_iter().find(|ensured| ensured.keep() == text)
    }
}

impl Answer for Title {
    fn keep(&self) -> String {
        self.as_str().to_owned()
    }
    fn recall(text: &str) -> Option<Self> {
        Self::clean(text).ok().flatten()
    }
}

impl Answer for Option<Title> {
    fn keep(&self) -> String {
        self.as_ref().map(Title::keep).unwrap_or_default()
    }
    fn recall(text: &str) -> Option<Self> {
        Some(Title::recall(text))
    }
}

impl Answer for Deleted {
    fn keep(&self) -> String {
        format!("{} {}", self.sessions, self.messages)
    }
    fn recall(text: &str) -> Option<Self> {
        let (sessions, messages) = text.split_once(' ')?;
        Some(Self { sessions: sessions.parse().ok()?, messages: messages.parse().ok()? })
    }
}

impl Answer for Vec<MessageId> {
    fn keep(&self) -> String {
        self.iter().map(MessageId::to_string).collect::<Vec<_>>().join(" ")
    }
    fn recall(text: &str) -> Option<Self> {
        text.split_ascii_whitespace().map(|id| id.parse().ok().map(MessageId)).collect()
    }
    fn is_alive(&self, connection: &Connection) -> Result<bool, rusqlite::Error> {
        match self.first() {
            Some(first) => connection.prepare_cached("SELECT 1 FROM messages WHERE id = ?")?.exists(params![first.0]),
            None => Ok(true),
        }
    }
}

/// Does `work` unless the request's key says that it was done, and remembers what it answers.
pub(crate) fn once<T: Answer>(
    connection: &Connection,
    request: &Request,
    session: &SessionId,
    fingerprint: &str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(key) = &request.key else { return work() };
    let kept: Option<(String, String)> = connection
        .prepare_cached(statements::REQUEST)?
        .query_row(params![key.as_str()], |row| Ok((row.get(1)?, row.get(2)?)))
        .optional()?;
    if let Some((known, answer)) = kept {
        match T::recall(&answer) {
            Some(answer) if answer.is_alive(connection)? => {
                return if known == fingerprint { Ok(answer) } else { Err(Conflict::KeyReused(key.clone()).into()) };
            }
            None if known != fingerprint => return Err(Conflict::KeyReused(key.clone()).into()),
            _ => connection.prepare_cached(statements::FORGET_REQUEST)?.execute(params![key.as_str()])?,
        };
    }
    let answer = work()?;
    connection.prepare_cached(statements::REMEMBER_REQUEST)?.execute(params![
        key.as_str(),
        session.as_str(),
        fingerprint,
        answer.keep()
    ])?;
    Ok(answer)
}
