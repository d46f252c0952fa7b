//! Requests that may be sent again: each key is applied once and answers the same.

use crate::database::Database;
use crate::error::Failure;
use hermes_session::{Conflict, Deleted, Ensured, MessageId, Request, SessionId, Title};
use hermes_sql::statements;
use rusqlite::{OptionalExtension as _, params};

/// An answer that can be kept beside its key.
pub(crate) trait Answer: Sized {
    /// The answer as text.
    fn keep(&self) -> String;
    /// The answer from its text; `None` if it is none.
    fn recall(text: &str) -> Option<Self>;
    /// The message that the key lives as long as, if the change made messages.
    fn first_message(&self) -> Option<MessageId> {
        None
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
    fn first_message(&self) -> Option<MessageId> {
        self.first().copied()
    }
}

/// Does `work` unless the request's key says that it was done, and remembers what it answers.
pub(crate) fn once<T: Answer>(
    database: &Database,
    request: &Request,
    session: &SessionId,
    fingerprint: &str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(key) = &request.key else { return work() };
    let kept: Option<(String, String, bool)> = database
        .prepare_cached(statements::REQUEST)?
        .query_row(params![key.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    match kept {
        None => {}
        // Its messages are gone, and the key with them.
        Some((_, _, false)) => {
            _ = database.prepare_cached(statements::FORGET_REQUEST)?.execute(params![key.as_str()])?
        }
        Some((known, answer, true)) => {
            return match T::recall(&answer).filter(|_| known == fingerprint) {
                Some(answer) => Ok(answer),
                None => Err(Conflict::KeyReused(key.clone()).into()),
            };
        }
    }
    let answer = work()?;
    database.prepare_cached(statements::REMEMBER_REQUEST)?.execute(params![
        key.as_str(),
        session.as_str(),
        answer.first_message().map(|id| id.0),
        fingerprint,
        answer.keep()
    ])?;
    Ok(answer)
}
