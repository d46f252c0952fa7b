//! Matches in whole words, best first.

use super::page::{self, Page};
use super::pool::{FIRST, Pool, Waiting};
use super::{MAX_READ, Search, batch, choices};
use crate::search::postings::{Candidate, Place, Postings, Ranking};
use crate::search::wanted::Wanted;
use hermes_session::search::matching::{Matcher, Scratch, Tier};
use hermes_session::search::query::{Node, Term};
use std::ops::ControlFlow;

impl<P: Postings> Search<'_, P> {
    /// Fills a page with matches in whole words, best first. Breaks if the page is full or time is over.
    pub(super) async fn best_first(
        &mut self,
        page: &mut Page<'_>,
        whole: Option<Wanted>,
    ) -> Result<ControlFlow<()>, P::Error> {
        let ranking = self.ranking(whole).await?;
        page.weigh(self.totals.average, ranking.choices.iter().map(|(_, weight)| *weight));
        let after = self.request.after.as_ref().map(page::place);
        let mut pool = Pool::new(&ranking, after, self.totals.average, FIRST);
        self.add_unlisted(&mut pool, &ranking, after).await?;
        let mut scratch = Scratch::default();
        loop {
            pool.fill(self.postings, &ranking).await?;
            if self.is_late() {
                return Ok(ControlFlow::Break(()));
            }
            let next = pool.take(page.missing().min(MAX_READ));
            if next.is_empty() {
                let Some(guess) = pool.pop() else { return Ok(ControlFlow::Continue(())) };
                self.look_at(guess.candidate, &ranking, after, &mut pool).await?;
                continue;
            }
            let mut rest = next.as_slice();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(batch(rest.iter().map(|candidate| candidate.length), rest.len()));
                rest = later;
                if self.is_late() {
                    return Ok(ControlFlow::Break(()));
                }
                let mut said = self.read(&now.iter().map(|next| next.place.id).collect::<Vec<_>>()).await?;
                for Candidate { place, .. } in now {
                    let Some(said) = said.remove(&place.id) else { continue };
                    if self.matcher.tier_with(&said.text, &mut scratch) == Some(Tier::Words) {
                        let marks = |text: &str| self.matcher.marks(text);
                        if page.push(said, Tier::Words, Tier::Words, place.score, marks).is_break() {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                }
            }
        }
    }

    /// Adds the messages that are not listed. If there are alternatives, their scores are upper bounds, from the length
    /// alone.
    async fn add_unlisted(&self, pool: &mut Pool, ranking: &Ranking, after: Option<Place>) -> Result<(), P::Error> {
        let is_guess = !ranking.choices.is_empty();
        for (id, length) in self.postings.unlisted(self.newest).await? {
            let place = Place { score: ranking.brevity.score(ranking.weight(u64::MAX), length), id };
            if is_guess || after.is_none_or(|after| place.is_after(&after)) {
                pool.add(Waiting { candidate: Candidate { place, length, has: u64::MAX }, is_guess });
            }
        }
        Ok(())
    }

    /// Reads a message to compute its exact score.
    async fn look_at(
        &self,
        guess: Candidate,
        ranking: &Ranking,
        after: Option<Place>,
        pool: &mut Pool,
    ) -> Result<(), P::Error> {
        let Some(said) = self.read(&[guess.place.id]).await?.remove(&guess.place.id) else { return Ok(()) };
        if self.matcher.tier(&said.text) != Some(Tier::Words) {
            return Ok(());
        }
        let has = |term: &Term| Matcher::of(&Node::Term(term.clone())).tier(&said.text) == Some(Tier::Words);
        let choices = choices(&self.request.query);
        let has = choices.iter().enumerate().fold(0, |bits, (place, (term, _))| bits | u64::from(has(term)) << place);
        let place = Place { score: ranking.brevity.score(ranking.weight(has), guess.length), id: said.id };
        if after.is_none_or(|after| place.is_after(&after)) {
            pool.add(Waiting { candidate: Candidate { place, has, ..guess }, is_guess: false });
        }
        Ok(())
    }
}
