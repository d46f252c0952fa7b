//! One transaction on a server.

use crate::error::Failure;
use crate::indexes::{self, Learned, Vocabulary, Written};
use crate::row::Bound;
use crate::{import, messages, receipts};
use deadpool_postgres::{ClientWrapper, Object};
use futures_util::future::{join, join3};
use hermes_session::{Message, MessageId, NewMessage, SessionId, Timestamp};
use hermes_sql::server::changes::Noted;
use hermes_sql::server::{Dialect, Fields as _, Lost, Receipt, Receipts, Sql, Value};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Statement};

/// Values of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Runs one statement in a transaction of its own, with `settings` that end with it. Returns how many rows changed.
///
/// The transaction is sent as a whole before any answer is awaited. So it leaves nothing behind if the caller stops waiting, and if the statement
/// fails, its COMMIT rolls back. The statement is not prepared: the connection may come from a pooler.
pub(crate) async fn changed_alone(
    client: &Object,
    settings: &str,
    sql: &str,
    values: &[(&(dyn ToSql + Sync), Type)],
) -> Result<u64, Failure> {
    let begin = format!("BEGIN; SET LOCAL {settings}");
    let (begun, changed, committed) =
        join3(client.batch_execute(&begin), client.execute_typed(sql, values), client.batch_execute("COMMIT")).await;
    begun?;
    let changed = changed?;
    committed?;
    Ok(changed)
}

/// A transaction. If it is dropped, for example with a cancelled call, it never happened: its connection is closed.
pub(crate) struct Transaction {
    client: Option<Object>,
    learned: Option<Learned>,
    receipt: Option<Receipt>,
    has_written: AtomicBool,
    kin: i32,
    /// Statements that begin it, until they are sent.
    prelude: Mutex<Option<String>>,
    noted: Noted,
}

impl Deref for Transaction {
    type Target = ClientWrapper;
    fn deref(&self) -> &ClientWrapper {
        self.client.as_deref().expect("it is taken only when the transaction ends")
    }
}

impl Transaction {
    /// Creates a transaction that has not begun. `kin` is the number of the store in the keys of advisory locks.
    pub(crate) fn new(client: Object, learned: Option<Learned>, receipt: Option<Receipt>, kin: i32) -> Self {
        let (has_written, prelude, noted) = (AtomicBool::new(false), Mutex::default(), Noted::default());
        Self { client: Some(client), learned, receipt, has_written, kin, prelude, noted }
    }

    /// Creates a transaction that reads. It begins with its first statement, in the same round trip.
    pub(crate) fn reading(client: Object, prelude: String, kin: i32) -> Self {
        let transaction = Self::new(client, None, None, kin);
        *transaction.waiting() = Some(prelude);
        transaction
    }

    fn waiting(&self) -> MutexGuard<'_, Option<String>> {
        self.prelude.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs statements without values, of which no result is needed: with the first statement if the transaction has not begun.
    pub(crate) async fn also(&self, sql: &str) -> Result<(), Failure> {
        if let Some(prelude) = &mut *self.waiting() {
            prelude.push_str("; ");
            prelude.push_str(sql);
            return Ok(());
        }
        Ok(self.batch_execute(sql).await?)
    }

    /// Prepares a statement, and begins the transaction if it has not begun.
    async fn statement(&self, sql: &str) -> Result<Statement, Failure> {
        let prelude = self.waiting().take();
        let Some(prelude) = prelude else { return Ok(self.prepare_cached(sql).await?) };
        // The server runs both in the order sent.
        let (begun, prepared) = join(self.batch_execute(&prelude), self.prepare_cached(sql)).await;
        begun?;
        Ok(prepared?)
    }

    /// Begins the transaction with `prelude`, and asks for the words it depends on, see [`Learned::begin_and_ask`].
    pub(crate) async fn ask(&self, prelude: &str) -> Result<(String, i64), Failure> {
        match &self.learned {
            Some(learned) => learned.begin_and_ask(self, prelude).await,
            None => {
                self.batch_execute(prelude).await?;
                Ok(Default::default())
            }
        }
    }

    /// Returns whether the words it depends on exist, see [`Vocabulary::confirm`].
    pub(crate) fn is_confirmed(&mut self, vocabulary: &Vocabulary, server: &str, lacking: i64) -> bool {
        self.learned.as_mut().is_none_or(|learned| vocabulary.confirm(learned, server, lacking))
    }

    /// Returns all rows of a statement, with values of the driver's types.
    pub(crate) async fn query_rows(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        let statement = self.statement(sql).await?;
        Ok(self.query(&statement, values).await?)
    }

    /// Returns the only row of a statement, with values of the driver's types.
    pub(crate) async fn single(&self, sql: &str, values: Values<'_>) -> Result<Row, Failure> {
        let statement = self.statement(sql).await?;
        Ok(self.query_one(&statement, values).await?)
    }

    /// Runs a statement that changes rows, with values of the driver's types. Returns their number.
    pub(crate) async fn change(&self, sql: &str, values: Values<'_>) -> Result<u64, Failure> {
        let statement = self.statement(sql).await?;
        let changed = self.execute(&statement, values).await?;
        if changed > 0 {
            self.has_written();
        }
        Ok(changed)
    }

