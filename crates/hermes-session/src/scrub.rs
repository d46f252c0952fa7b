//! Takes out of a transcript what the agent put into a turn and should not have stored: recalled memory.

use std::borrow::Cow;

const NAME: &str = "memory-context";

/// The text without memory blocks that leaked into it.
///
/// A block counts if its opening tag starts a line and its closing tag ends one, as the agent writes them; the
/// white space around it goes with it. A person who mentions the tags inside a sentence keeps the sentence, and
/// text without a block is returned as it is, indentation and all.
pub fn without_memory_blocks(text: &str) -> Cow<'_, str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some((start, open_end)) = find_tag(rest, from, "<") {
        let block_end = find_tag(rest, open_end, "</").map(|(_, end)| end);
        match block_end {
            Some(end) if starts_line(rest, start) && ends_line(rest, end) => {
                kept.push(rest[..start].trim_end());
                rest = rest[end..].trim_start();
                from = 0;
            }
            Some(_) => from = open_end,
            None => break,
        }
    }
    if kept.is_empty() {
        return Cow::Borrowed(text);
    }
    kept.push(rest);
    let parts: Vec<&str> = kept.into_iter().filter(|part| !part.is_empty()).collect();
    Cow::Owned(parts.join("\n\n"))
}

/// The next `<name>` or `</name>` at or after `from`, white space inside allowed, in any case.
fn find_tag(text: &str, from: usize, opening: &str) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(start) = text[at..].find(opening).map(|offset| at + offset) {
        let name = text[start + opening.len()..].trim_start();
        let head = name.get(..NAME.len()).filter(|head| head.eq_ignore_ascii_case(NAME));
        if let Some(tail) = head.map(|_| name[NAME.len()..].trim_start())
            && tail.starts_with('>')
        {
            return Some((start, text.len() - tail.len() + 1));
        }
        at = start + opening.len();
    }
    None
}

fn starts_line(text: &str, at: usize) -> bool {
    text[..at].rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
}

fn ends_line(text: &str, at: usize) -> bool {
    text[at..].split('\n').next().is_some_and(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(input: &str, expect: &str) {
        assert_eq!(without_memory_blocks(input), expect);
    }

    #[test]
    fn leaked_blocks_go() {
        check("<memory-context>\n[System note: …]\nlikes tea\n</memory-context>\n\nhello", "hello");
        check("hello\n\n< Memory-Context >x</ MEMORY-context >\n", "hello");
        check("a\n<memory-context>1</memory-context>\nb\n<memory-context>2</memory-context>", "a\n\nb");
    }

    #[test]
    fn what_a_person_wrote_stays() {
        for text in [
            "  indented\n",
            "what does <memory-context> do in `<memory-context>x</memory-context>` here?",
            "<memory-context> never closed",
            "</memory-context> alone",
            "a < b and c > d",
            "<mémory>",
        ] {
            check(text, text);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_invented(text in "(<|</|memory-context|>|\n| |x|é){0,40}") {
            let scrubbed = without_memory_blocks(&text);
            prop_assert!(scrubbed.len() <= text.len() + 2);
            prop_assert_eq!(without_memory_blocks(&scrubbed).contains("memory-context>x</memory-context>\n"), false);
        }
    }
}
