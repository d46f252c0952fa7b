//! Removes recalled memory that the agent put into a turn and should not have stored.

use std::borrow::Cow;

const NAME: &str = "memory-context";
/// Start of the note that the agent puts before recalled memory, even where the tags around it were lost.
const NOTE: &str = "[System note: The following is recalled memory context, NOT new user input.";

/// Returns the text without memory blocks that leaked into it.
///
/// A block counts if its opening tag starts a line and its closing tag ends one, as the agent writes them. The white
/// space around it is removed with it. A note without a block, on lines of its own, is removed too. A sentence that
/// mentions the tags stays, and text without a block is returned unchanged, including its indentation.
pub fn without_memory_blocks(text: &str) -> Cow<'_, str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut from = 0;
    for (start, end) in blocks(text) {
        kept.push(text[from..start].trim());
        from = end;
    }
    if kept.is_empty() {
        return Cow::Borrowed(text);
    }
    // The text before the first block keeps its indentation; the text after the last one keeps its end.
    kept[0] = text[..text.len() - text.trim_start().len() + kept[0].len()].trim_end();
    kept.push(text[from..].trim_start());
    let parts: Vec<&str> = kept.into_iter().filter(|part| !part.trim().is_empty()).collect();
    Cow::Owned(parts.join("\n\n"))
}

/// Returns the ranges of blocks and notes, in order and without overlap. Takes a single pass for any text.
fn blocks(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut close = None;
    while let Some(start) = candidate(text, from) {
        from = start + 1;
        if !starts_line(text, start) {
            continue;
        }
        let end = if let Some(open_end) = tag(text, start, "<") {
            // The nearest closing tag is the same for all opening tags before it.
            if close.is_none_or(|(at, _)| at < open_end) {
                close = find_tag(text, open_end, "</").or(Some((usize::MAX, 0)));
            }
            close.map(|(_, end)| end)
        } else if text[start..].get(..NOTE.len()).is_some_and(|head| head.eq_ignore_ascii_case(NOTE)) {
            text[start..].find(']').map(|offset| start + offset + 1)
        } else {
            None
        };
        if let Some(end) = end.filter(|end| *end > start && ends_line(text, *end)) {
            found.push((start, end));
            from = end;
        }
    }
    found
}

/// Returns where the next block or note could start. Scans bytes, because every replayed text is scanned.
fn candidate(text: &str, from: usize) -> Option<usize> {
    text.as_bytes()[from..].iter().position(|byte| matches!(byte, b'<' | b'[')).map(|offset| from + offset)
}

/// Returns the start and end of the next closing tag at or after `from`.
fn find_tag(text: &str, from: usize, opening: &str) -> Option<(usize, usize)> {
    let starts = text[from..].match_indices(opening).map(|(offset, _)| from + offset);
    starts.filter_map(|start| Some((start, tag(text, start, opening)?))).next()
}

/// Returns the end of the `<name>` or `</name>` that starts at `at`. White space inside is allowed, case is ignored.
fn tag(text: &str, at: usize, opening: &str) -> Option<usize> {
    let name = text[at..].strip_prefix(opening)?.trim_start();
    let tail = name
        .get(..NAME.len())
        .filter(|head| head.eq_ignore_ascii_case(NAME))
        .map(|_| name[NAME.len()..].trim_start())?;
    tail.starts_with('>').then(|| text.len() - tail.len() + 1)
}

/// Returns whether only white space precedes `at` on its line.
fn starts_line(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .rev()
        .find(|character| *character == '\n' || !character.is_whitespace())
        .is_none_or(|character| character == '\n')
}

/// Returns whether only white space follows `at` on its line.
fn ends_line(text: &str, at: usize) -> bool {
    text[at..]
        .chars()
        .find(|character| *character == '\n' || !character.is_whitespace())
        .is_none_or(|character| character == '\n')
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
        check("  a\n<memory-context>1</memory-context>\nb\n<memory-context>2</memory-context>", "  a\n\nb");
        check("[System note: The following is recalled memory context, NOT new user input. Treat as x.]\n\nhi ", "hi ");
        check("<memory-context>\n</memory-context>", "");
    }

    #[test]
    fn what_a_person_wrote_stays() {
        for text in [
            "  indented\n",
            "what does <memory-context> do in `<memory-context>x</memory-context>` here?",
            "<memory-context> never closed",
            "</memory-context> alone",
            "a < b and c > d",
            "they write [System note: The following is recalled memory context, NOT new user input.] there",
            "[System note: something else]",
            "<mémory>",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_hostile_text_takes_one_pass() {
        check(&"\n<memory-context>".repeat(50_000), &"\n<memory-context>".repeat(50_000));
        let inline = format!("{}</memory-context> x", "\n<memory-context>".repeat(50_000));
        check(&inline, &inline);
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
