//! A server and how we use it, and one transaction on it.

use crate::connection::{Object, Pool};
use crate::error::Failure;
use crate::indexes::{self, Vocabulary, Written};
use crate::row::{Row, bound};
use crate::{import, marks, messages};
use hermes_session::{Message, MessageId, NewMessage, SessionId, StoreError, Timestamp};
use hermes_sql::server::{Dialect, Epoch, Failing as _, Lost, Mark, Marks, Remedy, Server, Sql, Value as Shared};
use hermes_sql::values;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Params, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};

/// The two kinds of server. What only one of them knows is asked for by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    Mariadb,
    Mysql,
}

impl Flavour {
    /// By what the server says of itself.
    pub(crate) fn of(version: &str) -> Self {
        if version.contains("MariaDB") { Self::Mariadb } else { Self::Mysql }
    }

    /// Sets how long one statement may take; without a bound for zero.
    pub(crate) fn statement_timeout(self, bound: Duration) -> String {
        match self {
            Self::Mariadb => format!("SET SESSION max_statement_time = {:.3}", bound.as_secs_f64()),
            // In milliseconds, and for reading statements alone.
            Self::Mysql => {
                format!("SET SESSION max_execution_time = {}", bound.as_millis().min(u128::from(u32::MAX)))
            }
        }
    }
}

/// A server and how we use it.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) pool: Pool,
    /// What is shown of where it is.
    pub(crate) location: String,
    /// The database that holds the tables.
    pub(crate) name: String,
    pub(crate) flavour: Flavour,
    pub(crate) statement_timeout: Duration,
    pub(crate) wait: Duration,
    /// Whether nothing may be written.
    pub(crate) read_only: bool,
    /// The connection and the state that every transaction reads, if not each its own.
    pub(crate) frame: Option<Arc<Transaction>>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) marks: Arc<Marks>,
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Changes something.
    Write,
    /// The same, however long a statement takes: what goes or comes may be large.
    WriteMuch,
    /// Reads one state.
    Read,
    /// Reads all of it, however long that takes.
    ReadAll,
    /// The same, where it may be a moment old.
    ReadBehind,
}

impl Purpose {
    /// The words come with the messages.
    pub(crate) fn write(_: &[Written]) -> Self {
        Self::Write
    }

    pub(crate) fn write_much(_: &[Written]) -> Self {
        Self::WriteMuch
    }

    fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::WriteMuch)
    }
}

impl Database {
    /// What comes before the first statement of a transaction.
    fn prelude(&self, purpose: Purpose) -> String {
        let bound = match purpose {
            Purpose::Write | Purpose::Read => self.statement_timeout,
            Purpose::WriteMuch | Purpose::ReadAll | Purpose::ReadBehind => Duration::ZERO,
        };
        let begin = match purpose.is_write() {
            true => "START TRANSACTION",
            false => {
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
            }
        };
        format!("{}; {begin}", self.flavour.statement_timeout(bound))
    }

    /// Begins a transaction for a call.
    pub(crate) async fn begin(&self, purpose: Purpose, op: &'static str) -> Result<Transaction, Failure> {
        if purpose.is_write() && self.read_only {
            return Err(StoreError::ReadOnly { op, location: self.location.clone() }.into());
        }
        if let Some(frame) = &self.frame {
            return Ok(self.transaction(Arc::clone(&frame.connection), frame.epoch, None, true));
        }
        let mut object = self.pool.get().await?;
        let epoch = self.vocabulary.meet(Object::metrics(&object).created);
        match self.start(&mut object, purpose).await {
            Ok(mark) => {
                let connection = Arc::new(Mutex::new(Some(object)));
                Ok(self.transaction(connection, epoch, mark, false))
            }
            Err(failure) => {
                drop(Object::take(object));
                if failure.remedy() == Remedy::Reconnect {
                    // The others are as dead.
                    self.pool.retain(|_, _| false);
                }
                Err(failure)
            }
        }
    }

    fn transaction(
        &self,
        connection: Arc<Mutex<Option<Object>>>,
        epoch: Epoch,
        mark: Option<Mark>,
        is_guest: bool,
    ) -> Transaction {
        Transaction {
            connection,
            epoch,
            mark,
            has_written: AtomicBool::new(false),
            flavour: self.flavour,
            vocabulary: Arc::clone(&self.vocabulary),
            learned: Mutex::default(),
            is_guest,
        }
    }

    async fn start(&self, conn: &mut Conn, purpose: Purpose) -> Result<Option<Mark>, Failure> {
        let mark = if purpose.is_write() { Some(marks::take(&self.marks, conn).await?) } else { None };
        match conn.query_drop(self.prelude(purpose)).await {
            Ok(()) => Ok(mark),
            Err(error) => {
                mark.into_iter().for_each(|mark| self.marks.give_back(mark));
                Err(error.into())
            }
        }
    }
}

impl Server for Database {
    type Transaction = Transaction;
    type Failure = Failure;

    fn wait(&self) -> Duration {
        self.wait
    }

    fn location(&self) -> &str {
        &self.location
    }

