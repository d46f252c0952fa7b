//! One transaction on a server.

use crate::connection::Object;
use crate::database::Flavour;
use crate::error::Failure;
use crate::indexes::{self, Vocabulary, Written};
use crate::row::{Row, bound};
use crate::{import, messages, receipts};
use hermes_session::{Message, MessageId, NewMessage, SessionId, Timestamp};
use hermes_sql::server::changes::Noted;
use hermes_sql::server::{Dialect, Epoch, Lost, Receipt, Receipts, Sql, Value as Shared};
use hermes_sql::values;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Params, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};

/// A transaction. If it is dropped, for example with a cancelled call, it never happened: its connection is closed.
pub(crate) struct Transaction {
    connection: Arc<Mutex<Option<Object>>>,
    epoch: Epoch,
    receipt: Option<Receipt>,
    has_written: AtomicBool,
    flavour: Flavour,
    vocabulary: Arc<Vocabulary>,
    /// Words that it added to the vocabulary.
    learned: Mutex<Vec<Box<str>>>,
    /// Whether it reads within another transaction, to which the connection belongs.
    is_guest: bool,
    noted: Noted,
}

impl Transaction {
    /// Wraps a transaction that has begun on a connection of an epoch.
    pub(crate) fn new(
        object: Object,
        epoch: Epoch,
        receipt: Option<Receipt>,
        flavour: Flavour,
        vocabulary: Arc<Vocabulary>,
    ) -> Self {
        let connection = Arc::new(Mutex::new(Some(object)));
        let (has_written, learned) = (AtomicBool::new(false), Mutex::default());
        let noted = Noted::default();
        Self { connection, epoch, receipt, has_written, flavour, vocabulary, learned, is_guest: false, noted }
    }

    /// Creates a transaction that reads within another.
    pub(crate) fn within(frame: &Self) -> Self {
        Self {
            connection: Arc::clone(&frame.connection),
            epoch: frame.epoch,
            receipt: None,
            has_written: AtomicBool::new(false),
            flavour: frame.flavour,
            vocabulary: Arc::clone(&frame.vocabulary),
            learned: Mutex::default(),
            is_guest: true,
            noted: Noted::default(),
        }
    }

