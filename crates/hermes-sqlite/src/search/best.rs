//! Matches of whole words, best first.

use super::Search;
use super::foreign;
use super::hits::Page;
use super::ids::Ids;
use super::newest::Handled;
use super::plan::Plan;
use super::rows::Said;
use super::score::{Choices, Scored, alone, weight_of};
use crate::error::Failure;
use hermes_session::search::matching::{Matcher, Scratch, Tier};
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::Instant;

impl Search<'_> {
    /// Fills a page with matches of whole words, best first. Breaks if it is full or time has run out.
    pub(super) fn best_first(
        &mut self,
        page: &mut Page<'_>,
        plan: &Plan<'_>,
        handled: &mut Handled,
    ) -> Result<ControlFlow<()>, Failure> {
        let after = self.request.after.as_ref();
        let weights = match after {
            Some(cursor) => cursor.weights.iter().skip(1).copied().collect(),
            None => plan.weights(self.all),
        };
        page.weigh(self.average, &weights);
        let (unknown, newest) = (self.coverage.unknown().unwrap_or_default(), self.newest);
        let mut pool: Vec<Scored> = Vec::new();
        if let Ids::Some(ids) = &plan.ids {
            self.learn_lengths(ids)?;
            let mut choices = Choices::new(plan, &weights);
            pool.reserve(ids.len());
            for id in ids.iter().copied().take_while(|id| *id <= newest) {
                let scored = Scored { score: self.score(id, None, choices.weight(id)), id };
                if (unknown.is_empty() || unknown.binary_search(&id).is_err()) && scored.is_after(after) {
                    pool.push(scored);
                }
            }
        }
        let choices: Vec<Matcher> = match unknown {
            [] => Vec::new(),
            _ => plan.choices.iter().map(|(term, _)| alone(term)).collect(),
        };
        let mut scratch = Scratch::default();
        for id in unknown.iter().rev().copied().filter(|id| *id <= newest) {
            if self.is_late() {
                break;
            }
            if self.admitted.as_ref().is_some_and(|admitted| admitted.binary_search(&id).is_err()) {
                continue;
            }
            let matcher = &self.matcher;
            let found = self.rows.one(id, |said| {
                let text = said.text()?;
                if matcher.tier_with(&text, &mut scratch) != Some(Tier::Words) {
                    return Ok(None);
                }
                Ok(Some((said.length()?, weight_of(&choices, &text, &weights))))
            })?;
            if let Some((length, weight)) = found.flatten() {
                let scored = Scored { score: self.score(id, Some(length), weight), id };
                if scored.is_after(after) {
                    pool.push(scored);
                }
            }
        }
        let is_late = self.is_late();
        if is_late {
            self.leave_time();
        }
        let flow = self.take(page, pool.into(), handled)?;
        Ok(if is_late { ControlFlow::Break(()) } else { flow })
    }

    /// Checks messages in order of their score, and takes those that match in whole words.
    fn take(
        &mut self,
        page: &mut Page<'_>,
        mut pool: BinaryHeap<Scored>,
        handled: &mut Handled,
    ) -> Result<ControlFlow<()>, Failure> {
        let mut scratch = Scratch::default();
        while let Some(Scored { score, id }) = pool.pop() {
            if self.is_late() {
                return Ok(ControlFlow::Break(()));
            }
            let matcher = &self.matcher;
            let flow = self.rows.one(id, |said| {
                let text = said.text()?;
                let tier = matcher.tier_with(&text, &mut scratch);
                if tier != Some(Tier::Pieces) {
                    handled.done.insert(id);
                }
                match tier {
                    Some(Tier::Words) => {
                        page.push(said, &text, (Tier::Words, Tier::Words, score), |text| matcher.marks(text))
                    }
                    _ => Ok(ControlFlow::Continue(())),
                }
            })?;
            if flow.is_some_and(|flow| flow.is_break()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Scans all messages, because no index covers any part of the query.
    pub(super) fn scan(&mut self, page: &mut Page<'_>) -> Result<(), Failure> {
        page.weigh(self.average, &[]);
        let (end, mut is_late, mut scratch) = (self.end, false, Scratch::default());
        let (mut words, mut pieces) = (Vec::new(), Vec::new());
        let matcher = &self.matcher;
        let mut look = |said: &Said<'_>| {
            let text = said.text()?;
            match matcher.tier_with(&text, &mut scratch) {
                Some(Tier::Words) => words.push((said.id, said.length()?)),
                Some(Tier::Pieces) => pieces.push(said.id),
                None => {}
            }
            Ok(ControlFlow::<()>::Continue(()))
        };
        // Candidates of the agent's own index come first, so that they are found even if time runs out for the rest.
        let named = foreign::candidates(self.database, &self.request.query, self.newest);
        for id in named.iter().rev() {
            self.rows.one(*id, &mut look)?;
        }
        self.rows.all(self.newest, |said| {
            is_late = Instant::now() > end;
            if is_late {
                return Ok(ControlFlow::Break(()));
            }
            if named.binary_search(&said.id).is_ok() { Ok(ControlFlow::Continue(())) } else { look(said) }
        })?;
        pieces.sort_unstable();
        self.served.is_partial |= is_late;
        self.leave_time();
        let after = self.request.after.as_ref();
        let scored = words.iter().map(|(id, length)| Scored { score: self.score(*id, Some(*length), 1.0), id: *id });
        let pool: BinaryHeap<Scored> = scored.filter(|scored| scored.is_after(after)).collect();
        let mut handled =
            Handled { words: Some(Ids::of(words.iter().map(|(id, _)| *id).collect())), ..Handled::default() };
        if self.take(page, pool, &mut handled)?.is_continue() {
            self.newest_first(page, Ids::Some(pieces), &handled)?;
        }
        Ok(())
    }
}
