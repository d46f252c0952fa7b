//! `hx_cjk`: the pairs of characters in a text of paired scripts, see [`hermes_session::script`].
//!
//! It is filled from the text as a person wrote it: also within structured content, behind JSON escapes and after a NUL. The tokenizer `ascii`
//! takes everything beyond ASCII for part of a token and leaves it as it is, so that signs of Thai or Hindi stay where they are.

use super::Document;
use crate::error::Failure;
use hermes_session::script;
use rusqlite::{Connection, params};
use std::ops::ControlFlow;

/// How many pairs of a long run are asked for; the rest is left to comparing.
const MAX_PAIRS: usize = 12;
/// The same for a piece that is Latin letters alone: it is seldom found in such a run at all, and looking costs the same every time.
const MAX_LATIN_PAIRS: usize = 4;

/// How many pairs are asked for in all.
const MAX_TOKENS: usize = 64;

/// Adds the pairs of messages. One without any costs nothing.
pub(super) fn add(connection: &Connection, documents: &[Document<'_>]) -> Result<(), Failure> {
    each(connection, documents, "INSERT INTO hx_cjk (rowid, pairs) VALUES (?, ?)")
}

/// Takes the pairs of messages away again.
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

/// A question to `hx_cjk`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pairs(String);

impl Pairs {
    /// Asks for the messages that have all the runs with paired characters in `text`; nothing if it has none.
    pub(crate) fn of(text: &str) -> Option<Self> {
        Self::of_runs(script::runs(text))
    }

    /// Asks for the messages that have `piece`, be it Latin letters alone, within such a run: the vocabulary does not know the words there.
    pub(crate) fn around(piece: &str) -> Option<Self> {
        Self::of_runs(script::pieces(piece))
    }

    fn of_runs(runs: impl Iterator<Item = String>) -> Option<Self> {
        let mut tokens: Vec<String> = Vec::new();
        for run in runs {
            let mut pairs = String::new();
            script::push_pairs(&run, &mut pairs);
            let mut pairs: Vec<&str> = pairs.split_terminator(' ').collect();
            // The last character alone is a token only where the run ends; one that is a run begins a token wherever it stands.
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

    /// Tells the ids of messages that may have it, newest first, from before `before` on, until `visit` breaks. Whether they do has to be looked at.
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
