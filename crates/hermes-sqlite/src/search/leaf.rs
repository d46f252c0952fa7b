//! Finds the candidate messages for one term.
//!
//! A term is split into words as `messages_fts` splits texts. A word between two others is in the index as it is. The
//! first may be the end of a longer word there, and the last the beginning of one, which the vocabulary finds. Every
//! candidate is compared with its text, so there may be too many of them, but never too few.

use super::ids::Ids;
use super::short;
use crate::error::Failure;
use crate::index::vocabulary::{self, Pairs};
use crate::write::database::Database;
use hermes_session::script::is_paired;
use hermes_session::search::fold::fold;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::Term;
use hermes_session::search::tokens;
use rusqlite::params;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

/// Maximum number of words in which a piece is looked up. A piece in more words is in so many messages that a scan soon
/// meets the newest of them.
const MAX_TERMS: usize = 400;
/// Maximum number of words that begin with a term but whose tokens do not.
const MAX_ASIDE: usize = 4_000;
/// Maximum number of words of a list in one FTS5 query, which evaluates each of them for every row.
const AT_ONCE: usize = 16;
/// Maximum number of spellings of a phrase.
const MAX_SPELLINGS: usize = 16;
/// Length up to which the beginning of a word is in nearly every message.
const VAGUE: usize = 3;

/// Of a longer phrase, this many words at its beginning and at its end are looked up.
const MAX_PHRASE: usize = 12;
/// Of a term with more stretches, this many at its beginning and at its end are looked up.
const MAX_STRETCHES: usize = 8;

/// Maximum number of messages with one word of a phrase for which the others are not looked up: reading them costs less.
const RARE: usize = 30;
/// Minimum number of words of a phrase whose inner words name the candidates, without the first and the last.
pub(super) const LONG_ROW: usize = 5;
/// Maximum number of messages of a query whose result is remembered. A longer one mostly fills the page at once.
const MAX_REMEMBERED: usize = 1_000;
/// Minimum length of a word that may be rare.
const MIN_RARE: usize = 4;

/// How to find the candidates for a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leaf {
    /// No index covers it.
    Unknown,
    /// An FTS5 query on `messages_fts`, and messages in addition to those that it finds.
    Words { fts: String, more: Vec<i64> },
    /// The candidates themselves.
    Messages(Vec<i64>),
}

impl Leaf {
    /// Returns the candidates.
    pub(super) fn ids(&self, database: &Database, asked: &mut Asked) -> Result<Ids, Failure> {
        Ok(match self {
            Self::Unknown => Ids::All,
            Self::Words { fts, more } => Ids::of(asked.matching(database, fts)?).or(Ids::Some(more.clone())),
            Self::Messages(ids) => Ids::Some(ids.clone()),
        })
    }
}

