//! Parsing of texts.

mod trees;

use super::{MAX_DEPTH, Node, Query, Term};

/// Prints a tree: `all`, `any`, `not`, and terms in quotes that nobody types.
fn show(node: &Node) -> String {
    let list = |parts: &[Node]| parts.iter().map(show).collect::<Vec<_>>().join(" ");
    match node {
        Node::Term(Term { text, is_prefix }) => format!("‹{text}›{}", if *is_prefix { "*" } else { "" }),
        Node::All(parts) => format!("all[{}]", list(parts)),
        Node::Any(parts) => format!("any[{}]", list(parts)),
        Node::Not(inner) => format!("not[{}]", show(inner)),
    }
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (text, expected) in table {
        let query = Query::parse(text);
        assert_eq!(show(query.root()), *expected, "of {text:?}");
        assert_eq!(Query::parse(&query.to_string()), query, "{text:?} printed as {query}");
    }
}

#[test]
fn words_are_joined_by_and() {
    check(&[
        ("", "all[]"),
        (" \t\n\u{3000}\0\u{85} ", "all[]"),
        ("hello", "‹hello›"),
        ("hello world", "all[‹hello› ‹world›]"),
        ("a\u{3000}b\0c\u{a0}d\u{1b}e", "all[‹a› ‹b› ‹c› ‹d› ‹e›]"),
        ("大别山\u{3000}项目 🦀", "all[‹大别山› ‹项目› ‹🦀›]"),
        ("a AND b", "all[‹a› ‹b›]"),
        ("a AND b c", "all[‹a› ‹b› ‹c›]"),
    ]);
}

#[test]
fn operators_bind_not_then_and_then_or() {
    check(&[
        ("a OR b", "any[‹a› ‹b›]"),
        ("a OR b c", "any[‹a› all[‹b› ‹c›]]"),
        ("a b OR c AND d", "any[all[‹a› ‹b›] all[‹c› ‹d›]]"),
        ("a NOT b", "all[‹a› not[‹b›]]"),
        ("a AND NOT b", "all[‹a› not[‹b›]]"),
        ("\"\" NOT a b", "all[not[‹a›] ‹b›]"),
        ("\"\" NOT a OR b", "any[not[‹a›] ‹b›]"),
        ("a OR NOT b c", "any[‹a› all[not[‹b›] ‹c›]]"),
        ("\"\" NOT NOT a", "‹a›"),
        ("\"\" NOT NOT NOT a", "not[‹a›]"),
        ("\"\" NOT (a OR b)", "not[any[‹a› ‹b›]]"),
        ("\"\" NOT (a b)", "not[all[‹a› ‹b›]]"),
        ("\"\" NOT (\"\" NOT (a OR b))", "any[‹a› ‹b›]"),
    ]);
}

