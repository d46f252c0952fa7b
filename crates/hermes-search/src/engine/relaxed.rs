//! Relaxed search, for a query that matches nothing as a whole: messages with any of its words, by their stems.

use super::page::Page;
use super::pool::{Pool, Waiting};
use super::{Search, batch};
use crate::postings::{Candidate, Place, Postings, Ranking};
use hermes_session::MessageId;
use hermes_session::search::Way;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::rank::{self, Found};
use hermes_session::search::relax::{self, Word};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Number of best messages that are ordered by conversation; the others follow individually.
const MAX_RANKED: usize = 2_000;

impl<P: Postings> Search<'_, P> {
    /// Fills a page with messages that contain any of the words.
    pub(super) async fn relaxed(&mut self, page: &mut Page<'_>) -> Result<(), P::Error> {
        let words = relax::words(&self.request.query);
        if words.is_empty() {
            return Ok(());
        }
        (self.served.is_relaxed, self.served.way) = (true, Way::Index);
        if self.request.after.is_none() && self.totals.messages == 0 {
            self.totals = self.postings.totals().await?;
        }
        let choices = self.postings.of_words(&words, self.end).await?;
        let ranking = self.weighed(None, choices, true).await?;
        page.weigh(self.totals.average, ranking.choices.iter().map(|(_, weight)| *weight));
        let mut pool = self.pool(&ranking, &words).await?;
        let best = self.best(&mut pool, &ranking).await?;
        let is_last = self.is_late_with_candidates();
        let excluded = Matcher::new(&relax::exclusions(&self.request.query));
        let mut after = self.request.after.as_ref().map(super::page::place);
        let rest = behind(best, &mut after);
        if self.show(page, &rest, &words, &excluded).await?.is_break() || is_last {
            return Ok(());
        }
        loop {
            pool.fill(self.postings, &ranking).await?;
            // Scores of the best messages are between 0 and 1. These are mapped below 0, so that a score gives the
            // place in the whole order.
            let below = |place: Place| Place { score: place.score / (1.0 + place.score) - 1.0, ..place };
            let next = pool.take(MAX_RANKED);
            let next: Vec<_> = next.into_iter().map(|next| (below(next.place), next.length)).collect();
            if next.is_empty() {
                return Ok(());
            }
            let next = behind(next, &mut after);
            if self.show(page, &next, &words, &excluded).await?.is_break() {
                return Ok(());
            }
        }
    }

    /// Returns a pool of all messages that may contain words, in order. Messages that are not listed are read and
    /// checked.
    async fn pool(&mut self, ranking: &Ranking<P::Wanted>, words: &[Word]) -> Result<Pool, P::Error> {
        // The best are ordered by conversation, so that many are needed, of all sizes.
        let mut pool = Pool::whole(ranking, MAX_RANKED);
        for (id, length) in self.postings.unlisted(self.newest).await? {
            if self.is_late() {
                break;
            }
            let Some(said) = self.read(&[id]).await?.into_iter().flatten().next() else { continue };
            let has = relax::words_in(&said.text, words);
            if has != 0 {
                let place = Place { score: ranking.brevity.score(ranking.weight(has), length), id };
                pool.add(Waiting { candidate: Candidate { place, length, has }, is_guess: false });
            }
        }
        Ok(pool)
    }

    /// Returns the best messages with their lengths, ordered by conversation.
    async fn best(&self, pool: &mut Pool, ranking: &Ranking<P::Wanted>) -> Result<Vec<(Place, u32)>, P::Error> {
        let mut best: Vec<Candidate> = Vec::new();
        while best.len() < MAX_RANKED {
            pool.fill(self.postings, ranking).await?;
            let more = pool.take(MAX_RANKED - best.len());
            if more.is_empty() {
                break;
            }
            best.extend(more);
        }
        let ids: Vec<i64> = best.iter().map(|candidate| candidate.place.id).collect();
        let names: HashMap<i64, String> = match ids[..] {
            [] => HashMap::new(),
            _ => self.postings.conversations(&ids).await?.into_iter().collect(),
        };
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut found = Vec::with_capacity(best.len());
        let lengths: HashMap<i64, u32> = best.iter().map(|next| (next.place.id, next.length)).collect();
        for Candidate { place, length, has } in best {
            let Some(name) = names.get(&place.id) else { continue };
            let next = numbers.len() as u32;
            let conversation = *numbers.entry(name).or_insert(next);
            found.push(Found { message: MessageId(place.id), conversation, words: has, length });
        }
        let weights: Vec<f64> = ranking.choices.iter().map(|(_, weight)| *weight).collect();
        let order = rank::relaxed(&found, &weights, self.totals.average);
        let length = |id: MessageId| lengths.get(&id.0).copied().unwrap_or_default();
        Ok(order.into_iter().map(|(id, score)| (Place { score, id: id.0 }, length(id))).collect())
    }

    /// Checks messages in order and adds those that contain a word and nothing excluded. Breaks if the page is full or
    /// time is over.
    async fn show(
        &mut self,
        page: &mut Page<'_>,
        places: &[(Place, u32)],
        words: &[Word],
        excluded: &Matcher,
    ) -> Result<ControlFlow<()>, P::Error> {
        let mut rest = places;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch::<P>(rest.iter().map(|(_, length)| *length), page.missing()));
            rest = later;
            if self.is_late() {
                return Ok(ControlFlow::Break(()));
            }
            let said = self.read(&now.iter().map(|(place, _)| place.id).collect::<Vec<_>>()).await?;
            for ((place, _), said) in now.iter().zip(said) {
                let Some(said) = said else { continue };
                let marks = relax::marks(&said.text, words);
                if marks.is_empty() || excluded.tier(&said.text).is_none() {
                    continue;
                }
                if page.push(said, Tier::Pieces, Tier::Pieces, place.score, |_| marks).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Returns the messages after the last hit of the previous page. The order is the same as then, because newer messages
/// are ignored. If that hit is gone, its score gives its place. Once it is passed, `after` is cleared and everything
/// follows.
fn behind(mut part: Vec<(Place, u32)>, after: &mut Option<Place>) -> Vec<(Place, u32)> {
    let Some(last) = *after else { return part };
    let start = match part.iter().position(|(place, _)| place.id == last.id) {
        Some(place) => place + 1,
        None => part.iter().position(|(place, _)| place.is_after(&last)).unwrap_or(part.len()),
    };
    if start < part.len() {
        *after = None;
    }
    part.split_off(start)
}
