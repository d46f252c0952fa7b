//! A transaction on a server, as what is written once for all of them sees it.

use super::{Failing, Value};
use crate::SqlRow;
use hermes_session::{
    Conflict, Invalid, Message, MessageBody, MessageId, NewMessage, SessionId, StoreError, Timestamp, Unreadable,
};

/// A transaction. Statements have numbered places, `$1` and so on, and say only what every server understands, but for what [`Dialect`] puts into them.
pub trait Sql: Send + Sync {
    /// A row.
    type Row: ServerRow + Send + Sync;
    /// Why something failed.
    type Failure: Failing + From<StoreError> + From<Conflict> + From<Invalid> + From<Unreadable> + From<Odd>;
    /// What a message is found by.
    type Written: Words;

    /// Where this server's SQL differs.
    fn dialect(&self) -> &'static Dialect;

    /// Every row of a statement.
    fn rows(&self, sql: &str, values: Vec<Value>)
    -> impl Future<Output = Result<Vec<Self::Row>, Self::Failure>> + Send;

    /// Changes rows; how many.
    fn run(&self, sql: &str, values: Vec<Value>) -> impl Future<Output = Result<u64, Self::Failure>> + Send;

    /// Has the lineages for itself until the end: nobody else links, cuts, titles or deletes sessions meanwhile. Appends go on.
    fn lock_kin(&self) -> impl Future<Output = Result<(), Self::Failure>> + Send;

    /// Has the import of sessions for itself until the end.
    fn lock_import(&self) -> impl Future<Output = Result<(), Self::Failure>> + Send;

    /// Adds messages to a session and moves its counters, its preview and its times.
    fn add(
        &self,
        session: &SessionId,
        messages: &[NewMessage],
        words: &[Self::Written],
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<MessageId>, Self::Failure>> + Send;

    /// Adds messages that come from outside and that nobody sees yet; the id of the last. They keep their ids where those are free and greater than
    /// those before them, and get the next ones otherwise.
    fn bring(
        &self,
        session: &SessionId,
        messages: &[Message],
        words: &[Self::Written],
        last: MessageId,
    ) -> impl Future<Output = Result<MessageId, Self::Failure>> + Send;

    /// Puts the words of messages into the index, in place of others that they had.
    fn index(
        &self,
        messages: &[(SessionId, MessageId, &Self::Written)],
    ) -> impl Future<Output = Result<(), Self::Failure>> + Send;

    /// The first row of a statement, if it has any.
    fn row(
        &self,
        sql: &str,
        values: Vec<Value>,
    ) -> impl Future<Output = Result<Option<Self::Row>, Self::Failure>> + Send {
        async { Ok(self.rows(sql, values).await?.into_iter().next()) }
    }

    /// The only row of a statement.
    fn one(&self, sql: &str, values: Vec<Value>) -> impl Future<Output = Result<Self::Row, Self::Failure>> + Send {
        async move { self.row(sql, values).await?.ok_or_else(|| Odd(format!("nothing came for: {sql}")).into()) }
    }
}

/// What a message is found by, as one kind of server lists it.
pub trait Words: Send + Sync {
    /// Looks at a message.
    fn of(body: &MessageBody) -> Self;
    /// The words that the vocabulary has to know, each once.
    fn terms(&self) -> &[String];
}

/// Where the servers' SQL differs.
#[derive(Debug)]
pub struct Dialect {
    /// Behind a `SELECT`: nobody else changes these rows until the end.
    pub lock: &'static str,
    /// Behind a `SELECT`: nobody removes these rows until the end.
    pub share: &'static str,
    /// The condition that a row `h` of `hx_session` is that of the first session of a conversation.
    pub is_root: &'static str,
    /// Selects id, parent, relation and start of every session that is linked to `$1`: up, then down from everywhere.
    pub family: &'static str,
    /// A column as it compares byte by byte.
    pub exact: fn(&str) -> String,
    /// What turns an insert of rows whose key is there into an update; assignments follow.
    pub upsert: fn(&str) -> String,
    /// What is kept of the words of a row `w` of `hx_search` for the message `n.id` that is a copy.
    pub words_of_copy: &'static str,
}

/// Something stored is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odd(pub String);

/// A row of a server.
pub trait ServerRow: SqlRow {
    /// How many columns it has.
    fn width(&self) -> usize;
}

/// A condition that a column is one of these values, which stand from a number on; with the values. A list is filled up with its last one to a power of
/// two: so the server has to know few statements.
pub fn among<V: Into<Value>>(column: &str, first: usize, items: impl IntoIterator<Item = V>) -> (String, Vec<Value>) {
    let mut items: Vec<Value> = items.into_iter().map(Into::into).collect();
    let Some(last) = items.last().cloned() else { return ("FALSE".to_owned(), Vec::new()) };
    items.resize(items.len().next_power_of_two(), last);
    (format!("{column} IN ({})", list(first, items.len())), items)
}

/// So many places of a list, from a number on: `$3, $4, $5`.
pub fn list(first: usize, count: usize) -> String {
    (first..first + count).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ")
}

/// The most that are asked for in one list.
pub const LIST: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values;

    #[test]
    fn lists_have_few_lengths() {
        assert_eq!(list(3, 2), "$3, $4");
        assert_eq!(
            among("id", 2, [7_i64, 8, 9]),
            ("id IN ($2, $3, $4, $5)".to_owned(), values![7_i64, 8_i64, 9_i64, 9_i64])
        );
        assert_eq!(among("id", 2, [0_i64; 0]), ("FALSE".to_owned(), Vec::new()));
    }
}
