//! Relaxes a query that matches nothing as a whole to its words, without stop words, by their stems.
//!
//! A question uses other forms of words than the message that answers it. A [`Word`] stands for all forms that share a
//! stem with it, by the rules of English and of the language of the question, as guessed from its stop words. Scripts
//! without spaces between words have no forms here; they are searched by pairs of characters.

mod irregular;
mod language;
mod pieces;
mod stop_words;

use super::fold::{Folded, fold};
use super::query::{Node, Query};
use super::tokens;
use crate::script::is_paired;
use language::{ENGLISH_RULES, Guess, Language};
use memchr::memmem::Finder;
use std::ops::Range;

/// Maximum number of words of a relaxed query.
pub const MAX_WORDS: usize = 64;

/// Minimum length of the prefix shared by the forms of a word, in characters, if the word is that long.
const MIN_PREFIX: usize = 2;

/// A prefix longer than this loses its last letter, which some rules change.
const LONG_PREFIX: usize = 4;

/// A word of a relaxed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word itself, folded.
    pub word: String,
    /// Prefix of every form of it, except those that begin with one of `also`.
    pub prefix: String,
    /// Prefixes of irregular forms, mostly empty: those of `go` include `went`.
    pub also: Vec<String>,
    /// Whether it is a piece of a script without spaces. Then it matches wherever it occurs in a text, even within a
    /// word.
    pub is_piece: bool,
    stems: Vec<(Language, String)>,
    is_prefix: bool,
}

impl Word {
    /// Returns whether a folded word is a form of it.
    pub fn takes(&self, word: &str) -> bool {
        if self.word == word {
            return true;
        }
        if !self.beginnings().any(|beginning| word.starts_with(beginning)) {
            return false;
        }
        self.is_prefix
            || self.stems.chunk_by(|left, right| left.0 == right.0).any(|stems| {
                let (language, _) = stems[0];
                let stem = language.stem(word);
                stems.iter().any(|(_, wanted)| *wanted == stem)
            })
    }

    /// Returns the prefixes of its forms: `prefix` and those in `also`. A vocabulary is scanned from each of them; they
    /// may overlap.
    pub fn beginnings(&self) -> impl Iterator<Item = &str> {
        [&self.prefix].into_iter().chain(&self.also).map(String::as_str)
    }

    /// Returns whether a folded text contains it.
    pub fn is_in(&self, text: &str) -> bool {
        if self.is_piece {
            text.contains(&self.word)
        } else {
            tokens::words(text).any(|range| self.takes(&text[range]))
        }
    }

    /// Returns whether a form of it begins at a position of a folded text.
    fn is_form_at(&self, folded: &str, at: usize) -> bool {
        let (before, rest) = folded.split_at(at);
        tokens::is_border(before.chars().next_back(), rest.chars().next())
            && tokens::words(rest).next().is_some_and(|range| range.start == 0 && self.takes(&rest[range]))
    }

    fn piece(piece: &str) -> Self {
        let word = piece.to_owned();
        Self { prefix: word.clone(), word, also: Vec::new(), is_piece: true, stems: Vec::new(), is_prefix: false }
    }

    fn of(word: &str, rules: Vec<Language>, is_prefix: bool) -> Self {
        if is_prefix {
            let word = word.to_owned();
            return Self { prefix: word.clone(), is_prefix, is_piece: false, ..Self::piece(&word) };
        }
        let mut stems: Vec<(Language, String)> =
            rules.into_iter().map(|language| (language, language.stem(word))).collect();
        let prefix = prefix(word, &stems);
        let mut also = Vec::new();
        // English comes first where its rules apply.
        if let Some((ENGLISH_RULES, stem)) = stems.first() {
            let others: Vec<&str> = irregular::forms(word, stem).filter(|form| form != &word).collect();
            for form in others {
                let stem = (ENGLISH_RULES, ENGLISH_RULES.stem(form));
                let beginning = self::prefix(form, std::slice::from_ref(&stem));
                if !beginning.starts_with(&prefix) && !also.contains(&beginning) {
                    also.push(beginning);
                }
                if !stems.contains(&stem) {
                    stems.insert(0, stem);
                }
            }
        }
        Self { word: word.to_owned(), prefix, also, is_piece: false, stems, is_prefix }
    }
}

/// Returns the prefix of a word and of nearly all words that share a stem with it.
///
/// Rules cut off endings and change at most the last letters before them: `try` and `tries`, `hope` and `hoping`,
/// `suitable` and `suitability`. A word that shares the stem but has another prefix is not a form for [`Word::takes`].
fn prefix(word: &str, stems: &[(Language, String)]) -> String {
    let mut length = word.len();
    for (_, stem) in stems {
        let same = word.chars().zip(stem.chars()).take_while(|(left, right)| left == right);
        let same = same.map(|(character, _)| character.len_utf8()).sum::<usize>();
        length = length.min(word[..same].trim_end_matches(['e', 'i', 'y']).len());
    }
    if word[..length].chars().count() > LONG_PREFIX {
        length = word[..length].char_indices().next_back().map_or(length, |(at, _)| at);
    }
    let least = word.char_indices().nth(MIN_PREFIX).map_or(word.len(), |(at, _)| at);
    word[..length.max(least)].to_owned()
}

