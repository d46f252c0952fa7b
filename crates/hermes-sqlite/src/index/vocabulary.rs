//! The indexes that only we use: the vocabulary, character pairs, lengths of messages.
//!
//! They are derived from the messages, and the indexing step fills them, also for rows of foreign writers. Only this
//! module reads or writes their tables. No trigger does, so foreign writers never depend on them. They may list
//! messages that were deleted or changed since; callers check the message itself.

mod cjk;
mod clear;
mod lengths;
mod terms;
mod words;

pub(crate) use cjk::Pairs;
pub(crate) use clear::{INDEXES, clear_step, or_leave, renaming, set_aside};
pub(crate) use lengths::{Lengths, MAX_LENGTH};
pub(crate) use terms::{terms_aside, terms_containing, terms_ending, terms_of, terms_with_prefix, unlisted};

use crate::error::Failure;
use hermes_session::search_text::{self, Columns};
use hermes_sql::stored;
use rusqlite::Connection;
use std::borrow::Cow;

/// A message to be indexed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'a> {
    pub(crate) id: i64,
    /// The text as `messages_fts` takes it: content, tool name and tool calls as stored, separated by spaces. Bytes,
    /// because a foreign writer may have left invalid UTF-8, which SQLite's tokenizer reads nevertheless.
    pub(crate) stored: &'a [u8],
    /// The text as a person wrote it, see [`decoded`].
    pub(crate) decoded: &'a str,
}

/// Creates missing tables, in plain SQL that any SQLite from 3.40 on can run.
pub(crate) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hx_term (term TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hx_term_block (id INTEGER PRIMARY KEY, terms TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS hx_term_trigram
    USING fts5(pieces, content='', columnsize=0, detail=none, tokenize='ascii');
CREATE TABLE IF NOT EXISTS hx_term_unlisted (message_id INTEGER PRIMARY KEY);
CREATE VIRTUAL TABLE IF NOT EXISTS hx_cjk USING fts5(pairs, content='', columnsize=0, detail=none, tokenize='ascii');
CREATE TABLE IF NOT EXISTS hx_doclen (block INTEGER PRIMARY KEY, lengths BLOB NOT NULL);
";

/// The names of the tables.
pub(crate) const NAMES: [&str; 6] =
    ["hx_term", "hx_term_block", "hx_term_trigram", "hx_term_unlisted", "hx_cjk", "hx_doclen"];

/// Returns the text of a message as a person wrote it, from its columns.
pub(crate) fn decoded<'a>(
    content: Option<&'a str>,
    tool_name: Option<&'a str>,
    tool_calls: Option<&'a str>,
) -> Cow<'a, str> {
    let structured = content.and_then(|content| content.strip_prefix(stored::MARK));
    search_text::of_columns(Columns { content, structured, tool_name, tool_calls })
}

/// Indexes messages, in the caller's transaction. Adding a message twice is harmless. A message that has changed is
/// found by its former text too.
pub(crate) fn add(connection: &Connection, documents: &[Document<'_>]) -> Result<(), Failure> {
    let mut documents = documents.to_vec();
    // In the order of ids they create the fewest segments, and touch each block of lengths once.
    documents.sort_by_key(|document| document.id);
    let counts = terms::add(connection, &documents)?;
    cjk::add(connection, &documents)?;
    lengths::set(connection, documents.iter().zip(counts).map(|(document, count)| (document.id, Some(count))))?;
    Ok(())
}

/// Removes messages from the indexes, in the caller's transaction, with the text they were added with. Messages that
/// were never added are skipped. Their words stay in the vocabulary: an unused word only takes space.
pub(crate) fn remove(connection: &Connection, documents: &[Document<'_>]) -> Result<(), Failure> {
    let known = Lengths::of(connection, documents.iter().map(|document| document.id))?;
    let mut documents = documents.to_vec();
    documents.retain(|document| known.get(document.id).is_some());
    documents.sort_by_key(|document| document.id);
    documents.dedup_by_key(|document| document.id);
    terms::remove(connection, &documents)?;
    cjk::remove(connection, &documents)?;
    lengths::set(connection, documents.iter().map(|document| (document.id, None)))?;
    Ok(())
}

#[cfg(test)]
pub(crate) use terms::Terms;

#[cfg(test)]
mod tests;