    async fn commit(&self, mut transaction: Transaction) -> Result<(), Lost<Failure>> {
        if transaction.is_guest {
            return Ok(());
        }
        let mark = transaction.mark.take();
        let next = mark.as_ref().filter(|_| transaction.has_written.load(Ordering::Relaxed)).map(Mark::next);
        let Some(next) = next else {
            // Nothing was changed: whether it ends well makes no difference.
            let is_over = transaction.batch("COMMIT").await.is_ok();
            transaction.give_back(is_over);
            mark.into_iter().for_each(|mark| self.marks.give_back(mark));
            return Ok(());
        };
        let committed = transaction.batch(&marks::commit(&next)).await;
        transaction.give_back(committed.is_ok());
        match committed {
            Ok(()) => {
                let learned = std::mem::take(&mut *transaction.learned.lock().await);
                self.vocabulary.remember(transaction.epoch, learned);
                self.marks.give_back(next);
                Ok(())
            }
            Err(failure) => Err(Lost { failure, mark: next }),
        }
    }

    async fn roll_back(&self, mut transaction: Transaction) {
        if transaction.is_guest {
            return;
        }
        let is_over = transaction.batch("ROLLBACK").await.is_ok();
        transaction.give_back(is_over);
        // Nothing was sent that would have counted on.
        transaction.mark.take().into_iter().for_each(|mark| self.marks.give_back(mark));
    }

    async fn is_reached(&self, mark: &Mark) -> Result<bool, Failure> {
        let mut object = self.pool.get().await?;
        let reached = marks::is_reached(mark, &mut object).await;
        if reached.is_err() {
            drop(Object::take(object));
        }
        reached
    }
}

/// A transaction. One that is dropped, with whatever was waiting for it, never happened: its connection is closed.
pub(crate) struct Transaction {
    connection: Arc<Mutex<Option<Object>>>,
    epoch: Epoch,
    mark: Option<Mark>,
    has_written: AtomicBool,
    flavour: Flavour,
    vocabulary: Arc<Vocabulary>,
    /// The words that it put into the vocabulary.
    learned: Mutex<Vec<Box<str>>>,
    /// Whether the connection belongs to another transaction, in which this one reads.
    is_guest: bool,
}

impl Transaction {
    async fn connection(&self) -> Connection<'_> {
        Connection(self.connection.lock().await)
    }

    /// Adds rows; the first of the ids that the server drew for them, 0 if it drew none.
    pub(crate) async fn insert(&self, sql: &str, values: Vec<Value>) -> Result<i64, Failure> {
        let mut connection = self.connection().await;
        let conn = connection.conn()?;
        conn.exec_drop(sql, Params::Positional(values)).await?;
        self.has_written.store(true, Ordering::Relaxed);
        Ok(conn.last_insert_id().and_then(|id| i64::try_from(id).ok()).unwrap_or(0))
    }

    /// Runs statements that have no values, one after the other until one fails.
    pub(crate) async fn batch(&self, sql: &str) -> Result<(), Failure> {
        Ok(self.connection().await.conn()?.query_drop(sql).await?)
    }

    /// Has each statement read what there is when it begins, unless the state belongs to another transaction, and bounds how long one may take. The
    /// full-text index tells of what there is: a row of an older state may be in it as the row that it became.
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

    /// When its connection was met.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Notes words that are in the vocabulary once this is committed.
    pub(crate) async fn learned(&self, terms: Vec<Box<str>>) {
        self.learned.lock().await.extend(terms);
    }

    /// Gives the connection back, unless it is of no use any more.
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

static DIALECT: Dialect = Dialect {
    lock: " FOR UPDATE",
    share: " LOCK IN SHARE MODE",
    is_root: "h.is_root = 1",
    family: "WITH RECURSIVE family(id) AS (SELECT id FROM sessions WHERE id = $1 \
        UNION SELECT s.parent_session_id FROM family f JOIN sessions s ON s.id = f.id WHERE s.parent_session_id IS NOT NULL \
        UNION SELECT s.id FROM family f JOIN sessions s ON s.parent_session_id = f.id) \
        SELECT s.id, s.parent_session_id, h.relation, s.started_at \
        FROM family f JOIN sessions s ON s.id = f.id JOIN hx_session h ON h.session_id = s.id",
    // As texts, blanks at the end count for nothing.
    exact: |column| format!("CAST({column} AS BINARY)"),
    upsert: |_| "ON DUPLICATE KEY UPDATE".to_owned(),
    // Each list begins with a word that no other has, see `spelling::witness`.
    words_of_copy: "concat('k__', n.id, IF(left(w.words, 3) = 'k__', substring(w.words, locate(' ', w.words)), concat(' ', w.words)))",
};

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_guest {
            self.give_back(false);
        }
    }
}

/// The connection of a transaction, while a statement runs on it.
struct Connection<'t>(MutexGuard<'t, Option<Object>>);

impl Connection<'_> {
    fn conn(&mut self) -> Result<&mut Conn, Failure> {
        let object = self.0.as_mut().map(|object| &mut **object);
        object.ok_or_else(|| mysql_async::Error::Driver(mysql_async::DriverError::ConnectionClosed).into())
    }
}

/// A statement as the server takes it: each `$1` becomes a `?`, and the values come in that order. So a value can stand at several places.
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
    // Nearly always each stands once, in order: then nothing is copied.
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

    #[test]
    fn each_kind_of_server_is_told_its_bound() {
        assert_eq!(Flavour::of("10.11.14-MariaDB-0+deb12u2"), Flavour::Mariadb);
        assert_eq!(Flavour::of("8.0.36"), Flavour::Mysql);
        let bound = Duration::from_millis(1_500);
        assert_eq!(Flavour::Mariadb.statement_timeout(bound), "SET SESSION max_statement_time = 1.500");
        assert_eq!(Flavour::Mysql.statement_timeout(bound), "SET SESSION max_execution_time = 1500");
    }
}
