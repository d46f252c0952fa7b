//! The page of an answer.

use super::rows::{Rows, Said};
use crate::calls::row::text;
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use hermes_session::search::matching::Tier;
use hermes_session::search::{Hit, Neighbour, SearchCursor, SearchRequest, snippet};
use hermes_session::{MessageId, Role};
use hermes_sql::stored;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, params};
use std::ops::{ControlFlow, Range};

/// Collects hits until there are enough.
pub(super) struct Page<'r> {
    request: &'r SearchRequest,
    hits: Vec<Hit>,
    /// How many hits are still to be skipped.
    skip: u64,
    /// How many matched.
    seen: u64,
    cursor: SearchCursor,
    has_more: bool,
}

impl<'r> Page<'r> {
    pub(super) fn new(request: &'r SearchRequest, cursor: SearchCursor) -> Self {
        Self { request, hits: Vec::new(), skip: request.page.offset(), seen: 0, cursor, has_more: false }
    }

    /// Keeps the weights that the order depends on, for the next page.
    pub(super) fn weigh(&mut self, average: f64, weights: &[f64]) {
        self.cursor.weights = [average].into_iter().chain(weights.iter().copied()).collect();
    }

    /// Returns whether nothing matched.
    pub(super) fn is_bare(&self) -> bool {
        self.seen == 0
    }

    /// Takes a hit. Breaks if no more are wanted. `place` is the part of the answer that it stands in, `tier` how it
    /// matches, and `score` how well.
    pub(super) fn push(
        &mut self,
        said: &Said<'_>,
        text: &str,
        (place, tier, score): (Tier, Tier, f64),
        marks: impl FnOnce(&str) -> Vec<Range<usize>>,
    ) -> Result<ControlFlow<()>, Failure> {
        self.seen += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(ControlFlow::Continue(()));
        }
        if self.hits.len() >= self.request.page.limit() as usize {
            self.has_more = true;
            return Ok(ControlFlow::Break(()));
        }
        let message = MessageId(said.id);
        (self.cursor.tier, self.cursor.score, self.cursor.message) = (place, score, message);
        self.hits.push(Hit {
            message,
            session: said.session.id.clone(),
            conversation: said.session.id.clone(),
            role: said.role.clone(),
            said_at: said.at,
            tool_name: said.tool_name()?,
            source: said.session.source.clone(),
            model: said.session.model.clone(),
            title: said.session.title.clone(),
            started_at: said.session.started_at,
            tier,
            score,
            snippet: snippet::snippet(text, &marks(text), &self.request.snippet),
            before: None,
            after: None,
            is_archived: false,
        });
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the hits with their neighbours, and where the next page starts.
    pub(super) fn end(
        self,
        database: &Database,
        rows: &mut Rows<'_>,
    ) -> Result<(Vec<Hit>, Option<SearchCursor>), Failure> {
        let mut hits = self.hits;
        for hit in &mut hits {
            (hit.conversation, hit.title) = rows.conversation(&hit.session)?;
            hit.is_archived = rows.is_archived(&hit.session)?;
            hit.before = neighbour(database, hit, Side::Before)?;
            hit.after = neighbour(database, hit, Side::After)?;
        }
        // A page without hits has none to continue from.
        let has_next = self.has_more && !hits.is_empty();
        Ok((hits, has_next.then_some(self.cursor)))
    }
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Before,
    After,
}

/// Returns the message beside a hit, in the order of the transcript; `None` if there is none.
fn neighbour(database: &Database, hit: &Hit, side: Side) -> Result<Option<Neighbour>, Failure> {
    let (comparison, order, nearest) = match side {
        Side::Before => ("<", "DESC", "max"),
        Side::After => (">", "ASC", "min"),
    };
    let said = database.shape().was_said();
    // It is nearly always close by. If not, the agent's index lists all ids of the session.
    let near = format!(
        "SELECT id FROM (SELECT id, session_id FROM messages WHERE id {comparison} ?1 AND {said} ORDER BY id {order} LIMIT 24) \
         WHERE session_id = ?2 LIMIT 1"
    );
    let far = format!("SELECT {nearest}(id) FROM messages WHERE session_id = ?2 AND id {comparison} ?1 AND {said}");
    for place in [near, far] {
        let sql = format!("SELECT role, content, tool_calls FROM messages WHERE id = ({place})");
        let neighbour = database
            .prepare_cached(&sql)?
            .query_row(params![hit.message.0, hit.session.as_str()], |row| {
                let role = Role::from_stored(&text(row, 0)?.unwrap_or_default());
                Ok(Neighbour { role, text: beginning(row)? })
            })
            .optional()?;
        if neighbour.is_some() {
            return Ok(neighbour);
        }
    }
    Ok(None)
}

/// Returns the beginning of a neighbour's text.
fn beginning(row: &rusqlite::Row<'_>) -> Result<String, rusqlite::Error> {
    /// More bytes than the shown characters have, except in unusual texts.
    const BYTES: usize = 4_096;
    // Of a long text the first part nearly always suffices.
    if let ValueRef::Text(content) = row.get_ref(1)?
        && content.len() > BYTES
        && !content.starts_with(stored::MARK.as_bytes())
    {
        let part = &content[..BYTES];
        let valid = std::str::from_utf8(part).map_or_else(|error| error.valid_up_to(), str::len);
        let head = snippet::head(&String::from_utf8_lossy(&part[..valid]), snippet::NEIGHBOUR);
        if head.chars().count() >= snippet::NEIGHBOUR {
            return Ok(head);
        }
    }
    let (content, calls) = (text(row, 1)?, text(row, 2)?);
    Ok(snippet::head(&vocabulary::decoded(content.as_deref(), None, calls.as_deref()), snippet::NEIGHBOUR))
}
