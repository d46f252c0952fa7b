//! A page of a search: consecutive hits, grouped by conversation, of which only some of each conversation are shown.

use hermes_session::SessionId;
use hermes_session::search::{Hit, SearchAnswer, SearchRequest};
use hermes_terminal::figures::{number, plural};
use std::collections::HashMap;

/// Maximum number of hits of one conversation that a page shows, so that no conversation fills it.
pub(crate) const PER_CONVERSATION: usize = 3;

/// The first hits of an answer, up to those that would be too many for a page.
///
/// Each hit of the answer is shown, folded, or left to the next page, which starts after the hits that are
/// [covered](Page::covered). So pages neither skip nor repeat a hit.
pub(crate) struct Page<'a> {
    /// The conversations, in the order of their first hit.
    pub(crate) groups: Vec<Group<'a>>,
    /// Number of hits that are shown or folded.
    pub(crate) covered: usize,
}

/// The hits of a conversation on a page. There is at least one.
pub(crate) struct Group<'a> {
    pub(crate) shown: Vec<&'a Hit>,
    /// Number of hits that are not shown.
    pub(crate) folded: u64,
}

impl<'a> Page<'a> {
    /// Returns the page of the first hits: at most `limit` are shown, at most `cap` of them from one conversation.
    pub(crate) fn new(hits: &'a [Hit], limit: usize, cap: usize) -> Self {
        let (mut groups, mut places) = (Vec::<Group<'a>>::new(), HashMap::<&SessionId, usize>::new());
        let (mut shown, mut covered) = (0, 0);
        for hit in hits {
            let place = *places.entry(&hit.conversation).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) if group.shown.len() >= cap => group.folded += 1,
                _ if shown == limit => break,
                Some(group) => {
                    group.shown.push(hit);
                    shown += 1;
                }
                None => {
                    groups.push(Group { shown: vec![hit], folded: 0 });
                    shown += 1;
                }
            }
            covered += 1;
        }
        Self { groups, covered }
    }

    /// Returns the hits that are shown.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &'a Hit> {
        self.groups.iter().flat_map(|group| group.shown.iter().copied())
    }

    /// Returns the conversations, in the order of their numbers.
    pub(crate) fn ids(&self) -> impl Iterator<Item = SessionId> {
        self.groups.iter().map(|group| group.shown[0].conversation.clone())
    }

    /// Returns how much is shown, and of how many hits if the last one was read.
    pub(crate) fn totals(&self, request: &SearchRequest, answer: &SearchAnswer) -> String {
        let (shown, known) = (self.shown().count() as u64, request.page.offset() + answer.hits.len() as u64);
        let (hits, conversations) = (plural(shown, "hits"), plural(self.groups.len() as u64, "conversations"));
        match () {
            () if answer.next.is_some() || self.covered < answer.hits.len() => {
                format!("{hits} shown, from {conversations}; there are more")
            }
            // The hits before a cursor were not counted, and after a timeout others may follow.
            () if request.after.is_some() || answer.served.is_partial => format!("{hits} shown, from {conversations}"),
            () if known == shown => format!("{hits} in {conversations}"),
            () => format!("{} of {} in {conversations}", number(shown), plural(known, "hits")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::hit;
    use super::*;
    use hermes_session::search::{Query, Served, Way};
    use hermes_session::{PageRequest, Role};

    /// Returns a hit for each letter, which names its conversation.
    fn hits(conversations: &str) -> Vec<Hit> {
        conversations.chars().map(|letter| hit(&letter.to_string(), None, Role::User, 1.0, "x")).collect()
    }

    /// Returns the conversations of a page with the number of shown and folded hits of each, and how many are covered.
    fn page(conversations: &str, limit: usize) -> (String, usize) {
        let hits = hits(conversations);
        let page = Page::new(&hits, limit, PER_CONVERSATION);
        let group =
            |group: &Group<'_>| format!("{}{}+{}", group.shown[0].conversation, group.shown.len(), group.folded);
        (page.groups.iter().map(group).collect::<Vec<_>>().join(" "), page.covered)
    }

    #[test]
    fn no_conversation_fills_a_page() {
        assert_eq!(page("aabab", 20), ("a3+0 b2+0".into(), 5));
        assert_eq!(page("aaaaaabaa", 20), ("a3+5 b1+0".into(), 9));
        assert_eq!(page("aaaaaabaac", 4), ("a3+5 b1+0".into(), 9), "what can be folded is part of the page");
        assert_eq!(page("aabb", 3), ("a2+0 b1+0".into(), 3));
        assert_eq!(page("aaaa", 1), ("a1+0".into(), 1), "a hit that was not shown is left to the next page");
        assert_eq!(page("ab", 0), (String::new(), 0));
    }

    #[test]
    fn pages_cover_every_hit_once() {
        let all = hits("abacaadaaaabbbbccbaeaaaf");
        for limit in 1..9 {
            let (mut from, mut seen) = (0, 0);
            while from < all.len() {
                let page = Page::new(&all[from..], limit, PER_CONVERSATION);
                let folded: u64 = page.groups.iter().map(|group| group.folded).sum();
                assert_eq!(page.shown().count() + folded as usize, page.covered);
                assert!(page.covered > 0 && page.shown().count() <= limit);
                seen += page.covered;
                from += page.covered;
            }
            assert_eq!(seen, all.len(), "{limit}");
        }
    }

    #[test]
    fn totals_tell_only_what_was_counted() {
        let request = |offset| SearchRequest {
            page: PageRequest::new(20, offset).unwrap(),
            ..SearchRequest::new(Query::parse("x"))
        };
        let served =
            Served { way: Way::Index, is_relaxed: false, is_partial: false, unindexed: 0, needs_adoption: false };
        let cursor = || {
            use hermes_session::MessageId;
            use hermes_session::search::{SearchCursor, matching::Tier};
            let message = MessageId(1);
            SearchCursor {
                newest: message,
                is_relaxed: false,
                tier: Tier::Words,
                score: 0.0,
                message,
                weights: vec![1.0],
            }
        };
        let told = |request: &SearchRequest, is_partial, has_more: bool, text: &str, limit| {
            let (hits, served) = (hits(text), Served { is_partial, ..served });
            let answer = SearchAnswer { hits, next: has_more.then(cursor), served };
            Page::new(&answer.hits, limit, PER_CONVERSATION).totals(request, &answer)
        };
        let first = request(0);
        assert_eq!(told(&first, false, false, "a", 20), "1 hit in 1 conversation");
        assert_eq!(told(&first, false, false, "aabab", 20), "5 hits in 2 conversations");
        assert_eq!(told(&first, false, false, "aaaaaab", 20), "4 of 7 hits in 2 conversations");
        assert_eq!(told(&first, false, true, "abcde", 20), "5 hits shown, from 5 conversations; there are more");
        assert_eq!(told(&first, false, false, "abcde", 2), "2 hits shown, from 2 conversations; there are more");
        assert_eq!(told(&first, false, true, "aaaaa", 20), "3 hits shown, from 1 conversation; there are more");
        assert_eq!(told(&first, true, false, "abcde", 20), "5 hits shown, from 5 conversations");
        assert_eq!(told(&request(20), false, false, "ab", 20), "2 of 22 hits in 2 conversations");
        let behind = SearchRequest { after: Some(cursor()), ..first };
        assert_eq!(told(&behind, false, true, "ab", 20), "2 hits shown, from 2 conversations; there are more");
        assert_eq!(told(&behind, false, false, "ab", 20), "2 hits shown, from 2 conversations");
    }
}
