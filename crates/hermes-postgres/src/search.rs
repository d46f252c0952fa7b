//! Search: an index of lexemes names candidates, and the text of each is checked before it is returned.
//!
//! [`hermes_search`] defines the conditions and the order of an answer; this module has the statements.

mod candidates;
mod filter;
mod question;
mod tsquery;

use crate::error::Failure;
use crate::transaction::Transaction;
use filter::Admitted;
use hermes_search::postings::{Candidate, Place, Postings, Ranking, Said, Totals};
use hermes_search::vocabulary::{self, Lookup, Vocabulary};
use hermes_search::wanted::Wanted;
use hermes_search::{engine, lexemes};
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Query, Term};
use hermes_session::search::relax::Word;
use hermes_session::search::{Hit, SearchAnswer, SearchRequest};
use hermes_sql::search::{rows, surround};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;

/// Settings of a search: statements are planned once, for all values. For a frequent word the server would choose to
/// read the whole table, because it does not know that the words of a row are large. A generic plan uses the index.
const SETTINGS: &str = "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0";

/// Minimum time limit of a statement, however little time is left.
const LEAST: Duration = Duration::from_millis(50);

/// Answers a request within one snapshot. No statement takes longer than the whole search may, nor than
/// `statement_timeout` unless that is zero.
pub(crate) async fn search(
    transaction: &Transaction,
    request: &SearchRequest,
    statement_timeout: Duration,
) -> Result<SearchAnswer, Failure> {
    let start = Instant::now();
    let most = if statement_timeout.is_zero() { Duration::MAX } else { statement_timeout };
    // The server counts milliseconds in 31 bits.
    let bound = request.timeout.max(LEAST).min(most).as_millis().min(i32::MAX as u128);
    let settings = format!("{SETTINGS}; SET LOCAL statement_timeout = {bound}; SAVEPOINT search");
    transaction.also(&settings).await?;
    let admitted = Admitted::new(transaction, &request.filter).await?;
    engine::search(&Server { transaction, request, admitted }, request, start).await
}

/// The server during one search.
struct Server<'s> {
    transaction: &'s Transaction,
    request: &'s SearchRequest,
    admitted: Admitted,
}

impl Vocabulary for Server<'_> {
    type Error = Failure;

    async fn terms(&self, lookup: Lookup<'_>, limit: usize) -> Result<Vec<String>, Failure> {
        candidates::terms(self.transaction, lookup, limit).await
    }
}

impl Postings for Server<'_> {
    type Error = Failure;
    type Wanted = Wanted;
    const READ_AT_ONCE: usize = 256;

    async fn newest(&self) -> Result<i64, Failure> {
        Ok(self.transaction.single("SELECT coalesce(max(id), 0) FROM messages", &[]).await?.try_get(0)?)
    }

    async fn totals(&self) -> Result<Totals, Failure> {
        candidates::totals(self.transaction).await
    }

    async fn of_query(&self, query: &Query, tier: Tier, end: Instant) -> Result<Option<Wanted>, Failure> {
        vocabulary::of_query(self, query, tier, end).await
    }

    async fn of_term(&self, term: &Term) -> Result<Option<Wanted>, Failure> {
        Ok(vocabulary::of_term(term))
    }

    async fn of_words(&self, words: &[Word], end: Instant) -> Result<Vec<Wanted>, Failure> {
        vocabulary::of_words(self, words, end).await
    }

    async fn counts(&self, wanted: &[Wanted], _: bool) -> Result<Vec<u64>, Failure> {
        candidates::counts(self.transaction, wanted).await
    }

    fn parts(&self, average: f64) -> Vec<RangeInclusive<u32>> {
        lexemes::parts(average)
    }

    async fn ranked(
        &self,
        ranking: &Ranking<Wanted>,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Candidate>, Failure> {
        candidates::ranked(self.transaction, &self.admitted, ranking, after, limit).await
    }

    async fn latest(&self, wanted: Option<&Wanted>, before: i64, limit: usize) -> Result<Vec<(i64, u32)>, Failure> {
        candidates::latest(self.transaction, &self.admitted, wanted, before, limit).await
    }

    async fn unlisted(&self, newest: i64) -> Result<Vec<(i64, u32)>, Failure> {
        candidates::unlisted(self.transaction, &self.admitted, newest).await
    }

    fn is_ranked(&self, _: &Wanted, _: i64) -> bool {
        true
    }

    async fn said(&self, ids: &[i64]) -> Result<Vec<Said>, Failure> {
        rows::said(self.transaction, &self.request.filter, ids).await
    }

    async fn conversations(&self, ids: &[i64]) -> Result<Vec<(i64, String)>, Failure> {
        rows::conversations(self.transaction, ids).await
    }

    async fn forgive(&self, error: Failure) -> Result<(), Failure> {
        match error {
            Failure::Driver(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
                Ok(self.transaction.batch_execute("ROLLBACK TO SAVEPOINT search").await?)
            }
            other => Err(other),
        }
    }

    async fn surround(&self, hits: &mut [Hit], with_neighbours: bool) -> Result<(), Failure> {
        surround::surround(self.transaction, hits, with_neighbours).await
    }
}
