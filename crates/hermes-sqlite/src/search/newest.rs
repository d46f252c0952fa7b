//! Matches of pieces of words, and searches by time: newest hits first.

use super::Search;
use super::hits::Page;
use super::ids::Ids;
use crate::error::Failure;
use hermes_session::search::matching::{Scratch, Tier};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Instant;

/// Messages that were handled before as matches of whole words.
#[derive(Debug, Default)]
pub(super) struct Handled {
    /// The candidates of that part; `None` if there was no such part.
    pub(super) words: Option<Ids>,
    /// Messages that need no second check: they are on this page, were skipped, or do not match at all.
    pub(super) done: HashSet<i64>,
}

impl Handled {
    /// Returns whether a match belongs to the part of whole words, which precedes this one.
    fn has(&self, id: i64, tier: Tier, unknown: &[i64]) -> bool {
        tier == Tier::Words
            && self.words.as_ref().is_some_and(|words| words.has(id) || unknown.binary_search(&id).is_ok())
    }
}

impl Search<'_> {
    /// Fills a page with matches that were not returned before, newest first.
    pub(super) fn newest_first(&mut self, page: &mut Page<'_>, ids: Ids, handled: &Handled) -> Result<(), Failure> {
        let newest = match &self.request.after {
            Some(cursor) if cursor.tier == Tier::Pieces => cursor.message.0.saturating_sub(1),
            _ => self.newest,
        };
        let unknown = self.coverage.unknown().unwrap_or_default();
        let ids = match (ids, &self.admitted) {
            (Ids::Some(ids), None) => Ids::Some(ids).or(Ids::Some(unknown.to_vec())),
            (Ids::Some(ids), Some(admitted)) => {
                Ids::Some(ids).or(Ids::Some(unknown.to_vec()).and(Ids::Some(admitted.clone())))
            }
            (Ids::All, _) => Ids::All,
        };
        let (matcher, mut scratch, end) = (&self.matcher, Scratch::default(), self.end);
        let mut is_late = false;
        let mut look = |said: &super::rows::Said<'_>| {
            let text = said.text()?;
            match matcher.tier_with(&text, &mut scratch) {
                Some(tier) if !handled.has(said.id, tier, unknown) => {
                    page.push(said, &text, (Tier::Pieces, tier, 0.0), |text| matcher.marks(text))
                }
                _ => Ok(ControlFlow::Continue(())),
            }
        };
        match ids {
            Ids::Some(ids) => {
                for id in ids.into_iter().rev().filter(|id| *id <= newest && !handled.done.contains(id)) {
                    is_late = Instant::now() > end;
                    if is_late || self.rows.one(id, &mut look)?.is_some_and(|flow| flow.is_break()) {
                        break;
                    }
                }
            }
            Ids::All => self.rows.all(newest, |said| {
                is_late = Instant::now() > end;
                if is_late { Ok(ControlFlow::Break(())) } else { look(said) }
            })?,
        }
        self.served.is_partial |= is_late;
        Ok(())
    }
}
