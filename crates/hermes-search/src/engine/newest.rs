//! Matches in pieces of words, and requests ordered by time: newest first.

use super::page::Page;
use super::{Search, batch};
use crate::postings::Postings;
use hermes_session::search::matching::{Scratch, Tier};

/// Maximum number of messages that one statement asks for.
const MAX_CANDIDATES: usize = 20_000;
/// Maximum number of messages that are asked for at once where any may match.
const MAX_ANY: usize = 256;

/// The matches that an earlier part of the answer returned.
#[derive(Debug)]
pub(super) enum Returned<'w, W> {
    /// None.
    Nothing,
    /// Those in whole words that are ranked for this condition; all of them if it is `None`.
    WholeWords(Option<&'w W>),
}

impl<P: Postings> Search<'_, P> {
    /// Fills a page with matching messages that were not returned before, newest first.
    pub(super) async fn newest_first(
        &mut self,
        page: &mut Page<'_>,
        wanted: Option<&P::Wanted>,
        returned: Returned<'_, P::Wanted>,
    ) -> Result<(), P::Error> {
        let mut before = match &self.request.after {
            Some(cursor) if cursor.tier == Tier::Pieces => cursor.message.0,
            _ => self.newest.saturating_add(1),
        };
        let is_returned = |id: i64, tier: Tier| match &returned {
            Returned::Nothing => false,
            Returned::WholeWords(words) => {
                tier == Tier::Words && words.is_none_or(|words| self.postings.is_ranked(words, id))
            }
        };
        let (mut scratch, mut size) = (Scratch::default(), page.missing().clamp(20, MAX_CANDIDATES));
        loop {
            if self.is_late() {
                return Ok(());
            }
            let limit = match wanted {
                // Another request costs nothing there, and each message that is not needed costs.
                _ if P::READ_AT_ONCE == 1 => page.missing().min(MAX_ANY),
                // Without a condition, another statement is cheap. With one, the index lists all candidates each time.
                None => size.min(MAX_ANY),
                Some(_) => (size * 16).min(MAX_CANDIDATES),
            };
            let found = self.postings.latest(wanted, before, limit).await?;
            let is_last = self.is_late_with_candidates() || found.len() < limit;
            let new: Vec<(i64, u32)> = found.iter().filter(|(id, _)| !self.done.contains(id)).copied().collect();
            let mut rest = new.as_slice();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(batch::<P>(rest.iter().map(|(_, length)| *length), size));
                rest = later;
                if self.is_late() {
                    return Ok(());
                }
                for said in self.read(&now.iter().map(|(id, _)| *id).collect::<Vec<_>>()).await?.into_iter().flatten() {
                    match self.matcher.tier_with(&said.text, &mut scratch) {
                        Some(tier) if !is_returned(said.id, tier) => {
                            let marks = |text: &str| self.matcher.marks(text);
                            if page.push(said, Tier::Pieces, tier, 0.0, marks).is_break() {
                                return Ok(());
                            }
                        }
                        _ => {}
                    }
                }
                size = (size * 2).min(MAX_CANDIDATES);
            }
            match found.last() {
                Some((last, _)) if !is_last => before = *last,
                _ => return Ok(()),
            }
        }
    }
}
