//! `hx_cjk`: the character pairs in a text of paired scripts, see [`hermes_session::script`].
//!
//! It is filled from the text as a person wrote it: also from structured content, behind JSON escapes and after a NUL.
//! The tokenizer `ascii` treats everything beyond ASCII as part of a token and does not change it, so combining marks
//! of Thai or Hindi are kept.

use super::Document;
use crate::error::Failure;
use hermes_session::script;
use rusqlite::{Connection, params};
use std::ops::ControlFlow;

/// Maximum number of pairs of a long run in a query. The rest is left to the comparison with the text.
const MAX_PAIRS: usize = 12;
/// Maximum number of pairs of a run of Latin letters alone. Such a run rarely occurs among paired characters, and each
/// lookup costs the same.
const MAX_LATIN_PAIRS: usize = 2;

/// Maximum number of pairs in a query.
const MAX_TOKENS: usize = 64;

/// Adds the pairs of messages. A message without any costs nothing.
pub(super) fn add(connection: &Connection, documents: &[Document<'_>]) -> Result<(), Failure> {
    each(connection, documents, "INSERT INTO hx_cjk (rowid, pairs) VALUES (?, ?)")
}

/// Removes the pairs of messages.
pub(super) fn remove(connection: &Connection, documents: &[Document<'_>]) -> Result<(), Failure> {
    each(connection, documents, "INSERT INTO hx_cjk (hx_cjk, rowid, pairs) VALUES ('delete', ?, ?)")
}

fn each(connection: &Connection, documents: &[Document<'_>], sql: &str) -> Result<(), Failure> {
    let mut pairs = String::new();
    for document in documents {
        pairs.clear();
        script::runs(document.decoded).for_each(|run| script::push_pairs(&run, &mut pairs));
        if !pairs.is_empty() {
            connection.prepare_cached(sql)?.execute(params![document.id, pairs])?;
        }
    }
    Ok(())
}

/// A query on `hx_cjk`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pairs(String);

impl Pairs {
    /// Builds a query for the messages that have all the runs with paired characters in `text`; `None` if it has none.
    pub(crate) fn of(text: &str) -> Option<Self> {
        Self::of_runs(script::runs(text))
    }

    /// Builds a query for the messages that have `piece` within such a run, even if it is Latin letters alone: the
    /// vocabulary does not hold words there.
    pub(crate) fn around(piece: &str) -> Option<Self> {
        Self::of_runs(script::pieces(piece))
    }

    fn of_runs(runs: impl Iterator<Item = String>) -> Option<Self> {
        let mut tokens: Vec<String> = Vec::new();
        for run in runs {
            let mut pairs = String::new();
            script::push_pairs(&run, &mut pairs);
            let mut pairs: Vec<&str> = pairs.split_terminator(' ').collect();
            // The last character alone is a token only at the end of a run; a run of one character is a prefix of some
            // token wherever it stands.
            let last = pairs.pop().unwrap_or_default();
            let most = if run.is_ascii() { MAX_LATIN_PAIRS } else { MAX_PAIRS };
            let step = pairs.len().div_ceil(most).max(1);
            match pairs.last() {
                None => tokens.push(format!("\"{last}\" *")),
                Some(end) => tokens.extend(pairs.iter().step_by(step).chain([end]).map(|pair| format!("\"{pair}\""))),
            }
        }
        tokens.sort_unstable();
        tokens.dedup();
        tokens.truncate(MAX_TOKENS);
        (!tokens.is_empty()).then(|| Self(tokens.join(" AND ")))
    }

    /// Passes the ids of candidate messages to `visit`, newest first, those below `before`, until it breaks. The caller
    /// has to check each message.
    pub(crate) fn candidates(
        &self,
        connection: &Connection,
        before: Option<i64>,
        mut visit: impl FnMut(i64) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        let sql = match before {
            Some(_) => "SELECT rowid FROM hx_cjk WHERE hx_cjk MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC",
            None => "SELECT rowid FROM hx_cjk WHERE hx_cjk MATCH ?1 AND ?2 IS NULL ORDER BY rowid DESC",
        };
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.0, before])?;
        while let Some(row) = rows.next()? {
            if visit(row.get(0)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