    async fn connection(&self) -> Connection<'_> {
        Connection(self.connection.lock().await)
    }

    /// Inserts rows. Returns the first id that the server assigned, or 0 if it assigned none.
    pub(crate) async fn assigned(&self, sql: &str, values: Params) -> Result<i64, Failure> {
        let mut connection = self.connection().await;
        let conn = connection.conn()?;
        conn.exec_drop(sql, values).await?;
        self.has_written.store(true, Ordering::Relaxed);
        Ok(conn.last_insert_id().and_then(|id| i64::try_from(id).ok()).unwrap_or(0))
    }

    /// Runs statements without values, one after the other until one fails.
    pub(crate) async fn batch(&self, sql: &str) -> Result<(), Failure> {
        Ok(self.connection().await.conn()?.query_drop(sql).await?)
    }

    /// Makes each statement read the current data, unless the snapshot belongs to another transaction, and limits the
    /// time of statements. The full-text index reflects current data: a row of an older snapshot may be indexed in its
    /// newer form.
    pub(crate) async fn read_current(&self, bound: Duration) -> Result<(), Failure> {
        let bound = self.flavour.statement_timeout(bound);
        let begin = "COMMIT; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION READ ONLY";
        self.batch(&if self.is_guest { bound } else { format!("{bound}; {begin}") }).await
    }

    pub(crate) fn flavour(&self) -> Flavour {
        self.flavour
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the epoch of its connection.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Records words that are in the vocabulary once the transaction is committed.
    pub(crate) async fn learned(&self, terms: Vec<Box<str>>) {
        self.learned.lock().await.extend(terms);
    }

    /// Commits it.
    pub(crate) async fn commit(mut self, receipts: &Receipts) -> Result<(), Lost<Failure>> {
        if self.is_guest {
            return Ok(());
        }
        let receipt = self.receipt.take();
        let next = receipt.as_ref().filter(|_| self.has_written.load(Ordering::Relaxed)).map(Receipt::next);
        let Some(next) = next else {
            // Nothing was changed, so the outcome does not matter.
            let is_over = self.batch("COMMIT").await.is_ok();
            self.give_back(is_over);
            receipt.into_iter().for_each(|receipt| receipts.give_back(receipt));
            return Ok(());
        };
        let committed = self.commit_with(&next).await;
        self.give_back(committed.is_ok());
        match committed {
            Ok(()) => {
                self.vocabulary.remember(self.epoch, std::mem::take(self.learned.get_mut()));
                receipts.give_back(next);
                Ok(())
            }
            Err(failure) => {
                if failure.is_misplaced_receipt() {
                    // An older state of the database was restored.
                    self.vocabulary.forget();
                }
                Err(Lost { failure, receipt: next })
            }
        }
    }

    /// Writes the feed of changes and a receipt, and commits.
    async fn commit_with(&self, receipt: &Receipt) -> Result<(), Failure> {
        let changes = self.noted.take();
        // Many changes take statements of their own, each of a limited size.
        let (many, last) = changes.split_at(changes.len().saturating_sub(1) / FEED * FEED);
        for some in many.chunks(FEED) {
            self.batch(&receipts::feed(some)).await?;
        }
        self.batch(&format!("{}{}", receipts::feed(last), receipts::commit(receipt))).await
    }

    /// Rolls it back. A connection that is not usable is closed.
    pub(crate) async fn roll_back(mut self, receipts: &Receipts, is_usable: bool) {
        if self.is_guest {
            return;
        }
        let is_over = is_usable && self.batch("ROLLBACK").await.is_ok();
        self.give_back(is_over);
        // No commit was sent, so the receipt is still valid.
        self.receipt.take().into_iter().for_each(|receipt| receipts.give_back(receipt));
    }

    /// Returns the connection to the pool, or closes it if it is not clean.
    fn give_back(&mut self, is_clean: bool) {
        let connection = Arc::get_mut(&mut self.connection).and_then(|connection| connection.get_mut().take());
        if let Some(object) = connection
            && !is_clean
        {
            drop(Object::take(object));
        }
    }
}

impl Sql for Transaction {
    type Row = Row;
    type Failure = Failure;
    type Written = Written;

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn noted(&self) -> &Noted {
        &self.noted
    }

    async fn rows(&self, sql: &str, values: Vec<Shared>) -> Result<Vec<Row>, Failure> {
        let (sql, values) = placed(sql, values);
        let rows: Vec<mysql_async::Row> = self.connection().await.conn()?.exec(sql, values).await?;
        Ok(rows.into_iter().map(Row).collect())
    }

    async fn run(&self, sql: &str, values: Vec<Shared>) -> Result<u64, Failure> {
        let (sql, values) = placed(sql, values);
        let mut connection = self.connection().await;
        let conn = connection.conn()?;
        conn.exec_drop(sql, values).await?;
        let changed = conn.affected_rows();
        if changed > 0 {
            self.has_written.store(true, Ordering::Relaxed);
        }
        Ok(changed)
    }

    async fn insert(&self, sql: &str, values: Vec<Shared>) -> Result<i64, Failure> {
        let (sql, values) = placed(sql, values);
        self.assigned(&sql, values).await
    }

    async fn lock_kin(&self) -> Result<(), Failure> {
        self.one("SELECT name FROM hx_lock WHERE name = 'kin' FOR UPDATE", values![]).await.map(drop)
    }

    async fn lock_import(&self) -> Result<(), Failure> {
        self.one("SELECT name FROM hx_lock WHERE name = 'import' FOR UPDATE", values![]).await.map(drop)
    }

    async fn add(
        &self,
        session: &SessionId,
        messages: &[NewMessage],
        words: &[Written],
        now: Timestamp,
    ) -> Result<Vec<MessageId>, Failure> {
        messages::add(self, session, messages, words, now).await
    }

