//! Candidates from the index, and words from the vocabulary.

use super::boolean::printed;
use super::filter::Admitted;
use super::index::{Index, Named, Question};
use super::question::Values;
use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_search::lexemes;
use hermes_search::postings::{Candidate, Place, Ranking, Totals};
use hermes_search::vocabulary::Lookup;
use hermes_search::wanted::Wanted;
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::{after_prefix, values};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Maximum number of messages that are counted; larger numbers are estimated.
const MAX_COUNTED: i64 = 4_000;

/// Returns the condition that the row `h` of `hx_search` matches.
fn has(wanted: &Wanted, values: &mut Values) -> String {
    format!("MATCH (h.words) AGAINST ({} IN BOOLEAN MODE)", values.bind(printed(wanted)))
}

/// Messages with their lengths, newest first.
type Lengths = Vec<(i64, u32)>;

/// Results so far of one search. The server computes all matches of a statement before it returns the first, so each
/// statement is sent once and its whole result is kept.
#[derive(Default)]
pub(super) struct Found {
    ranked: Mutex<HashMap<String, Arc<Vec<Candidate>>>>,
    latest: Mutex<HashMap<String, Arc<Lengths>>>,
}

/// Returns the best messages after a place.
pub(super) async fn ranked(
    transaction: &Transaction,
    admitted: &Admitted,
    index: &Index,
    found: &Found,
    ranking: &Ranking<Wanted>,
    after: Option<Place>,
    limit: usize,
) -> Result<Vec<Candidate>, Failure> {
    let key = format!("{:?} {:?}", ranking.whole, ranking.choices);
    let mut kept = found.ranked.lock().await;
    let all = match kept.get(&key) {
        Some(all) => Arc::clone(all),
        None => {
            let all = Arc::new(gathered(transaction, admitted, index, ranking).await?);
            kept.insert(key, Arc::clone(&all));
            all
        }
    };
    // Sorted, best first.
    let start = after.map_or(0, |after| all.partition_point(|candidate| !candidate.place.is_after(&after)));
    let is_meant = |candidate: &&Candidate| {
        ranking.sizes.as_ref().is_none_or(|sizes| sizes.contains(&lexemes::size(candidate.length)))
    };
    Ok(all[start..].iter().filter(is_meant).take(limit).copied().collect())
}

/// Returns all ranked messages, best first.
async fn gathered(
    transaction: &Transaction,
    admitted: &Admitted,
    index: &Index,
    ranking: &Ranking<Wanted>,
) -> Result<Vec<Candidate>, Failure> {
    let whole = Ranking { sizes: None, ..ranking.clone() };
    let mut questions = Vec::new();
    let alone = (!ranking.is_covered || ranking.choices.is_empty()).then_some((None, 0));
    let choices = ranking.choices.iter().enumerate().map(|(place, (choice, _))| (Some(choice), 1_u64 << place));
    for (choice, bit) in alone.into_iter().chain(choices) {
        let mut values = Values::default();
        let has = whole.wanted(choice).map_or_else(|| "h.form <> 2".to_owned(), |wanted| has(&wanted, &mut values));
        let newest = values.bind(ranking.newest);
        let filter = admitted.conditions("h", &mut values);
        // The addition keeps the server from using the index on ids: nearly all messages are older than the newest.
        let sql = format!(
            "SELECT h.message_id, h.length FROM hx_search h WHERE {has} AND h.message_id + 0 <= {newest}{filter}"
        );
        questions.push(Question { sql, values, bit });
    }
    let candidate = |(id, Named { length, has }): (i64, Named)| {
        let score = ranking.brevity.score(ranking.weight(has), length);
        Candidate { place: Place { score, id }, length, has }
    };
    let named = index.ask(transaction, &questions).await?;
    let mut candidates: Vec<Candidate> = named.into_iter().map(candidate).collect();
    candidates.sort_unstable_by(|one, other| {
        other.place.score.total_cmp(&one.place.score).then(other.place.id.cmp(&one.place.id))
    });
    Ok(candidates)
}