#[test]
fn an_operator_with_nothing_to_join_is_text() {
    check(&[
        ("AND", "‹AND›"),
        ("OR", "‹OR›"),
        ("NOT", "‹NOT›"),
        ("OR a", "all[‹OR› ‹a›]"),
        ("AND a OR b", "any[all[‹AND› ‹a›] ‹b›]"),
        ("a AND", "all[‹a› ‹AND›]"),
        ("a OR", "all[‹a› ‹OR›]"),
        ("a NOT", "all[‹a› ‹NOT›]"),
        ("a OR NOT", "all[‹a› ‹OR› ‹NOT›]"),
        ("OR OR", "‹OR›"),
        ("NOT NOT", "‹NOT›"),
        ("a OR OR b", "all[‹a› ‹OR› ‹b›]"),
        ("a OR AND b", "all[‹a› ‹OR› ‹AND› ‹b›]"),
        ("NOT OR a", "all[‹NOT› ‹OR› ‹a›]"),
        ("NOT NULL", "all[‹NOT› ‹NULL›]"),
        ("OR ELSE", "all[‹OR› ‹ELSE›]"),
        ("NOT a OR b", "any[all[‹NOT› ‹a›] ‹b›]"),
        ("NOT NOT a", "all[‹NOT› ‹a›]"),
        ("NOT a NOT b", "all[‹NOT› ‹a› not[‹b›]]"),
        ("NOT (a OR b)", "all[‹NOT› any[‹a› ‹b›]]"),
        ("NOT \"x y\"", "all[‹NOT› ‹x y›]"),
        ("a (NOT b)", "all[‹a› ‹NOT› ‹b›]"),
        ("OR NOT a", "all[‹OR› ‹NOT› ‹a›]"),
        ("a OR AND NOT b", "all[‹a› ‹OR› ‹AND› ‹NOT› ‹b›]"),
        ("a OR NOT NOT b", "any[‹a› ‹b›]"),
        ("(OR)", "‹OR›"),
        ("(a OR) b", "all[‹a› ‹OR› ‹b›]"),
        ("(OR a) OR b", "any[all[‹OR› ‹a›] ‹b›]"),
        ("a and b or not c", "all[‹a› ‹and› ‹b› ‹or› ‹not› ‹c›]"),
        ("And Or Not", "all[‹And› ‹Or› ‹Not›]"),
        ("ANDROID NOTE ORDER", "all[‹ANDROID› ‹NOTE› ‹ORDER›]"),
        ("\"OR\" OR \"AND\"", "any[‹OR› ‹AND›]"),
        ("a \"NOT\" b", "all[‹a› ‹NOT› ‹b›]"),
        ("a NOT, b", "all[‹a› ‹NOT,› ‹b›]"),
        ("NOT* x", "all[‹NOT›* ‹x›]"),
    ]);
}

#[test]
fn operators_count_beside_parentheses_and_quotes() {
    check(&[
        ("\"\" NOT(a OR b)", "not[any[‹a› ‹b›]]"),
        ("a NOT(b)", "all[‹a› not[‹b›]]"),
        ("\"\"NOT\"x y\"", "not[‹x y›]"),
        ("a NOT\"x y\"", "all[‹a› not[‹x y›]]"),
        ("(a OR b)AND(c OR d)", "all[any[‹a› ‹b›] any[‹c› ‹d›]]"),
        ("(a b)OR(c d)", "any[all[‹a› ‹b›] all[‹c› ‹d›]]"),
        ("(a b)OR c", "any[all[‹a› ‹b›] ‹c›]"),
        ("(a)OR\"c d\"", "any[‹a› ‹c d›]"),
        ("\"a b\"OR\"c d\"", "any[‹a b› ‹c d›]"),
        ("\"a b\"OR c", "any[‹a b› ‹c›]"),
        ("(a OR b)NOT(c)", "all[any[‹a› ‹b›] not[‹c›]]"),
        ("b NOT(\"\" NOT(a))", "all[‹b› ‹a›]"),
        ("(a ( ))OR(b)", "any[all[‹a› ‹(› ‹)›] ‹b›]"),
        ("( ())OR(b)", "any[‹()› ‹b›]"),
        ("(a OR b)AND", "all[any[‹a› ‹b›] ‹AND›]"),
        ("(\"\" NOT a)", "not[‹a›]"),
        ("(\"\" NOT(a OR b) c)", "all[not[any[‹a› ‹b›]] ‹c›]"),
        ("a NOT“x y”", "all[‹a› not[‹x y›]]"),
        // Not if the parenthesis does not group or the quote does not close.
        ("NOT(a", "‹NOT(a›"),
        ("NOT\"x", "‹NOT\"x›"),
        ("NOT()", "‹NOT()›"),
        ("f(x)OR(y)", "‹f(x)OR(y)›"),
        ("f(x)OR b", "all[‹f(x)OR› ‹b›]"),
        ("a)OR(b)", "‹a)OR(b)›"),
        ("()OR(b)", "‹()OR(b)›"),
        ("( )OR(b)", "all[‹(› ‹)OR(b)›]"),
        ("(( )OR(b))", "all[‹(› ‹)OR(b)›]"),
        ("(a ()OR(b))", "all[‹a› ‹()OR(b)›]"),
        ("()OR b", "all[‹()OR› ‹b›]"),
        ("( )OR b", "all[‹(› ‹)OR› ‹b›]"),
        ("(( )OR b)", "all[‹(› ‹)OR› ‹b›]"),
        ("(a ())OR b", "any[all[‹a› ‹()›] ‹b›]"),
        ("(NOT a", "all[‹(NOT› ‹a›]"),
        ("a(NOT b)", "all[‹a(NOT› ‹b)›]"),
        ("(a)ORDER", "‹(a)ORDER›"),
        // It has no left operand.
        ("OR(a)", "all[‹OR› ‹a›]"),
        ("NOT(a)", "all[‹NOT› ‹a›]"),
        ("NOT\"x y\"", "all[‹NOT› ‹x y›]"),
    ]);
}

