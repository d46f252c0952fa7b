//! Matches in whole words, best first.

use super::page::{self, Page};
use super::pool::{FIRST, Pool, Waiting};
use super::{Search, batch};
use crate::postings::{Candidate, Place, Postings, Ranking};
use hermes_session::search::matching::{Matcher, Scratch, Tier};
use hermes_session::search::query::{Node, Term};
use std::ops::ControlFlow;

impl<P: Postings> Search<'_, P> {
    /// Fills a page with matches in whole words, best first. Breaks if the page is full or time is over.
    pub(super) async fn best_first(
        &mut self,
        page: &mut Page<'_>,
        whole: Option<P::Wanted>,
    ) -> Result<ControlFlow<()>, P::Error> {
        let ranking = self.ranking(whole).await?;
        page.weigh(self.totals.average, ranking.choices.iter().map(|(_, weight)| *weight));
        let after = self.request.after.as_ref().map(page::place);
        let mut pool = Pool::new(&ranking, self.postings.parts(self.totals.average), after, FIRST);
        self.add_unlisted(&mut pool, &ranking, after).await?;
        pool.fill(self.postings, &ranking).await?;
        let is_last = self.is_late_with_candidates();
        let mut scratch = Scratch::default();
        loop {
            pool.fill(self.postings, &ranking).await?;
            if self.is_late() {
                return Ok(ControlFlow::Break(()));
            }
            let next = pool.take(page.missing().min(P::READ_AT_ONCE));
            if next.is_empty() {
                let Some(guess) = pool.pop() else { break };
                self.look_at(guess.candidate, &ranking, after, &mut pool).await?;
                continue;
            }
            let mut rest = next.as_slice();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(batch::<P>(rest.iter().map(|candidate| candidate.length), rest.len()));
                rest = later;
                if self.is_late() {
                    return Ok(ControlFlow::Break(()));
                }
                let said = self.read(&now.iter().map(|next| next.place.id).collect::<Vec<_>>()).await?;
                for (Candidate { place, .. }, said) in now.iter().zip(said) {
                    let tier = said.as_ref().and_then(|said| self.matcher.tier_with(&said.text, &mut scratch));
                    if tier != Some(Tier::Pieces) {
                        self.done.insert(place.id);
                    }
                    let Some(said) = said.filter(|_| tier == Some(Tier::Words)) else { continue };
                    let marks = |text: &str| self.matcher.marks(text);
                    if page.push(said, Tier::Words, Tier::Words, place.score, marks).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Adds the messages that are not listed. If there are alternatives, their scores are upper bounds, from the length
    /// alone.
    async fn add_unlisted(
        &self,
        pool: &mut Pool,
        ranking: &Ranking<P::Wanted>,
        after: Option<Place>,
    ) -> Result<(), P::Error> {
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
        ranking: &Ranking<P::Wanted>,
        after: Option<Place>,
        pool: &mut Pool,
    ) -> Result<(), P::Error> {
        let Some(said) = self.read(&[guess.place.id]).await?.into_iter().flatten().next() else { return Ok(()) };
        if self.matcher.tier(&said.text) != Some(Tier::Words) {
            return Ok(());
        }
        let has = |term: &Term| Matcher::of(&Node::Term(term.clone())).tier(&said.text) == Some(Tier::Words);
        let choices = self.choices().await?;
        let has = choices.iter().enumerate().fold(0, |bits, (place, (term, _))| bits | u64::from(has(term)) << place);
        let place = Place { score: ranking.brevity.score(ranking.weight(has), guess.length), id: said.id };
        if after.is_none_or(|after| place.is_after(&after)) {
            pool.add(Waiting { candidate: Candidate { place, has, ..guess }, is_guess: false });
        }
        Ok(())
    }
}