/// Determines how to find the candidates for a term, in whole words or in pieces.
pub(super) fn leaf(database: &Database, term: &Term, tier: Tier, asked: &mut Asked) -> Result<Leaf, Failure> {
    let folded = fold(&term.text);
    if folded.chars().any(is_paired) {
        let Some(pairs) = Pairs::of(&term.text) else { return Ok(Leaf::Unknown) };
        return Ok(Leaf::Messages(candidates(database, &pairs)?));
    }
    let ranges: Vec<Range<usize>> = tokens::words(&folded).collect();
    let words: Vec<&str> = ranges.iter().map(|word| &folded[word.clone()]).collect();
    let is_open = |character: Option<char>| character.is_some_and(tokens::is_word);
    let begins_inside = tier == Tier::Pieces && is_open(folded.chars().next());
    let ends_inside = (tier == Tier::Pieces || term.is_prefix) && is_open(folded.chars().next_back());
    match words[..] {
        [] => Ok(Leaf::Unknown),
        [word] if begins_inside => piece(database, word, ends_inside, asked),
        [word] => {
            let mut more = asked.around(database, word)?;
            if !ends_inside {
                let terms = vocabulary::terms_of(database, word)?;
                return Ok(Leaf::Words { fts: alternatives(terms.iter().map(|term| quoted(term))), more });
            }
            let aside = vocabulary::terms_aside(database, word, MAX_ASIDE)?;
            if aside.is_cut {
                return Ok(Leaf::Unknown);
            }
            more.extend(having(database, &aside.terms, asked)?);
            more.sort_unstable();
            more.dedup();
            Ok(Leaf::Words { fts: format!("{} *", quoted(word)), more })
        }
        [first, .., last] => {
            let mut more = asked.around(database, first)?;
            more.extend(asked.around(database, last)?);
            if let Some(ids) = rare(database, &words, (begins_inside, ends_inside), asked)? {
                more.extend(ids);
                more.sort_unstable();
                more.dedup();
                return Ok(Leaf::Messages(more));
            }
            // The ends of a long row need lookups in the vocabulary, and the words between them suffice.
            let is_long = words.len() >= LONG_ROW;
            let inner = usize::from(is_long && begins_inside)..words.len() - usize::from(is_long && ends_inside);
            let (begins_inside, ends_inside) = (begins_inside && !is_long, ends_inside && !is_long);
            let mut phrases = Vec::new();
            for stretch in unbroken(&folded, &ranges[inner.clone()]) {
                let stretch = inner.start + stretch.start..inner.start + stretch.end;
                let (is_first, is_last) = (stretch.start == 0, stretch.end == words.len());
                let (begins_inside, ends_inside) = (begins_inside && is_first, ends_inside && is_last);
                let words = &words[stretch];
                phrases.extend(match begins_inside {
                    true => behind_longer_words(database, words, ends_inside)?,
                    false => phrase(database, words, Vec::new(), ends_inside)?,
                });
            }
            if phrases.is_empty() {
                return Ok(Leaf::Unknown);
            }
            let fts = match &phrases[..] {
                [only] => only.clone(),
                several => several.iter().map(|phrase| format!("({phrase})")).collect::<Vec<_>>().join(" AND "),
            };
            more.sort_unstable();
            more.dedup();
            Ok(Leaf::Words { fts, more })
        }
    }
}

/// Returns stretches of words that are adjacent in the index too.
///
/// After a line break another text of the message may begin, behind names that nobody wrote. And before a word there
/// may be a JSON escape, whose letters are a token of their own unless the word follows at once: a blank may be a tab,
/// a dash `\u2014`.
fn unbroken(folded: &str, words: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_broken = |pair: &[Range<usize>]| {
        let mut between = folded[pair[0].end..pair[1].start].chars();
        let last = between.next_back();
        last.is_some_and(|last| last == '\n' || last > '\u{ffff}') || between.any(|other| !other.is_ascii_graphic())
    };
    let breaks = words.windows(2).enumerate().filter(|(_, pair)| is_broken(pair)).map(|(place, _)| place + 1);
    let mut start = 0;
    let stretches = breaks.chain([words.len()]).map(|end| std::mem::replace(&mut start, end)..end);
    few(stretches.flat_map(short).collect())
}

/// Returns the first and the last of many stretches: a long FTS5 query is slow, and all candidates are compared with
/// their text anyway.
fn few(mut stretches: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if stretches.len() > 2 * MAX_STRETCHES {
        stretches.drain(MAX_STRETCHES..stretches.len() - MAX_STRETCHES);
    }
    stretches
}

/// Returns a stretch, or its beginning and its end if it is long.
fn short(stretch: Range<usize>) -> Vec<Range<usize>> {
    if stretch.len() <= 2 * MAX_PHRASE {
        return vec![stretch];
    }
    vec![stretch.start..stretch.start + MAX_PHRASE, stretch.end - MAX_PHRASE..stretch.end]
}

/// Returns the messages that may have these character pairs, sorted.
pub(super) fn candidates(database: &Database, pairs: &Pairs) -> Result<Vec<i64>, Failure> {
    let mut ids = Vec::new();
    pairs.candidates(database, None, |id| {
        ids.push(id);
        short::admit_candidates(database, ids.len())?;
        Ok(ControlFlow::Continue(()))
    })?;
    ids.reverse();
    Ok(ids)
}

/// Results of index queries that a search needs more than once, for whole words and for pieces.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The first and last id of the messages to search, if these are few.
    range: Option<(i64, i64)>,
    around: HashMap<String, Vec<i64>>,
    matching: HashMap<String, Vec<i64>>,
}

impl Asked {
    /// Creates a memory of queries that only ask for messages in a range of ids.
    pub(super) fn within(range: Option<(i64, i64)>) -> Self {
        Self { range, ..Self::default() }
    }

