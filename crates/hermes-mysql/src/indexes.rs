//! What a message is found by, and the vocabulary.

use crate::database::{Transaction, values};
use crate::error::Failure;
use hermes_session::{MessageBody, MessageId, SessionId};

pub(crate) const SHORTEST: u64 = 4;
pub(crate) const LONGEST: u64 = 60;

/// What a message is found by.
#[derive(Debug, Clone)]
pub(crate) struct Written;

impl Written {
    pub(crate) fn of(_: &MessageBody) -> Self {
        Self
    }
}

pub(crate) async fn add<'m>(
    transaction: &Transaction,
    messages: impl Iterator<Item = (&'m SessionId, MessageId, &'m Written)>,
) -> Result<(), Failure> {
    for (session, id, _) in messages {
        let sql = "INSERT INTO hx_search (message_id, session_id, length, form) VALUES ($1, $2, 1, 2) ON DUPLICATE KEY UPDATE form = 2";
        transaction.run(sql, values![id.0, session.as_str()]).await?;
    }
    Ok(())
}

#[derive(Debug, Default)]
pub(crate) struct Vocabulary;

impl Vocabulary {
    pub(crate) fn forget_all(&self) {}
    pub(crate) fn remember(&self, _: Vec<Box<str>>) {}
}
