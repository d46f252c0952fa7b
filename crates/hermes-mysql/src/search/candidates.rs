//! What the index and the vocabulary know.

use super::boolean::printed;
use super::filter::Admitted;
use super::question::Values;
use crate::database::Transaction;
use crate::error::Failure;
use hermes_sql::search::postings::{Candidate, Lookup, Place, Ranking, Totals};
use hermes_sql::search::wanted::Wanted;
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::{after_prefix, values};

/// So many messages are counted; the others are estimated.
const MAX_COUNTED: i64 = 4_000;

/// The condition that the row `h` of `hx_search` has something.
fn has(wanted: &Wanted, values: &mut Values) -> String {
    format!("MATCH (h.words) AGAINST ({} IN BOOLEAN MODE)", values.bind(printed(wanted)))
}

/// The best messages behind a place.
///
/// The score is calculated as [`Ranking`] has it, number by number, so that it tells a place on the next page as well.
pub(super) async fn ranked(
    transaction: &Transaction,
    admitted: &Admitted,
    ranking: &Ranking,
    after: Option<Place>,
    limit: usize,
) -> Result<Vec<Candidate>, Failure> {
    let mut values = Values::default();
    let (base, step) = (values.bind(ranking.brevity.base), values.bind(ranking.brevity.step));
    let newest = values.bind(ranking.newest);
    // The server knows no number that is beyond all others.
    let after = after.map_or((f64::MAX, i64::MAX), |after| (after.score.min(f64::MAX), after.id));
    let (score, id) = (values.bind(after.0), values.bind(after.1));
    let limit = values.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let part = |columns: &str, choice: Option<&Wanted>, values: &mut Values| {
        let has = ranking.wanted(choice).map_or_else(|| "h.form <> 2".to_owned(), |wanted| has(&wanted, values));
        // The sum keeps the index of ids out of this: nearly all are older than the newest.
        format!(
            "SELECT h.message_id, h.length, {columns} FROM hx_search h WHERE {has} AND h.message_id + 0 <= {newest}"
        )
    };
    let (weight, found) = if ranking.choices.is_empty() {
        let found = part("0 AS has", None, &mut values);
        ("1e0".to_owned(), found + &admitted.conditions("h", &mut values))
    } else {
        let mut weight = "(0e0".to_owned();
        let mut parts = Vec::new();
        if !ranking.is_covered {
            parts.push(part("h.session_id, 0 AS bit", None, &mut values));
        }
        for (place, (choice, number)) in ranking.choices.iter().enumerate() {
            weight += &format!(" + ((has >> {place}) & 1) * {}", values.bind(*number));
            parts.push(part(&format!("h.session_id, 1 << {place} AS bit"), Some(choice), &mut values));
        }
        let filter = admitted.conditions("g", &mut values);
        let found = format!(
            "SELECT g.message_id, g.length, g.has FROM (SELECT message_id, session_id, length, bit_or(bit) AS has FROM ({}) u \
             GROUP BY message_id, session_id, length) g WHERE TRUE{filter}",
            parts.join(" UNION ALL ")
        );
        (weight + ")", found)
    };
    let sql = format!(
        "SELECT message_id, length, has, score FROM (SELECT message_id, length, has, {weight} / ({base} + {step} * length) AS score \
         FROM ({found}) f) r WHERE score < {score} OR (score = {score} AND message_id < {id}) \
         ORDER BY score DESC, message_id DESC LIMIT {limit}"
    );
    let mut candidates = Vec::new();
    for row in values.rows(transaction, &sql).await? {
        let (length, has): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
        let place = Place { score: row.try_get(3)?, id: row.try_get(0)? };
        candidates.push(Candidate { place, length: number(length), has: has.cast_unsigned() });
    }
    Ok(candidates)
}

/// The newest messages before an id that have something, with those that are not listed.
pub(super) async fn latest(
    transaction: &Transaction,
    admitted: &Admitted,
    wanted: Option<&Wanted>,
    lost: &[i64],
    before: i64,
    limit: usize,
) -> Result<Vec<(i64, u32)>, Failure> {
    let mut values = Values::default();
    let before = values.bind(before);
    let limit = values.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let filter = admitted.conditions("h", &mut values);
    let sql = match wanted {
        None => format!(
            "SELECT h.message_id, h.length FROM hx_search h WHERE h.message_id < {before}{filter} \
             ORDER BY h.message_id DESC LIMIT {limit}"
        ),
        Some(wanted) => {
            let unknown = unknown(lost, &mut values);
            let has = has(wanted, &mut values);
            let part = |condition: &str| {
                format!(
                    "SELECT h.message_id, h.length FROM hx_search h \
                     WHERE {condition} AND h.message_id + 0 < {before}{filter}"
                )
            };
            format!(
                "SELECT message_id, length FROM ({} UNION ALL {}) u ORDER BY message_id DESC LIMIT {limit}",
                part(&has),
                part(&unknown)
            )
        }
    };
    numbers(transaction, values, &sql).await
}