/// Returns the newest messages before an id that match, and those that are not listed.
pub(super) async fn latest(
    transaction: &Transaction,
    admitted: &Admitted,
    index: &Index,
    found: &Found,
    wanted: Option<&Wanted>,
    before: i64,
    limit: usize,
) -> Result<Vec<(i64, u32)>, Failure> {
    let Some(wanted) = wanted else {
        let mut values = Values::default();
        let before = values.bind(before);
        let filter = admitted.conditions("h", &mut values);
        let limit = values.bind(i64::try_from(limit).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT h.message_id, h.length FROM hx_search h WHERE h.message_id < {before}{filter} \
             ORDER BY h.message_id DESC LIMIT {limit}"
        );
        return numbers(transaction, values, &sql).await;
    };
    let key = printed(wanted);
    let mut kept = found.latest.lock().await;
    let all = match kept.get(&key) {
        Some(all) => Arc::clone(all),
        None => {
            let select = |which: String, values: &mut Values| {
                let filter = admitted.conditions("h", values);
                format!("SELECT h.message_id, h.length FROM hx_search h WHERE {which}{filter}")
            };
            let mut values = Values::default();
            let sql = select(has(wanted, &mut values), &mut values);
            let named = index.ask(transaction, &[Question { sql, values, bit: 0 }]).await?;
            let mut all: Lengths = named.into_iter().map(|(id, named)| (id, named.length)).collect();
            let mut values = Values::default();
            let sql = select(unknown(&index.lost, &mut values), &mut values);
            all.extend(numbers(transaction, values, &sql).await?);
            all.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
            all.dedup();
            let all = Arc::new(all);
            kept.insert(key, Arc::clone(&all));
            all
        }
    };
    let start = all.partition_point(|(id, _)| *id >= before);
    Ok(all[start..].iter().take(limit).copied().collect())
}

/// Messages that have to be found without the index.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unlisted<'l> {
    /// Those that are not listed, and these, which the index lost.
    With(&'l [i64]),
    /// All messages.
    All,
}

/// Returns the condition that the row `h` is missing in the index, including those that the index lost.
fn unknown(lost: &[i64], values: &mut Values) -> String {
    match lost {
        [] => "h.form = 2".to_owned(),
        lost => format!("(h.form = 2 OR {})", values.among("h.message_id", lost.iter().copied())),
    }
}

/// Returns the messages that are not listed.
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

/// Returns the messages of a statement, with their lengths.
pub(super) async fn numbers(transaction: &Transaction, values: Values, sql: &str) -> Result<Vec<(i64, u32)>, Failure> {
    let mut numbers = Vec::new();
    for row in values.rows(transaction, sql).await? {
        numbers.push((row.try_get(0)?, number(row.try_get(1)?)));
    }
    Ok(numbers)
}

/// Returns the number of messages that match each of these: counted, or extrapolated from the ids of the first matches.
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
            // The index returns matches in the order of insertion.
            Some(seen) if count >= MAX_COUNTED => (count as f64 * (span as f64 / seen.max(1) as f64).max(1.0)) as u64,
            _ => count.unsigned_abs(),
        });
    }
    Ok(counts)
}

/// Returns the size of the range of message ids.
async fn span(transaction: &Transaction) -> Result<u64, Failure> {
    const SQL: &str = "SELECT coalesce(max(message_id) - min(message_id) + 1, 0) FROM hx_search";
    Ok(transaction.one(SQL, values![]).await?.try_get::<i64>(0)?.unsigned_abs())
}

/// Returns the number of messages and their average length. Of many messages, the number is the size of the range of
/// ids, and the length is that of the newest.
pub(super) async fn totals(transaction: &Transaction) -> Result<Totals, Failure> {
    const SQL: &str = "SELECT (SELECT count(*) FROM (SELECT 1 FROM hx_search LIMIT $1) x), \
        (SELECT CAST(avg(length) AS DOUBLE) FROM (SELECT length FROM hx_search WHERE form = 1 ORDER BY message_id DESC LIMIT 400) y)";
    let row = transaction.one(SQL, values![MAX_COUNTED]).await?;
    let (counted, average): (i64, Option<f64>) = (row.try_get(0)?, row.try_get(1)?);
    let counted = counted.unsigned_abs();
    let messages = if counted < MAX_COUNTED.unsigned_abs() { counted } else { span(transaction).await?.max(counted) };
    Ok(Totals { messages, average: average.unwrap_or(1.0).max(1.0) })
}

/// Returns words of the vocabulary. For pieces it is scanned completely: words are short, and few compared to the text
/// they occur in.
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
