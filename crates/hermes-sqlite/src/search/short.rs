//! Searches on the thread of their caller.
//!
//! Most searches take less time than waking another thread and being woken by it. But a caller's thread must not be
//! blocked for long: a search that turns out to need more than the limits here fails with [`Failure::Long`], and is
//! repeated on a reader thread. The limits are low enough that what is done twice does not count.

use super::leaf::Asked;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::search::SearchRequest;
use hermes_session::search::query::Term;
use std::time::{Duration, Instant};

/// Number of messages of a file up to which a query of several words is short, however frequent the words are.
const MAX_MESSAGES: i64 = 250_000;
/// Maximum number of candidates that one lookup returns.
const MAX_CANDIDATES: usize = 500;
/// Maximum number of messages that are compared because no index covers them.
const MAX_COMPARED: usize = 64;
/// Maximum number of terms. A longer query is mostly a question, which matches nothing as a whole and is then relaxed.
const MAX_TERMS: usize = 4;
/// Minimum length of a term in bytes. A shorter one is part of very many words.
const MIN_TERM: usize = 3;
/// Minimum length of a prefix in bytes: FTS5 merges the lists of all words that begin with it before it returns any.
const MIN_PREFIX: usize = 5;
/// Time after which no further message is read. The messages may be long.
const LONGEST: Duration = Duration::from_millis(20);

/// Fails on the thread of a caller if a search will take long, as far as that is known beforehand.
pub(super) fn admit(database: &Database, request: &SearchRequest) -> Result<(), Failure> {
    let terms = request.query.terms();
    let is_long = |term: &&Term| {
        let least = if term.is_prefix { MIN_PREFIX } else { MIN_TERM };
        term.text.is_ascii() && term.text.len() < least
    };
    check(database, || {
        !database.layout().can_be_asked()
            || terms.len() > MAX_TERMS
            || terms.iter().any(is_long)
            || request.query.is_negative()
    })?;
    if database.is_on_callers_thread() {
        let newest = super::facts::newest(database)?;
        check(database, || newest > MAX_MESSAGES)?;
    }
    Ok(())
}

/// Fails on the thread of a caller if a lookup has more candidates than a short search reads.
pub(super) fn admit_candidates(database: &Database, count: usize) -> Result<(), Failure> {
    check(database, || count > MAX_CANDIDATES)
}

/// Fails on the thread of a caller: a phrase has frequent words alone, whose positions FTS5 compares.
pub(super) fn admit_frequent(database: &Database) -> Result<(), Failure> {
    check(database, || true)
}

/// Fails on the thread of a caller if the longest word of a conjunction or a phrase is in more messages than a short search reads. It
/// is mostly the rarest one.
pub(super) fn admit_words(database: &Database, longest: &str, asked: &mut Asked) -> Result<(), Failure> {
    if database.is_on_callers_thread() {
        asked.few(database, longest, MAX_CANDIDATES)?;
    }
    Ok(())
}

/// Fails on the thread of a caller if more messages are to be compared than a short search compares.
pub(super) fn admit_comparing(database: &Database, count: usize) -> Result<(), Failure> {
    check(database, || count > MAX_COMPARED)
}

/// Fails on the thread of a caller if a search has taken too long already.
pub(super) fn admit_reading(database: &Database, start: Instant) -> Result<(), Failure> {
    check(database, || start.elapsed() > LONGEST)
}

/// Fails on the thread of a caller: all messages are to be compared.
pub(super) fn admit_scan(database: &Database) -> Result<(), Failure> {
    check(database, || true)
}

fn check(database: &Database, is_long: impl FnOnce() -> bool) -> Result<(), Failure> {
    if database.is_on_callers_thread() && is_long() { Err(Failure::Long) } else { Ok(()) }
}
