//! Compares an index that stores no text of its own with the messages, term by term.
//!
//! FTS5 can do this comparison, but holds the write lock meanwhile. Here the terms of the index are compared with those
//! of an index in memory over the same texts. A sum is kept for each of a fixed number of groups of messages; only
//! groups whose sums differ are compared message by message.

use crate::index::indexes::{self, Index};
use crate::write::database::Database;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Statement, params};
use std::collections::{BTreeMap, BTreeSet};

/// Number of groups.
const GROUPS: usize = 1 << 16;
/// Number of texts that are loaded at once.
const BATCH: usize = 200;

/// Returns the messages whose terms in an index differ from those of their texts.
pub(super) fn differing(database: &Database, index: Index) -> Result<BTreeSet<i64>, rusqlite::Error> {
    let desk = Desk::open(database, index)?;
    let mut groups = vec![0_u64; GROUPS];
    desk.terms_of_index(|message, sum| add(&mut groups[group(message)], sum))?;
    desk.terms_of_texts(|_| true, |message, sum| take(&mut groups[group(message)], sum))?;
    let differ = |message: i64| groups[group(message)] != 0;
    if groups.iter().all(|sum| *sum == 0) {
        return Ok(BTreeSet::new());
    }
    let mut messages: BTreeMap<i64, u64> = BTreeMap::new();
    desk.terms_of_index(|message, sum| {
        if differ(message) {
            add(messages.entry(message).or_default(), sum);
        }
    })?;
    desk.terms_of_texts(differ, |message, sum| take(messages.entry(message).or_default(), sum))?;
    Ok(messages.into_iter().filter(|(_, sum)| *sum != 0).map(|(message, _)| message).collect())
}

const fn group(message: i64) -> usize {
    message.rem_euclid(GROUPS as i64) as usize
}

const fn add(sum: &mut u64, term: u64) {
    *sum = sum.wrapping_add(term);
}

const fn take(sum: &mut u64, term: u64) {
    *sum = sum.wrapping_sub(term);
}

/// Hashes an occurrence of a term (FNV-1a, mixed once more because the hashes are added up).
fn mark(message: i64, place: i64, term: &[u8]) -> u64 {
    let mut mark = 0xcbf2_9ce4_8422_2325_u64;
    for byte in message.to_le_bytes().iter().chain(&place.to_le_bytes()).chain(term) {
        mark = (mark ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (mark ^ (mark >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The temporary tables that the comparison needs.
struct Desk<'a> {
    database: &'a Database,
    index: Index,
}

impl<'a> Desk<'a> {
    fn open(database: &'a Database, index: Index) -> Result<Self, rusqlite::Error> {
        let tokenizer = if index == Index::Trigrams { ", tokenize='trigram'" } else { "" };
        database.execute_batch(&format!(
            "CREATE VIRTUAL TABLE temp.hx_index_terms USING fts5vocab('main', '{}', 'instance');
             CREATE VIRTUAL TABLE temp.hx_texts USING fts5(content, content=''{tokenizer});
             CREATE VIRTUAL TABLE temp.hx_text_terms USING fts5vocab('temp', 'hx_texts', 'instance');",
            index.table()
        ))?;
        Ok(Self { database, index })
    }

    fn terms_of_index(&self, each: impl FnMut(i64, u64)) -> Result<(), rusqlite::Error> {
        terms(&mut self.database.prepare("SELECT doc, offset, term FROM temp.hx_index_terms")?, each)
    }

    /// Calls `each` for the terms of texts whose messages are `wanted`.
    fn terms_of_texts(
        &self,
        wanted: impl Fn(i64) -> bool,
        mut each: impl FnMut(i64, u64),
    ) -> Result<(), rusqlite::Error> {
        let mut texts = self.database.prepare(&format!("SELECT id, content FROM {}", indexes::view(self.index)))?;
        let mut texts = texts.query([])?;
        let mut insert = self.database.prepare("INSERT INTO temp.hx_texts(rowid, content) VALUES (?, ?)")?;
        let mut terms_of_batch = self.database.prepare("SELECT doc, offset, term FROM temp.hx_text_terms")?;
        let mut clear = self.database.prepare("INSERT INTO temp.hx_texts(hx_texts) VALUES ('delete-all')")?;
        let mut batch = 0;
        loop {
            let row = texts.next()?;
            if let Some(row) = row
                && wanted(row.get(0)?)
            {
                let text = match row.get_ref(1)? {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => ValueRef::Text(bytes),
                    other => other,
                };
                insert.execute(params![row.get::<_, i64>(0)?, ToSqlOutput::Borrowed(text)])?;
                batch += 1;
            }
            if batch >= BATCH || (row.is_none() && batch > 0) {
                terms(&mut terms_of_batch, &mut each)?;
                clear.execute([])?;
                batch = 0;
            }
            if row.is_none() {
                return Ok(());
            }
        }
    }
}

impl Drop for Desk<'_> {
    fn drop(&mut self) {
        for table in ["hx_text_terms", "hx_texts", "hx_index_terms"] {
            // A failure does not matter: the table is in memory, on a connection that is closed after the check.
            _ = self.database.execute_batch(&format!("DROP TABLE IF EXISTS temp.{table}"));
        }
    }
}

fn terms(statement: &mut Statement<'_>, mut each: impl FnMut(i64, u64)) -> Result<(), rusqlite::Error> {
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let term = match row.get_ref(2)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
            _ => &[],
        };
        let message = row.get(0)?;
        each(message, mark(message, row.get(1)?, term));
    }
    Ok(())
}
