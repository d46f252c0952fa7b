//! Properties of every text and every tree.

use super::{MAX_DEPTH, Node, Query, Term, is_blank};
use proptest::prelude::*;

/// Building blocks of random texts: everything with a meaning, and some text without.
const BITS: &[&str] = &[
    "(", ")", "((", "))", "\"", "\"\"", "“", "”", "*", " ", " ", " ", "\u{3000}", "\n", "\0", "AND", "OR", "NOT",
    "not", "a", "b", "f(x)", "-", "'", ":", "é", "大", "项目", "🦀", "\u{301}", "\u{feff}", "’", "（",
];

/// Checks properties of every text.
#[track_caller]
fn check_text(text: &str) {
    let query = Query::parse(text);
    let printed = query.to_string();
    assert_eq!(Query::parse(&printed), query, "{text:?} printed as {printed:?}");
    assert_eq!(Query::parse(&printed).to_string(), printed);
    assert_eq!(Query::new(query.root().clone()), query, "{text:?} is in canonical form");
    if !query.is_empty() {
        check_canonical(query.root(), 0);
    }
    // A term consists of typed text, apart from quotes, which are doubled in literals.
    for term in query.terms() {
        assert!(text.replace('"', "").contains(&term.text.replace('"', "")), "{term} in {text:?}");
    }
    // Only blank literals yield an empty query, with the operators and parentheses around them.
    if query.is_empty() {
        let has_literal = text.contains(['"', '“']);
        let is_mark = |character| is_blank(character) || (has_literal && "()*\"“”".contains(character));
        let is_operator = |word: &str| has_literal && ["AND", "OR", "NOT"].contains(&word);
        assert!(text.split(is_mark).all(|word| word.is_empty() || is_operator(word)), "{text:?}");
    }
}

/// Checks properties of every part of a query that is not empty.
#[track_caller]
fn check_canonical(node: &Node, depth: usize) {
    let many = |parts: &[Node], is_own_kind: fn(&Node) -> bool| {
        assert!(parts.len() > 1 && !parts.iter().any(is_own_kind), "{node:?}");
        for (at, part) in parts.iter().enumerate() {
            assert!(!parts[..at].contains(part), "{node:?}");
            check_canonical(part, depth + 1);
        }
    };
    assert!(depth <= 3 * (MAX_DEPTH + 1));
    match node {
        Node::Term(Term { text, .. }) => assert!(!text.is_empty() && text.trim_matches(is_blank) == text),
        Node::All(parts) => many(parts, |part| matches!(part, Node::All(_))),
        Node::Any(parts) => many(parts, |part| matches!(part, Node::Any(_))),
        Node::Not(inner) => {
            assert!(!matches!(**inner, Node::Not(_)));
            check_canonical(inner, depth + 1);
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(BITS), 0..24).prop_map(|bits| bits.concat())
}

fn terms() -> impl Strategy<Value = Node> {
    let text = prop_oneof![Just("a".to_owned()), Just("OR".to_owned()), texts(), any::<String>()];
    (text, any::<bool>()).prop_map(|(text, is_prefix)| Node::Term(Term { text, is_prefix }))
}

fn trees() -> impl Strategy<Value = Node> {
    terms().prop_recursive(8, 40, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Node::All),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Node::Any),
            inner.prop_map(|node| Node::Not(Box::new(node))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_is_printed_and_parsed_as_itself(tree in trees()) {
        let query = Query::new(tree);
        if !query.is_empty() {
            check_canonical(query.root(), 0);
        }
        prop_assert_eq!(&Query::new(query.root().clone()), &query);
        prop_assert_eq!(&Query::parse(&query.to_string()), &query, "{}", query);
    }

    #[test]
    fn a_text_is_a_question_and_printing_it_loses_nothing(text in texts()) {
        check_text(&text);
    }

    #[test]
    fn any_text_is_a_question(text in any::<String>()) {
        check_text(&text);
    }
}

/// `HERMES_FUZZ=100000` tries that many texts.
#[test]
fn random_texts_are_questions() {
    let count = std::env::var("HERMES_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000u64);
    for seed in 0..count {
        let mut random = fastrand::Rng::with_seed(seed);
        let length = random.usize(..60);
        let text: String = (0..length).map(|_| BITS[random.usize(..BITS.len())]).collect();
        check_text(&text);
    }
}

/// Most of these would take many minutes if the time were quadratic in the length.
#[test]
fn long_texts_end() {
    let long = |bit: &str, count: usize| bit.repeat(count);
    let many: String = (0..100_000).map(|number| format!("w{number} ")).collect();
    let either: String = (0..100_000).map(|number| format!("w{number} OR ")).collect();
    for (text, parts) in [
        (long("(", 1_000_000), 1),
        (long(")", 1_000_000), 1),
        (long("( ", 50_000), 1),
        (long("(a ", 50_000), 1),
        (long("(a OR ", 50_000), 2),
        (long("( ", 50_000) + &long(") ", 50_000), 2),
        (long("(", 500_000) + "a" + &long(")", 500_000), 1),
        (long("(a ", 50_000) + &long("b) ", 50_000), 4),
        (long("()", 500_000), 1),
        (long("f(", 500_000), 1),
        (long(")OR(", 50_000), 1),
        (long("(a)OR", 50_000), 2),
        (long("NOT(", 50_000), 1),
        (long("\"", 1_000_000), 1),
        (long("\"", 1_000_001), 1),
        (long("\" ", 500_000), 0),
        (long("\"a \"\"b ", 50_000), 3),
        (format!("\"x {}", long("\"\"y ", 50_000)), 2),
        (format!("\"x {}", long("NOT\"\"y ", 50_000)), 2),
        (long("“a ", 50_000), 1),
        (long("NOT“a ", 50_000), 1),
        (long("“a”b ", 50_000), 1),
        (long("*", 1_000_000), 1),
        (long("a*", 500_000), 1),
        (long("NOT ", 200_000), 1),
        (long("NOT ", 200_000) + "a", 2),
        (format!("\"\" {}a", long("NOT ", 200_000)), 1),
        (long("OR ", 50_000), 1),
        (long("a OR ", 50_000), 2),
        (long("\0", 1_000_000), 0),
        (many, 100_000),
        (either, 100_000),
    ] {
        let query = Query::parse(&text);
        let found = match query.root() {
            Node::All(parts) | Node::Any(parts) => parts.len(),
            Node::Term(_) | Node::Not(_) => 1,
        };
        assert_eq!(found, parts, "{}…", text.chars().take(20).collect::<String>());
        assert_eq!(Query::parse(&query.to_string()), query);
    }
}
