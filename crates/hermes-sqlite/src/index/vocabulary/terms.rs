//! `hx_term`: each distinct token of `messages_fts` once; `hx_term_trigram`: an index of trigrams over blocks of words.
//!
//! A piece of a word is looked up among the words, and the words are then looked up in `messages_fts`: the vocabulary
//! is small compared with the text. Words are only ever added; one whose messages are gone only takes space.
//!
//! An entry is a word in the form in which texts are compared ([`fold`]). If its token in `messages_fts` differs, the
//! token follows after a slash: `viet/việt`, because SQLite's tokenizer keeps these accents, or `word/nword`, if the
//! word follows the `
//! ` of JSON.
//!
//! Three kinds of words are left out: words of paired scripts, with or without Latin letters, which `hx_cjk` finds;
//! words that are too long; and data such as Base64, whose words are all distinct. Messages that contain the latter
//! two, as a person reads them, are listed in `hx_term_unlisted` and have to be scanned.

use super::Document;
use super::words::{self, MAX_WORD};
use crate::error::Failure;
use foldhash::fast::RandomState;
use hermes_session::script::{is_paired, is_run};
use hermes_session::search::fold::fold;
use hermes_session::search::tokens;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params};
use std::collections::HashSet;

mod beyond;
mod find;

#[cfg(test)]
pub(crate) use find::Terms;
pub(crate) use find::{terms_aside, terms_containing, terms_ending, terms_of, terms_with_prefix, unlisted};

/// By how many letters a stored word may be longer if it follows an escape such as `\u2014`.
const ESCAPE: usize = 5;

/// How many new words share a row of the index. They are sorted, so they have many trigrams in common.
const BLOCK: usize = 16;

/// Adds the words of messages. Returns how many tokens each message has, as FTS5 counts.
pub(super) fn add(connection: &Connection, documents: &[Document<'_>]) -> Result<Vec<usize>, Failure> {
    // A batch has tens of thousands of words, so the speed of the hasher matters. It is seeded at random, and no hash
    // is stored.
    let mut words: HashSet<&[u8], RandomState> = HashSet::default();
    let mut escaped: HashSet<Escaped<'_>, RandomState> = HashSet::default();
    let (mut counts, mut rest, mut unlisted) = (Vec::with_capacity(documents.len()), Vec::new(), Vec::new());
    for (place, document) in documents.iter().enumerate() {
        let mut beyond = Vec::new();
        let found = words::split(
            document.stored,
            |word| _ = words.insert(word),
            |run| {
                beyond.extend_from_slice(run);
                beyond.push(b' ');
            },
            |escape, word| _ = escaped.insert(Escaped { escape, word }),
        );
        counts.push(found.tokens);
        if !beyond.is_empty() {
            rest.push(beyond::Text { place, bytes: beyond });
        }
        unlisted.push(lacks_words(document, found.is_cut));
    }
    let mut terms: Vec<String> = words.into_iter().map(folded).collect();
    let ascii = terms.len();
    for text in beyond::cut(connection, &rest, &mut terms)? {
        counts[text.place] += text.tokens;
        unlisted[text.place] |= text.is_cut;
    }
    let behind: Vec<String> = escaped.iter().flat_map(|word| word.entries(&terms[ascii..])).collect();
    let within: Vec<String> = terms[ascii..].iter().flat_map(|token| within(token, token)).collect();
    terms[ascii..].iter_mut().for_each(entry);
    terms.extend(within);
    terms.extend(behind);
    list(connection, &in_order(terms))?;
    for (document, is_unlisted) in documents.iter().zip(unlisted) {
        let sql = if is_unlisted {
            "INSERT OR IGNORE INTO hx_term_unlisted (message_id) VALUES (?)"
        } else {
            "DELETE FROM hx_term_unlisted WHERE message_id = ?"
        };
        connection.prepare_cached(sql)?.execute([document.id])?;
    }
    Ok(counts)
}

/// Removes what is stored for single messages.
pub(super) fn remove(connection: &Connection, documents: &[Document<'_>]) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached("DELETE FROM hx_term_unlisted WHERE message_id = ?")?;
    for document in documents {
        statement.execute([document.id])?;
    }
    Ok(())
}

/// Adds new words to the vocabulary, and blocks of them to the index.
fn list(connection: &Connection, terms: &[String]) -> Result<(), Failure> {
    let new = put(connection, terms)?;
    let mut block = connection.prepare_cached("INSERT INTO hx_term_block (terms) VALUES (?)")?;
    let mut index = connection.prepare_cached("INSERT INTO hx_term_trigram (rowid, pieces) VALUES (?, ?)")?;
    let mut pieces = String::new();
    for terms in new.chunks(BLOCK) {
        pieces.clear();
        terms.iter().for_each(|term| push_pieces(term, &mut pieces));
        let id = block.insert([terms.join(" ")])?;
        index.execute(params![id, pieces])?;
    }
    Ok(())
}

/// Adds words to the vocabulary. Returns the new ones, in order. One statement for all is much faster than one for
/// each, and looks up each word once.
fn put(connection: &Connection, terms: &[String]) -> Result<Vec<String>, Failure> {
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let mut list = String::from("[\"");
    list.push_str(&terms.join("\",\""));
    list.push_str("\"]");
    let mut statement = connection
        .prepare_cached("INSERT OR IGNORE INTO hx_term (term) SELECT value FROM json_each(?) RETURNING term")?;
    let mut new: Vec<String> = statement.query_map([list], |row| row.get(0))?.collect::<Result<_, _>>()?;
    // SQLite does not guarantee an order here.
    if !new.is_sorted() {
        new.sort_unstable();
    }
    Ok(new)
}

/// Returns a word of ASCII as SQLite folds it.
fn folded(word: &[u8]) -> String {
    let mut folded = String::from_utf8_lossy(word).into_owned();
    folded.make_ascii_lowercase();
    folded
}

/// Returns the distinct words in the order of the table. Their first bytes, as a number, decide most comparisons.
fn in_order(terms: Vec<String>) -> Vec<String> {
    let first =
        |term: &str| term.bytes().chain(std::iter::repeat(0)).take(8).fold(0, |key, byte| key << 8 | u64::from(byte));
    let mut keyed: Vec<(u64, String)> = terms.into_iter().map(|term| (first(&term), term)).collect();
    keyed.sort_unstable();
    keyed.dedup();
    keyed.into_iter().map(|(_, term)| term).collect()
}

/// Turns a token that is not ASCII into an entry.
fn entry(token: &mut String) {
    let word = fold(token);
    if word != token.as_str() {
        *token = format!("{word}/{token}");
    }
}

/// Returns entries for words that touch paired characters and so are not tokens of their own: `ж/ж大`. Words that are
/// part of a run are left to `hx_cjk`.
fn within(word: &str, token: &str) -> Vec<String> {
    let folded = fold(word);
    if !folded.chars().any(is_paired) {
        return Vec::new();
    }
    let words = tokens::words(&folded).map(|range| &folded[range]);
    words.filter(|word| !word.is_ascii() && !is_run(word)).map(|word| format!("{word}/{token}")).collect()
}

/// A word that follows a JSON escape, whose letters the tokenizer takes for the start of the word.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Escaped<'t> {
    escape: &'t [u8],
    word: &'t [u8],
}

impl Escaped<'_> {
    /// Returns the entries for the word as a person reads it. `beyond` holds the tokens that are not ASCII.
    fn entries(&self, beyond: &[String]) -> Vec<String> {
        let (escape, text) = (folded(self.escape), String::from_utf8_lossy(self.word));
        let word = fold(&text);
        let word = &word[..word.find(|character| !tokens::is_word(character)).unwrap_or(word.len())];
        let token = format!("{escape}{word}");
        if text.is_ascii() {
            return vec![format!("{word}/{token}")];
        }
        let is_token = |term: &&String| term.starts_with(&escape) && fold(term) == token;
        match beyond.iter().find(is_token) {
            Some(token) if word.chars().any(is_paired) => within(word, token),
            Some(token) if !word.is_empty() => vec![format!("{word}/{token}")],
            _ => Vec::new(),
        }
    }
}

