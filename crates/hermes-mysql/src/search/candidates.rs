//! Candidates from the index.

use super::boolean::{apart, printed};
use super::filter::Admitted;
use super::index::{AllNamed, Beginning, Index, MAX_COUNTED, Named, Question};
use super::question::Values;
use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_search::lexemes;
use hermes_search::postings::{Candidate, Place, Ranking, Totals};
use hermes_search::wanted::Wanted;
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::values;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Maximum number of messages with words outside the vocabulary that are read to leave these words out of a conjunction.
const MAX_DATA: usize = 64;

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
    /// Alternatives that were counted, and the messages that have one of them.
    counted: Mutex<Option<(Vec<Wanted>, AllNamed)>>,
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
            let all = Arc::new(gathered(transaction, admitted, index, found, ranking).await?);
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
    found: &Found,
    ranking: &Ranking<Wanted>,
) -> Result<Vec<Candidate>, Failure> {
    let candidate = |(id, Named { length, has }): (i64, Named)| {
        let score = ranking.brevity.score(ranking.weight(has), length);
        Candidate { place: Place { score, id }, length, has }
    };
    let counted = found.counted.lock().await.take();
    let named = match counted {
        Some((wanted, named))
            if ranking.is_covered && wanted.iter().eq(ranking.choices.iter().map(|(choice, _)| choice)) =>
        {
            named
        }
        _ => index.ask(transaction, &questions(transaction, admitted, ranking).await?).await?,
    };
    let named = named.into_iter().filter(|(id, _)| *id <= ranking.newest);
    let mut candidates: Vec<Candidate> = named.map(candidate).collect();
    candidates.sort_unstable_by(|one, other| {
        other.place.score.total_cmp(&one.place.score).then(other.place.id.cmp(&one.place.id))
    });
    Ok(candidates)
}

/// Returns the queries for all messages of a ranking.
async fn questions(
    transaction: &Transaction,
    admitted: &Admitted,
    ranking: &Ranking<Wanted>,
) -> Result<Vec<Question>, Failure> {
    let whole = Ranking { sizes: None, ..ranking.clone() };
    let question = |wanted: Option<&Wanted>, bit: u64| {
        let mut values = Values::default();
        let has = wanted.map_or_else(|| "h.form <> 2".to_owned(), |wanted| has(wanted, &mut values));
        let filter = admitted.conditions("h", &mut values);
        Question { sql: format!("SELECT h.message_id, h.length FROM hx_search h WHERE {has}{filter}"), values, bit }
    };
    if ranking.choices.is_empty() {
        return Ok(match whole.wanted(None) {
            None => vec![question(None, 0)],
            Some(wanted) => {
                simplified(transaction, wanted).await?.iter().map(|wanted| question(Some(wanted), 0)).collect()
            }
        });
    }
    let alone = (!ranking.is_covered).then_some((None, 0));
    let choices = ranking.choices.iter().enumerate().map(|(place, (choice, _))| (Some(choice), 1_u64 << place));
    Ok(alone.into_iter().chain(choices).map(|(choice, bit)| question(whole.wanted(choice).as_ref(), bit)).collect())
}

/// Returns conditions that the messages of a conjunction meet one of, and maybe a few others: without words outside the
/// vocabulary, and only such words. Few messages have these, and the server evaluates a conjunction of single words much more
/// quickly than one of alternatives.
async fn simplified(transaction: &Transaction, wanted: Wanted) -> Result<Vec<Wanted>, Failure> {
    if !matches!(wanted, Wanted::All(_) | Wanted::Row(_)) {
        return Ok(vec![wanted]);
    }
    let (rest, Some(data)) = apart(&wanted) else { return Ok(vec![wanted]) };
    let mut values = Values::default();
    let has = has(&data, &mut values);
    let limit = values.bind(MAX_DATA as i64 + 1);
    let sql = format!("SELECT h.message_id, h.length FROM hx_search h WHERE {has} LIMIT {limit}");
    Ok(match numbers(transaction, values, &sql).await?.len() {
        // The condition stays: such a message may be added before it is asked for.
        ..=MAX_DATA => rest.into_iter().chain([data]).collect(),
        _ => vec![wanted],
    })
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
            let mut questions = Vec::new();
            for wanted in simplified(transaction, wanted.clone()).await? {
                let mut values = Values::default();
                let sql = select(has(&wanted, &mut values), &mut values);
                questions.push(Question { sql, values, bit: 0 });
            }
            let named = index.ask(transaction, &questions).await?;
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
/// If they are ranked next, and all messages are admitted, they are kept for that.
pub(super) async fn counts(
    transaction: &Transaction,
    admitted: &Admitted,
    index: &Index,
    found: &Found,
    wanted: &[Wanted],
    are_next: bool,
) -> Result<Vec<u64>, Failure> {
    let is_kept = are_next && admitted.is_all();
    let question = |(place, wanted): (usize, &Wanted)| {
        let mut values = Values::default();
        let has = has(wanted, &mut values);
        let limit = if is_kept { String::new() } else { format!(" LIMIT {}", values.bind(MAX_COUNTED as i64)) };
        let sql = format!("SELECT h.message_id, h.length FROM hx_search h WHERE {has}{limit}");
        Question { sql, values, bit: 1 << place }
    };
    let span = span(transaction).await?;
    let questions: Vec<Question> = wanted.iter().enumerate().map(question).collect();
    let beginnings = match is_kept {
        true => {
            let (named, beginnings) = index.ask_and_count(transaction, &questions).await?;
            *found.counted.lock().await = Some((wanted.to_vec(), named));
            beginnings
        }
        false => index.beginnings(transaction, &questions).await?,
    };
    let estimated = |Beginning { count, span: seen }: Beginning| match count {
        // The index returns matches in the order of insertion.
        count if count >= MAX_COUNTED as u64 => (count as f64 * (span as f64 / seen.max(1) as f64).max(1.0)) as u64,
        count => count,
    };
    Ok(beginnings.into_iter().map(estimated).collect())
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
    let row = transaction.one(SQL, values![MAX_COUNTED as i64]).await?;
    let (counted, average): (i64, Option<f64>) = (row.try_get(0)?, row.try_get(1)?);
    let counted = counted.unsigned_abs();
    let messages = if counted < MAX_COUNTED as u64 { counted } else { span(transaction).await?.max(counted) };
    Ok(Totals { messages, average: average.unwrap_or(1.0).max(1.0) })
}
