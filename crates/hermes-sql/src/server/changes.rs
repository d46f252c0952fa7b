//! The feed of changes: a row for each session that a transaction changed.
//!
//! A number is drawn before its transaction commits, so a number may appear after greater ones. A mark holds the greatest
//! number seen and the gaps below it, which later calls look at again for as long as a transaction may take.

mod mark;

use super::{Fields as _, Odd, Sql, Value};
use crate::values;
use hermes_session::SessionId;
use hermes_session::live::{ChangeMark, Changed, Changes, Kinds};
use mark::{Gap, LATE, Mark};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Number of rows that one statement reads.
const PAGE: usize = 4_096;

/// Time after which rows are deleted, in seconds.
const KEPT: f64 = 24.0 * 60.0 * 60.0;

/// Number of rows that one call deletes.
const PRUNED: i64 = 4_096;

/// The sessions that a transaction has changed so far.
#[derive(Debug, Default)]
pub struct Noted(Mutex<BTreeMap<SessionId, Kinds>>);

impl Noted {
    /// Adds a change.
    pub fn note(&self, session: &SessionId, kinds: Kinds) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = noted.entry(session.clone()).or_default();
        *known = known.and(kinds);
    }

    /// Takes the changes out, to be written with the commit.
    pub fn take(&self) -> Vec<(SessionId, Kinds)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

/// Implements `changes` of the contract.
pub async fn read<T: Sql>(transaction: &T, after: Option<&ChangeMark>) -> Result<Changes, T::Failure> {
    let Some(after) = after else {
        let next = start(transaction).await?.to_text();
        return Ok(Changes { changed: Vec::new(), is_reset: false, next });
    };
    if let Some(mut mark) = Mark::parse(after) {
        let mut changed = BTreeMap::new();
        loop {
            match page(transaction, &mut mark, &mut changed).await? {
                Some(rows) if rows < PAGE => {
                    let changed = changed.into_values().collect();
                    return Ok(Changes { changed, is_reset: false, next: mark.to_text() });
                }
                Some(_) => {}
                None => break,
            }
        }
    }
    Ok(Changes { changed: Vec::new(), is_reset: true, next: start(transaction).await?.to_text() })
}

/// Reads the changes after a mark, and moves it. Returns their number, or `None` if the mark is of another feed, or of a
/// part that was deleted.
async fn page<T: Sql>(
    transaction: &T,
    mark: &mut Mark,
    changed: &mut BTreeMap<SessionId, Changed>,
) -> Result<Option<usize>, T::Failure> {
    let mut values = values![mark.greatest];
    let mut conditions = vec!["c.seq > $1".to_owned()];
    // Padded with the last one, so that the server sees few distinct statements.
    let count = if mark.gaps.is_empty() { 0 } else { mark.gaps.len().next_power_of_two() };
    for gap in mark.gaps.iter().chain(mark.gaps.last().into_iter().cycle()).take(count) {
        conditions.push(format!("c.seq BETWEEN ${} AND ${}", values.len() + 1, values.len() + 2));
        values.extend(values![gap.first, gap.last]);
    }
    // One row at least, with the facts about the feed.
    let sql = format!(
        "SELECT {FACTS}, {}, c.seq, c.session_id, c.kinds, c.at, h.root FROM hx_state f \
         LEFT JOIN hx_change c ON {} LEFT JOIN hx_session h ON h.session_id = c.session_id \
         WHERE f.\"key\" = 'feed' ORDER BY c.seq LIMIT {PAGE}",
        transaction.dialect().now,
        conditions.join(" OR ")
    );
    let (mut seen, mut now) = (Vec::new(), 0.0);
    for row in transaction.rows(&sql, values).await? {
        let facts = Facts::of::<T>(&row)?;
        if facts.feed != mark.feed || mark.greatest < facts.start || mark.greatest > facts.greatest {
            return Ok(None);
        }
        now = row.try_get(3)?;
        let Some(number) = row.try_get::<Option<i64>>(4)? else { continue };
        seen.push((number, row.try_get(7)?));
        let (session, kinds) = (row.id(5)?, Kinds::from_bits(row.try_get(6)?));
        let conversation = row.try_get::<Option<String>>(8)?.map(SessionId::from_stored);
        let entry = Changed { session: session.clone(), conversation, kinds };
        let known = changed.entry(session).or_insert(entry);
        known.kinds = known.kinds.and(kinds);
    }
    mark.advance(&seen, now);
    Ok(Some(seen.len()))
}

