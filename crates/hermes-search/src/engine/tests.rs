use super::*;
use crate::ask::tests::{Listed, text};
use crate::lexemes::tests::Plain;
use crate::lexemes::{self, Indexed};
use crate::postings::{Candidate, Card, Place};
use crate::vocabulary::{self, Lookup, Vocabulary};
use crate::wanted::Wanted;
use hermes_session::search::relax::{self, Word};
use hermes_session::search::{Hit, SearchFilter};
use hermes_session::{PageRequest, Role, SessionId, Source, Timestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A store in memory that scans its indexes.
struct Memory {
    said: BTreeMap<i64, (String, Listed, u32)>,
    terms: BTreeSet<String>,
    /// Messages that count as too large to be listed.
    unlisted: BTreeSet<i64>,
    /// Number of texts read.
    read: AtomicUsize,
}

impl Memory {
    fn new(texts: &[String], unlisted: &[usize]) -> Self {
        let (mut said, mut terms) = (BTreeMap::new(), BTreeSet::new());
        for (text, id) in texts.iter().zip(1..) {
            let indexed = Indexed::of_text::<Plain>(text);
            if !unlisted.contains(&(id as usize)) {
                terms.extend(indexed.terms.iter().cloned());
            }
            said.insert(id, (text.clone(), Listed::new(&indexed), indexed.length));
        }
        let unlisted = unlisted.iter().map(|id| *id as i64).filter(|id| said.contains_key(id)).collect();
        Self { said, terms, unlisted, read: AtomicUsize::new(0) }
    }

    fn has(&self, id: i64, wanted: &Wanted) -> bool {
        !self.unlisted.contains(&id) && self.said[&id].1.holds(wanted)
    }
}

impl Vocabulary for Memory {
    type Error = Infallible;

    async fn terms(&self, lookup: Lookup<'_>, limit: usize) -> Result<Vec<String>, Infallible> {
        let admits = |term: &&String| match lookup {
            Lookup::Containing(piece) => term.contains(piece),
            Lookup::Ending(end) => term.ends_with(end),
            Lookup::Beginning(beginning) => term.starts_with(beginning),
        };
        Ok(self.terms.iter().filter(admits).take(limit).cloned().collect())
    }
}

impl Postings for Memory {
    type Error = Infallible;
    type Wanted = Wanted;
    const READ_AT_ONCE: usize = 256;

    async fn newest(&self) -> Result<i64, Infallible> {
        Ok(self.said.keys().next_back().copied().unwrap_or_default())
    }

    async fn totals(&self) -> Result<Totals, Infallible> {
        Ok(Totals { messages: self.said.len() as u64, average: 3.0 })
    }

    async fn of_query(&self, query: &Query, tier: Tier, end: Instant) -> Result<Option<Wanted>, Infallible> {
        vocabulary::of_query(self, query, tier, end).await
    }

    async fn of_term(&self, term: &Term) -> Result<Option<Wanted>, Infallible> {
        Ok(vocabulary::of_term(term))
    }

    async fn of_words(&self, words: &[Word], end: Instant) -> Result<Vec<Wanted>, Infallible> {
        vocabulary::of_words(self, words, end).await
    }

    fn parts(&self, average: f64) -> Vec<RangeInclusive<u32>> {
        lexemes::parts(average)
    }

    fn is_ranked(&self, _: &Wanted, _: i64) -> bool {
        true
    }

    async fn counts(&self, wanted: &[Wanted], _: bool) -> Result<Vec<u64>, Infallible> {
        let count = |wanted| self.said.keys().filter(|id| self.has(**id, wanted)).count() as u64;
        Ok(wanted.iter().map(count).collect())
    }

    async fn ranked(
        &self,
        ranking: &Ranking<Wanted>,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Candidate>, Infallible> {
        let mut all = Vec::new();
        for (id, (.., length)) in self.said.range(..=ranking.newest).filter(|(id, _)| !self.unlisted.contains(id)) {
            let choices = ranking.choices.iter().enumerate();
            let is_had = |wanted: Option<Wanted>| wanted.is_none_or(|wanted| self.has(*id, &wanted));
            let has =
                choices.fold(0, |bits, (n, (choice, _))| bits | u64::from(is_had(ranking.wanted(Some(choice)))) << n);
            let is_whole = is_had(ranking.wanted(None));
            let place = Place { score: ranking.brevity.score(ranking.weight(has), *length), id: *id };
            if (if ranking.is_covered { has != 0 } else { is_whole })
                && after.is_none_or(|after| place.is_after(&after))
            {
                all.push(Candidate { place, length: *length, has });
            }
        }
        all.sort_by(|left, right| {
            if left.place.is_after(&right.place) { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less }
        });
        all.truncate(limit);
        Ok(all)
    }

    async fn latest(&self, wanted: Option<&Wanted>, before: i64, limit: usize) -> Result<Vec<(i64, u32)>, Infallible> {
        let admits = |id: &i64| wanted.is_none_or(|wanted| self.unlisted.contains(id) || self.has(*id, wanted));
        let found = self.said.range(..before).rev().filter(|(id, _)| admits(id)).take(limit);
        Ok(found.map(|(id, (.., length))| (*id, *length)).collect())
    }

    async fn unlisted(&self, newest: i64) -> Result<Vec<(i64, u32)>, Infallible> {
        Ok(self.unlisted.iter().filter(|id| **id <= newest).map(|id| (*id, self.said[id].2)).collect())
    }

    async fn said(&self, ids: &[i64]) -> Result<Vec<Said>, Infallible> {
        self.read.fetch_add(ids.len(), Ordering::Relaxed);
        let card = |id: &i64| Card {
            id: SessionId::from_stored(format!("s{}", id % 3)),
            source: Source::from_stored("cli"),
            model: None,
            title: None,
            started_at: Timestamp::EPOCH,
        };
        let said = |id: &i64| Said {
            id: *id,
            session: Arc::new(card(id)),
            role: Role::User,
            said_at: Timestamp::EPOCH,
            tool_name: None,
            text: self.said[id].0.clone(),
        };
        Ok(ids.iter().rev().map(said).collect())
    }

    async fn conversations(&self, ids: &[i64]) -> Result<Vec<(i64, String)>, Infallible> {
        Ok(ids.iter().map(|id| (*id, format!("s{}", id % 3))).collect())
    }

    async fn forgive(&self, error: Infallible) -> Result<(), Infallible> {
        match error {}
    }

    async fn surround(&self, _: &mut [Hit], _: bool) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Returns the value of a future that never waits.
fn now<T>(future: impl Future<Output = Result<T, Infallible>>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(Ok(value)) => value,
        _ => panic!("it waits"),
    }
}

fn request(query: &str, limit: u32) -> SearchRequest {
    SearchRequest {
        page: PageRequest::first(limit),
        relax: false,
        timeout: Duration::from_secs(1_000),
        filter: SearchFilter::default(),
        ..SearchRequest::new(Query::parse(query))
    }
}

fn every_page(memory: &Memory, request: &SearchRequest) -> Vec<Hit> {
    let (mut request, mut hits) = (request.clone(), Vec::new());
    loop {
        let answer = now(search(memory, &request, Instant::now()));
        assert!(!answer.served.is_partial && answer.hits.len() <= request.page.limit() as usize);
        hits.extend(answer.hits);
        request.after = match answer.next {
            Some(next) => Some(next),
            None => return hits,
        };
    }
}

fn check(memory: &Memory, query: &str, limit: u32) -> Result<(), TestCaseError> {
    let request = request(query, limit);
    let matcher = Matcher::new(&request.query);
    let expect: BTreeMap<i64, Tier> =
        memory.said.iter().filter_map(|(id, (text, ..))| Some((*id, matcher.tier(text)?))).collect();
    let hits = every_page(memory, &request);
    let found: BTreeMap<i64, Tier> = hits.iter().map(|hit| (hit.message.0, hit.tier)).collect();
    prop_assert_eq!(&found, &expect, "{:?}", query);
    prop_assert_eq!(hits.len(), expect.len(), "twice, {:?}", query);
    for pair in hits.windows(2).filter(|_| !request.query.is_negative()) {
        let order = pair[0].tier.cmp(&pair[1].tier).then(pair[1].score.total_cmp(&pair[0].score));
        prop_assert!(order.then(pair[1].message.cmp(&pair[0].message)).is_lt(), "{:?}: {:?}", query, pair);
    }
    let newest = every_page(memory, &SearchRequest { order: SearchOrder::Newest, ..request.clone() });
    let newest: Vec<i64> = newest.iter().map(|hit| hit.message.0).collect();
    prop_assert_eq!(newest, expect.keys().rev().copied().collect::<Vec<_>>(), "{:?}", query);
    if expect.is_empty() {
        let words = relax::words(&request.query);
        let excluded = Matcher::new(&relax::exclusions(&request.query));
        let has = |text: &str| relax::words_in(text, &words) != 0 && excluded.tier(text).is_some();
        let expect: Vec<i64> = memory.said.iter().filter(|(_, (text, ..))| has(text)).map(|(id, _)| *id).collect();
        let mut found: Vec<i64> =
            every_page(memory, &SearchRequest { relax: true, ..request }).iter().map(|hit| hit.message.0).collect();
        found.sort_unstable();
        prop_assert_eq!(found, expect, "relaxed {:?}", query);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn pages_together_are_what_matches(
        texts in prop::collection::vec(text(), 1..12),
        unlisted in prop::collection::vec(1..12_usize, 0..4),
        cuts in prop::collection::vec(
            prop::collection::vec((any::<Index>(), any::<Index>(), 1..9_usize, prop::sample::select(vec![" ", " ", " OR ", " NOT ", "* ", " OR NOT "])), 1..4),
            1..5,
        ),
        limit in 1..5_u32,
    ) {
        let memory = Memory::new(&texts, &unlisted);
        for cut in cuts {
            let mut query = String::new();
            for (text, start, length, joint) in cut {
                let characters: Vec<char> = text.get(&texts).chars().collect();
                let start = if characters.is_empty() { 0 } else { start.index(characters.len()) };
                query.extend(characters[start..].iter().take(length));
                query.push_str(joint);
            }
            check(&memory, &query, limit)?;
        }
    }
}

#[test]
fn a_page_reads_little_more_than_it_shows() {
    let texts: Vec<String> = (0..5_000).map(|n| format!("common word{n} {}", "and more ".repeat(n % 50))).collect();
    let memory = Memory::new(&texts, &[]);
    let answer = now(search(&memory, &request("common", 20), Instant::now()));
    assert_eq!((answer.hits.len(), memory.read.load(Ordering::Relaxed)), (20, 21));
    // Short messages come before long ones, and among them the newest first.
    assert_eq!(answer.hits.iter().map(|hit| hit.message.0).take(3).collect::<Vec<_>>(), [4_951, 4_901, 4_851]);
    let whole = every_page(&memory, &request("common", 700));
    assert_eq!(whole.len(), 5_000);
}

#[test]
fn all_of_a_long_relaxed_answer_comes_once() {
    let texts: Vec<String> =
        (0..5_000).map(|n| format!("{} {}", ["red", "green"][n % 2], "x ".repeat(n % 7))).collect();
    let memory = Memory::new(&texts, &[1, 2, 3]);
    let hits = every_page(&memory, &SearchRequest { relax: true, ..request("\"red green\"", 300) });
    assert_eq!(hits.iter().map(|hit| hit.message).collect::<BTreeSet<_>>().len(), 5_000);
    assert_eq!(hits.len(), 5_000);
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

#[test]
fn time_that_ran_out_is_reported() {
    let memory = Memory::new(&["a cat".into()], &[]);
    let request = SearchRequest { timeout: Duration::ZERO, relax: true, ..request("cat", 5) };
    let answer = now(search(&memory, &request, Instant::now()));
    // Hits that were found before the deadline are returned.
    assert!(answer.served.is_partial && answer.hits.len() == 1 && !answer.served.is_relaxed);
}

#[test]
fn what_no_index_knows_is_looked_through() {
    let memory = Memory::new(&["a cat".into(), "\u{301}".into()], &[]);
    let way = |query: &str| now(search(&memory, &request(query, 5), Instant::now())).served.way;
    assert_eq!(
        (way("cat"), way("NOT cat"), way("🚀"), way("\u{301}")),
        (Way::Index, Way::Index, Way::Index, Way::Scan)
    );
}

#[test]
fn choices_are_the_terms_of_which_one_is_enough() {
    let of = |query: &str| -> Vec<String> {
        optional_terms(&Query::parse(query)).iter().map(|term| term.text.clone()).collect()
    };
    assert_eq!(of("a b"), [""; 0]);
    assert_eq!(of("a OR b c OR a"), ["a", "b", "c"]);
    assert_eq!(of("a (b OR c) NOT (d OR e)"), ["b", "c"]);
}