/// Returns whether the vocabulary takes a word.
fn is_listed(term: &str) -> bool {
    term.chars().nth(MAX_WORD).is_none() && !is_run(term)
}

/// Appends the tokens by which an entry is found: every trigram of its word, and the shorter ends, so that any one or
/// two characters are the start of some token. Trigrams of paired characters alone are left to `hx_cjk`.
fn push_pieces(entry: &str, out: &mut String) {
    let term = find::parts(entry).0;
    for (at, _) in term.char_indices() {
        let piece = match term[at..].char_indices().nth(3) {
            Some((length, _)) => &term[at..at + length],
            None => &term[at..],
        };
        if !piece.chars().all(is_paired) {
            out.push_str(piece);
            out.push(' ');
        }
    }
}

/// Returns whether a message, as a person reads it, has words that its stored form does not yield.
fn lacks_words(document: &Document<'_>, is_cut: bool) -> bool {
    let slack = if is_cut { ESCAPE } else { 0 };
    let is_plain = !is_cut && document.stored.starts_with(document.decoded.as_bytes());
    !is_plain && (words::is_cut(document.decoded, slack) || hides_letters(document))
        || tokens::are_tangled(document.decoded)
}

/// Returns whether letters occur in the message only as JSON escapes, so that the tokens of `messages_fts` are not its
/// words.
fn hides_letters(document: &Document<'_>) -> bool {
    if !document.stored.contains(&b'\\') {
        return false;
    }
    // A character that the tokenizer takes for a letter, such as an emoji that is newer than its table.
    let is_hidden = |letter: char| tokens::is_word(letter) && !is_paired(letter);
    let escapes = document.stored.windows(6).filter(|window| window.starts_with(b"\\u"));
    let mut units = escapes.filter_map(|window| {
        window[2..].iter().try_fold(0, |value, byte| Some(value * 16 + char::from(*byte).to_digit(16)?))
    });
    units.any(|unit| match char::from_u32(unit) {
        Some(letter) => is_hidden(letter) && document.decoded.contains(letter),
        // Half of a surrogate pair.
        None => document.decoded.chars().any(|letter| letter > '\u{ffff}' && is_hidden(letter)),
    })
}

/// Passes bytes to SQLite as text, valid UTF-8 or not.
fn text(bytes: &[u8]) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(bytes))
}
