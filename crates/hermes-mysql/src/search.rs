//! Search: an index of lexemes names candidates, and the text of each is checked before it is returned.
//!
//! [`hermes_search`] defines the conditions and the order of an answer; this module has the statements.

mod boolean;
mod candidates;
mod filter;
mod index;
mod question;
mod terms;

use crate::error::{Failure, code};
use crate::transaction::Transaction;
use crate::{indexes, lapses};
use candidates::{Found, Unlisted};
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
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::values;
use index::Index;
use mysql_async::Error;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Minimum time limit of a statement, however little time is left.
const LEAST: Duration = Duration::from_millis(50);
/// Maximum time limit that a server accepts.
const MAX_TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Answers a request from the messages that existed when it began. No statement takes longer than the whole search may,
/// nor than `statement_timeout` unless that is zero.
pub(crate) async fn search(
    transaction: &Transaction,
    request: &SearchRequest,
    statement_timeout: Duration,
) -> Result<SearchAnswer, Failure> {
    let start = Instant::now();
    let most = if statement_timeout.is_zero() { MAX_TIME_LIMIT } else { statement_timeout };
    let bound = request.timeout.max(LEAST).min(most);
    transaction.read_current(bound).await?;
    let admitted = Admitted::new(transaction, &request.filter).await?;
    let fits = indexes::fits(transaction).await?;
    let (lost, is_known) = match lapses::lost(transaction, bound).await {
        Ok(lost) => (lost, true),
        // There was no time to look for lost messages.
        Err(failure) => (Vec::new(), !is_late(failure)?),
    };
    let server = Server {
        transaction,
        request,
        admitted,
        fits,
        index: Index::new(lost, start + bound),
        found: Found::default(),
    };
    let mut answer = engine::search(&server, request, start).await?;
    answer.served.is_partial |= !is_known || server.index.is_unsteady();
    Ok(answer)
}

/// Returns whether a statement was given up because it took too long; the transaction continues then. Returns any other
/// failure.
fn is_late(failure: Failure) -> Result<bool, Failure> {
    match failure {
        Failure::Driver(Error::Server(error)) if code::TIMED_OUT.contains(&error.code) => Ok(true),
        other => Err(other),
    }
}

/// The server during one search.
struct Server<'s> {
    transaction: &'s Transaction,
    request: &'s SearchRequest,
    admitted: Admitted,
    /// Whether the index can be used. If the server's settings drop words, messages are scanned instead.
    fits: bool,
    index: Index,
    found: Found,
}

impl Vocabulary for Server<'_> {
    type Error = Failure;

    async fn terms(&self, lookup: Lookup<'_>, limit: usize) -> Result<Vec<String>, Failure> {
        terms::of(self.transaction, lookup, limit).await
    }

    async fn terms_of_each(&self, lookups: &[Lookup<'_>], limit: usize) -> Result<Vec<Vec<String>>, Failure> {
        terms::of_each(self.transaction, lookups, limit).await
    }
}

impl Postings for Server<'_> {
    type Error = Failure;
    type Wanted = Wanted;
    const READ_AT_ONCE: usize = 256;

    async fn newest(&self) -> Result<i64, Failure> {
        Ok(self.transaction.one("SELECT coalesce(max(id), 0) FROM messages", values![]).await?.try_get(0)?)
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

    async fn counts(&self, wanted: &[Wanted], are_next: bool) -> Result<Vec<u64>, Failure> {
        let Self { transaction, admitted, index, found, .. } = self;
        match self.fits {
            true => candidates::counts(transaction, admitted, index, found, wanted, are_next).await,
            false => Ok(vec![0; wanted.len()]),
        }
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
        match self.fits {
            true => {
                candidates::ranked(self.transaction, &self.admitted, &self.index, &self.found, ranking, after, limit)
                    .await
            }
            false => Ok(Vec::new()),
        }
    }

    async fn latest(&self, wanted: Option<&Wanted>, before: i64, limit: usize) -> Result<Vec<(i64, u32)>, Failure> {
        let wanted = wanted.filter(|_| self.fits);
        candidates::latest(self.transaction, &self.admitted, &self.index, &self.found, wanted, before, limit).await
    }

    async fn unlisted(&self, newest: i64) -> Result<Vec<(i64, u32)>, Failure> {
        let which = if self.fits { Unlisted::With(&self.index.lost) } else { Unlisted::All };
        candidates::unlisted(self.transaction, &self.admitted, newest, which).await
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
        is_late(error).map(drop)
    }

    async fn surround(&self, hits: &mut [Hit], with_neighbours: bool) -> Result<(), Failure> {
        surround::surround(self.transaction, hits, with_neighbours).await
    }
}