    /// Returns the messages that have a word within a run of paired characters, where it is not a token of its own,
    /// sorted.
    pub(super) fn around(&mut self, database: &Database, word: &str) -> Result<Vec<i64>, Failure> {
        if let Some(known) = self.around.get(word) {
            return Ok(known.clone());
        }
        let found = Pairs::around(word).map_or_else(|| Ok(Vec::new()), |pairs| candidates(database, &pairs))?;
        self.around.insert(word.to_owned(), found.clone());
        Ok(found)
    }

    /// Returns the messages that `messages_fts` finds, in order.
    pub(super) fn matching(&mut self, database: &Database, fts: &str) -> Result<Vec<i64>, Failure> {
        if let Some(known) = self.matching.get(fts) {
            return Ok(known.clone());
        }
        let found = first_matching(database, fts, self.range, usize::MAX)?;
        if found.len() <= MAX_REMEMBERED {
            self.matching.insert(fts.to_owned(), found.clone());
        }
        Ok(found)
    }

    /// Returns the messages that `messages_fts` finds, in order; `None` if there are more than `most`.
    pub(super) fn few(&mut self, database: &Database, fts: &str, most: usize) -> Result<Option<Vec<i64>>, Failure> {
        let found = match self.matching.get(fts) {
            Some(known) => known.clone(),
            None => first_matching(database, fts, self.range, most + 1)?,
        };
        if found.len() > most {
            return Ok(None);
        }
        self.matching.insert(fts.to_owned(), found.clone());
        Ok(Some(found))
    }
}

/// Returns the messages that have the longest word of a phrase, if these are few. It is mostly the rarest; looking up a
/// frequent word beside it would cost more than reading the messages.
fn rare(
    database: &Database,
    words: &[&str],
    (begins_inside, ends_inside): (bool, bool),
    asked: &mut Asked,
) -> Result<Option<Vec<i64>>, Failure> {
    let skipped = usize::from(begins_inside);
    let longest = words.iter().enumerate().skip(skipped).max_by_key(|(_, word)| word.len());
    let Some((place, word)) = longest.filter(|(_, word)| word.len() >= MIN_RARE) else {
        short::admit_frequent(database)?;
        return Ok(None);
    };
    short::admit_words(database, &quoted(word), asked)?;
    let is_prefix = ends_inside && place + 1 == words.len();
    let fts = if is_prefix {
        let aside = vocabulary::terms_aside(database, word, AT_ONCE)?;
        if aside.is_cut {
            short::admit_frequent(database)?;
            return Ok(None);
        }
        let longer = format!("{} *", quoted(word));
        alternatives(aside.terms.iter().map(|token| quoted(token)).chain([longer]))
    } else {
        alternatives(vocabulary::terms_of(database, word)?.iter().map(|token| quoted(token)))
    };
    asked.few(database, &fts, RARE)
}

/// Finds the candidates for a piece of one word, or for its end.
fn piece(database: &Database, piece: &str, ends_inside: bool, asked: &mut Asked) -> Result<Leaf, Failure> {
    let admits = |word: &str| ends_inside || word.ends_with(piece);
    let found = vocabulary::terms_containing(database, piece, MAX_TERMS, admits)?;
    if found.is_cut {
        return Ok(Leaf::Unknown);
    }
    let more = asked.around(database, piece)?;
    if found.terms.len() <= AT_ONCE {
        let own = [quoted(piece)];
        let fts = alternatives(
            found.terms.iter().map(|term| quoted(term)).chain(own.into_iter().filter(|_| found.terms.is_empty())),
        );
        return Ok(Leaf::Words { fts, more });
    }
    let mut all = more;
    all.extend(having(database, &found.terms, asked)?);
    all.sort_unstable();
    all.dedup();
    Ok(Leaf::Messages(all))
}

/// Returns the messages that have one of the tokens, unsorted and possibly twice.
fn having(database: &Database, tokens: &[String], asked: &mut Asked) -> Result<Vec<i64>, Failure> {
    let mut all = Vec::new();
    for tokens in tokens.chunks(AT_ONCE) {
        all.extend(asked.matching(database, &alternatives(tokens.iter().map(|token| quoted(token))))?);
    }
    Ok(all)
}

