//! Lets SQLite itself cut what is more than ASCII, so that tokens are those of `messages_fts` to the letter.
//!
//! The text of a batch goes into a table without content in the temporary schema, with the tokenizer of `messages_fts`, and its words are
//! read back. The table is empty before and after.

use super::{is_listed, text};
use crate::error::Failure;
use hermes_session::script::is_run;
use rusqlite::{Connection, params};

/// What of a message has to be cut.
pub(super) struct Text {
    /// Which message of the batch.
    pub(super) place: usize,
    pub(super) bytes: Vec<u8>,
}

/// What came of it.
pub(super) struct Cut {
    pub(super) place: usize,
    /// How many tokens FTS5 counts.
    pub(super) tokens: usize,
    /// Whether it has words that the vocabulary does not take and `hx_cjk` does not know.
    pub(super) is_cut: bool,
}

/// Made once for a connection. Each change of the temporary schema would have all statements prepared anew.
const TABLES: &str = "
CREATE VIRTUAL TABLE IF NOT EXISTS temp.hx_batch USING fts5(text, content='', detail=none);
CREATE VIRTUAL TABLE IF NOT EXISTS temp.hx_batch_word USING fts5vocab(temp, hx_batch, row);
";

/// Appends the words of the texts to `terms`, and tells about each text.
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
        // Which of them it was is asked one by one, because it is seldom any.
        if is_cut {
            fill(connection, &[text])?;
            words(connection, |word| cut.is_cut |= word.is_none_or(|word| !is_listed(word)) && is_lost(word))?;
        }
        cuts.push(cut);
    }
    clear(connection)?;
    Ok(cuts)
}

/// Whether nothing knows a word that is not listed. One that is no text was cut by SQLite, or made of bytes that are none.
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

/// The number of tokens of each text, in order.
fn counts(connection: &Connection) -> Result<Vec<usize>, Failure> {
    let mut statement = connection.prepare_cached("SELECT sz FROM temp.hx_batch_docsize ORDER BY id")?;
    let sizes = statement.query_map([], |row| Ok(number(row.get_ref(0)?.as_bytes().unwrap_or_default())))?;
    Ok(sizes.collect::<Result<_, _>>()?)
}

/// A number as FTS5 keeps it: seven bits a byte, the highest first, a set top bit says that more follow.
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