    async fn bring(
        &self,
        session: &SessionId,
        messages: &[Message],
        words: &[Written],
        last: MessageId,
    ) -> Result<MessageId, Failure> {
        import::bring(self, session, messages, words, last).await
    }

    async fn index(&self, messages: &[(SessionId, MessageId, &Written)]) -> Result<(), Failure> {
        indexes::add(self, messages.iter().map(|(session, id, words)| (session, *id, *words))).await
    }
}

/// Expression for the time of the server. A number with a point would not be a double.
pub(crate) const NOW: &str = "unix_timestamp(sysdate(6)) + 0e0";

/// Number of rows of the feed of changes in one message.
const FEED: usize = 256;

static DIALECT: Dialect = Dialect {
    lock: " FOR UPDATE",
    share: " LOCK IN SHARE MODE",
    is_root: "h.is_root = 1",
    family: "WITH RECURSIVE family(id) AS (SELECT id FROM sessions WHERE id = $1 \
        UNION SELECT s.parent_session_id FROM family f JOIN sessions s ON s.id = f.id WHERE s.parent_session_id IS NOT NULL \
        UNION SELECT s.id FROM family f JOIN sessions s ON s.parent_session_id = f.id) \
        SELECT s.id, s.parent_session_id, h.relation, s.started_at \
        FROM family f JOIN sessions s ON s.id = f.id JOIN hx_session h ON h.session_id = s.id",
    // A text comparison ignores trailing blanks.
    exact: |column| format!("CAST({column} AS BINARY)"),
    upsert: |_| "ON DUPLICATE KEY UPDATE".to_owned(),
    now: NOW,
    skip_turns: None,
    // Each list begins with a unique word, see `spelling::witness`.
    words_of_copy: "concat('k__', n.id, IF(left(w.words, 3) = 'k__', substring(w.words, locate(' ', w.words)), concat(' ', w.words)))",
};

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_guest {
            self.give_back(false);
        }
    }
}

/// The connection of a transaction while a statement runs on it.
struct Connection<'t>(MutexGuard<'t, Option<Object>>);

impl Connection<'_> {
    fn conn(&mut self) -> Result<&mut Conn, Failure> {
        let object = self.0.as_mut().map(|object| &mut **object);
        object.ok_or_else(|| mysql_async::Error::Driver(mysql_async::DriverError::ConnectionClosed).into())
    }
}

/// Converts a statement for the server: each `$1` becomes a `?`, with the values in that order. So a value can occur at
/// several places.
fn placed(sql: &str, values: Vec<Shared>) -> (String, Params) {
    let values: Vec<Value> = values.into_iter().map(bound).collect();
    let mut out = String::with_capacity(sql.len());
    let mut order = Vec::with_capacity(values.len());
    let mut rest = sql;
    while let Some(at) = rest.find('$') {
        let tail = &rest[at + 1..];
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(&rest[..at]);
        match tail[..digits].parse::<usize>() {
            Ok(number) => {
                out.push('?');
                order.push(number - 1);
            }
            Err(_) => out.push('$'),
        }
        rest = &tail[digits..];
    }
    out.push_str(rest);
    if order.is_empty() {
        return (out, Params::Empty);
    }
    // Nearly always each value occurs once and in order; then nothing is copied.
    let is_plain = order.len() == values.len() && order.iter().enumerate().all(|(place, number)| place == *number);
    let values = match is_plain {
        true => values,
        false => order.into_iter().map(|number| values.get(number).cloned().unwrap_or(Value::NULL)).collect(),
    };
    (out, Params::Positional(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_the_order_of_their_places() {
        let (sql, params) = placed("a = $2 AND b IN ($1, $12) OR c = $2", (1..=12_i64).map(Shared::from).collect());
        assert_eq!(sql, "a = ? AND b IN (?, ?) OR c = ?");
        assert_eq!(params, Params::Positional([2, 1, 12, 2].map(Value::from).to_vec()));
        assert_eq!(placed("SELECT '$'", Vec::new()), ("SELECT '$'".to_owned(), Params::Empty));
    }
}
