//! Finds words by a piece of them.

use crate::error::Failure;
use hermes_session::script::is_paired;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

/// Number of trigrams of a long piece in a query, besides the last. The rest is left to the comparison with the word:
/// FTS5 looks up each of them in every segment of the index before it compares anything.
const MAX_PIECES: usize = 3;

/// Tokens of `messages_fts`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) terms: Vec<String>,
    /// Whether there are more than the limit.
    pub(crate) is_cut: bool,
}

impl Terms {
    fn new(mut terms: Vec<String>, limit: usize) -> Self {
        let is_cut = terms.len() > limit;
        terms.truncate(limit);
        terms.sort_unstable();
        terms.dedup();
        Self { terms, is_cut }
    }
}

/// Returns the word of an entry and its token.
pub(super) fn parts(entry: &str) -> (&str, &str) {
    entry.split_once('/').unwrap_or((entry, entry))
}

/// Returns the tokens of words that contain `piece`, which is folded, and for which `admits` holds.
///
/// Words of paired scripts are not included: [`super::super::Pairs::around`] finds the messages that have the piece
/// there.
pub(crate) fn terms_containing(
    connection: &Connection,
    piece: &str,
    limit: usize,
    admits: impl Fn(&str) -> bool,
) -> Result<Terms, Failure> {
    let Some(query) = query(piece) else { return Ok(Terms::default()) };
    containing(connection, &query, piece, limit, admits)
}

/// Returns the tokens of words that end with `suffix`, which is folded, and are longer. Words of paired scripts are not
/// included, as with [`terms_containing`].
pub(crate) fn terms_ending(connection: &Connection, suffix: &str, limit: usize) -> Result<Terms, Failure> {
    let Some(query) = query_for_end(suffix) else { return Ok(Terms::default()) };
    let is_longer = |word: &str| word.len() > suffix.len() && word.ends_with(suffix);
    containing(connection, &query, suffix, limit, is_longer)
}

/// Returns the tokens of words in the blocks that a query finds, if they contain `piece` and `admits` holds.
fn containing(
    connection: &Connection,
    query: &str,
    piece: &str,
    limit: usize,
    admits: impl Fn(&str) -> bool,
) -> Result<Terms, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT b.terms FROM hx_term_trigram p CROSS JOIN hx_term_block b ON b.id = p.rowid \
         WHERE p.hx_term_trigram MATCH ?1 AND instr(b.terms, ?2) > 0",
    )?;
    let mut blocks = statement.query(params![query, piece])?;
    let mut found = Vec::new();
    while let Some(row) = blocks.next()? {
        let block = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let entries = block.split(' ').map(parts).filter(|(word, _)| word.contains(piece) && admits(word));
        found.extend(entries.map(|(_, token)| token.to_owned()));
        if found.len() > limit {
            // Several words may have the same token.
            found.sort_unstable();
            found.dedup();
        }
        if found.len() > limit {
            break;
        }
    }
    Ok(Terms::new(found, limit))
}

/// Returns the tokens of words that start with `prefix`, which is folded, and for which `admits` holds.
pub(crate) fn terms_with_prefix(
    connection: &Connection,
    prefix: &str,
    limit: usize,
    admits: impl Fn(&str) -> bool,
) -> Result<Terms, Failure> {
    let mut statement =
        connection.prepare_cached("SELECT term FROM hx_term WHERE term >= ?1 AND term < ?2 ORDER BY term")?;
    let mut rows = statement.query(params![prefix, after(prefix)])?;
    let mut found = Vec::new();
    while found.len() <= limit
        && let Some(row) = rows.next()?
    {
        let (word, token) = parts(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?);
        if admits(word) {
            found.push(token.to_owned());
        }
    }
    Ok(Terms::new(found, limit))
}

/// Returns the tokens of a word, which is folded. The word itself is always one of them: a foreign writer may have
/// inserted a message below the watermark of the vocabulary, and then only `messages_fts` has its words.
pub(crate) fn terms_of(connection: &Connection, word: &str) -> Result<Vec<String>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT substr(term, length(?1) + 2) FROM hx_term WHERE term > ?1 || '/' AND term < ?1 || '0'",
    )?;
    let mut terms: Vec<String> = statement.query_map([word], |row| row.get(0))?.collect::<Result<_, _>>()?;
    terms.push(word.to_owned());
    Ok(terms)
}

