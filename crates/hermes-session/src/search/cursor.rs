//! Cursor at the end of a page of an answer, also as a text that a program can pass back.

use super::matching::Tier;
use super::{SearchOrder, SearchRequest};
use crate::digest::Fingerprint;
use crate::{Invalid, MessageId};

/// Cursor: the position of a hit in an answer. The next page starts after it.
///
/// It carries the values that determined the order of the first page, so that pages neither skip nor repeat a message
/// while others write. Messages added since are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchCursor {
    /// Newest message when the first page was computed.
    pub newest: MessageId,
    /// Whether the hits are those of the relaxed query.
    pub is_relaxed: bool,
    /// Tier of the last hit.
    pub tier: Tier,
    /// Its score.
    pub score: f64,
    /// Its message.
    pub message: MessageId,
    /// Average length of a message and weight of each term.
    pub weights: Vec<f64>,
}

/// Version of the text format.
const FORM: &str = "1";
/// Maximum number of weights in a cursor: the average length, and one for each word of a relaxed query.
const MAX_WEIGHTS: usize = 65;

impl SearchCursor {
    /// Returns the cursor as text, which [`parse`](Self::parse) accepts with the same query.
    pub fn to_text(&self, request: &SearchRequest) -> String {
        let tier = match self.tier {
            Tier::Words => 'w',
            Tier::Pieces => 'p',
        };
        let kind = if self.is_relaxed { 'r' } else { 'e' };
        let (newest, message, weights) = (self.newest.0, self.message.0, self.weights.len());
        let head = format!("{FORM}{kind}{tier}.{}.{newest}.{message}.{weights}", question(request));
        let numbers = std::iter::once(&self.score).chain(&self.weights);
        // All numbers have the same length, so that a truncated one is not read as another.
        numbers.fold(head, |text, number| format!("{text}.{:016x}", number.to_bits()))
    }

    /// Parses the text of a cursor.
    ///
    /// # Errors
    ///
    /// If it is not such a text, or belongs to a request with another query or order.
    pub fn parse(text: &str, request: &SearchRequest) -> Result<Self, Invalid> {
        let mut parts = text.split('.');
        let (is_relaxed, tier) = match parts.next().and_then(|head| head.strip_prefix(FORM)) {
            Some("ew") => (false, Tier::Words),
            Some("ep") => (false, Tier::Pieces),
            Some("rw") => (true, Tier::Words),
            Some("rp") => (true, Tier::Pieces),
            _ => return Err(unreadable()),
        };
        if parts.next().ok_or_else(unreadable)? != question(request) {
            return Err(Invalid::new(
                "the place",
                "belongs to another search",
                "give the same words and order as before",
            ));
        }
        let mut id = || parts.next().and_then(|id| id.parse().ok()).map(MessageId).ok_or_else(unreadable);
        let (newest, message) = (id()?, id()?);
        let count: usize = parts.next().and_then(|count| count.parse().ok()).ok_or_else(unreadable)?;
        let mut numbers = parts.map(|bits| number(bits).ok_or_else(unreadable));
        let score = numbers.next().ok_or_else(unreadable)??;
        let weights: Vec<f64> = numbers.collect::<Result<_, _>>()?;
        if weights.len() != count || count == 0 || (is_relaxed && count > MAX_WEIGHTS) {
            return Err(unreadable());
        }
        Ok(Self { newest, is_relaxed, tier, score, message, weights })
    }
}

fn number(bits: &str) -> Option<f64> {
    let bits = u64::from_str_radix(bits, 16).ok().filter(|_| bits.len() == 16)?;
    Some(f64::from_bits(bits)).filter(|number| number.is_finite())
}

fn unreadable() -> Invalid {
    Invalid::new("the place", "is not a cursor of a search", "pass `next` of the previous page unchanged")
}

/// Returns a short digest of the query and order. Filters are not part of it: a time such as "two hours ago" moves from
/// page to page.
fn question(request: &SearchRequest) -> String {
    let order = match request.order {
        SearchOrder::Best => "best",
        SearchOrder::Newest => "newest",
    };
    let digest = Fingerprint::of("search").field(&request.query.to_string()).field(order).finish();
    digest.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Query;

    fn cursor() -> SearchCursor {
        SearchCursor {
            newest: MessageId(1 << 40),
            is_relaxed: true,
            tier: Tier::Pieces,
            score: 0.1 + 0.2,
            message: MessageId(7),
            weights: vec![1.5, -0.0, f64::MIN_POSITIVE],
        }
    }

    #[test]
    fn a_place_comes_back_bit_by_bit() {
        let request = SearchRequest::new(Query::parse("disk OR full"));
        for (is_relaxed, tier) in
            [(true, Tier::Words), (true, Tier::Pieces), (false, Tier::Words), (false, Tier::Pieces)]
        {
            let place = SearchCursor { is_relaxed, tier, ..cursor() };
            let read = SearchCursor::parse(&place.to_text(&request), &request).unwrap();
            assert_eq!(format!("{read:?}"), format!("{place:?}"), "also the sign of a zero");
        }
    }

    #[test]
    fn the_place_of_another_search_is_refused() {
        let request = SearchRequest::new(Query::parse("disk"));
        let text = cursor().to_text(&request);
        let others =
            [SearchRequest::new(Query::parse("disks")), SearchRequest { order: SearchOrder::Newest, ..request }];
        for other in others {
            let refused = SearchCursor::parse(&text, &other).unwrap_err();
            assert!(refused.to_string().contains("another search"), "{refused}");
        }
    }

    #[test]
    fn cursors_of_no_search_are_refused() {
        let request = SearchRequest::new(Query::parse("disk"));
        let text = cursor().to_text(&request);
        for length in 0..text.len() {
            assert!(SearchCursor::parse(&text[..length], &request).is_err(), "cut off after {length}");
        }
        let whole = "3ff0000000000000";
        let many = SearchCursor { weights: vec![1.0; MAX_WEIGHTS + 1], ..cursor() };
        let nothing = SearchCursor { weights: Vec::new(), ..cursor() };
        let infinite = SearchCursor { score: f64::INFINITY, ..cursor() };
        let broken = [
            text.replacen('1', "2", 1),
            format!("{text}."),
            format!("{text}.{whole}"),
            many.to_text(&request),
            nothing.to_text(&request),
            infinite.to_text(&request),
        ];
        for broken in broken {
            let refused = SearchCursor::parse(&broken, &request).unwrap_err();
            assert!(refused.to_string().contains("not a cursor of a search"), "{broken}: {refused}");
        }
    }
}
