//! The server's full-text index, asked so that it tells of all.
//!
//! InnoDB keeps the newest part of the index in memory and brings it to disk from time to time. It gives that part up before what it wrote can be read: for
//! a moment, which may be a second on a busy disk, whoever asks is told of nothing that was in it. So, if something was written lately, each question
//! is put twice, and in between the index is asked for witnesses, messages by words that only they have. One gap that swallowed something of both answers
//! swallowed the witnesses of that part as well. They are so far back from the newest message as powers of two, so that each part has one
//! unless more was said since than is in it.

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

/// How far back the farthest witness is, as a power of two. The part in memory has fewer messages, whatever the server's settings.
const FARTHEST: u32 = 20;

/// How long the index is waited for until it is steady.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long after an unsteady answer it is asked again.
const PAUSE: Duration = Duration::from_millis(20);

/// The index, during one search.
pub(super) struct Index {
    /// Messages that it lost. They are looked at in any case.
    pub(super) lost: Vec<i64>,
    /// Until when it is asked again.
    until: Instant,
    is_unsteady: AtomicBool,
}

/// Something that the index is asked: a statement that selects messages and their lengths.
pub(super) struct Question {
    pub(super) sql: String,
    pub(super) values: Values,
    /// What is noted of the messages that it names.
    pub(super) bit: u64,
}

/// A message that was named.
#[derive(Default)]
pub(super) struct Named {
    pub(super) length: u32,
    /// The notes of the questions that named it.
    pub(super) has: u64,
}

impl Index {
    pub(super) fn new(lost: Vec<i64>, until: Instant) -> Self {
        Self { lost, until: until.min(Instant::now() + PATIENCE), is_unsteady: AtomicBool::new(false) }
    }

    /// Whether it may have kept something from us, however often it was asked.
    pub(super) fn is_unsteady(&self) -> bool {
        self.is_unsteady.load(Ordering::Relaxed)
    }

    /// The messages that questions are about.
    pub(super) async fn ask(
        &self,
        transaction: &Transaction,
        questions: &[Question],
    ) -> Result<HashMap<i64, Named>, Failure> {
        let mut named = HashMap::new();
        put(transaction, questions, &mut named).await?;
        // Asked behind the question: what was written before it may have set the index moving.
        if self.is_unsteady() || !is_written_lately(transaction).await? {
            return Ok(named);
        }
        loop {
            let is_steady = self.tells_of_witnesses(transaction).await?;
            put(transaction, questions, &mut named).await?;
            if is_steady {
                return Ok(named);
            }
            if Instant::now() + PAUSE >= self.until {
                self.is_unsteady.store(true, Ordering::Relaxed);
                return Ok(named);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether the index knows some messages that it has to know.
    async fn tells_of_witnesses(&self, transaction: &Transaction) -> Result<bool, Failure> {
        let newest = transaction.one("SELECT coalesce(max(message_id), 0) FROM hx_search", values![]).await?;
        let newest: i64 = newest.try_get(0)?;
        let back = std::iter::once(0).chain((0..=FARTHEST).map(|power| 1_i64 << power));
        let mut values = Values::default();
        // Each by itself is one look at the index of ids.
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
        // A list that was written before there were witnesses has no such word.
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
    named: &mut HashMap<i64, Named>,
) -> Result<(), Failure> {
    for Question { sql, values, bit } in questions {
        for (id, length) in numbers(transaction, values.clone(), sql).await? {
            let named = named.entry(id).or_insert(Named { length, has: 0 });
            named.has |= bit;
        }
    }
    Ok(())
}

/// Returns whether something was written within the last minute: the receipts of the writers say when. By then the server has brought to disk what it had to.
async fn is_written_lately(transaction: &Transaction) -> Result<bool, Failure> {
    const SQL: &str = "SELECT coalesce((SELECT max(at) FROM hx_mark) >= UTC_TIMESTAMP() - INTERVAL 60 SECOND, 0)";
    Ok(transaction.one(SQL, values![]).await?.try_get(0)?)
}
