//! What is left of a query that matches nothing as a whole: its words, without those that say nothing, by their stems.
//!
//! Who asks a question uses other forms of words than who told a thing. A [`Word`] stands for all forms that have a stem in common with it, by the
//! rules of English and of the language that the question is in, as far as its stop words tell. Scripts that put no blank between words
//! have no forms here: of them, pairs of characters are looked for.

mod irregular;
mod language;
mod pieces;

use super::query::{Node, Query};
use super::{fold::fold, tokens};
use crate::script::is_paired;
use language::{ENGLISH_RULES, Guess, Language};

/// The most words of a relaxed query.
pub const MAX_WORDS: usize = 64;

/// The shortest beginning that forms of a word have in common, in characters, if the word has as many.
const MIN_PREFIX: usize = 2;

/// A word of a relaxed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word itself, folded.
    pub word: String,
    /// What every form of it begins with, but for those in `also`.
    pub prefix: String,
    /// Forms of it that begin otherwise, folded: those of `go` have `went` among them.
    pub also: Vec<&'static str>,
    /// Whether it is a piece of a script without blanks: a text has it wherever it occurs, be it within a word.
    pub is_piece: bool,
    stems: Vec<(Language, String)>,
    is_prefix: bool,
}

impl Word {
    /// Whether a folded word is a form of it.
    pub fn takes(&self, word: &str) -> bool {
        if self.word == word || self.also.contains(&word) {
            return true;
        }
        word.starts_with(&self.prefix)
            && (self.is_prefix || self.stems.iter().any(|(language, stem)| language.stem(word) == *stem))
    }

    /// Whether a folded text has it.
    pub fn is_in(&self, text: &str) -> bool {
        if self.is_piece {
            text.contains(&self.word)
        } else {
            tokens::words(text).any(|range| self.takes(&text[range]))
        }
    }

    fn piece(piece: &str) -> Self {
        let word = piece.to_owned();
        Self { prefix: word.clone(), word, also: Vec::new(), is_piece: true, stems: Vec::new(), is_prefix: false }
    }

    fn of(word: &str, rules: Vec<Language>, is_prefix: bool) -> Self {
        let stems: Vec<(Language, String)> =
            rules.into_iter().map(|language| (language, language.stem(word))).collect();
        let english = stems.iter().find(|(language, _)| *language == ENGLISH_RULES);
        let also = english.map(|(_, stem)| irregular::forms(word, stem).collect()).unwrap_or_default();
        let prefix = if is_prefix { word.to_owned() } else { prefix(word, &stems) };
        Self { word: word.to_owned(), prefix, also, is_piece: false, stems, is_prefix }
    }
}

/// What a word and all that have a stem in common with it begin with.
///
/// Rules cut endings off, and change what is before them at most in its last letter: `try` and `tries`, `hope` and `hoping`.
fn prefix(word: &str, stems: &[(Language, String)]) -> String {
    let mut length = word.len();
    for (_, stem) in stems {
        let same = word.chars().zip(stem.chars()).take_while(|(left, right)| left == right);
        let same = same.map(|(character, _)| character.len_utf8()).sum::<usize>();
        length = length.min(word[..same].trim_end_matches(['e', 'i', 'y']).len());
    }
    let least = word.char_indices().nth(MIN_PREFIX).map_or(word.len(), |(at, _)| at);
    word[..length.max(least)].to_owned()
}

/// The words to look for; none if there is nothing to relax.
///
/// They are those of the terms that are not excluded, each once, in the order of the query. Words that say nothing are left out, unless there are no others.
pub fn words(query: &Query) -> Vec<Word> {
    let mut parts = Vec::new();
    collect(query.root(), &mut parts);
    let plain = || parts.iter().filter(|part| !part.is_run);
    let guess = Guess::of(plain().map(|part| part.text.as_str()));
    let out = chosen(&parts, guess, |part| !guess.is_stop_word(&part.text));
    if out.is_empty() { chosen(&parts, guess, |_| true) } else { out }
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
            let mut end_of_run = None;
            for range in tokens::words(&folded) {
                let text = &folded[range.clone()];
                let is_run = text.starts_with(is_paired);
                match parts.last_mut() {
                    Some(last) if is_run && end_of_run == Some(range.start) => last.text.push_str(text),
                    _ => parts.push(Part { text: text.to_owned(), is_run, is_prefix: false }),
                }
                end_of_run = is_run.then_some(range.end);
            }
            if let Some(last) = parts[first..].last_mut() {
                last.is_prefix = term.is_prefix && folded.ends_with(&last.text);
            }
        }
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| collect(node, parts)),
        Node::Not(_) => {}
    }
}

fn chosen(parts: &[Part], guess: Guess, is_wanted: impl Fn(&Part) -> bool) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    for part in parts {
        if part.is_run {
            pieces::pieces(&part.text, |piece| {
                if !out.iter().any(|word| word.word == piece) {
                    out.push(Word::piece(piece));
                }
            });
        } else if is_wanted(part) && !out.iter().any(|word| !word.is_piece && word.takes(&part.text)) {
            out.push(Word::of(&part.text, guess.rules(&part.text), part.is_prefix));
        }
        if out.len() >= MAX_WORDS {
            break;
        }
    }
    out.truncate(MAX_WORDS);
    out
}