#[test]
fn parentheses_group_at_the_borders_of_chunks() {
    check(&[
        ("(a)", "‹a›"),
        ("(a OR b) c", "all[any[‹a› ‹b›] ‹c›]"),
        ("( a OR b ) c", "all[any[‹a› ‹b›] ‹c›]"),
        ("((a OR b) c) OR d", "any[all[any[‹a› ‹b›] ‹c›] ‹d›]"),
        ("(a (b (c OR d)))", "all[‹a› ‹b› any[‹c› ‹d›]]"),
        ("(f(x) OR g)", "any[‹f(x)› ‹g›]"),
        ("(g OR f(x))", "any[‹g› ‹f(x)›]"),
        ("(g OR main())", "any[‹g› ‹main()›]"),
        ("(a)(b)", "‹(a)(b)›"),
        ("(\"a b\" OR c*)", "any[‹a b› ‹c›*]"),
        ("(c OR \"a b\")", "any[‹c› ‹a b›]"),
        ("(c OR \"a b\"*)", "any[‹c› ‹a b›*]"),
    ]);
}

#[test]
fn other_parentheses_are_text() {
    check(&[
        ("main()", "‹main()›"),
        ("f(x) print(x)", "all[‹f(x)› ‹print(x)›]"),
        ("f(g(x), y)", "all[‹f(g(x),› ‹y)›]"),
        (":) (:", "all[‹:)› ‹(:›]"),
        ("foo(bar", "‹foo(bar›"),
        ("foo)bar", "‹foo)bar›"),
        ("(", "‹(›"),
        (")", "‹)›"),
        ("()", "‹()›"),
        ("( )", "all[‹(› ‹)›]"),
        ("(())", "‹(())›"),
        (")(", "‹)(›"),
        ("()()", "‹()()›"),
        ("a ())", "all[‹a› ‹())›]"),
        ("(a ())", "all[‹a› ‹()›]"),
        ("(() a)", "all[‹()› ‹a›]"),
        ("(a", "‹(a›"),
        ("a)", "‹a)›"),
        ("(a b", "all[‹(a› ‹b›]"),
        ("a b)", "all[‹a› ‹b)›]"),
        ("((a b) OR c", "any[all[‹(a› ‹b›] ‹c›]"),
        ("(a b)) OR c", "any[all[‹a› ‹b)›] ‹c›]"),
        ("(a (b) OR c", "any[all[‹(a› ‹b›] ‹c›]"),
        ("(void)foo(a, b)", "all[‹(void)foo(a,› ‹b)›]"),
        ("((void)x OR y)", "any[‹(void)x› ‹y›]"),
        ("(\"a b\" c", "all[‹(› ‹a b› ‹c›]"),
        ("\"a b\") c", "all[‹a b› ‹)› ‹c›]"),
        ("(a OR b)c", "any[‹(a› ‹b)c›]"),
        ("（a OR b）", "any[‹（a› ‹b）›]"),
    ]);
}

