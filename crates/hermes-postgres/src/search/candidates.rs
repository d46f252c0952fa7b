//! Candidates from the index, and words from the vocabulary.

use super::filter::Admitted;
use super::question::Values;
use super::tsquery::{TsQuery, printed};
use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_search::postings::{Candidate, Place, Ranking, Totals};
use hermes_search::vocabulary::Lookup;
use hermes_search::wanted::Wanted;
use hermes_sql::after_prefix;

/// Maximum number of messages that are counted; larger numbers are estimated.
const MAX_COUNTED: i64 = 4_000;

/// Number of characters that the index for pieces of words combines.
const TRIGRAM: usize = 3;

/// Returns the condition that a row of `hx_search` matches, preceded by `AND`. Consecutive words are first asked for as
/// a conjunction, which the index can answer.
fn has(wanted: &Wanted, name: &str, values: &mut Values) -> String {
    let plain = values.bind(TsQuery::new(&wanted.without_rows()));
    let mut sql = format!(" AND {name}.words @@ {plain}::tsquery");
    if wanted.has_row() {
        let rows = values.bind(TsQuery::new(wanted));
        sql += &format!(" AND ({name}.form <> 0 OR {name}.words @@ {rows}::tsquery)");
    }
    sql
}

/// Returns the best messages after a place.
///
/// The score is computed exactly as [`Ranking`] does, so that it also identifies a place on the next page.
pub(super) async fn ranked(
    transaction: &Transaction,
    admitted: &Admitted,
    ranking: &Ranking<Wanted>,
    after: Option<Place>,
    limit: usize,
) -> Result<Vec<Candidate>, Failure> {
    let mut values = Values::default();
    let (base, step) = (values.bind(ranking.brevity.base), values.bind(ranking.brevity.step));
    let newest = values.bind(ranking.newest);
    let after = after.unwrap_or(Place { score: f64::INFINITY, id: i64::MAX });
    let (score, id) = (values.bind(after.score), values.bind(after.id));
    let limit = values.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    // The addition keeps the server from using the index on ids: nearly all messages are older than the newest.
    let seen = format!("h.message_id + 0 <= {newest}::int8");
    let part = |columns: &str, choice: Option<&Wanted>, values: &mut Values| {
        let has = ranking.wanted(choice).map(|wanted| has(&wanted, "h", values)).unwrap_or_default();
        format!("SELECT h.message_id, h.length, {columns} FROM hx_search h WHERE h.form <> 2 AND {seen}{has}")
    };
    let (weight, found) = if ranking.choices.is_empty() {
        let found = part("0::int8 AS has", None, &mut values);
        ("1::float8".to_owned(), found + &admitted.conditions("h", &mut values))
    } else {
        let weights: Vec<f64> = ranking.choices.iter().map(|(_, weight)| *weight).collect();
        let weights = values.bind(weights);
        let mut weight = "(0::float8".to_owned();
        // A message is found once for each choice that it has, so what costs more than a look at the row is checked after that.
        let (inner, session, outer) = match admitted.is_of_row() {
            true => (admitted.conditions("h", &mut values), "", String::new()),
            false => (String::new(), "session_id, ", admitted.conditions("g", &mut values)),
        };
        let mut parts = Vec::new();
        if !ranking.is_covered {
            parts.push(part(&format!("{session}0::int8 AS bit"), None, &mut values) + &inner);
        }
        for (place, (choice, _)) in ranking.choices.iter().enumerate() {
            weight += &format!(" + ((has >> {place}) & 1)::float8 * ({weights}::float8[])[{}]", place + 1);
            parts.push(part(&format!("{session}1::int8 << {place} AS bit"), Some(choice), &mut values) + &inner);
        }
        let found = format!(
            "SELECT g.message_id, g.length, g.has FROM (SELECT message_id, {session}length, bit_or(bit) AS has FROM ({}) u \
             GROUP BY message_id, {session}length) g WHERE true{outer}",
            parts.join(" UNION ALL ")
        );
        (weight + ")", found)
    };
    let sql = format!(
        "SELECT message_id, length, has, score FROM (SELECT message_id, length, has, \
         {weight} / ({base}::float8 + {step}::float8 * length::float8) AS score FROM ({found}) f) r \
         WHERE (score, message_id) < ({score}::float8, {id}::int8) ORDER BY score DESC, message_id DESC LIMIT {limit}"
    );
    let mut candidates = Vec::new();
    for row in values.rows(transaction, &sql).await? {
        let (length, has): (i32, i64) = (row.try_get(1)?, row.try_get(2)?);
        let place = Place { score: row.try_get(3)?, id: row.try_get(0)? };
        candidates.push(Candidate { place, length: length.unsigned_abs(), has: has.cast_unsigned() });
    }
    Ok(candidates)
}

/// Returns the newest messages before an id that match, and those that are not listed.
pub(super) async fn latest(
    transaction: &Transaction,
    admitted: &Admitted,
    wanted: Option<&Wanted>,
    before: i64,
    limit: usize,
) -> Result<Vec<(i64, u32)>, Failure> {
    let mut values = Values::default();
    let before = values.bind(before);
    let limit = values.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let filter = admitted.conditions("h", &mut values);
    let sql = match wanted {
        None => format!(
            "SELECT h.message_id, h.length FROM hx_search h WHERE h.message_id < {before}::int8{filter} \
             ORDER BY h.message_id DESC LIMIT {limit}"
        ),
        Some(wanted) => {
            let has = has(wanted, "h", &mut values);
            let part = |condition: &str| {
                format!(
                    "SELECT h.message_id, h.length FROM hx_search h \
                     WHERE {condition} AND h.message_id + 0 < {before}::int8{filter}"
                )
            };
            // The addition again: otherwise the server would read the words of every row in the order of ids.
            format!(
                "SELECT message_id, length FROM ({} UNION ALL {}) u ORDER BY message_id + 0 DESC LIMIT {limit}",
                part(&format!("h.form <> 2{has}")),
                part("h.form = 2")
            )
        }
    };
    numbers(transaction, &values, &sql).await
}

