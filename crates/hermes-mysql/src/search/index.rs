//! The server's full-text index, queried so that no message is missed.
//!
//! InnoDB keeps the newest part of the index in memory and flushes it to disk from time to time. It drops that part
//! before the flushed one is readable: for a moment, up to a second on a busy disk, queries miss everything in it. So,
//! if something was written lately, each query is sent twice, and in between the index is asked for witnesses: messages
//! identified by a word that only they have. A gap that hid something from both results also hid the witnesses of that
//! part. The distances of the witnesses from the newest message are powers of two, so each part has a witness unless
//! more messages were added since than it contains.

use super::candidates::numbers;
use super::question::Values;
use crate::error::Failure;
use crate::spelling;
use crate::transaction::Transaction;
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::values;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Distance of the farthest witness, as a power of two. The part in memory has fewer messages, whatever the server's
/// settings.
const FARTHEST: u32 = 20;

/// Number of messages from which the number of matches is estimated.
pub(super) const MAX_COUNTED: usize = 4_000;

/// How long the index is queried again until it is steady.
const PATIENCE: Duration = Duration::from_secs(5);

/// Pause before the index is queried again.
const PAUSE: Duration = Duration::from_millis(20);

/// The index during one search.
pub(super) struct Index {
    /// Messages that the index lost. They are read in any case.
    pub(super) lost: Vec<i64>,
    /// Time until which the index is queried again.
    until: Instant,
    is_unsteady: AtomicBool,
}

/// A query to the index: a statement that selects messages and their lengths.
pub(super) struct Question {
    pub(super) sql: String,
    pub(super) values: Values,
    /// Bit set for the messages it returns.
    pub(super) bit: u64,
}

/// A message returned by a query.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Named {
    pub(super) length: u32,
    /// Bits of the queries that returned it.
    pub(super) has: u64,
}

/// Messages returned by queries.
pub(super) type AllNamed = HashMap<i64, Named>;

/// The beginning of the result of a query, from which the number of matches is estimated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beginning {
    /// Number of messages, at most [`MAX_COUNTED`].
    pub(super) count: u64,
    /// Size of the range of their ids.
    pub(super) span: u64,
}

impl Beginning {
    fn of(messages: &[(i64, u32)]) -> Self {
        let ids = || messages.iter().take(MAX_COUNTED).map(|(id, _)| *id);
        let span = ids().max().unwrap_or_default() - ids().min().unwrap_or_default() + 1;
        Self { count: ids().count() as u64, span: span.unsigned_abs() }
    }
}

impl Index {
    pub(super) fn new(lost: Vec<i64>, until: Instant) -> Self {
        Self { lost, until: until.min(Instant::now() + PATIENCE), is_unsteady: AtomicBool::new(false) }
    }

    /// Returns whether the index may have missed messages despite the repeated queries.
    pub(super) fn is_unsteady(&self) -> bool {
        self.is_unsteady.load(Ordering::Relaxed)
    }

    /// Returns the messages that the queries select.
    pub(super) async fn ask(&self, transaction: &Transaction, questions: &[Question]) -> Result<AllNamed, Failure> {
        Ok(self.ask_and_count(transaction, questions).await?.0)
    }

    /// Returns the messages that the queries select, and the beginnings of the results.
    pub(super) async fn ask_and_count(
        &self,
        transaction: &Transaction,
        questions: &[Question],
    ) -> Result<(AllNamed, Vec<Beginning>), Failure> {
        let mut named = HashMap::new();
        let beginnings = put(transaction, questions, &mut named).await?;
        // Checked after the query, because a write before the query may have started a flush.
        if self.is_unsteady() || !is_written_lately(transaction).await? {
            return Ok((named, beginnings));
        }
        loop {
            let is_steady = self.tells_of_witnesses(transaction).await?;
            put(transaction, questions, &mut named).await?;
            if is_steady {
                return Ok((named, beginnings));
            }
            if Instant::now() + PAUSE >= self.until {
                self.is_unsteady.store(true, Ordering::Relaxed);
                return Ok((named, beginnings));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns the beginnings of the results of the queries, of a moment in which the index may miss some messages.
    pub(super) async fn beginnings(
        &self,
        transaction: &Transaction,
        questions: &[Question],
    ) -> Result<Vec<Beginning>, Failure> {
        put(transaction, questions, &mut HashMap::new()).await
    }

    /// Returns whether the index returns the witnesses that it must contain.
    async fn tells_of_witnesses(&self, transaction: &Transaction) -> Result<bool, Failure> {
        let newest = transaction.one("SELECT coalesce(max(message_id), 0) FROM hx_search", values![]).await?;
        let newest: i64 = newest.try_get(0)?;
        let back = std::iter::once(0).chain((0..=FARTHEST).map(|power| 1_i64 << power));
        let mut values = Values::default();
        // Each by itself is one lookup in the index on ids.
        let one = |back| {
            let place = values.bind(newest - back);
            format!("SELECT max(message_id) FROM hx_search WHERE form = 1 AND message_id <= {place}")
        };
        let all = back.map(one).collect::<Vec<_>>().join(" UNION ");
        let mut witnesses: Vec<i64> = Vec::new();
        for row in values.rows(transaction, &all).await? {
            witnesses.extend(row.try_get::<Option<i64>>(0)?);
        }
        witnesses.retain(|id| !self.lost.contains(id));
        if witnesses.is_empty() {
            return Ok(true);
        }
        let mut values = Values::default();
        let words: Vec<String> = witnesses.iter().map(|id| spelling::witness(*id)).collect();
        let words = values.bind(words.join(" "));
        let among = values.among("h.message_id", witnesses);
        // A list written before witnesses were introduced has no such word.
        let sql = format!(
            "SELECT count(*) FROM hx_search h WHERE {among} AND NOT MATCH (h.words) AGAINST ({words} IN BOOLEAN MODE) \
             AND substring_index(h.words, ' ', 1) = concat('k__', h.message_id)"
        );
        let unknown: i64 = match values.rows(transaction, &sql).await?.first() {
            Some(row) => row.try_get(0)?,
            None => 0,
        };
        Ok(unknown == 0)
    }
}

async fn put(
    transaction: &Transaction,
    questions: &[Question],
    named: &mut AllNamed,
) -> Result<Vec<Beginning>, Failure> {
    let mut beginnings = Vec::with_capacity(questions.len());
    for Question { sql, values, bit } in questions {
        let messages = numbers(transaction, values.clone(), sql).await?;
        beginnings.push(Beginning::of(&messages));
        for (id, length) in messages {
            let named = named.entry(id).or_insert(Named { length, has: 0 });
            named.has |= bit;
        }
    }
    Ok(beginnings)
}

/// Returns whether something was written within the last minute, according to the receipts of the writers. After a
/// minute the server has completed its flushes.
async fn is_written_lately(transaction: &Transaction) -> Result<bool, Failure> {
    const SQL: &str = "SELECT coalesce((SELECT max(at) FROM hx_mark) >= UTC_TIMESTAMP() - INTERVAL 60 SECOND, 0)";
    Ok(transaction.one(SQL, values![]).await?.try_get(0)?)
}
