//! From one term to the messages that may have it.
//!
//! A term is cut into words as `messages_fts` cuts texts. A word between two others stands in the index as it is; the first may be the end of
//! a longer one there and the last the beginning of one, which the vocabulary tells. Whatever is told here is looked at again in the text, so
//! that it may be too much, and never too little.

use super::ids::Ids;
use crate::error::Failure;
use crate::index::vocabulary::{self, Pairs};
use crate::write::database::Database;
use hermes_session::script::is_paired;
use hermes_session::search::fold::fold;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::Term;
use hermes_session::search::tokens;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

/// The most words that a piece is looked up in. One that is in more is in so many messages that the newest of them are soon met.
const MAX_TERMS: usize = 400;
/// The same for words that begin with a term and whose tokens do not.
const MAX_ASIDE: usize = 4_000;
/// The most words of a list that FTS5 is asked for at once: it looks at each of them for every row.
const AT_ONCE: usize = 16;
/// The most ways to spell a phrase.
const MAX_SPELLINGS: usize = 16;
/// The beginning of a word that is no longer than this is in nearly every message.
const VAGUE: usize = 3;

/// Of a longer phrase so many words at its beginning and at its end are asked for.
const MAX_PHRASE: usize = 12;
/// Of a term in more stretches so many at its beginning and at its end are asked for.
const MAX_STRETCHES: usize = 8;

/// What to ask for a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leaf {
    /// No index knows anything of it.
    Unknown,
    /// A question to `messages_fts`, and messages beside those that it finds.
    Words { fts: String, more: Vec<i64> },
    /// Messages.
    Messages(Vec<i64>),
}

impl Leaf {
    /// The messages.
    pub(super) fn ids(&self, database: &Database) -> Result<Ids, Failure> {
        Ok(match self {
            Self::Unknown => Ids::All,
            Self::Words { fts, more } => Ids::of(matching(database, fts)?).or(Ids::Some(more.clone())),
            Self::Messages(ids) => Ids::Some(ids.clone()),
        })
    }
}

/// What to ask for a term, in whole words or in pieces.
pub(super) fn leaf(database: &Database, term: &Term, tier: Tier, around: &mut Around) -> Result<Leaf, Failure> {
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
        [word] if begins_inside => piece(database, word, ends_inside, around),
        [word] => {
            let mut more = around.of(database, word)?;
            if !ends_inside {
                let fts = alternatives(vocabulary::terms_of(database, word)?.iter().map(|term| quoted(term)));
                return Ok(Leaf::Words { fts, more });
            }
            let aside = vocabulary::terms_aside(database, word, MAX_ASIDE)?;
            if aside.is_cut {
                return Ok(Leaf::Unknown);
            }
            more.extend(having(database, &aside.terms)?);
            more.sort_unstable();
            more.dedup();
            Ok(Leaf::Words { fts: format!("{} *", quoted(word)), more })
        }
        [first, .., last] => {
            let mut phrases = Vec::new();
            for stretch in unbroken(&folded, &ranges) {
                let (is_first, is_last) = (stretch.start == 0, stretch.end == words.len());
                let (begins_inside, ends_inside) = (begins_inside && is_first, ends_inside && is_last);
                phrases.extend(phrase(database, &words[stretch], begins_inside, ends_inside)?);
            }
            if phrases.is_empty() {
                return Ok(Leaf::Unknown);
            }
            let fts = phrases.iter().map(|phrase| format!("({phrase})")).collect::<Vec<_>>().join(" AND ");
            let mut more = around.of(database, first)?;
            more.extend(around.of(database, last)?);
            more.sort_unstable();
            more.dedup();
            Ok(Leaf::Words { fts, more })
        }
    }
}

/// The words that follow one another in the index as well.
///
/// A line break may be where another text of the message begins, behind names that nobody wrote. And what stands before a word may be an escape
/// of JSON, whose letters are a token of their own unless the word follows at once: a blank may be a tab, a dash `\u2014`.
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

/// The first and the last of many stretches: FTS5 takes long for a long question, and all is looked at again in the text.
fn few(mut stretches: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if stretches.len() > 2 * MAX_STRETCHES {
        stretches.drain(MAX_STRETCHES..stretches.len() - MAX_STRETCHES);
    }
    stretches
}

/// A stretch, or its beginning and its end if it is long.
fn short(stretch: Range<usize>) -> Vec<Range<usize>> {
    if stretch.len() <= 2 * MAX_PHRASE {
        return vec![stretch];
    }
    vec![stretch.start..stretch.start + MAX_PHRASE, stretch.end - MAX_PHRASE..stretch.end]
}

