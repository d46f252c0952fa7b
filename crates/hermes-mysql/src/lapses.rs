//! Messages that the server's index lost when the server failed.
//!
//! InnoDB keeps the newest part of a full-text index in memory. Rows have numbers in the order in which they are inserted, and after a failure
//! those beyond the last number that was written are read again. A row that was inserted before that moment and committed after it has a smaller number:
//! it is in the table and no longer in the index. So each start of a server is noted once the index was compared with the table.

use crate::database::{Database, NAME, Purpose};
use crate::error::{Failure, code};
use crate::spelling;
use crate::transaction::Transaction;
use hermes_session::StoreError;
use hermes_sql::search::lexemes;
use hermes_sql::server::{Epoch, Fields as _, Sql as _, among};
use hermes_sql::{job, values};
use mysql_async::Error;
use std::time::Duration;
use tracing::{debug, warn};

/// Two starts of one server that are no further apart are one, in seconds: it tells for how long it is up, not since when. So none is noted that might be
/// taken for the next one.
const SAME: i64 = 5;

/// How long the comparison may take when a store is opened.
const PATIENCE: Duration = Duration::from_secs(20);

/// What part of its time a search gives to the comparison.
const SHARE: u32 = 4;

/// How many rows are listed anew at once.
const LOT: usize = 64;

/// One start of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Start {
    /// The key of its note.
    key: String,
    /// When it was, in seconds; not before it was.
    at: i64,
    /// For how long it is up, in seconds; not longer than it is.
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

    /// Whether the next start can be told from it by its time.
    fn is_distinct(&self) -> bool {
        self.up > SAME
    }

    /// Whether the index was compared with the table since.
    async fn is_noted(&self, transaction: &Transaction) -> Result<bool, Failure> {
        let noted = transaction.row("SELECT value FROM hx_state WHERE `key` = $1", values![self.key.as_str()]).await?;
        let at = noted.map(|row| row.try_get::<String>(0)).transpose()?.and_then(|at| at.parse::<i64>().ok());
        Ok(at.is_some_and(|at| (at - self.at).abs() <= SAME))
    }
}

/// Whether the index was compared with the table since the server started.
async fn are_mended(transaction: &Transaction) -> Result<bool, Failure> {
    if transaction.vocabulary().is_whole(transaction.epoch()) {
        return Ok(true);
    }
    is_noted(transaction).await
}

/// Whether that is noted for all.
async fn is_noted(transaction: &Transaction) -> Result<bool, Failure> {
    let is_noted = Start::read(transaction).await?.is_noted(transaction).await?;
    if is_noted {
        transaction.vocabulary().note_whole(transaction.epoch());
    }
    Ok(is_noted)
}

/// The messages that are in the table and not in the index; usually known to be none. It takes a part of the time that a statement may, which leaves the rest
/// for the search.
pub(crate) async fn lost(transaction: &Transaction, bound: Duration) -> Result<Vec<i64>, Failure> {
    if are_mended(transaction).await? {
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
    // What is lost is looked for again by the next search: somebody may list it anew at any time.
    Ok(lost)
}

/// Compares the index with the table: each list of words tells its size.
async fn compared(transaction: &Transaction) -> Result<Vec<i64>, Failure> {
    const SQL: &str =
        "SELECT h.message_id FROM hx_search h WHERE h.form <> 2 AND NOT MATCH (h.words) AGAINST ($1 IN BOOLEAN MODE)";
    let sizes: Vec<String> = (0..=u32::BITS).map(|size| spelling::word(&lexemes::length(size))).collect();
    let rows = transaction.rows(SQL, values![sizes.join(" ")]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// Sees to it that nothing is lost, if it can. If it can't, each search looks for itself.
pub(crate) async fn look(database: &Database) {
    const OP: &str = "compare the index with the table";
    let is_noted: Result<bool, StoreError> = job!(database, Purpose::Read, OP, |transaction| is_noted(transaction));
    if is_noted.is_err() {
        debug!("not known whether the search index was compared with the table");
    }
    if matches!(is_noted, Ok(false)) {
        let mended: Result<Option<Epoch>, StoreError> =
            job!(database, Purpose::write_much(&[]), OP, |transaction| mend(transaction));
        match mended {
            Ok(Some(epoch)) => database.vocabulary.note_whole(epoch),
            Ok(None) => debug!("comparison of the search index with the table took too long"),
            Err(_) => debug!("search index not compared with the table; each search does it"),
        }
    }
}

/// The same, while others go on.
pub(crate) fn look_meanwhile(database: Database) {
    tokio::spawn(async move { look(&database).await });
}

/// Lists anew what was lost, and notes that nothing is; since when that is certain, if it is. If it takes too long, each search does it for itself.
async fn mend(transaction: &Transaction) -> Result<Option<Epoch>, Failure> {
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
        // A row gets another number when its words change. A blank changes nothing else.
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
