//! A transaction on a server, as seen by the code that all servers share.

use super::changes::Noted;
use super::{Failing, Value};
use crate::SqlRow;
use hermes_session::live::Kinds;
use hermes_session::{
    Conflict, Invalid, Message, MessageBody, MessageId, NewMessage, SessionId, StoreError, Timestamp, Unreadable,
};

/// A transaction. Statements have numbered placeholders, `$1` and so on. They contain only SQL that every server
/// understands, except for the parts from [`Dialect`].
pub trait Sql: Send + Sync {
    /// A row.
    type Row: ServerRow + Send + Sync;
    /// Type of failures.
    type Failure: Failing + From<StoreError> + From<Conflict> + From<Invalid> + From<Unreadable> + From<Odd>;
    /// Index data of a message.
    type Written: Words;

    /// Returns the differences of this server's SQL.
    fn dialect(&self) -> &'static Dialect;

    /// Returns the sessions that the transaction has changed so far. They are written with its commit.
    fn noted(&self) -> &Noted;

    /// Notes that a session was changed.
    fn note(&self, session: &SessionId, kinds: Kinds) {
        self.noted().note(session, kinds);
    }

    /// Returns all rows of a statement.
    fn rows(&self, sql: &str, values: Vec<Value>)
    -> impl Future<Output = Result<Vec<Self::Row>, Self::Failure>> + Send;

    /// Runs a statement that changes rows. Returns their number.
    fn run(&self, sql: &str, values: Vec<Value>) -> impl Future<Output = Result<u64, Self::Failure>> + Send;

    /// Inserts a row whose id the server assigns. Returns the id.
    fn insert(&self, sql: &str, values: Vec<Value>) -> impl Future<Output = Result<i64, Self::Failure>> + Send;

    /// Locks the lineages until the end of the transaction: nobody else links, cuts, titles or deletes sessions
    /// meanwhile. Appends continue.
    fn lock_kin(&self) -> impl Future<Output = Result<(), Self::Failure>> + Send;

    /// Locks the import of sessions until the end of the transaction.
    fn lock_import(&self) -> impl Future<Output = Result<(), Self::Failure>> + Send;

    /// Appends messages to a session and updates its counters, its preview and its times.
    fn add(
        &self,
        session: &SessionId,
        messages: &[NewMessage],
        words: &[Self::Written],
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<MessageId>, Self::Failure>> + Send;

    /// Adds imported messages that are not visible yet. Returns the id of the last. Messages keep their ids if these
    /// are free and greater than all before; otherwise they get the next ones.
    fn bring(
        &self,
        session: &SessionId,
        messages: &[Message],
        words: &[Self::Written],
        last: MessageId,
    ) -> impl Future<Output = Result<MessageId, Self::Failure>> + Send;

    /// Writes the index data of messages, replacing older data.
    fn index(
        &self,
        messages: &[(SessionId, MessageId, &Self::Written)],
    ) -> impl Future<Output = Result<(), Self::Failure>> + Send;

    /// Returns the first row of a statement, or `None`.
    fn row(
        &self,
        sql: &str,
        values: Vec<Value>,
    ) -> impl Future<Output = Result<Option<Self::Row>, Self::Failure>> + Send {
        async { Ok(self.rows(sql, values).await?.into_iter().next()) }
    }

    /// Returns the only row of a statement. Fails if there is none.
    fn one(&self, sql: &str, values: Vec<Value>) -> impl Future<Output = Result<Self::Row, Self::Failure>> + Send {
        async move { self.row(sql, values).await?.ok_or_else(|| Odd(format!("nothing came for: {sql}")).into()) }
    }
}

/// Index data of a message, as one kind of server stores it.
pub trait Words: Send + Sync {
    /// Computes the index data of a message.
    fn of(body: &MessageBody) -> Self;
    /// Returns the words that the vocabulary must contain, without duplicates.
    fn terms(&self) -> &[String];
}

/// Differences between the servers' SQL.
#[derive(Debug)]
pub struct Dialect {
    /// Suffix of a `SELECT` that locks the rows against changes until the end of the transaction.
    pub lock: &'static str,
    /// Suffix of a `SELECT` that locks the rows against removal until the end of the transaction.
    pub share: &'static str,
    /// Condition that a row `h` of `hx_session` belongs to the first session of a conversation.
    pub is_root: &'static str,
    /// Statement for id, parent, relation and start of every session linked to `$1`: all ancestors, then the
    /// descendants of each.
    pub family: &'static str,
    /// Returns an expression of a column that compares byte by byte.
    pub exact: fn(&str) -> String,
    /// Returns the clause that turns an insert of an existing key into an update; assignments follow.
    pub upsert: fn(&str) -> String,
    /// Expression for the time of the server, in seconds as a double.
    pub now: &'static str,
    /// Statement that makes later turns get greater ids than `$1`, where inserting a row does not.
    pub skip_turns: Option<&'static str>,
    /// Expression for the words of a copied message `n.id`, made from the row `w` of `hx_search`.
    pub words_of_copy: &'static str,
}

/// A stored value is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odd(pub String);

/// A row of a server.
pub trait ServerRow: SqlRow {
    /// Returns the number of columns.
    fn width(&self) -> usize;
}

/// Returns the condition that a column has one of these values, with placeholders numbered from `first`, and the
/// values. The list is padded with its last value to a power of two, so that the server sees few distinct statements.
pub fn among<V: Into<Value>>(column: &str, first: usize, items: impl IntoIterator<Item = V>) -> (String, Vec<Value>) {
    let mut items: Vec<Value> = items.into_iter().map(Into::into).collect();
    let Some(last) = items.last().cloned() else { return ("FALSE".to_owned(), Vec::new()) };
    items.resize(items.len().next_power_of_two(), last);
    (format!("{column} IN ({})", list(first, items.len())), items)
}

/// Returns `count` placeholders numbered from `first`: `$3, $4, $5`.
pub fn list(first: usize, count: usize) -> String {
    (first..first + count).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ")
}

/// Maximum number of values in one list.
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
