//! Parser: from terms, operators and groups to a tree. `NOT` binds tighter than `AND`, and `AND` tighter than `OR`.

use super::canonical::{Join, negate};
use super::lex::{Item, Operator, lex};
use super::{Node, Term};

/// A group that is not closed yet, or the whole query.
#[derive(Default)]
struct Frame {
    /// Completed operands of the `OR`s so far.
    alternatives: Vec<Node>,
    /// Parts since the last `OR`.
    parts: Vec<Node>,
    /// Whether the next part is negated.
    is_negated: bool,
}

impl Frame {
    /// Takes a part; `None` stands for an empty one, which is dropped together with its operators.
    fn take(&mut self, node: Option<Node>) {
        let is_negated = std::mem::take(&mut self.is_negated);
        self.parts.extend(node.map(|node| if is_negated { negate(node) } else { node }));
    }

    fn next_alternative(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        self.alternatives.extend(Join::All.parts(parts));
    }

    fn node(mut self) -> Option<Node> {
        self.next_alternative();
        Join::Any.parts(self.alternatives)
    }
}

/// Parses a text to a tree in canonical form; `None` if the query is empty.
pub(super) fn parse(text: &str) -> Option<Node> {
    let mut items = lex(text);
    settle_operators(&mut items);
    // As deep as groups are nested, which `lex` limits to `MAX_DEPTH`.
    let mut outer = Vec::new();
    let mut frame = Frame::default();
    for item in items {
        match item {
            Item::Term(term) => frame.take(Some(Node::Term(term))),
            Item::Nothing => frame.take(None),
            Item::Operator(Operator::And) => {}
            Item::Operator(Operator::Or) => frame.next_alternative(),
            Item::Operator(Operator::Not) => frame.is_negated = !frame.is_negated,
            Item::Open => outer.push(std::mem::take(&mut frame)),
            Item::Close => {
                let group = std::mem::replace(&mut frame, outer.pop().unwrap_or_default());
                frame.take(group.node());
            }
        }
    }
    frame.node()
}

/// Turns operators without operands into terms. Every operator needs an operand on both sides: a term or a group. A
/// `NOT` may also follow an operator that has its left operand, and counts with its own operand as one.
fn settle_operators(items: &mut [Item]) {
    let has_left = left_operands(items);
    let mut begins_operand = false;
    for at in (0..items.len()).rev() {
        begins_operand = match items[at] {
            Item::Term(_) | Item::Nothing | Item::Open => true,
            Item::Close => false,
            Item::Operator(operator) => {
                let joins = begins_operand && has_left[at];
                if !joins {
                    items[at] = Item::Term(Term { text: operator.word().to_owned(), is_prefix: false });
                }
                // Irrelevant after AND and OR: those count as text if another AND or OR follows.
                joins
            }
        };
    }
}

/// Returns for each item whether it has a left operand, as an operator needs one.
fn left_operands(items: &[Item]) -> Vec<bool> {
    let mut found = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        found.push(match at.checked_sub(1).map(|before| &items[before]) {
            Some(Item::Term(_) | Item::Nothing | Item::Close) => true,
            Some(Item::Operator(_)) => matches!(item, Item::Operator(Operator::Not)) && found[at - 1],
            Some(Item::Open) | None => false,
        });
    }
    found
}
