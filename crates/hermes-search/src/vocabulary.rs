//! Conditions in lexemes, with pieces of words looked up in a vocabulary.

use crate::ask::Ask;
use crate::wanted::Wanted;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Query, Term};
use hermes_session::search::relax::Word;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// Maximum number of words that the lookup of a piece may return. A piece in more words is in so many messages that a
/// scan from the newest soon meets matches.
const MAX_TERMS: usize = 400;
/// Maximum number of pieces that are looked up for one query.
const MAX_LOOKUPS: usize = 24;
/// Maximum number of vocabulary words examined for one word.
const MAX_LOOKED_AT: usize = 20_000;
/// Maximum number of forms of a word that are searched for.
const MAX_FORMS: usize = 500;

/// The words of all messages.
pub trait Vocabulary {
    /// Reason why a lookup failed.
    type Error;

    /// Returns at most `limit` words, in any order unless [`Lookup`] says otherwise.
    fn terms(&self, lookup: Lookup<'_>, limit: usize) -> impl Future<Output = Result<Vec<String>, Self::Error>>;

    /// Returns for each of several lookups what [`terms`](Self::terms) returns. A store that scans its vocabulary scans
    /// it once.
    fn terms_of_each(
        &self,
        lookups: &[Lookup<'_>],
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Vec<String>>, Self::Error>> {
        async move {
            let mut found = Vec::with_capacity(lookups.len());
            for lookup in lookups {
                found.push(self.terms(*lookup, limit).await?);
            }
            Ok(found)
        }
    }
}

/// A lookup in the vocabulary: words that contain this text, end with it, or begin with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// Anywhere.
    Containing(&'a str),
    /// At the end.
    Ending(&'a str),
    /// At the beginning; the words are returned in order.
    Beginning(&'a str),
}

/// Returns the lexemes that a query asks for, or `None` if any message may match. Looks nothing up after `end`.
///
/// # Errors
/// If a lookup fails.
pub async fn of_query<V: Vocabulary>(
    vocabulary: &V,
    query: &Query,
    tier: Tier,
    end: Instant,
) -> Result<Option<Wanted>, V::Error> {
    let ask = Ask::of_query(query, tier);
    let mut parts = ask.lookups();
    let mut seen = HashSet::new();
    parts.retain(|part| seen.insert(*part));
    parts.truncate(MAX_LOOKUPS);
    let lookups: Vec<Lookup<'_>> = parts.iter().filter_map(|part| lookup(part)).collect();
    let found = match lookups.is_empty() || Instant::now() > end {
        true => Vec::new(),
        false => vocabulary.terms_of_each(&lookups, MAX_TERMS + 1).await?,
    };
    let few = |terms: Vec<String>| Some(terms).filter(|terms| terms.len() <= MAX_TERMS);
    let known: HashMap<&Ask, Option<Vec<String>>> = parts.into_iter().zip(found.into_iter().map(few)).collect();
    Ok(ask.wanted(&|part| known.get(part).cloned().flatten()))
}

/// Returns the lookup for a part from [`Ask::lookups`].
fn lookup(part: &Ask) -> Option<Lookup<'_>> {
    match part {
        Ask::Ending(end) => Some(Lookup::Ending(end)),
        Ask::Piece(piece) => Some(Lookup::Containing(piece)),
        _ => None,
    }
}

/// Returns the lexemes of a term in whole words, or `None` if any message may have it.
pub fn of_term(term: &Term) -> Option<Wanted> {
    Ask::of_term(term, Tier::Words).wanted(&|_| None)
}

/// Returns the lexemes of words and their forms. After `end`, forms are no longer looked up.
///
/// # Errors
/// If a lookup fails.
pub async fn of_words<V: Vocabulary>(vocabulary: &V, words: &[Word], end: Instant) -> Result<Vec<Wanted>, V::Error> {
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        all.push(forms(vocabulary, word, end).await?);
    }
    Ok(all)
}

async fn forms<V: Vocabulary>(vocabulary: &V, word: &Word, end: Instant) -> Result<Wanted, V::Error> {
    if word.is_piece {
        let term = Term { text: word.word.clone(), is_prefix: false };
        let wanted = Ask::of_term(&term, Tier::Pieces).wanted(&|_| None);
        return Ok(wanted.unwrap_or(Wanted::Any(Vec::new())));
    }
    let mut forms = Vec::new();
    let mut any = vec![Wanted::word(&word.word)];
    for beginning in word.beginnings() {
        // Words outside the vocabulary.
        any.push(Wanted::data(beginning));
        if Instant::now() <= end {
            let terms = vocabulary.terms(Lookup::Beginning(beginning), MAX_LOOKED_AT).await?;
            forms.extend(terms.into_iter().filter(|form| word.takes(form)).take(MAX_FORMS));
        }
    }
    forms.sort_unstable();
    forms.dedup();
    any.extend(forms.iter().map(|form| Wanted::term(form)));
    Ok(Wanted::Any(any))
}
