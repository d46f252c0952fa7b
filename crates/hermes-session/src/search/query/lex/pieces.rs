//! Cuts chunks and literals, and pairs parentheses.

use super::super::canonical::term;
use super::super::{Term, is_blank};
use super::Operator;

/// A part of the text, as a range of bytes.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Consecutive opening parentheses, and how many of them are closed later.
    Open {
        groups: usize,
    },
    Text,
    /// Consecutive closing parentheses, and how many of them close a group.
    Close {
        groups: usize,
    },
    /// A literal; `None` if it is blank.
    Literal(Option<Term>),
}

/// Cuts a text into pieces. Parentheses are paired without a limit on nesting.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut cutter = Cutter { text, pieces: Vec::new(), open: Vec::new(), unpaired: text.len() };
    let mut at = 0;
    while let Some(character) = cutter.character(at) {
        at = if is_blank(character) { at + character.len_utf8() } else { cutter.chunk(at) };
    }
    cutter.pieces
}

struct Cutter<'t> {
    text: &'t str,
    pieces: Vec<Piece>,
    /// Pieces of opening parentheses that are not closed yet, with the number of each.
    open: Vec<(usize, usize)>,
    /// Position from which no typographic quote is closed; the end of the text until a search for one has failed.
    unpaired: usize,
}

/// A literal: the end of its quotes, its content, and whether quotes in it are doubled.
struct Literal<'t> {
    end: usize,
    inner: &'t str,
    is_doubled: bool,
}

impl<'t> Cutter<'t> {
    fn character(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    /// Cuts the chunk that starts here, or its beginning, and returns where to continue.
    fn chunk(&mut self, start: usize) -> usize {
        let rest = &self.text[start..];
        let core = start + (rest.len() - rest.trim_start_matches('(').len());
        if let Some(literal) = self.literal(core) {
            self.push_open(start, core);
            return self.push_literal(core, literal);
        }
        if let Some(operator) = Operator::at_start(&self.text[core..]) {
            let end = core + operator.word().len();
            if self.character(end) == Some('(') || self.literal(end).is_some() {
                self.push_open(start, core);
                self.push(core, end, Kind::Text);
                return end;
            }
        }
        self.bare(start, core)
    }

    /// Cuts a chunk that is not a literal: opening parentheses up to `core`, text, closing ones.
    ///
    /// A parenthesis that has its counterpart within the text is text. So are both if one is within the text and the
    /// other at its border, as in `(void)f`. Those left at the borders may group.
    fn bare(&mut self, start: usize, core: usize) -> usize {
        let mut leading = core - start;
        let mut inner = 0usize;
        let mut closing = 0usize;
        let mut end = self.text.len();
        for (offset, character) in self.text[core..].char_indices() {
            let at = core + offset;
            if is_blank(character) {
                end = at;
                break;
            }
            if character == ')' && inner > 0 {
                inner -= 1;
            } else if character == ')' {
                closing += 1;
                if self.closes_group(leading, closing, at + 1 - closing == core) && self.is_operator(at + 1) {
                    end = at + 1;
                    break;
                }
            } else {
                leading -= leading.min(closing);
                closing = 0;
                inner += usize::from(character == '(');
            }
        }
        self.push_open(start, start + leading);
        self.push(start + leading, end - closing, Kind::Text);
        self.push_close(end - closing, end);
        end
    }

    /// Returns whether the last of consecutive closing parentheses would close a group if the chunk ended there.
    /// `is_hollow` means that there is nothing between its own opening and closing parentheses.
    fn closes_group(&self, leading: usize, closing: usize, is_hollow: bool) -> bool {
        if !is_hollow {
            return leading > 0 || !self.open.is_empty();
        }
        match self.open.last() {
            Some((piece, count)) if leading == 0 && piece + 1 == self.pieces.len() => {
                closing > *count && self.open.len() > 1
            }
            Some(_) => closing > leading,
            None => false,
        }
    }

    /// Returns whether there is an operator at this position, after a parenthesis.
    fn is_operator(&mut self, at: usize) -> bool {
        let Some(operator) = Operator::at_start(&self.text[at..]) else { return false };
        let end = at + operator.word().len();
        match self.character(end) {
            None | Some('(') => true,
            Some(character) => is_blank(character) || self.literal(end).is_some(),
        }
    }

    /// Returns the literal whose quotes open here.
    ///
    /// No text is scanned often. A literal is consumed as soon as it is found. A straight quote is examined only at the
    /// start of a run of quotes; if it is not closed, all later runs have an even length and are literals of their own.
    fn literal(&mut self, at: usize) -> Option<Literal<'t>> {
        let text = self.text;
        match self.character(at)? {
            '"' => {
                let mut from = at + 1;
                loop {
                    let close = from + text[from..].find('"')?;
                    if !text[close + 1..].starts_with('"') {
                        return Some(Literal { end: close + 1, inner: &text[at + 1..close], is_doubled: true });
                    }
                    from = close + 2;
                }
            }
            open @ '“' if at < self.unpaired => {
                let from = at + open.len_utf8();
                let close = text[from..].match_indices('”').find_map(|(offset, close)| {
                    let end = from + offset + close.len();
                    let next = text[end..].chars().next();
                    let is_border = next.is_none_or(|next| matches!(next, '*' | ')') || is_blank(next));
                    is_border.then(|| Literal { end, inner: &text[from..from + offset], is_doubled: false })
                });
                if close.is_none() {
                    self.unpaired = at;
                }
                close
            }
            _ => None,
        }
    }

    fn push_literal(&mut self, start: usize, literal: Literal<'_>) -> usize {
        let rest = &self.text[literal.end..];
        let stars = rest.len() - rest.trim_start_matches('*').len();
        let is_prefix = stars > 0;
        let term = if literal.is_doubled {
            term(&literal.inner.replace("\"\"", "\""), is_prefix)
        } else {
            term(literal.inner, is_prefix)
        };
        let end = literal.end + stars;
        self.pieces.push(Piece { start, end, kind: Kind::Literal(term) });
        end
    }

    fn push(&mut self, start: usize, end: usize, kind: Kind) {
        if start < end {
            self.pieces.push(Piece { start, end, kind });
        }
    }

    fn push_open(&mut self, start: usize, end: usize) {
        if start < end {
            self.open.push((self.pieces.len(), end - start));
            self.push(start, end, Kind::Open { groups: 0 });
        }
    }

    fn push_close(&mut self, start: usize, end: usize) {
        let mut closing = end - start;
        if closing > 0
            && let Some((piece, count)) = self.open.last_mut()
            && *piece + 1 == self.pieces.len()
        {
            // The parentheses are empty.
            let empty = closing.min(*count);
            closing -= empty;
            *count -= empty;
            if *count == 0 {
                self.open.pop();
            }
        }
        let mut groups = 0;
        while let (1.., Some((piece, count))) = (closing, self.open.last_mut()) {
            let closed = closing.min(*count);
            if let Kind::Open { groups } = &mut self.pieces[*piece].kind {
                *groups += closed;
            }
            groups += closed;
            closing -= closed;
            *count -= closed;
            if *count == 0 {
                self.open.pop();
            }
        }
        self.push(start, end, Kind::Close { groups });
    }
}
