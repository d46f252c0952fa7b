//! Reasoning that a model writes into its answer, between tags at the start.

/// Names of the tags.
const TAGS: [&str; 5] = ["think", "thinking", "reasoning", "thought", "REASONING_SCRATCHPAD"];

/// Longest start of an answer that may become an opening tag, white space included.
const MAX_START: usize = 256;

/// A piece of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text for the user.
    Text(&'a str),
    /// Reasoning.
    Reasoning(&'a str),
}

/// Splits an answer into reasoning and text, wherever the pieces are cut.
///
/// Tags count only before the first word of the answer: later ones are what the answer is about.
#[derive(Debug, Default)]
pub(super) struct ThinkTags {
    state: State,
    /// Characters that may become a tag, or white space that may have to be dropped.
    held: String,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    /// Nothing but white space and the start of a tag so far.
    #[default]
    Start,
    /// Between the tags of this name.
    Inside(&'static str),
    /// After the closing tag, before the first word.
    Closed,
    /// In the text.
    Outside,
}

impl ThinkTags {
    /// Takes the next part of the answer.
    pub(super) fn push(&mut self, text: &str, on_piece: &mut dyn FnMut(Piece<'_>)) {
        match self.state {
            State::Outside => on_piece(Piece::Text(text)),
            State::Start => self.start(text, on_piece),
            State::Inside(tag) => self.inside(tag, text, on_piece),
            State::Closed => {
                let text = text.trim_start();
                if !text.is_empty() {
                    self.state = State::Outside;
                    on_piece(Piece::Text(text));
                }
            }
        }
    }

    /// Ends the answer. A tag that was not closed leaves reasoning alone.
    pub(super) fn finish(&mut self, on_piece: &mut dyn FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            _ if held.is_empty() => {}
            State::Inside(_) => on_piece(Piece::Reasoning(&held)),
            _ => on_piece(Piece::Text(&held)),
        }
        self.state = State::Outside;
    }

    fn start(&mut self, text: &str, on_piece: &mut dyn FnMut(Piece<'_>)) {
        self.held.push_str(text);
        let begun = self.held.trim_start();
        if let Some((tag, rest)) = opened(begun) {
            let rest = rest.to_owned();
            self.held.clear();
            self.state = State::Inside(tag);
            self.inside(tag, &rest, on_piece);
            return;
        }
        let may_open = begun.is_empty() || TAGS.iter().any(|tag| format!("<{tag}>").starts_with(begun));
        if !may_open || self.held.len() > MAX_START {
            self.state = State::Outside;
            let held = std::mem::take(&mut self.held);
            on_piece(Piece::Text(&held));
        }
    }

    fn inside(&mut self, tag: &'static str, text: &str, on_piece: &mut dyn FnMut(Piece<'_>)) {
        let joined;
        let text = if self.held.is_empty() {
            text
        } else {
            joined = std::mem::take(&mut self.held) + text;
            &joined
        };
        let close = format!("</{tag}>");
        if let Some(at) = memchr::memmem::find(text.as_bytes(), close.as_bytes()) {
            said(Piece::Reasoning, &text[..at], on_piece);
            self.state = State::Closed;
            return self.push(&text[at + close.len()..], on_piece);
        }
        // The end may be the start of the closing tag. All its characters are ASCII, so the cut is at a character.
        let held = (1..close.len()).rev().find(|length| text.ends_with(&close[..*length])).unwrap_or(0);
        let (reasoning, tail) = text.split_at(text.len() - held);
        said(Piece::Reasoning, reasoning, on_piece);
        self.held.push_str(tail);
    }
}

fn said<'a>(piece: fn(&'a str) -> Piece<'a>, text: &'a str, on_piece: &mut dyn FnMut(Piece<'_>)) {
    if !text.is_empty() {
        on_piece(piece(text));
    }
}

/// Returns the tag that a text begins with, and the rest.
fn opened(text: &str) -> Option<(&'static str, &str)> {
    let inside = text.strip_prefix('<')?;
    TAGS.iter().find_map(|tag| Some((*tag, inside.strip_prefix(tag)?.strip_prefix('>')?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns text and reasoning of an answer that comes in pieces of `size` characters.
    fn split(answer: &str, size: usize) -> (String, String) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        let mut on_piece = |piece: Piece<'_>| match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Reasoning(piece) => reasoning.push_str(piece),
        };
        let mut tags = ThinkTags::default();
        let characters: Vec<char> = answer.chars().collect();
        for piece in characters.chunks(size) {
            tags.push(&piece.iter().collect::<String>(), &mut on_piece);
        }
        tags.finish(&mut on_piece);
        (text, reasoning)
    }

    #[test]
    fn tags_are_found_wherever_they_are_cut() {
        for (answer, text, reasoning) in [
            ("<think>why é</think>\n\nhi", "hi", "why é"),
            ("\n <thinking>a</think>b</thinking>c", "c", "a</think>b"),
            ("<think>open", "", "open"),
            ("<think>open</thi", "", "open</thi"),
            ("<REASONING_SCRATCHPAD>x</REASONING_SCRATCHPAD>", "", "x"),
            ("plain <think>no</think>", "plain <think>no</think>", ""),
            ("<thin ice", "<thin ice", ""),
            ("<thi", "<thi", ""),
            ("  ", "  ", ""),
            ("<think></think>x <think>y</think>", "x <think>y</think>", ""),
        ] {
            for size in [1, 2, 3, 5, 100] {
                let expect = (text.to_owned(), reasoning.to_owned());
                assert_eq!(split(answer, size), expect, "{answer:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_long_blank_start_is_not_held_forever() {
        let (text, _) = split(&" ".repeat(1 << 16), 1);
        assert_eq!(text.len(), 1 << 16);
    }
}