/// Returns the messages that are not listed.
pub(super) async fn unlisted(
    transaction: &Transaction,
    admitted: &Admitted,
    newest: i64,
) -> Result<Vec<(i64, u32)>, Failure> {
    let mut values = Values::default();
    let newest = values.bind(newest);
    let filter = admitted.conditions("h", &mut values);
    let sql = format!(
        "SELECT h.message_id, h.length FROM hx_search h WHERE h.form = 2 AND h.message_id <= {newest}::int8{filter}"
    );
    numbers(transaction, &values, &sql).await
}

async fn numbers(transaction: &Transaction, values: &Values, sql: &str) -> Result<Vec<(i64, u32)>, Failure> {
    let mut numbers = Vec::new();
    for row in values.rows(transaction, sql).await? {
        numbers.push((row.try_get(0)?, row.try_get::<_, i32>(1)?.unsigned_abs()));
    }
    Ok(numbers)
}

/// Returns the number of messages that match each of these: counted, or extrapolated from the ids of the first matches.
pub(super) async fn counts(transaction: &Transaction, wanted: &[Wanted]) -> Result<Vec<u64>, Failure> {
    const SQL: &str = "SELECT c.count, c.last, e.first, e.last \
        FROM unnest($1::text[]) WITH ORDINALITY q(query, place), \
        LATERAL (SELECT count(*) AS count, max(message_id) AS last FROM \
            (SELECT h.message_id FROM hx_search h WHERE h.words @@ q.query::tsquery LIMIT $2) x) c, \
        (SELECT min(message_id) AS first, max(message_id) AS last FROM hx_search) e ORDER BY q.place";
    let queries: Vec<String> = wanted.iter().map(|wanted| printed(&wanted.without_rows())).collect();
    let mut counts = Vec::with_capacity(wanted.len());
    for row in transaction.query_rows(SQL, &[&queries, &MAX_COUNTED]).await? {
        let count: i64 = row.try_get(0)?;
        let edges: [Option<i64>; 3] = [row.try_get(1)?, row.try_get(2)?, row.try_get(3)?];
        counts.push(match edges {
            [Some(seen), Some(first), Some(last)] if count >= MAX_COUNTED => {
                let share = (last - first + 1) as f64 / (seen - first + 1).max(1) as f64;
                (count as f64 * share) as u64
            }
            _ => count.unsigned_abs(),
        });
    }
    Ok(counts)
}

/// Returns the number of messages and their average length. Of many messages, the number is the server's estimate, and
/// the length is that of the newest.
pub(super) async fn totals(transaction: &Transaction) -> Result<Totals, Failure> {
    const SQL: &str = "SELECT (SELECT count(*) FROM (SELECT 1 FROM hx_search LIMIT $1) x), \
        (SELECT reltuples::float8 FROM pg_class WHERE oid = 'hx_search'::regclass), \
        (SELECT max(message_id) - min(message_id) + 1 FROM hx_search), \
        (SELECT avg(length)::float8 FROM (SELECT length FROM hx_search ORDER BY message_id DESC LIMIT 400) x)";
    let row = transaction.single(SQL, &[&MAX_COUNTED]).await?;
    let (counted, remembered, span): (i64, Option<f64>, Option<i64>) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let average: Option<f64> = row.try_get(3)?;
    let messages = match remembered {
        _ if counted < MAX_COUNTED => counted,
        Some(remembered) if remembered > 0.0 => (remembered as i64).max(counted),
        // The server's autovacuum has never analyzed the table.
        _ => span.unwrap_or(counted),
    };
    Ok(Totals { messages: messages.unsigned_abs(), average: average.unwrap_or(1.0).max(1.0) })
}

/// Returns words of the vocabulary.
pub(super) async fn terms(transaction: &Transaction, lookup: Lookup<'_>, limit: usize) -> Result<Vec<String>, Failure> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = match lookup {
        // The index has no entries for shorter texts, and would be read completely.
        Lookup::Containing(piece) if piece.chars().count() < TRIGRAM => {
            transaction
                .query_rows("SELECT term FROM hx_term WHERE strpos(term, $1) > 0 LIMIT $2", &[&piece, &limit])
                .await?
        }
        Lookup::Ending(end) if end.chars().count() < TRIGRAM => {
            const SQL: &str = "SELECT term FROM hx_term WHERE right(term, char_length($1)) = $1 LIMIT $2";
            transaction.query_rows(SQL, &[&end, &limit]).await?
        }
        Lookup::Containing(piece) => like(transaction, format!("%{}%", escaped(piece)), limit).await?,
        Lookup::Ending(end) => like(transaction, format!("%{}", escaped(end)), limit).await?,
        Lookup::Beginning(beginning) => {
            const SQL: &str =
                "SELECT term FROM hx_term WHERE term >= $1 AND ($2::text IS NULL OR term < $2) ORDER BY term LIMIT $3";
            transaction.query_rows(SQL, &[&beginning, &after_prefix(beginning), &limit]).await?
        }
    };
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

async fn like(transaction: &Transaction, pattern: String, limit: i64) -> Result<Vec<tokio_postgres::Row>, Failure> {
    transaction.query_rows("SELECT term FROM hx_term WHERE term LIKE $1 LIMIT $2", &[&pattern, &limit]).await
}

/// Escapes a text for a LIKE pattern.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '%' | '_') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_patterns_stand_for_themselves() {
        assert_eq!(escaped(r"50%_\x"), r"50\%\_\\x");
    }
}