    /// Records that something was changed, so that the outcome of the commit matters.
    pub(crate) fn has_written(&self) {
        self.has_written.store(true, Ordering::Relaxed);
    }

    /// Commits it.
    pub(crate) async fn commit(mut self, receipts: &Receipts, vocabulary: &Vocabulary) -> Result<(), Lost<Failure>> {
        let (receipt, learned) = (self.receipt.take(), self.learned.take());
        let next = receipt.as_ref().filter(|_| self.has_written.load(Ordering::Relaxed)).map(Receipt::next);
        let Some(next) = next else {
            // Nothing was changed, so the outcome does not matter. It is waited for: the server would log a process that ends
            // before, as one that left a transaction open.
            let has_begun = self.waiting().take().is_none();
            let is_over = !has_begun || self.batch_execute("COMMIT").await.is_ok();
            self.give_back(is_over);
            receipt.into_iter().for_each(|receipt| receipts.give_back(receipt));
            return Ok(());
        };
        let committed = receipts::commit(&next, &self.noted.take(), &self).await;
        self.give_back(committed.is_ok());
        match committed {
            Ok(()) => {
                learned.into_iter().for_each(|learned| vocabulary.remember(learned));
                receipts.give_back(next);
                Ok(())
            }
            Err(failure) => {
                if failure.is_misplaced_receipt() {
                    // An older state of the database was restored.
                    vocabulary.forget();
                }
                Err(Lost { failure, receipt: next })
            }
        }
    }

    /// Rolls it back. A connection that is not usable is closed.
    pub(crate) async fn roll_back(mut self, receipts: &Receipts, is_usable: bool) {
        let has_begun = self.waiting().take().is_none();
        let is_over = is_usable && !self.is_closed() && (!has_begun || self.batch_execute("ROLLBACK").await.is_ok());
        self.give_back(is_over);
        // No commit was sent, so the receipt is still valid.
        self.receipt.take().into_iter().for_each(|receipt| receipts.give_back(receipt));
    }

    /// Returns the connection to the pool, or closes it if it is not clean.
    fn give_back(&mut self, is_clean: bool) {
        if let Some(client) = self.client.take()
            && !is_clean
        {
            drop(Object::take(client));
        }
    }
}

impl Sql for Transaction {
    type Row = crate::row::Row;
    type Failure = Failure;
    type Written = Written;

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn noted(&self) -> &Noted {
        &self.noted
    }

    async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Self::Row>, Failure> {
        let values: Vec<Bound> = values.into_iter().map(Bound).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        let rows = Self::query_rows(self, sql, &values).await?;
        Ok(rows.into_iter().map(crate::row::Row).collect())
    }

    async fn run(&self, sql: &str, values: Vec<Value>) -> Result<u64, Failure> {
        let values: Vec<Bound> = values.into_iter().map(Bound).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        self.change(sql, &values).await
    }

    async fn insert(&self, sql: &str, values: Vec<Value>) -> Result<i64, Failure> {
        let row = self.one(&format!("{sql} RETURNING id"), values).await?;
        self.has_written();
        Ok(row.try_get(0)?)
    }

    async fn lock_kin(&self) -> Result<(), Failure> {
        self.query_rows("SELECT pg_advisory_xact_lock($1, $2)", &[&KIN, &self.kin]).await.map(drop)
    }

    async fn lock_import(&self) -> Result<(), Failure> {
        self.query_rows("SELECT pg_advisory_xact_lock($1, $2)", &[&IMPORT, &self.kin]).await.map(drop)
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
    lock: " FOR NO KEY UPDATE",
    share: " FOR KEY SHARE",
    is_root: "h.root = h.session_id",
    // A recursive query may refer to itself only once.
    family: "WITH RECURSIVE family(id) AS (SELECT $1::text COLLATE \"C\" UNION SELECT k.id FROM family f CROSS JOIN LATERAL ( \
        SELECT s.parent_session_id AS id FROM sessions s WHERE s.id = f.id AND s.parent_session_id IS NOT NULL \
        UNION ALL SELECT s.id FROM sessions s WHERE s.parent_session_id = f.id) k) \
        SELECT s.id, s.parent_session_id, h.relation, s.started_at \
        FROM family f JOIN sessions s ON s.id = f.id JOIN hx_session h ON h.session_id = s.id",
    exact: ToOwned::to_owned,
    upsert: |key| format!("ON CONFLICT ({key}) DO UPDATE SET"),
    now: "extract(epoch FROM clock_timestamp())::float8",
    skip_turns: Some("SELECT setval('hx_turn_id_seq', $1::int8)"),
    words_of_copy: "w.words",
};

/// First keys of the advisory locks for lineages and imports.
const KIN: i32 = 0x4845_524d;
const IMPORT: i32 = 0x4845_524f;

impl Drop for Transaction {
    fn drop(&mut self) {
        self.give_back(false);
    }
}
