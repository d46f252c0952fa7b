//! Random and hostile queries: each gets an answer, in time, and nothing breaks.

use crate::corpus::{Dice, POOLS, corpus};
use crate::{filled, fuzz, given, question};
use hermes_session::ConversationStore as _;
use hermes_session::PageRequest;
use hermes_session::search::{SearchOrder, SearchRequest, Way};
use hermes_sqlite::SqliteStore;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Pieces that random queries are made of.
const PIECES: &[&str] = &[
    "(",
    ")",
    "\"",
    "*",
    " ",
    " ",
    " ",
    "AND",
    "OR",
    "NOT",
    " OR ",
    " AND ",
    " NOT ",
    "-",
    "'",
    "\\",
    "\0",
    "\n",
    "^",
    ":",
    "+",
    "{",
    "}",
    "NEAR",
    "a",
    "e",
    "the",
    "大",
    "か",
    "ไ",
    "한",
    "\u{301}",
    "\u{306}",
    "\u{200d}",
    "\u{202e}",
    "🚀",
    "é",
    "ß",
    "\u{feff}",
    "\u{10ffff}",
    "%",
    "_",
    "hx_term",
    "content:",
    ";",
    "--",
    "/*",
    "0",
    "١",
];

/// An answer that takes longer than this is counted as slow.
const SLOW: Duration = Duration::from_millis(100);
/// Time limit for answers to hostile queries.
const TIMEOUT: Duration = Duration::from_millis(500);
/// How much longer an answer may take on a busy machine.
const SLACK: Duration = Duration::from_secs(60);

/// Returns a random query.
fn nonsense(n: usize, dice: &mut Dice) -> SearchRequest {
    let mut text = String::new();
    for _ in 0..1 + dice.roll(12) {
        match dice.roll(4) {
            0 => text.push_str(dice.pick::<&str>(dice_pool(n).items)),
            _ => text.push_str(dice.pick::<&str>(PIECES)),
        }
    }
    let order = if n.is_multiple_of(3) { SearchOrder::Newest } else { SearchOrder::Best };
    SearchRequest { order, page: PageRequest::first(20), ..question(&text) }
}

/// Runs random queries, and prints statistics of the answers.
async fn ask_nonsense(store: &SqliteStore) {
    let (mut dice, count) = (Dice::new(11), fuzz());
    let (mut slowest, mut partial, mut found, mut scanned) = ((Duration::ZERO, String::new()), 0, 0, 0);
    let mut slow = BTreeMap::new();
    for n in 0..count {
        let request = nonsense(n, &mut dice);
        let start = Instant::now();
        let answer = store.search(&request).await.unwrap_or_else(|error| panic!("{}: {error}", request.query));
        let took = start.elapsed();
        partial += usize::from(answer.served.is_partial);
        found += usize::from(!answer.hits.is_empty());
        scanned += usize::from(answer.served.way == Way::Scan);
        if took > SLOW {
            *slow.entry(format!("{:?}", answer.served.way)).or_insert(0) += 1;
        }
        if took > slowest.0 {
            slowest = (took, request.query.to_string());
        }
    }
    println!(
        "{count} questions of nonsense: 0 errors, {found} with hits, {scanned} by looking through, {partial} partial; over {SLOW:?}: {slow:?}; slowest {slowest:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_answered() {
    // Many pieces are in no index, and every message is scanned for them.
    ask_nonsense(&filled(&corpus()[..500]).await.store).await;
}

/// Runs random queries on a given store.
#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_answered_by_a_given_store() {
    let Some(store) = given() else { return };
    ask_nonsense(&store).await;
}

fn dice_pool(n: usize) -> &'static crate::corpus::Pool {
    &POOLS[n % POOLS.len()]
}

#[tokio::test(flavor = "multi_thread")]
async fn malice_is_answered_in_time() {
    let filled = filled(&corpus()).await;
    let many = |text: fn(usize) -> String, joint: &str| (0..10_000).map(text).collect::<Vec<_>>().join(joint);
    let questions: Vec<(&str, String)> = vec![
        ("10,000 terms", many(|n| format!("t{n}"), " ")),
        (
            "10,000 terms that are there",
            many(|n| ["the", "and", "of", "plan"][n % 4].to_owned() + &"e".repeat(n % 2), " "),
        ),
        ("10,000 choices", many(|n| format!("t{n}"), " OR ")),
        (
            "10,000 choices of letters",
            many(|n| char::from(b'a' + (n % 26) as u8).to_string() + &(n / 26).to_string(), " OR "),
        ),
        ("10,000 exclusions", many(|n| format!("NOT t{n}"), " ")),
        ("10,000 literals", many(|n| format!("\"the {n}\""), " OR ")),
        ("10,000 prefixes", many(|n| format!("p{n}*"), " OR ")),
        ("10,000 of Han", many(|n| char::from_u32(0x4e00 + n as u32).unwrap().to_string(), " OR ")),
        ("10,000 parentheses deep", "(".repeat(10_000) + "the" + &")".repeat(10_000)),
        ("10,000 parentheses open", "(the ".repeat(10_000)),
        ("10,000 parentheses closed", ") the".repeat(10_000)),
        ("10,000 times NOT (", "NOT (the ".repeat(10_000)),
        ("10,000 quotes", "\"".repeat(10_001)),
        ("10,000 stars", "*".repeat(10_000)),
        ("one letter", "e*".to_owned()),
        ("letters", "a e i o u t n s".to_owned()),
        ("a prefix of 100,000", "a".repeat(100_000) + "*"),
        ("a literal of a megabyte", format!("\"{}\"", "the plan ".repeat(110_000))),
        ("a literal of a megabyte without words", format!("\"{}\"", "-!".repeat(500_000))),
        ("a literal of a megabyte of Han", format!("\"{}\"", "大别山".repeat(110_000))),
        ("a literal of a megabyte of lines", format!("\"{}\"", "the\nplan ".repeat(110_000))),
        ("a literal of many numbers", format!("\"{}\"", many(|n| n.to_string(), " - "))),
        (
            "a literal of many pairs",
            format!("\"{}\"", many(|n| format!("大{}", char::from_u32(0x4e00 + n as u32).unwrap()), " ")),
        ),
        ("a megabyte of marks", format!("a{}", "\u{301}".repeat(500_000))),
        ("a megabyte of blanks", " ".repeat(1_000_000)),
        ("a megabyte of operators", "AND OR NOT ".repeat(90_000)),
    ];
    for (what, text) in questions {
        for order in [SearchOrder::Best, SearchOrder::Newest] {
            let start = Instant::now();
            let request = SearchRequest { order, page: PageRequest::first(20), timeout: TIMEOUT, ..question(&text) };
            let parsed = start.elapsed();
            let limit = request.timeout + SLACK;
            let answer = tokio::time::timeout(limit, filled.store.search(&request)).await;
            let answer = answer.unwrap_or_else(|_| panic!("{what}: no answer within {limit:?}")).unwrap();
            println!(
                "{what:<40} {order:?}: parsed in {parsed:?}, answered in {:?}, {} hits, {:?}",
                start.elapsed() - parsed,
                answer.hits.len(),
                answer.served
            );
        }
    }
}
