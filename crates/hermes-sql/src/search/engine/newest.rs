//! Matches in pieces of words, and requests ordered by time: newest first.

use super::page::Page;
use super::{MAX_READ, Search, batch};
use crate::search::postings::Postings;
use crate::search::wanted::Wanted;
use hermes_session::search::matching::{Scratch, Tier};

/// Maximum number of messages that one statement asks for.
const MAX_CANDIDATES: usize = 20_000;

impl<P: Postings> Search<'_, P> {
    /// Fills a page with matching messages, newest first. If `are_words_told`, matches in whole words are left out,
    /// because they were returned before.
    pub(super) async fn newest_first(
        &mut self,
        page: &mut Page<'_>,
        wanted: Option<&Wanted>,
        are_words_told: bool,
    ) -> Result<(), P::Error> {
        let mut before = match &self.request.after {
            Some(cursor) if cursor.tier == Tier::Pieces => cursor.message.0,
            _ => self.newest.saturating_add(1),
        };
        let (mut scratch, mut size) = (Scratch::default(), page.missing().clamp(20, MAX_CANDIDATES));
        loop {
            if self.is_late() {
                return Ok(());
            }
            // Without a condition, another statement is cheap. With one, the index lists all candidates each time.
            let limit = if wanted.is_some() { (size * 16).min(MAX_CANDIDATES) } else { size.min(MAX_READ) };
            let found = self.postings.latest(wanted, before, limit).await?;
            let mut rest = found.as_slice();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(batch(rest.iter().map(|(_, length)| *length), size));
                rest = later;
                if self.is_late() {
                    return Ok(());
                }
                let mut said = self.read(&now.iter().map(|(id, _)| *id).collect::<Vec<_>>()).await?;
                for (id, _) in now {
                    let Some(said) = said.remove(id) else { continue };
                    match self.matcher.tier_with(&said.text, &mut scratch) {
                        None => {}
                        Some(Tier::Words) if are_words_told => {}
                        Some(tier) => {
                            let marks = |text: &str| self.matcher.marks(text);
                            if page.push(said, Tier::Pieces, tier, 0.0, marks).is_break() {
                                return Ok(());
                            }
                        }
                    }
                }
                size = (size * 2).min(MAX_CANDIDATES);
            }
            match found.last() {
                Some((last, _)) if found.len() == limit => before = *last,
                _ => return Ok(()),
            }
        }
    }
}