/// Returns the words to search for; empty if there is nothing to relax.
///
/// These are the distinct words of the terms that are not excluded, in the order of the query. Stop words are left out,
/// unless there are no others.
pub fn words(query: &Query) -> Vec<Word> {
    let mut parts = Vec::new();
    collect(query.root(), &mut parts);
    let guess = Guess::of(parts.iter().filter(|part| !part.is_run).map(|part| part.text.as_str()));
    let telling = chosen(&parts, guess, false);
    if telling.is_empty() { chosen(&parts, guess, true) } else { telling }
}

/// Returns the parts that the whole query excludes. A message of the answer must not match them.
pub fn exclusions(query: &Query) -> Query {
    let parts = match query.root() {
        Node::All(parts) => parts.as_slice(),
        part => std::slice::from_ref(part),
    };
    Query::new(Node::All(parts.iter().filter(|part| matches!(part, Node::Not(_))).cloned().collect()))
}

/// Returns the words that a text contains, one bit each.
pub fn words_in(text: &str, words: &[Word]) -> u64 {
    let folded = fold(text);
    let mut bits = 0;
    each(&folded, words, |place, _| bits |= 1 << place);
    bits
}

/// Words prepared for many texts: their prefixes are searched for instead of looking at each word of a text.
#[derive(Debug, Clone)]
pub struct Prepared {
    words: Vec<(Word, Vec<Finder<'static>>)>,
}

impl Prepared {
    /// Prepares words.
    pub fn new(words: &[Word]) -> Self {
        let finders = |word: &Word| word.beginnings().map(|beginning| Finder::new(beginning).into_owned()).collect();
        Self { words: words.iter().map(|word| (word.clone(), finders(word))).collect() }
    }

    /// Returns the words that a folded text contains, one bit each: the same as [`words_in`].
    pub fn bits(&self, folded: &str) -> u64 {
        let is_in = |(word, finders): &(Word, Vec<Finder<'_>>)| {
            finders.iter().any(|finder| {
                finder.find_iter(folded.as_bytes()).any(|at| word.is_piece || word.is_form_at(folded, at))
            })
        };
        self.words.iter().enumerate().filter(|(_, word)| is_in(word)).fold(0, |bits, (place, _)| bits | 1 << place)
    }
}

/// Returns where a text contains words, in order, without overlap.
pub fn marks(text: &str, words: &[Word]) -> Vec<Range<usize>> {
    let folded = Folded::new(text);
    let mut marks = Vec::new();
    each(&folded.text, words, |_, range| marks.push(folded.original(range)));
    marks.sort_unstable_by_key(|mark| (mark.start, mark.end));
    marks.dedup_by(|later, before| {
        let touches = later.start < before.end;
        if touches {
            before.end = before.end.max(later.end);
        }
        touches
    });
    marks
}

/// Calls `tell` with each place of each word in a folded text.
fn each(folded: &str, words: &[Word], mut tell: impl FnMut(usize, Range<usize>)) {
    for (place, word) in words.iter().enumerate().filter(|(_, word)| word.is_piece) {
        folded.match_indices(word.word.as_str()).for_each(|(at, found)| tell(place, at..at + found.len()));
    }
    if words.iter().all(|word| word.is_piece) {
        return;
    }
    for range in tokens::words(folded) {
        for (place, word) in words.iter().enumerate() {
            if !word.is_piece && word.takes(&folded[range.clone()]) {
                tell(place, range.clone());
            }
        }
    }
}

/// A word of the query, or a run of paired characters.
struct Part {
    text: String,
    is_run: bool,
    is_prefix: bool,
}

fn collect(node: &Node, parts: &mut Vec<Part>) {
    match node {
        Node::Term(term) => {
            let folded = fold(&term.text);
            let first = parts.len();
            let mut rest = folded.as_ref();
            while let Some(start) = rest.chars().next() {
                let is_run = is_paired(start);
                let (stretch, behind) =
                    rest.split_at(rest.find(|next| is_paired(next) != is_run).unwrap_or(rest.len()));
                let put = |text: &str| parts.push(Part { text: text.to_owned(), is_run, is_prefix: false });
                if is_run {
                    [stretch].into_iter().for_each(put);
                } else {
                    tokens::words(stretch).map(|range| &stretch[range]).for_each(put);
                }
                rest = behind;
            }
            if let Some(last) = parts[first..].last_mut() {
                last.is_prefix = term.is_prefix && folded.ends_with(&last.text);
            }
        }
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| collect(node, parts)),
        Node::Not(_) => {}
    }
}

fn chosen(parts: &[Part], guess: Guess, is_everything: bool) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    for part in parts {
        if out.len() >= MAX_WORDS {
            break;
        }
        if part.is_run {
            let put = |piece: &str| {
                if out.len() < MAX_WORDS && !out.iter().any(|word| word.word == piece) {
                    out.push(Word::piece(piece));
                }
            };
            if is_everything {
                pieces::pairs(&part.text, put)
            } else {
                pieces::telling(&part.text, put)
            }
            continue;
        }
        let is_telling = is_everything || !guess.is_stop_word(&part.text);
        if is_telling && !out.iter().any(|word| !word.is_piece && word.takes(&part.text)) {
            out.push(Word::of(&part.text, guess.rules(&part.text), part.is_prefix));
        }
    }
    out
}

#[cfg(test)]
mod tests;