/// Returns the tokens that do not start with `prefix`, which is folded, but whose word does.
pub(crate) fn terms_aside(connection: &Connection, prefix: &str, limit: usize) -> Result<Terms, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT substr(term, instr(term, '/') + 1) FROM hx_term WHERE term >= ?1 AND term < ?2 AND instr(term, '/') > 0 AND substr(term, instr(term, '/') + 1, length(?1)) <> ?1 LIMIT ?3",
    )?;
    let terms = statement.query_map(params![prefix, after(prefix), most(limit)], |row| row.get(0))?;
    Ok(Terms::new(terms.collect::<Result<_, _>>()?, limit))
}

/// Returns messages with words that are not in the vocabulary, newest first, those below `before`. Any of them may
/// contain a piece of a word.
pub(crate) fn unlisted(connection: &Connection, before: Option<i64>, limit: usize) -> Result<Vec<i64>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT message_id FROM hx_term_unlisted WHERE ?1 IS NULL OR message_id < ?1 ORDER BY message_id DESC LIMIT ?2",
    )?;
    let ids = statement.query_map(params![before, i64::try_from(limit).unwrap_or(i64::MAX)], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns the limit plus one, which shows whether there are more.
fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}

/// Returns the FTS5 query for a piece; `None` if no word of the vocabulary can contain it.
fn query(piece: &str) -> Option<String> {
    let can_be_in_a_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    if !piece.bytes().all(can_be_in_a_word) || piece.chars().all(is_paired) {
        return None;
    }
    let starts: Vec<usize> = piece.char_indices().map(|(at, _)| at).chain([piece.len()]).collect();
    if starts.len() <= 3 {
        // One or two characters: each word that contains them has a token that starts with them.
        return Some(format!("\"{piece}\" *"));
    }
    let pieces: Vec<&str> = starts
        .windows(4)
        .map(|window| &piece[window[0]..window[3]])
        .filter(|piece| !piece.chars().all(is_paired))
        .collect();
    // Spread over the piece, so that they overlap as little as possible.
    let step = pieces.len().div_ceil(MAX_PIECES).max(if pieces.len() > 3 { 2 } else { 1 });
    let chosen = pieces.iter().step_by(step).chain(pieces.last());
    let mut quoted: Vec<String> = chosen.map(|piece| format!("\"{piece}\"")).collect();
    quoted.sort_unstable();
    quoted.dedup();
    Some(quoted.join(" AND "))
}

/// Returns the FTS5 query for the end of a word, like [`query`]: the last two characters of each word are a token too.
fn query_for_end(suffix: &str) -> Option<String> {
    const SHORT: usize = 2;
    let query = query(suffix)?;
    let length = suffix.chars().count();
    let (at, _) = suffix.char_indices().nth(length.saturating_sub(SHORT))?;
    let end = &suffix[at..];
    match length {
        0..=SHORT => Some(format!("\"{end}\"")),
        _ if end.chars().all(is_paired) => Some(query),
        _ => Some(format!("{query} AND \"{end}\"")),
    }
}

/// Returns the smallest value after all texts that start with `prefix`.
fn after(prefix: &str) -> Value {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // Surrogates are not characters.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(next) = next {
            text.push(next);
            return Value::Text(text);
        }
    }
    // A blob compares greater than any text.
    Value::Blob(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_after_a_prefix() {
        for (prefix, expect) in [
            ("ab", Some("ac")),
            ("a\u{10ffff}", Some("b")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("\u{10ffff}", None),
            ("", None),
        ] {
            let expect = expect.map_or(Value::Blob(Vec::new()), |text: &str| Value::Text(text.to_owned()));
            assert_eq!(after(prefix), expect, "{prefix:?}");
        }
    }

    #[test]
    fn no_word_holds_a_blank_or_a_sign() {
        for piece in ["", "a b", "a\"b", "大", "ไท", "a-b", "\0"] {
            assert_eq!(query(piece), None, "{piece:?}");
        }
        assert_eq!(query("a").unwrap(), "\"a\" *");
        assert_eq!(query("大a").unwrap(), "\"大a\" *");
        assert_eq!(query("handl").unwrap(), "\"and\" AND \"han\" AND \"ndl\"");
        assert_eq!(query_for_end("a").unwrap(), "\"a\"");
        assert_eq!(query_for_end("on").unwrap(), "\"on\"");
        assert_eq!(query_for_end("run").unwrap(), "\"run\" AND \"un\"");
        assert_eq!(query_for_end("a大别").unwrap(), "\"a大别\"");
        assert_eq!(query_for_end("-"), None);
    }
}
