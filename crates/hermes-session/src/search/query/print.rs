//! Prints a query as text that parses to the same query.

use super::lex::Operator;
use super::{Node, Query, Term, is_blank};
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for Query {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write_group(&self.root, out)
    }
}

impl Display for Term {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_plain(&self.text) {
            out.write_str(&self.text)?;
        } else {
            write!(out, "\"{}\"", self.text.replace('"', "\"\""))?;
        }
        out.write_str(if self.is_prefix { "*" } else { "" })
    }
}

fn write_node(node: &Node, out: &mut Formatter<'_>) -> fmt::Result {
    match node {
        Node::Term(term) => write!(out, "{term}"),
        Node::All(parts) => write_parts(parts, " ", |part| matches!(part, Node::Any(_)), out),
        Node::Any(parts) => write_parts(parts, " OR ", |_| false, out),
        Node::Not(inner) => {
            out.write_str("NOT ")?;
            write_part(inner, !matches!(**inner, Node::Term(_)), out)
        }
    }
}

fn write_parts(parts: &[Node], between: &str, is_grouped: fn(&Node) -> bool, out: &mut Formatter<'_>) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        out.write_str(if at > 0 { between } else { "" })?;
        write_part(part, is_grouped(part), out)?;
    }
    Ok(())
}

fn write_part(part: &Node, is_grouped: bool, out: &mut Formatter<'_>) -> fmt::Result {
    if !is_grouped {
        return write_node(part, out);
    }
    out.write_char('(')?;
    write_group(part, out)?;
    out.write_char(')')
}

/// Writes the whole query or a group. A `NOT` at its start needs a left operand; a blank literal is one and matches
/// everything.
fn write_group(node: &Node, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_str(if starts_with_not(node) { "\"\" " } else { "" })?;
    write_node(node, out)
}

fn starts_with_not(node: &Node) -> bool {
    match node {
        Node::Term(_) => false,
        Node::Not(_) => true,
        // An OR within an AND begins with a parenthesis.
        Node::All(parts) => matches!(parts.first(), Some(Node::Not(_))),
        Node::Any(parts) => parts.first().is_some_and(starts_with_not),
    }
}

/// Returns whether a term needs no quotes, wherever it stands.
fn is_plain(text: &str) -> bool {
    let is_operator = Operator::at_start(text)
        .is_some_and(|operator| matches!(text[operator.word().len()..].chars().next(), None | Some('(' | '"' | '“')));
    !text.starts_with(['(', '"', '“'])
        && !text.ends_with('*')
        && !text.contains(is_blank)
        && !is_operator
        && is_balanced(text)
}

/// Returns whether each parenthesis has its counterpart.
fn is_balanced(text: &str) -> bool {
    let mut open = 0usize;
    for character in text.chars() {
        match character {
            '(' => open += 1,
            ')' if open == 0 => return false,
            ')' => open -= 1,
            _ => {}
        }
    }
    open == 0
}