/// The messages that may have pairs of characters, in order.
pub(super) fn candidates(database: &Database, pairs: &Pairs) -> Result<Vec<i64>, Failure> {
    let mut ids = Vec::new();
    pairs.candidates(database, None, |id| {
        ids.push(id);
        Ok(ControlFlow::Continue(()))
    })?;
    ids.reverse();
    Ok(ids)
}

/// The messages that have a word within a run of paired characters: there it is no token of its own. A search asks for the same word more than
/// once, for whole words and for pieces.
#[derive(Debug, Default)]
pub(super) struct Around(HashMap<String, Vec<i64>>);

impl Around {
    /// Those of a word, in order.
    pub(super) fn of(&mut self, database: &Database, word: &str) -> Result<Vec<i64>, Failure> {
        if let Some(known) = self.0.get(word) {
            return Ok(known.clone());
        }
        let found = Pairs::around(word).map_or_else(|| Ok(Vec::new()), |pairs| candidates(database, &pairs))?;
        self.0.insert(word.to_owned(), found.clone());
        Ok(found)
    }
}

/// A piece of one word, or its end.
fn piece(database: &Database, piece: &str, ends_inside: bool, around: &mut Around) -> Result<Leaf, Failure> {
    let admits = |word: &str| ends_inside || word.ends_with(piece);
    let found = vocabulary::terms_containing(database, piece, MAX_TERMS, admits)?;
    if found.is_cut {
        return Ok(Leaf::Unknown);
    }
    let more = around.of(database, piece)?;
    if found.terms.len() <= AT_ONCE {
        let own = [quoted(piece)];
        let fts = alternatives(
            found.terms.iter().map(|term| quoted(term)).chain(own.into_iter().filter(|_| found.terms.is_empty())),
        );
        return Ok(Leaf::Words { fts, more });
    }
    let mut all = more;
    all.extend(having(database, &found.terms)?);
    all.sort_unstable();
    all.dedup();
    Ok(Leaf::Messages(all))
}

/// The messages that have one of the tokens, in no order, some of them twice.
fn having(database: &Database, tokens: &[String]) -> Result<Vec<i64>, Failure> {
    let mut all = Vec::new();
    for tokens in tokens.chunks(AT_ONCE) {
        all.extend(matching(database, &alternatives(tokens.iter().map(|token| quoted(token))))?);
    }
    Ok(all)
}

/// Several words in a row, of which not all have to be asked for.
///
/// The ends of a piece are looked up in the vocabulary, if that tells them from most others; and of a long row a few words around the
/// longest do: the longer a word, the fewer messages have it.
fn phrase(
    database: &Database,
    words: &[&str],
    begins_inside: bool,
    ends_inside: bool,
) -> Result<Option<String>, Failure> {
    let (mut first, mut end, mut star) = (0, words.len(), "");
    let mut spellings: Vec<Vec<String>> = Vec::with_capacity(words.len());
    for (place, word) in words.iter().enumerate() {
        if begins_inside && place == 0 {
            let found = vocabulary::terms_containing(database, word, MAX_SPELLINGS, |other| other.ends_with(word))?;
            first = usize::from(found.is_cut);
            // If no word ends with it, it is nowhere but within runs of paired characters, which are looked for apart.
            let is_nowhere = found.terms.is_empty();
            spellings.push(if is_nowhere { vec![(*word).to_owned()] } else { found.terms });
        } else {
            spellings.push(vocabulary::terms_of(database, word)?);
        }
    }
    if ends_inside && let (Some(word), Some(tokens)) = (words.last(), spellings.last_mut()) {
        let is_vague = word.chars().count() <= VAGUE && first + 1 < end;
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
    if first >= end {
        return Ok(None);
    }
    let longest = (first..end).max_by_key(|place| words[*place].len()).unwrap_or(first);
    let row = first.max(longest.saturating_sub(1))..end.min(longest + 2);
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
    // Too many ways: that each word is there has to do.
    let end = row.end - 1;
    let groups = row.map(|place| {
        let star = if place == end { star } else { "" };
        format!("({})", alternatives(spellings[place].iter().map(|word| format!("{}{star}", quoted(word)))))
    });
    Ok(Some(groups.collect::<Vec<_>>().join(" AND ")))
}

/// Any of these.
fn alternatives(questions: impl Iterator<Item = String>) -> String {
    questions.collect::<Vec<_>>().join(" OR ")
}

/// A text that FTS5 takes for a phrase.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The messages that `messages_fts` finds, in order.
pub(super) fn matching(database: &Database, fts: &str) -> Result<Vec<i64>, Failure> {
    let mut statement = database.prepare_cached("SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?")?;
    let mut rows = statement.query([fts])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(row.get(0)?);
    }
    Ok(ids)
}
