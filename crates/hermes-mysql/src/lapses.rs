//! Messages that the server's index lost in a crash.
//!
//! InnoDB keeps the newest part of a full-text index in memory. Rows are numbered in the order of insertion, and after
//! a crash those beyond the last stored number are read again. A row that was inserted before that number was stored
//! and committed afterwards has a smaller number: it is in the table but no longer in the index. So after each start of
//! a server the index is compared with the table, and the start is recorded as checked.

use crate::database::{Database, NAME, Purpose};
use crate::error::{Failure, code};
use crate::spelling;
use crate::transaction::Transaction;
use hermes_search::lexemes;
use hermes_session::StoreError;
use hermes_sql::server::{Epoch, Fields as _, Sql as _, among};
use hermes_sql::{job, values};
use mysql_async::Error;
use std::time::Duration;
use tracing::{debug, warn};

/// Starts of one server at most this many seconds apart count as the same, because it reports its uptime and not its
/// start time. So a start is recorded only once it cannot be confused with the next one.
const SAME: i64 = 5;

/// Time limit of the comparison when a store is opened.
const PATIENCE: Duration = Duration::from_secs(20);

/// A search spends one part in this many of its time on the comparison.
const SHARE: u32 = 4;

/// Number of rows indexed again at once.
const LOT: usize = 64;

/// A start of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Start {
    /// Key of its record.
    key: String,
    /// Start time in Unix seconds; never earlier than the actual one.
    at: i64,
    /// Uptime in seconds; never longer than the actual one.
    up: i64,
}

impl Start {
    async fn read(transaction: &Transaction) -> Result<Self, Failure> {
        // In this order: time that passes in between makes the start seem later.
        let up = transaction.one("SHOW GLOBAL STATUS LIKE 'Uptime'", values![]).await?;
        let up: i64 = up.try_get::<String>(1)?.parse().unwrap_or_default();
        let row = transaction.one(&format!("SELECT concat('index of ', {NAME}), unix_timestamp()"), values![]).await?;
        Ok(Self { key: row.try_get(0)?, at: row.try_get::<i64>(1)? - up, up })
    }

    /// Returns whether the next start is distinguishable from this one by its time.
    fn is_distinct(&self) -> bool {
        self.up > SAME
    }

    /// Returns whether the index was compared with the table since this start.
    async fn is_noted(&self, transaction: &Transaction) -> Result<bool, Failure> {
        let noted = transaction.row("SELECT value FROM hx_state WHERE `key` = $1", values![self.key.as_str()]).await?;
        let at = noted.map(|row| row.try_get::<String>(0)).transpose()?.and_then(|at| at.parse::<i64>().ok());
        Ok(at.is_some_and(|at| (at - self.at).abs() <= SAME))
    }
}

/// Returns whether the index was compared with the table since the server started, from the cache or the store.
async fn is_compared(transaction: &Transaction) -> Result<bool, Failure> {
    if transaction.vocabulary().is_whole(transaction.epoch()) {
        return Ok(true);
    }
    is_noted(transaction).await
}

/// Returns whether the comparison is recorded in the store.
async fn is_noted(transaction: &Transaction) -> Result<bool, Failure> {
    let is_noted = Start::read(transaction).await?.is_noted(transaction).await?;
    if is_noted {
        transaction.vocabulary().note_whole(transaction.epoch());
    }
    Ok(is_noted)
}

/// Returns the messages that are in the table but not in the index; usually it is cached that there are none. The
/// comparison gets a part of the time limit of a statement, which leaves the rest to the search.
pub(crate) async fn lost(transaction: &Transaction, bound: Duration) -> Result<Vec<i64>, Failure> {
    if is_compared(transaction).await? {
        return Ok(Vec::new());
    }
    transaction.vocabulary().note_unsure(transaction.epoch());
    transaction.batch(&transaction.flavour().statement_timeout(bound / SHARE)).await?;
    let compared = compared(transaction).await;
    transaction.batch(&transaction.flavour().statement_timeout(bound)).await?;
    let lost = compared?;
    if lost.is_empty() {
        transaction.vocabulary().note_whole(transaction.epoch());
    }
    // Not cached: another process may index the lost messages at any time, so the next search compares again.
    Ok(lost)
}

/// Compares the index with the table. Every list of words contains the lexeme of its size class.
async fn compared(transaction: &Transaction) -> Result<Vec<i64>, Failure> {
    const SQL: &str =
        "SELECT h.message_id FROM hx_search h WHERE h.form <> 2 AND NOT MATCH (h.words) AGAINST ($1 IN BOOLEAN MODE)";
    let sizes: Vec<String> = (0..=u32::BITS).map(|size| spelling::word(&lexemes::length(size))).collect();
    let rows = transaction.rows(SQL, values![sizes.join(" ")]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// Compares the index with the table and repairs it, if possible. Otherwise each search compares by itself.
pub(crate) async fn look(database: &Database) {
    const OP: &str = "compare the index with the table";
    let is_noted: Result<bool, StoreError> = job!(database, Purpose::Read, OP, |transaction| is_noted(transaction));
    if is_noted.is_err() {
        debug!("not known whether the search index was compared with the table");
    }
    if matches!(is_noted, Ok(false)) {
        let reindexed: Result<Option<Epoch>, StoreError> =
            job!(database, Purpose::write_much(&[]), OP, |transaction| reindex_lost(transaction));
        match reindexed {
            Ok(Some(epoch)) => database.vocabulary.note_whole(epoch),
            Ok(None) => debug!("comparison of the search index with the table took too long"),
            Err(_) => debug!("search index not compared with the table; each search does it"),
        }
    }
}

/// Runs [`look`] in the background.
pub(crate) fn look_meanwhile(database: Database) {
    tokio::spawn(async move { look(&database).await });
}

/// Indexes lost messages again, and records that. Returns the epoch for which the index is complete, or `None` if the
/// comparison took too long; each search then compares by itself.
async fn reindex_lost(transaction: &Transaction) -> Result<Option<Epoch>, Failure> {
    let start = Start::read(transaction).await?;
    transaction.batch(&transaction.flavour().statement_timeout(PATIENCE)).await?;
    let lost = match compared(transaction).await {
        Err(Failure::Driver(Error::Server(error))) if code::TIMED_OUT.contains(&error.code) => return Ok(None),
        other => other?,
    };
    if !lost.is_empty() {
        warn!(messages = lost.len(), "the server's search index lost messages; listing them again");
    }
    for lot in lost.chunks(LOT) {
        let (condition, values) = among("message_id", 1, lot.iter().copied());
        // A row gets a new number when its words change. A trailing blank changes nothing else.
        let sql = format!(
            "UPDATE hx_search SET words = IF(right(words, 1) = ' ', rtrim(words), concat(words, ' ')) WHERE {condition}"
        );
        transaction.run(&sql, values).await?;
    }
    if start.is_distinct() {
        let sql = "INSERT INTO hx_state (`key`, value) VALUES ($1, $2) ON DUPLICATE KEY UPDATE value = $2";
        transaction.run(sql, values![start.key, start.at.to_string()]).await?;
    }
    Ok(Some(transaction.epoch()))
}