/// Returns an FTS5 query for several words in a row, of which the first may be the end of a longer word; not all of them
/// have to be in it.
fn behind_longer_words(database: &Database, words: &[&str], ends_inside: bool) -> Result<Option<String>, Failure> {
    let longer = vocabulary::terms_ending(database, words[0], MAX_SPELLINGS - 1)?;
    match &words[1..] {
        [] if longer.is_cut => Ok(None),
        others if longer.is_cut => phrase(database, others, Vec::new(), ends_inside),
        _ => phrase(database, words, longer.terms, ends_inside),
    }
}

/// Returns an FTS5 query for several words in a row, of which the first may also be one of `longer`; not all of them have
/// to be in it.
///
/// The beginning of a longer word at the end is looked up in the vocabulary if that excludes most messages. If words have
/// several spellings, a few of them around the longest suffice: the longer a word, the fewer messages have it.
fn phrase(
    database: &Database,
    words: &[&str],
    longer: Vec<String>,
    ends_inside: bool,
) -> Result<Option<String>, Failure> {
    let (mut end, mut star) = (words.len(), "");
    let mut spellings: Vec<Vec<String>> =
        words.iter().map(|word| vocabulary::terms_of(database, word)).collect::<Result<_, _>>()?;
    if let Some(first) = spellings.first_mut() {
        first.extend(longer);
        first.sort_unstable();
        first.dedup();
    }
    if ends_inside && let (Some(word), Some(tokens)) = (words.last(), spellings.last_mut()) {
        let is_vague = word.chars().count() <= VAGUE && end > 1;
        let longer = if is_vague {
            vocabulary::terms_with_prefix(database, word, MAX_SPELLINGS, |_| true)?
        } else {
            vocabulary::terms_aside(database, word, MAX_SPELLINGS)?
        };
        if longer.is_cut {
            end -= 1;
        } else {
            tokens.extend(longer.terms);
            tokens.sort_unstable();
            tokens.dedup();
            star = if is_vague { "" } else { " *" };
        }
    }
    if end == 0 {
        return Ok(None);
    }
    let longest = (0..end).max_by_key(|place| words[*place].len()).unwrap_or(0);
    // FTS5 skips what the rarest word of a phrase excludes, so more words cost little, unless they have many spellings.
    let has_one_spelling = spellings[..end].iter().all(|tokens| tokens.len() == 1);
    let row = if has_one_spelling { 0..end } else { longest.saturating_sub(1)..end.min(longest + 2) };
    if row.end != words.len() {
        star = "";
    }
    let ways = spellings[row.clone()].iter().try_fold(1_usize, |ways, words| ways.checked_mul(words.len()));
    if ways.is_some_and(|ways| ways <= MAX_SPELLINGS) {
        let mut phrases = vec![String::new()];
        for words in &spellings[row] {
            phrases =
                phrases.iter().flat_map(|phrase| words.iter().map(move |word| format!("{phrase} {word}"))).collect();
        }
        return Ok(Some(alternatives(phrases.iter().map(|phrase| format!("{}{star}", quoted(phrase.trim_start()))))));
    }
    // Too many spellings: only require that each word occurs.
    let end = row.end - 1;
    let groups = row.map(|place| {
        let star = if place == end { star } else { "" };
        format!("({})", alternatives(spellings[place].iter().map(|word| format!("{}{star}", quoted(word)))))
    });
    Ok(Some(groups.collect::<Vec<_>>().join(" AND ")))
}

/// Joins queries of which one has to match.
fn alternatives(questions: impl Iterator<Item = String>) -> String {
    questions.collect::<Vec<_>>().join(" OR ")
}

/// Quotes a text as an FTS5 phrase.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Returns the first messages that `messages_fts` finds, in order, within a range of ids.
fn first_matching(database: &Database, fts: &str, range: Option<(i64, i64)>, most: usize) -> Result<Vec<i64>, Failure> {
    const SQL: &str = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?1";
    // FTS5 skips to the range without reading what precedes it.
    const RANGE: &str = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?1 AND rowid >= ?2 AND rowid <= ?3";
    let mut statement = database.prepare_cached(if range.is_some() { RANGE } else { SQL })?;
    let mut rows = match range {
        Some((first, last)) => statement.query(params![fts, first, last])?,
        None => statement.query([fts])?,
    };
    let mut ids = Vec::new();
    while ids.len() < most
        && let Some(row) = rows.next()?
    {
        ids.push(row.get(0)?);
        short::admit_candidates(database, ids.len())?;
    }
    Ok(ids)
}
