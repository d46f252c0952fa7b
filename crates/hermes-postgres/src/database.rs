//! A server and how we use it.

use crate::connection::quoted;
use crate::error::Failure;
use crate::indexes::{Learned, Vocabulary, Written};
use crate::receipts;
use crate::transaction::Transaction;
use deadpool_postgres::{Object, Pool};
use hermes_session::{Location, ReadOnlyReason, StoreError};
use hermes_sql::server::{Failing as _, Lost, Receipt, Receipts, Remedy, Server};
use std::sync::Arc;
use std::time::Duration;

/// A server and how we use it.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) pool: Pool,
    /// A server that follows, for what may be a moment behind.
    pub(crate) replica: Option<Pool>,
    /// What is shown of where it is.
    pub(crate) location: String,
    pub(crate) schema: String,
    pub(crate) statement_timeout: Duration,
    pub(crate) wait: Duration,
    /// Whether nothing may be written.
    pub(crate) read_only: bool,
    /// The state that every transaction reads, if not each its own.
    pub(crate) snapshot: Option<String>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) receipts: Arc<Receipts>,
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose<'w> {
    /// Changes something, with words that have to be in the vocabulary first.
    Write(&'w [Written]),
    /// The same, however long a statement takes: what goes or comes may be large.
    WriteMuch(&'w [Written]),
    /// Reads one state.
    Read,
    /// Reads all of it, however long that takes.
    ReadAll,
    /// The same, where it may be a moment old.
    ReadBehind,
}

impl<'w> Purpose<'w> {
    pub(crate) fn write(words: &'w [Written]) -> Self {
        Self::Write(words)
    }

    pub(crate) fn write_much(words: &'w [Written]) -> Self {
        Self::WriteMuch(words)
    }

    /// The words of what is written; nothing if nothing is.
    fn words(self) -> Option<&'w [Written]> {
        match self {
            Self::Write(words) | Self::WriteMuch(words) => Some(words),
            Self::Read | Self::ReadAll | Self::ReadBehind => None,
        }
    }

    pub(crate) fn is_write(self) -> bool {
        self.words().is_some()
    }
}

/// What every transaction that writes sets. One whose client vanished does not keep its locks for long; and what is answered is on disk, whatever
/// somebody set for the database.
const WRITING: &str = "; SET LOCAL idle_in_transaction_session_timeout = '30s'; SET LOCAL tcp_keepalives_idle = 20; \
     SET LOCAL tcp_keepalives_interval = 5; SET LOCAL tcp_keepalives_count = 4; \
     SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

impl Database {
    /// What comes before the first statement of a transaction. Set each time, because a connection may be a stranger's.
    fn prelude(&self, purpose: Purpose<'_>) -> String {
        let (mode, more) = match purpose.is_write() {
            true => ("ISOLATION LEVEL READ COMMITTED READ WRITE", WRITING),
            false => ("ISOLATION LEVEL REPEATABLE READ READ ONLY", ""),
        };
        let statement_timeout = match purpose {
            Purpose::Write(_) | Purpose::Read => self.statement_timeout.as_millis(),
            Purpose::WriteMuch(_) | Purpose::ReadAll | Purpose::ReadBehind => 0,
        };
        let snapshot =
            self.snapshot.as_ref().map(|id| format!("; SET TRANSACTION SNAPSHOT '{id}'")).unwrap_or_default();
        format!(
            "BEGIN {mode}{snapshot}; SET LOCAL search_path = {}, pg_temp; SET LOCAL statement_timeout = {statement_timeout}{more}",
            quoted(&self.schema),
        )
    }

    /// A number that stands for the schema in the names of locks.
    pub(crate) fn lock_number(&self) -> i32 {
        self.schema.bytes().fold(5_381_i32, |hash, byte| hash.wrapping_mul(33) ^ i32::from(byte))
    }

    /// Begins a transaction for a call.
    pub(crate) async fn begin(&self, purpose: Purpose<'_>, op: &'static str) -> Result<Transaction, Failure> {
        if purpose.is_write() && self.read_only {
            return Err(StoreError::ReadOnly {
                op,
                location: Location::Server(self.location.clone()),
                reason: ReadOnlyReason::Requested,
            }
            .into());
        }
        let pool = match (purpose, &self.replica) {
            (Purpose::ReadBehind, Some(replica)) => replica,
            _ => &self.pool,
        };
        let client = pool.get().await?;
        let Some(words) = purpose.words() else {
            let transaction = Transaction::new(client, None, None, self.lock_number());
            transaction.batch_execute(&self.prelude(purpose)).await?;
            return Ok(transaction);
        };
        match self.make_ready(&client, words).await {
            Ok((learned, receipt)) => self.start(client, purpose, learned, receipt).await,
            Err(failure) => {
                if failure.remedy() == Remedy::Reconnect {
                    drop(Object::take(client));
                }
                Err(failure)
            }
        }
    }

    /// Sees to what has to be there before a transaction that writes.
    async fn make_ready(&self, client: &Object, words: &[Written]) -> Result<(Learned, Receipt), Failure> {
        let bound = self.statement_timeout.as_millis();
        let learned = self.vocabulary.learn(client, &self.schema, words, bound).await?;
        Ok((learned, receipts::take(&self.receipts, client, &self.receipts_table(), bound).await?))
    }

    /// Begins a transaction that writes, on a server that has what it rests on.
    async fn start(
        &self,
        client: Object,
        purpose: Purpose<'_>,
        learned: Learned,
        receipt: Receipt,
    ) -> Result<Transaction, Failure> {
        let mut transaction = Transaction::new(client, Some(learned), Some(receipt), self.lock_number());
        let (server, lacking) = match transaction.ask(&self.prelude(purpose)).await {
            Ok(told) => told,
            Err(failure) => {
                self.roll_back(transaction, Remedy::Reconnect).await;
                return Err(failure);
            }
        };
        if transaction.is_confirmed(&self.vocabulary, &server, lacking) {
            return Ok(transaction);
        }
        self.roll_back(transaction, Remedy::Again).await;
        Err(Failure::undone("the server is another one, or has forgotten something".into()))
    }

    /// Returns the qualified name of the table of receipts.
    fn receipts_table(&self) -> String {
        format!("{}.hx_mark", quoted(&self.schema))
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

    async fn commit(&self, transaction: Transaction) -> Result<(), Lost<Failure>> {
        transaction.commit(&self.receipts, &self.vocabulary).await
    }

    async fn roll_back(&self, transaction: Transaction, remedy: Remedy) {
        transaction.roll_back(&self.receipts, remedy != Remedy::Reconnect).await;
    }

    async fn is_reached(&self, receipt: &Receipt) -> Result<bool, Failure> {
        let (client, bound) = (self.pool.get().await?, self.statement_timeout.as_millis());
        receipts::is_reached(receipt, &client, &self.receipts_table(), bound).await
    }
}
