//! Canonical form: one tree of the many with the same meaning.

use super::{MAX_DEPTH, Node, Term, is_blank};
use std::collections::HashSet;

/// Operator that joins parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    All,
    Any,
}

impl Join {
    /// Joins parts in canonical form; `None` if there are none.
    pub(super) fn parts(self, parts: Vec<Node>) -> Option<Node> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match (self, part) {
                (Self::All, Node::All(inner)) | (Self::Any, Node::Any(inner)) => flat.extend(inner),
                (_, part) => flat.push(part),
            }
        }
        keep_once(&mut flat);
        if flat.len() < 2 {
            return flat.pop();
        }
        Some(match self {
            Self::All => Node::All(flat),
            Self::Any => Node::Any(flat),
        })
    }
}

fn keep_once(parts: &mut Vec<Node>) {
    let mut seen = HashSet::with_capacity(parts.len());
    let is_first: Vec<bool> = parts.iter().map(|part| seen.insert(part)).collect();
    let mut is_first = is_first.into_iter();
    parts.retain(|_| is_first.next().unwrap_or(true));
}

/// Returns the negation of a part in canonical form.
pub(super) fn negate(node: Node) -> Node {
    match node {
        Node::Not(inner) => *inner,
        node => Node::Not(Box::new(node)),
    }
}

/// Returns a term without surrounding blanks; `None` if it is blank.
pub(super) fn term(text: &str, is_prefix: bool) -> Option<Term> {
    let text = text.trim_matches(is_blank);
    (!text.is_empty()).then(|| Term { text: text.to_owned(), is_prefix })
}

/// A part whose own parts are being processed.
struct Frame {
    join: Join,
    is_negated: bool,
    /// Number of parentheses around it when it is printed.
    depth: usize,
    /// Parts still to be processed, the next one last.
    todo: Vec<(Node, bool)>,
    done: Vec<Node>,
}

impl Frame {
    fn new(join: Join, is_negated: bool, depth: usize, parts: Vec<Node>) -> Self {
        let todo = parts.into_iter().rev().map(|part| (part, false)).collect();
        Self { join, is_negated, depth, todo, done: Vec::new() }
    }

    fn node(self) -> Option<Node> {
        let node = self.join.parts(self.done)?;
        Some(if self.is_negated { negate(node) } else { node })
    }
}

/// Brings a tree to canonical form. It is processed from the top, with a stack instead of recursion, because its depth
/// is not bounded.
pub(super) fn canonical(root: Node) -> Option<Node> {
    let mut frames = vec![Frame::new(Join::All, false, 0, vec![root])];
    loop {
        let is_outermost = frames.len() == 1;
        let frame = frames.last_mut()?;
        let Some((node, is_negated)) = frame.todo.pop() else {
            let node = frames.pop()?.node();
            let Some(outer) = frames.last_mut() else { return node };
            outer.done.extend(node);
            continue;
        };
        let (join, mut parts) = match node {
            Node::Term(Term { text, is_prefix }) => {
                let node = term(&text, is_prefix).map(Node::Term);
                frame.done.extend(node.map(|node| if is_negated { negate(node) } else { node }));
                continue;
            }
            Node::Not(inner) => {
                frame.todo.push((*inner, !is_negated));
                continue;
            }
            Node::All(parts) => (Join::All, parts),
            Node::Any(parts) => (Join::Any, parts),
        };
        if parts.len() == 1 {
            frame.todo.extend(parts.pop().map(|part| (part, is_negated)));
        } else if join == frame.join && !is_negated {
            frame.todo.extend(parts.into_iter().rev().map(|part| (part, false)));
        } else {
            // An OR among other parts of an AND needs parentheses, an AND in an OR does not; a negated group always
            // does.
            let is_alone = is_outermost && frame.todo.is_empty() && frame.done.is_empty();
            let needs_parentheses = is_negated || (join == Join::Any && !is_alone);
            let depth = frame.depth + usize::from(needs_parentheses);
            if depth <= MAX_DEPTH {
                frames.push(Frame::new(join, is_negated, depth, parts));
            } else {
                discard(parts);
            }
        }
    }
}

/// Drops trees of any depth.
fn discard(mut nodes: Vec<Node>) {
    while let Some(node) = nodes.pop() {
        match node {
            Node::Term(_) => {}
            Node::All(parts) | Node::Any(parts) => nodes.extend(parts),
            Node::Not(inner) => nodes.push(*inner),
        }
    }
}
