//! Canonical form, depth, predicates and printing of queries.

use super::super::{MAX_DEPTH, Node, Query, Term};
use super::{check, show};

fn term(text: &str) -> Node {
    Node::Term(Term { text: text.into(), is_prefix: false })
}

fn not(node: Node) -> Node {
    Node::Not(Box::new(node))
}

#[test]
fn equal_parts_are_kept_once() {
    check(&[
        ("a b a", "all[‹a› ‹b›]"),
        ("a A", "all[‹a› ‹A›]"),
        ("a OR a", "‹a›"),
        ("a a*", "all[‹a› ‹a›*]"),
        ("(a OR b) (a OR b)", "any[‹a› ‹b›]"),
        ("(a OR b) c (a OR b)", "all[any[‹a› ‹b›] ‹c›]"),
        ("a (b OR b) OR c", "any[all[‹a› ‹b›] ‹c›]"),
        ("a \"a\"", "‹a›"),
        ("(a b) c (a c)", "all[‹a› ‹b› ‹c›]"),
    ]);
}

#[test]
fn a_tree_is_brought_to_canonical_form() {
    let new = |node| show(Query::new(node).root());
    assert_eq!(new(Node::All(vec![])), "all[]");
    assert_eq!(new(Node::Any(vec![])), "all[]");
    assert_eq!(new(not(Node::Any(vec![]))), "all[]");
    assert_eq!(new(term(" \0 ")), "all[]");
    assert_eq!(new(term(" a b\n")), "‹a b›");
    assert_eq!(new(Node::All(vec![term("a")])), "‹a›");
    assert_eq!(new(not(not(not(term("a"))))), "not[‹a›]");
    assert_eq!(new(not(Node::Any(vec![not(term("a"))]))), "‹a›");
    assert_eq!(new(Node::Any(vec![term("a"), term(""), Node::Any(vec![term("b"), term("a")])])), "any[‹a› ‹b›]");
    assert_eq!(new(not(Node::All(vec![term(""), not(Node::All(vec![term("a"), term("b")]))]))), "all[‹a› ‹b›]");
    let inner = Node::Any(vec![term("b"), term("b")]);
    assert_eq!(new(Node::All(vec![term("a"), inner, Node::All(vec![term("c"), term("a")])])), "all[‹a› ‹b› ‹c›]");
    let double = Node::All(vec![term("x"), not(not(Node::All(vec![term("y"), term("z")])))]);
    assert_eq!(new(double), "all[‹x› ‹y› ‹z›]");
}

/// Returns a tree with an OR in an AND in an OR and so on, with the given depth of groups when printed.
fn nested(depth: usize) -> Node {
    (0..depth).fold(Node::Any(vec![term("x"), term("y")]), |inner, level| {
        let all = Node::All(vec![term(&format!("a{level}")), inner]);
        Node::Any(vec![term(&format!("o{level}")), all])
    })
}

#[test]
fn a_tree_is_kept_down_to_the_greatest_depth() {
    let negated = |depth| (0..depth).fold(term("x"), |inner, _| not(Node::All(vec![term("a"), inner])));
    for tree in [nested(MAX_DEPTH), Node::All(vec![term("r"), nested(MAX_DEPTH - 1)]), negated(MAX_DEPTH)] {
        let query = Query::new(tree.clone());
        assert_eq!(*query.root(), tree);
        assert_eq!(Query::parse(&query.to_string()), query);
    }
    for tree in [nested(MAX_DEPTH + 1), Node::All(vec![term("r"), nested(MAX_DEPTH)]), negated(MAX_DEPTH + 1)] {
        let query = Query::new(tree.clone());
        assert_ne!(*query.root(), tree);
        assert_eq!(Query::parse(&query.to_string()), query);
    }
    let cut = Query::new(nested(MAX_DEPTH + 1)).to_string();
    assert!(cut.contains("a0") && !cut.contains('x'), "the innermost part alone is left out: {cut}");
}

#[test]
fn no_depth_overflows_the_stack() {
    const DEPTH: usize = 100_000;
    let lists = (0..DEPTH).fold(term("a"), |inner, level| Node::All(vec![term(&level.to_string()), inner]));
    assert_eq!(Query::new(lists).terms().len(), DEPTH + 1);
    let hollow = (0..DEPTH)
        .fold(term("a"), |inner, level| Node::Any(vec![term(&level.to_string()), Node::All(vec![term(""), inner])]));
    assert!(!Query::new(hollow).is_empty());
    let negations = (0..DEPTH).fold(term("a"), |inner, _| not(inner));
    assert_eq!(show(Query::new(negations).root()), "‹a›");
    let single = (0..DEPTH).fold(term("a"), |inner, _| Node::All(vec![Node::Any(vec![inner])]));
    assert_eq!(show(Query::new(single).root()), "‹a›");
    let query = Query::new(nested(DEPTH));
    assert_eq!(Query::parse(&query.to_string()), query);
}

#[test]
fn terms_are_those_that_are_asked_for() {
    let terms = |text: &str| -> Vec<String> { Query::parse(text).terms().iter().map(ToString::to_string).collect() };
    assert_eq!(terms("b a* OR (c NOT d) b NOT (e NOT f)"), ["b", "a*", "c"]);
    assert_eq!(terms("(a OR b) (a OR c)"), ["a", "b", "c"]);
    assert!(terms("").is_empty());
    for (text, is_negative) in [
        ("", true),
        ("a", false),
        ("NOT a", false),
        ("\"\" NOT a", true),
        ("\"\" NOT a NOT b", true),
        ("\"\" NOT a OR NOT b", true),
        ("\"\" NOT (a b)", true),
        ("\"\" NOT a b", false),
        ("\"\" NOT a OR b", false),
        ("\"\" NOT NOT a", false),
        ("NOT", false),
        ("\"\"", true),
    ] {
        assert_eq!(Query::parse(text).is_negative(), is_negative, "{text}");
    }
}

#[test]
fn it_is_printed_with_as_little_as_is_needed() {
    for (text, printed) in [
        ("a AND b", "a b"),
        ("(a b) OR (c)", "a b OR c"),
        ("\"\" NOT(a OR b)", "\"\" NOT (a OR b)"),
        ("a NOT(\"\" NOT b c)", "a NOT (\"\" NOT b c)"),
        ("NOT a", "\"NOT\" a"),
        ("\"\" NOT a b OR c", "\"\" NOT a b OR c"),
        ("c OR NOT a b", "c OR NOT a b"),
        ("\"word\" \"two words\"*", "word \"two words\"*"),
        ("“a b” ", "\"a b\""),
        ("a OR", "a \"OR\""),
        ("main() (a", "main() \"(a\""),
        ("5\" key=\"value\"", "5\" key=\"value\""),
        ("\"unbalanced", "\"\"\"unbalanced\""),
        ("a* \"a*\"", "a* \"a*\""),
        ("", ""),
    ] {
        assert_eq!(Query::parse(text).to_string(), printed);
    }
}