/// Name of the feed, the number up to which it was deleted, and the greatest number, for a row `f` of `hx_state`.
const FACTS: &str =
    "f.value, (SELECT b.value FROM hx_state b WHERE b.\"key\" = 'feed_start'), (SELECT max(seq) FROM hx_change)";

struct Facts {
    feed: String,
    start: i64,
    greatest: i64,
}

impl Facts {
    fn of<T: Sql>(row: &T::Row) -> Result<Self, Odd> {
        let start = row.try_get::<String>(1)?.parse().map_err(|_| Odd("hx_state feed_start: not a number".into()))?;
        let greatest = row.try_get::<Option<i64>>(2)?.map_or(start, |greatest| greatest.max(start));
        Ok(Self { feed: row.try_get(0)?, start, greatest })
    }
}

/// Returns the mark of now.
async fn start<T: Sql>(transaction: &T) -> Result<Mark, T::Failure> {
    let now = transaction.dialect().now;
    let sql = format!("SELECT {FACTS}, {now} FROM hx_state f WHERE f.\"key\" = 'feed'");
    let row = transaction.one(&sql, values![]).await?;
    let (facts, since) = (Facts::of::<T>(&row)?, row.try_get::<f64>(3)? - LATE);
    // Numbers whose transactions may still commit: the gaps below recent ones.
    let sql = "SELECT g.before_it + 1, g.seq - 1, g.at FROM (SELECT seq, at, lag(seq) OVER (ORDER BY seq) AS before_it FROM hx_change \
         WHERE seq >= coalesce((SELECT seq FROM hx_change WHERE at < $1 ORDER BY at DESC LIMIT 1), 0)) g \
         WHERE g.seq - g.before_it > 1 AND g.at >= $1 ORDER BY g.seq";
    let mut gaps = Vec::new();
    for row in transaction.rows(sql, vec![Value::from(since)]).await? {
        gaps.push(Gap { first: row.try_get(0)?, last: row.try_get(1)?, at: row.try_get(2)? });
    }
    Ok(Mark::new(facts.feed, facts.greatest, gaps))
}

/// Deletes rows that are older than a day. Returns whether there may be more.
pub async fn prune<T: Sql>(transaction: &T) -> Result<bool, T::Failure> {
    let sql = format!("SELECT value, {} FROM hx_state WHERE \"key\" = 'feed_start'", transaction.dialect().now);
    let row = transaction.one(&format!("{sql}{}", transaction.dialect().lock), values![]).await?;
    let before = row.try_get::<f64>(1)? - KEPT;
    let sql = "SELECT seq FROM hx_change WHERE at < $1 ORDER BY at LIMIT $2";
    let old = transaction.rows(sql, values![before, PRUNED]).await?;
    let old: Vec<i64> = old.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let Some(last) = old.iter().max() else { return Ok(false) };
    transaction.run("DELETE FROM hx_change WHERE seq <= $1 AND at < $2", values![*last, before]).await?;
    let start = row.try_get::<String>(0)?.parse().map_or(*last, |start: i64| start.max(*last));
    let sql = "UPDATE hx_state SET value = $1 WHERE \"key\" = 'feed_start'";
    transaction.run(sql, values![start.to_string()]).await?;
    Ok(old.len() as i64 == PRUNED)
}