#[test]
fn groups_that_are_nested_too_deep_are_text() {
    let nested = |depth: usize| format!("{}a b{}", "x (".repeat(depth), ")".repeat(depth));
    // Without operators a group has no effect, so only its parentheses would be visible.
    assert_eq!(show(Query::parse(&nested(MAX_DEPTH)).root()), "all[‹x› ‹a› ‹b›]");
    assert_eq!(show(Query::parse(&nested(MAX_DEPTH + 1)).root()), "all[‹x› ‹(a› ‹b)›]");
    let run = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    check(&[(&run(MAX_DEPTH), "‹a›"), (&run(MAX_DEPTH + 2), "‹((a))›")]);
    // Parentheses that are never closed do not count.
    check(&[(&format!("{} (a OR b) c", "( ".repeat(MAX_DEPTH + 1)), "all[‹(› any[‹a› ‹b›] ‹c›]")]);
}

#[test]
fn quotes_hold_a_literal() {
    check(&[
        ("\"a b\"", "‹a b›"),
        ("\"a  \n b\" c", "all[‹a  \n b› ‹c›]"),
        ("\"  a b \t\"", "‹a b›"),
        ("\"a\0b\"", "‹a\0b›"),
        ("\"say \"\"hi\"\" now\"", "‹say \"hi\" now›"),
        ("\"\"\"\"", "‹\"›"),
        ("\"\"\"a\"\"\"", "‹\"a\"›"),
        ("\"a b\"*", "‹a b›*"),
        ("\"a b\"***", "‹a b›*"),
        ("\"a*\"", "‹a*›"),
        ("\"a*\"*", "‹a*›*"),
        ("\"*\"", "‹*›"),
        ("\"a\"b", "all[‹a› ‹b›]"),
        ("\"a\"*b", "all[‹a›* ‹b›]"),
        ("\"a\"(b OR c)", "all[‹a› any[‹b› ‹c›]]"),
        ("\"(a OR b)\"", "‹(a OR b)›"),
        ("\"unbalanced", "‹\"unbalanced›"),
        ("\"a b", "all[‹\"a› ‹b›]"),
        ("\"", "‹\"›"),
        ("\"\"\"", "‹\"\"\"›"),
        ("5\"", "‹5\"›"),
        ("5\" 3\"", "all[‹5\"› ‹3\"›]"),
        ("key=\"value\"", "‹key=\"value\"›"),
        ("key=\"a b\"", "all[‹key=\"a› ‹b\"›]"),
    ]);
}

#[test]
fn typographic_quotes_hold_one_at_the_borders_of_chunks() {
    check(&[
        ("“a b”", "‹a b›"),
        ("“a b”*", "‹a b›*"),
        ("(“a b” OR “c d”)", "any[‹a b› ‹c d›]"),
        ("“a \"b\" c”", "‹a \"b\" c›"),
        ("“a”b c”", "‹a”b c›"),
        ("“a b", "all[‹“a› ‹b›]"),
        ("a b”", "all[‹a› ‹b”›]"),
        ("x“a b”", "all[‹x“a› ‹b”›]"),
        ("“a”b", "‹“a”b›"),
        ("“ ” a", "‹a›"),
    ]);
}

#[test]
fn a_blank_literal_asks_for_nothing() {
    check(&[
        ("\"\"", "all[]"),
        ("\"  \"", "all[]"),
        ("\"\"*", "all[]"),
        ("a \"\"", "‹a›"),
        ("\"\" a", "‹a›"),
        ("a OR \"\"", "‹a›"),
        ("\"\" OR a", "‹a›"),
        ("a AND \"\" OR b", "any[‹a› ‹b›]"),
        ("\"\" NOT \"\"", "all[]"),
        ("a NOT \"\" b", "all[‹a› ‹b›]"),
        ("a (\"\") b", "all[‹a› ‹b›]"),
        ("a OR (\"\" OR NOT \"\") OR b", "any[‹a› ‹b›]"),
        ("\"\" NOT (\"\") a", "‹a›"),
        ("\"\"foo\"\"", "‹foo\"\"›"),
    ]);
}

