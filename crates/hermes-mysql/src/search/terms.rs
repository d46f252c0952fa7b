//! Words from the vocabulary.

use super::question::Values;
use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_search::vocabulary::Lookup;
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::{after_prefix, values};

/// Maximum number of words that one scan of the vocabulary returns.
const MAX_SCANNED: usize = 20_000;

/// Returns words of the vocabulary. For pieces it is scanned completely: words are short, and few compared to the text
/// they occur in.
pub(super) async fn of(transaction: &Transaction, lookup: Lookup<'_>, limit: usize) -> Result<Vec<String>, Failure> {
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

/// Returns the words of several lookups. All pieces are looked for in one scan of the vocabulary; a single character, which is
/// in nearly every word, by itself.
pub(super) async fn of_each(
    transaction: &Transaction,
    lookups: &[Lookup<'_>],
    limit: usize,
) -> Result<Vec<Vec<String>>, Failure> {
    let is_scanned = |lookup: &Lookup<'_>| match lookup {
        Lookup::Containing(piece) | Lookup::Ending(piece) => piece.chars().nth(1).is_some(),
        Lookup::Beginning(_) => false,
    };
    let scanned: Vec<usize> = (0..lookups.len()).filter(|place| is_scanned(&lookups[*place])).collect();
    let mut found = match scanned[..] {
        [] | [_] => None,
        ref places => scan(transaction, places.iter().map(|place| lookups[*place])).await?,
    };
    let mut all = Vec::with_capacity(lookups.len());
    for (place, lookup) in lookups.iter().enumerate() {
        let known = scanned.iter().position(|scanned| *scanned == place);
        all.push(match (known, &mut found) {
            (Some(known), Some(found)) => {
                let mut words = std::mem::take(&mut found[known]);
                words.truncate(limit);
                words
            }
            _ => of(transaction, *lookup, limit).await?,
        });
    }
    Ok(all)
}

/// Returns the words of several lookups from one scan of the vocabulary, or `None` if they are too many.
async fn scan<'l>(
    transaction: &Transaction,
    lookups: impl Iterator<Item = Lookup<'l>>,
) -> Result<Option<Vec<Vec<String>>>, Failure> {
    let (mut values, mut bits) = (Values::default(), Vec::new());
    for (place, lookup) in lookups.enumerate() {
        let condition = match lookup {
            Lookup::Containing(piece) => format!("locate({}, term) > 0", values.bind(piece)),
            Lookup::Ending(end) => {
                let end = values.bind(end);
                format!("right(term, length({end})) = {end}")
            }
            Lookup::Beginning(_) => continue,
        };
        bits.push(format!("({condition}) * {}", 1_u64 << place));
    }
    let limit = values.bind(MAX_SCANNED as i64 + 1);
    let sql = format!(
        "SELECT term, bits FROM (SELECT term, {} AS bits FROM hx_term) t WHERE bits <> 0 LIMIT {limit}",
        bits.join(" + ")
    );
    let rows = values.rows(transaction, &sql).await?;
    if rows.len() > MAX_SCANNED {
        return Ok(None);
    }
    let mut found = vec![Vec::new(); bits.len()];
    for row in rows {
        let has: i64 = row.try_get(1)?;
        for (place, words) in found.iter_mut().enumerate() {
            if has >> place & 1 == 1 {
                words.push(row.try_get(0)?);
            }
        }
    }
    Ok(Some(found))
}
