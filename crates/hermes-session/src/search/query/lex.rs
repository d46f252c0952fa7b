//! Lexer: from text to terms, operators and groups.
//!
//! A chunk is the text between blanks. Whether a parenthesis groups is known only at the end of the text, so there are
//! three steps: `pieces` cuts chunks and pairs parentheses, `settle_depth` turns pairs that are nested too deep into
//! text, and then adjacent text becomes one term.

mod pieces;

use super::Term;
use super::canonical::term;
use pieces::{Kind, Piece, pieces};

/// Token of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Term(Term),
    /// A blank literal. It is an operand for an operator, and matches everything.
    Nothing,
    Operator(Operator),
    Open,
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
    Not,
}

impl Operator {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
            Self::Not => "NOT",
        }
    }

    /// Returns the operator whose word a text starts with. The caller checks the text that follows.
    pub(super) fn at_start(text: &str) -> Option<Self> {
        [Self::And, Self::Or, Self::Not].into_iter().find(|operator| text.starts_with(operator.word()))
    }
}

/// Splits a text into items. Groups are balanced, never empty, and nested no deeper than [`super::MAX_DEPTH`].
pub(super) fn lex(text: &str) -> Vec<Item> {
    let mut pieces = pieces(text);
    settle_depth(&mut pieces);
    let mut items = Items { text, items: Vec::with_capacity(pieces.len()), written: 0..0 };
    for Piece { start, end, kind } in pieces {
        match kind {
            // Of consecutive parentheses the outer ones group, so that the others are part of the text they touch.
            Kind::Open { groups } => {
                items.push_times(Item::Open, groups);
                items.write(start + groups, end);
            }
            Kind::Text => items.write(start, end),
            Kind::Close { groups } => {
                items.write(start, end - groups);
                items.push_times(Item::Close, groups);
            }
            Kind::Literal(term) => items.push(term.map_or(Item::Nothing, Item::Term)),
        }
    }
    items.end_term();
    items.items
}

/// Turns groups that are nested too deep into text.
fn settle_depth(pieces: &mut [Piece]) {
    // For each run of opening parentheses that is not closed yet: how many of them group, and how many are too deep.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut depth = 0;
    for Piece { kind, .. } in pieces {
        match kind {
            Kind::Open { groups } => {
                let kept = (*groups).min(super::MAX_DEPTH - depth);
                open.push((kept, *groups - kept));
                depth += kept;
                *groups = kept;
            }
            Kind::Close { groups } => {
                let mut closing = std::mem::take(groups);
                while let (1.., Some((kept, deep))) = (closing, open.last_mut()) {
                    let dropped = closing.min(*deep);
                    let closed = (closing - dropped).min(*kept);
                    *deep -= dropped;
                    *kept -= closed;
                    *groups += closed;
                    depth -= closed;
                    closing -= dropped + closed;
                    if (*kept, *deep) == (0, 0) {
                        open.pop();
                    }
                }
            }
            Kind::Text | Kind::Literal(_) => {}
        }
    }
}

/// Items, and the text of a term that may continue.
struct Items<'t> {
    text: &'t str,
    items: Vec<Item>,
    written: std::ops::Range<usize>,
}

impl Items<'_> {
    fn push(&mut self, item: Item) {
        self.end_term();
        self.items.push(item);
    }

    fn push_times(&mut self, item: Item, times: usize) {
        for _ in 0..times {
            self.push(item.clone());
        }
    }

    /// Adds a range of text, which extends the current term if it touches it.
    fn write(&mut self, start: usize, end: usize) {
        if start == end {
            return;
        }
        if self.written.end != start {
            self.end_term();
            self.written.start = start;
        }
        self.written.end = end;
    }

    fn end_term(&mut self) {
        let written = std::mem::replace(&mut self.written, 0..0);
        let word = &self.text[written];
        if word.is_empty() {
            return;
        }
        let stem = word.trim_end_matches('*');
        let item = match Operator::at_start(word) {
            Some(operator) if operator.word() == word => Some(Item::Operator(operator)),
            _ if stem.is_empty() => term(word, false).map(Item::Term),
            _ => term(stem, stem.len() < word.len()).map(Item::Term),
        };
        self.items.extend(item);
    }
}
