//! A server and its settings.

use crate::connection::quoted;
use crate::error::Failure;
use crate::indexes::{Learned, Vocabulary, Written};
use crate::receipts;
use crate::transaction::{Transaction, changed_alone};
use deadpool_postgres::{Object, Pool};
use hermes_session::{Location, ReadOnlyReason, StoreError};
use hermes_sql::server::{Failing as _, Lost, Receipt, Receipts, Remedy, Server};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::types::Type;
use tracing::debug;

/// A server and its settings.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) pool: Pool,
    /// Replica for reads that may be slightly stale.
    pub(crate) replica: Option<Pool>,
    /// Printable location.
    pub(crate) location: String,
    pub(crate) schema: String,
    pub(crate) statement_timeout: Duration,
    pub(crate) wait: Duration,
    /// Whether writes are refused.
    pub(crate) read_only: bool,
    /// Snapshot that all transactions read, if they share one.
    pub(crate) snapshot: Option<String>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) receipts: Arc<Receipts>,
}

/// Purpose of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose<'w> {
    /// Changes something, with words that must be in the vocabulary first.
    Write(&'w [Written]),
    /// Like `Write`, without a time limit for statements, because much may be deleted or imported.
    WriteMuch(&'w [Written]),
    /// Reads a snapshot.
    Read,
    /// Reads a snapshot as a whole, without a time limit for statements.
    ReadAll,
    /// Like `ReadAll`, where the data may be slightly stale.
    ReadBehind,
}

impl<'w> Purpose<'w> {
    pub(crate) fn write(words: &'w [Written]) -> Self {
        Self::Write(words)
    }

    pub(crate) fn write_much(words: &'w [Written]) -> Self {
        Self::WriteMuch(words)
    }

    /// Returns the words of a write, or `None` for a read.
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

/// Settings of every transaction that writes. A transaction whose client vanished does not keep its locks for long, and
/// an acknowledged write is on disk, whatever is configured for the database.
const WRITING: &str = "; SET LOCAL idle_in_transaction_session_timeout = '30s'; SET LOCAL tcp_keepalives_idle = 20; \
     SET LOCAL tcp_keepalives_interval = 5; SET LOCAL tcp_keepalives_count = 4; \
     SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// Settings of a transaction that writes the words of many messages. New entries of the search index wait in a list that
/// is merged into the index when it is full, by whoever fills it. A merge of a longer list visits each page of the index for
/// more entries at once: with the default settings, 99,521 messages took 11 s, with these 6 s.
const INDEXING_MUCH: &str = "; SET LOCAL gin_pending_list_limit = '32MB'; SET LOCAL work_mem = '64MB'";

/// Number of messages from which [`INDEXING_MUCH`] is used.
const MUCH: usize = 256;

impl Database {
    /// Returns the statements that begin a transaction. The settings are repeated each time, because a pooler may share
    /// the connection with others.
    fn prelude(&self, purpose: Purpose<'_>) -> String {
        let (mode, more) = match purpose.is_write() {
            true => ("ISOLATION LEVEL READ COMMITTED READ WRITE", WRITING),
            false => ("ISOLATION LEVEL REPEATABLE READ READ ONLY", ""),
        };
        let statement_timeout = match purpose {
            Purpose::Write(_) | Purpose::Read => self.statement_timeout.as_millis(),
            Purpose::WriteMuch(_) | Purpose::ReadAll | Purpose::ReadBehind => 0,
        };
        let indexing = match purpose {
            Purpose::WriteMuch(words) if words.len() >= MUCH => INDEXING_MUCH,
            _ => "",
        };
        let snapshot =
            self.snapshot.as_ref().map(|id| format!("; SET TRANSACTION SNAPSHOT '{id}'")).unwrap_or_default();
        format!(
            "BEGIN {mode}{snapshot}; SET LOCAL search_path = {}, pg_temp; SET LOCAL statement_timeout = {statement_timeout}{more}{indexing}",
            quoted(&self.schema),
        )
    }

    /// Returns a number for the schema, as part of the keys of advisory locks.
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
            return Ok(Transaction::reading(client, self.prelude(purpose), self.lock_number()));
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

    /// Prepares a transaction that writes: adds words to the vocabulary and takes a receipt.
    async fn make_ready(&self, client: &Object, words: &[Written]) -> Result<(Learned, Receipt), Failure> {
        let bound = self.statement_timeout.as_millis();
        let learned = self.vocabulary.learn(client, &self.schema, words, bound).await?;
        Ok((learned, receipts::take(&self.receipts, client, &self.receipts_table(), bound).await?))
    }

    /// Begins a transaction that writes, and checks that the server has the prepared data.
    async fn start(
        &self,
        client: Object,
        purpose: Purpose<'_>,
        learned: Learned,
        receipt: Receipt,
    ) -> Result<Transaction, Failure> {
        let mut transaction = Transaction::new(client, Some(learned), Some(receipt), self.lock_number());
        let (server, lacking) = match transaction.ask(&self.prelude(purpose)).await {
            Ok(answer) => answer,
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

    /// Merges entries of the search index that imports left waiting, so that the next search or append does not have to. Without
    /// the privilege, or if it fails, the server's autovacuum does it.
    pub(crate) async fn tidy(&self) {
        if self.read_only {
            return;
        }
        let Ok(client) = self.pool.get().await else { return };
        let index = format!("{}.hx_search_words", quoted(&self.schema));
        let limit = format!("statement_timeout = {}", self.statement_timeout.as_millis());
        let merge = "SELECT gin_clean_pending_list($1::text::regclass)";
        if let Err(failure) = changed_alone(&client, &limit, merge, &[(&index, Type::TEXT)]).await {
            debug!(error = failure.code(), "waiting entries of the search index not merged");
        }
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