/// Which messages the index is not asked about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unlisted<'l> {
    /// Those that are not listed, and these, which it lost.
    With(&'l [i64]),
    /// All there are.
    All,
}

/// The condition that the index knows nothing of the row `h`, with those that it lost.
fn unknown(lost: &[i64], values: &mut Values) -> String {
    match lost {
        [] => "h.form = 2".to_owned(),
        lost => format!("(h.form = 2 OR {})", values.among("h.message_id", lost.iter().copied())),
    }
}

/// The messages that are not listed.
pub(super) async fn unlisted(
    transaction: &Transaction,
    admitted: &Admitted,
    newest: i64,
    which: Unlisted<'_>,
) -> Result<Vec<(i64, u32)>, Failure> {
    let mut values = Values::default();
    let newest = values.bind(newest);
    let filter = admitted.conditions("h", &mut values);
    let which = match which {
        Unlisted::With(lost) => unknown(lost, &mut values),
        Unlisted::All => "TRUE".to_owned(),
    };
    let sql =
        format!("SELECT h.message_id, h.length FROM hx_search h WHERE {which} AND h.message_id <= {newest}{filter}");
    numbers(transaction, values, &sql).await
}

fn number(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

async fn numbers(transaction: &Transaction, values: Values, sql: &str) -> Result<Vec<(i64, u32)>, Failure> {
    let mut numbers = Vec::new();
    for row in values.rows(transaction, sql).await? {
        numbers.push((row.try_get(0)?, number(row.try_get(1)?)));
    }
    Ok(numbers)
}

/// In how many messages each of these is: counted, or told from where some of them are.
pub(super) async fn counts(transaction: &Transaction, wanted: &[Wanted]) -> Result<Vec<u64>, Failure> {
    let mut counts = Vec::with_capacity(wanted.len());
    let span = span(transaction).await?;
    for wanted in wanted {
        let mut values = Values::default();
        let has = has(wanted, &mut values);
        let limit = values.bind(MAX_COUNTED);
        let sql = format!(
            "SELECT count(*), max(message_id) - min(message_id) + 1 FROM (SELECT h.message_id FROM hx_search h WHERE {has} LIMIT {limit}) x"
        );
        let rows = values.rows(transaction, &sql).await?;
        let Some(row) = rows.first() else { continue };
        let (count, seen): (i64, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
        counts.push(match seen {
            // The index tells of them in the order in which they came.
            Some(seen) if count >= MAX_COUNTED => (count as f64 * (span as f64 / seen.max(1) as f64).max(1.0)) as u64,
            _ => count.unsigned_abs(),
        });
    }
    Ok(counts)
}

/// How many ids there are from the first message to the last.
async fn span(transaction: &Transaction) -> Result<u64, Failure> {
    const SQL: &str = "SELECT coalesce(max(message_id) - min(message_id) + 1, 0) FROM hx_search";
    Ok(transaction.one(SQL, values![]).await?.try_get::<i64>(0)?.unsigned_abs())
}

/// How many messages there are and how long they are: of many, as many as there are ids, and as long as the newest.
pub(super) async fn totals(transaction: &Transaction) -> Result<Totals, Failure> {
    const SQL: &str = "SELECT (SELECT count(*) FROM (SELECT 1 FROM hx_search LIMIT $1) x), \
        (SELECT CAST(avg(length) AS DOUBLE) FROM (SELECT length FROM hx_search WHERE form = 1 ORDER BY message_id DESC LIMIT 400) y)";
    let row = transaction.one(SQL, values![MAX_COUNTED]).await?;
    let (counted, average): (i64, Option<f64>) = (row.try_get(0)?, row.try_get(1)?);
    let counted = counted.unsigned_abs();
    let messages = if counted < MAX_COUNTED.unsigned_abs() { counted } else { span(transaction).await?.max(counted) };
    Ok(Totals { messages, average: average.unwrap_or(1.0).max(1.0) })
}

/// Words of the vocabulary. It is read from end to end for pieces: words are short, and there are few of them beside what is said in them.
pub(super) async fn terms(transaction: &Transaction, lookup: Lookup<'_>, limit: usize) -> Result<Vec<String>, Failure> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = match lookup {
        Lookup::Containing(piece) => {
            transaction
                .rows("SELECT term FROM hx_term WHERE locate($1, term) > 0 LIMIT $2", values![piece, limit])
                .await?
        }
        Lookup::Ending(end) => {
            const SQL: &str = "SELECT term FROM hx_term WHERE right(term, length($1)) = $1 LIMIT $2";
            transaction.rows(SQL, values![end, limit]).await?
        }
        Lookup::Beginning(beginning) => {
            const SQL: &str =
                "SELECT term FROM hx_term WHERE term >= $1 AND ($2 IS NULL OR term < $2) ORDER BY term LIMIT $3";
            transaction.rows(SQL, values![beginning, after_prefix(beginning), limit]).await?
        }
    };
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}