#[test]
fn a_star_at_the_end_makes_a_prefix() {
    check(&[
        ("pre*", "‹pre›*"),
        ("pre***", "‹pre›*"),
        ("chat-send*", "‹chat-send›*"),
        ("大别*", "‹大别›*"),
        ("*", "‹*›"),
        ("***", "‹***›"),
        ("*a", "‹*a›"),
        ("a*b", "‹a*b›"),
        ("**a**", "‹**a›*"),
        ("*.rs", "‹*.rs›"),
        ("(a* OR b*)", "any[‹a›* ‹b›*]"),
        ("(*)", "‹*›"),
        ("a*)", "‹a*)›"),
        ("f()*", "‹f()›*"),
        ("a *", "all[‹a› ‹*›]"),
        ("a a*", "all[‹a› ‹a›*]"),
    ]);
}

#[test]
fn punctuation_is_text() {
    for text in [
        "rm -rf",
        "-word",
        "+word",
        "C++",
        "{a}",
        "^a",
        "content:word",
        "error:",
        "a,b;c",
        "src/main.rs",
        "a\\b",
        "user@example.com",
        "#tag",
        "$HOME",
        "50%",
        "a&b",
        "a=b",
        "<a>",
        "panic?",
        "hello!",
        "[a]",
        "a|b",
        "~a",
        "don't",
        "`a`",
        "v1.2.3",
        "_x",
        "x_",
        "...",
        "-",
        "--",
        "a.b.",
        "not-found",
        "é",
        "🦀",
    ] {
        let query = Query::parse(text);
        let words: Vec<_> = query.terms().into_iter().map(|term| (term.text.as_str(), term.is_prefix)).collect();
        assert_eq!(words, text.split(' ').map(|word| (word, false)).collect::<Vec<_>>());
        assert_eq!(query.to_string(), text, "no quotes are needed");
    }
}

/// The agent's search drops, misreads or rejects most of these.
#[test]
fn what_the_agent_gets_wrong_is_understood() {
    check(&[
        ("hello AND", "all[‹hello› ‹AND›]"),
        ("AND OR hello", "all[‹AND› ‹OR› ‹hello›]"),
        ("not working", "all[‹not› ‹working›]"),
        ("not-found error", "all[‹not-found› ‹error›]"),
        ("C++", "‹C++›"),
        ("chat-send*", "‹chat-send›*"),
        ("(a OR b) AND c", "all[any[‹a› ‹b›] ‹c›]"),
        ("NEAR(a b)", "all[‹NEAR(a› ‹b)›]"),
        ("\"unbalanced", "‹\"unbalanced›"),
        ("NOT", "‹NOT›"),
        ("a.b.", "‹a.b.›"),
        ("user@example.com", "‹user@example.com›"),
        ("don't", "‹don't›"),
        ("hello!", "‹hello!›"),
        ("foo, bar", "all[‹foo,› ‹bar›]"),
        ("error: failed", "all[‹error:› ‹failed›]"),
        ("foo/bar", "‹foo/bar›"),
        ("50%", "‹50%›"),
        ("panic?", "‹panic?›"),
        ("content:word", "‹content:word›"),
        ("大别山 AI", "all[‹大别山› ‹AI›]"),
        ("大别山*", "‹大别山›*"),
        ("\"大别山\" 项目的", "all[‹大别山› ‹项目的›]"),
        ("\"大别山 项目\"", "‹大别山 项目›"),
        ("广西 AND 桂林", "all[‹广西› ‹桂林›]"),
        ("广西 NOT 桂林", "all[‹广西› not[‹桂林›]]"),
        ("foo 大-别", "all[‹foo› ‹大-别›]"),
    ]);
}
