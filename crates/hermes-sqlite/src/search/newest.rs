//! Pieces of words, and whatever is asked for by time: the newest hits first.

use super::Search;
use super::hits::Page;
use super::ids::Ids;
use crate::error::Failure;
use hermes_session::search::matching::{Scratch, Tier};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Instant;

/// What was told before as whole words.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The messages that were looked at for that; nothing if none were.
    pub(super) words: Option<Ids>,
    /// Those that need no second look: this page has them or passed over them, or they do not match at all.
    pub(super) done: HashSet<i64>,
}

impl Told {
    /// Whether a message that matches was told before, or will be no more: whole words come before this.
    fn has(&self, id: i64, tier: Tier, unknown: &[i64]) -> bool {
        tier == Tier::Words
            && self.words.as_ref().is_some_and(|words| words.has(id) || unknown.binary_search(&id).is_ok())
    }
}

impl Search<'_> {
    /// Fills a page with messages that match and were not told before, from the newest on.
    pub(super) fn newest_first(&mut self, page: &mut Page<'_>, ids: Ids, told: &Told) -> Result<(), Failure> {
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
                Some(tier) if !told.has(said.id, tier, unknown) => {
                    page.push(said, &text, (Tier::Pieces, tier, 0.0), |text| matcher.marks(text))
                }
                _ => Ok(ControlFlow::Continue(())),
            }
        };
        match ids {
            Ids::Some(ids) => {
                for id in ids.into_iter().rev().filter(|id| *id <= newest && !told.done.contains(id)) {
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
