//! Has SQLite itself tokenize text that is not ASCII, so that tokens match those of `messages_fts` exactly.
//!
//! The text of a batch goes into a contentless table in the temporary schema, with the tokenizer of `messages_fts`, and
//! its words are read back. The table is empty before and after.

use super::{is_listed, text};
use crate::error::Failure;
use hermes_session::script::is_run;
use rusqlite::{Connection, params};

/// The text of a message to be tokenized.
pub(super) struct Text {
    /// Position of the message in the batch.
    pub(super) place: usize,
    pub(super) bytes: Vec<u8>,
}

/// The result of tokenizing a text.
pub(super) struct Cut {
    pub(super) place: usize,
    /// How many tokens FTS5 counts.
    pub(super) tokens: usize,
    /// Whether it has words that neither the vocabulary nor `hx_cjk` holds.
    pub(super) is_cut: bool,
}

/// Created once per connection: each change of the temporary schema would make SQLite prepare all statements again.
const TABLES: &str = "
CREATE VIRTUAL TABLE IF NOT EXISTS temp.hx_batch USING fts5(text, content='', detail=none);
CREATE VIRTUAL TABLE IF NOT EXISTS temp.hx_batch_word USING fts5vocab(temp, hx_batch, row);
";

/// Appends the words of the texts to `terms`. Returns the result for each text.
pub(super) fn cut(connection: &Connection, texts: &[Text], terms: &mut Vec<String>) -> Result<Vec<Cut>, Failure> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    connection.execute_batch(TABLES)?;
    let all: Vec<&Text> = texts.iter().collect();
    fill(connection, &all)?;
    let tokens = counts(connection)?;
    let mut is_cut = false;
    words(connection, |word| match word {
        Some(word) if is_listed(word) => terms.push(word.to_owned()),
        word => is_cut |= is_lost(word),
    })?;
    let mut cuts = Vec::with_capacity(texts.len());
    for (text, tokens) in texts.iter().zip(tokens) {
        let mut cut = Cut { place: text.place, tokens, is_cut: false };
        // Texts are examined one by one only if any has such words, which is rare.
        if is_cut {
            fill(connection, &[text])?;
            words(connection, |word| cut.is_cut |= word.is_none_or(|word| !is_listed(word)) && is_lost(word))?;
        }
        cuts.push(cut);
    }
    clear(connection)?;
    Ok(cuts)
}

/// Returns whether no index holds a word that is not listed. `None` stands for a word that SQLite cut, or that is not
/// valid UTF-8.
fn is_lost(word: Option<&str>) -> bool {
    word.is_none_or(|word| !is_run(word))
}

fn clear(connection: &Connection) -> Result<(), Failure> {
    connection.prepare_cached("INSERT INTO temp.hx_batch (hx_batch) VALUES ('delete-all')")?.execute([])?;
    Ok(())
}

fn fill(connection: &Connection, texts: &[&Text]) -> Result<(), Failure> {
    clear(connection)?;
    let mut insert = connection.prepare_cached("INSERT INTO temp.hx_batch (rowid, text) VALUES (?, ?)")?;
    for (row, part) in texts.iter().enumerate() {
        insert.execute(params![row as i64, text(&part.bytes)])?;
    }
    Ok(())
}

fn words(connection: &Connection, mut word: impl FnMut(Option<&str>)) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached("SELECT term FROM temp.hx_batch_word")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        word(row.get_ref(0)?.as_bytes().ok().and_then(|bytes| std::str::from_utf8(bytes).ok()));
    }
    Ok(())
}

/// Returns the number of tokens of each text, in order.
fn counts(connection: &Connection) -> Result<Vec<usize>, Failure> {
    let mut statement = connection.prepare_cached("SELECT sz FROM temp.hx_batch_docsize ORDER BY id")?;
    let sizes = statement.query_map([], |row| Ok(number(row.get_ref(0)?.as_bytes().unwrap_or_default())))?;
    Ok(sizes.collect::<Result<_, _>>()?)
}

/// Decodes a varint of FTS5: seven bits per byte, most significant first; a set top bit means that more bytes follow.
fn number(bytes: &[u8]) -> usize {
    let mut number = 0;
    for byte in bytes {
        number = number << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}
