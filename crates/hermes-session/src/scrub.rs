//! Takes out of a transcript what the agent put into a turn and should not have stored: recalled memory.

use std::borrow::Cow;

const NAME: &str = "memory-context";
/// How the note begins that the agent puts before recalled memory, also where the tags around it were lost.
const NOTE: &str = "[System note: The following is recalled memory context, NOT new user input.";

/// The text without memory blocks that leaked into it.
///
/// A block counts if its opening tag starts a line and its closing tag ends one, as the agent writes them; the
/// white space around it goes with it. So does a note without a block that stands on lines of its own. A person who mentions
/// the tags inside a sentence keeps the sentence, and text without a block is returned as it is, indentation and all.
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
    // What stands before the first block keeps its indentation, what follows the last one its end.
    kept[0] = text[..text.len() - text.trim_start().len() + kept[0].len()].trim_end();
    kept.push(text[from..].trim_start());
    let parts: Vec<&str> = kept.into_iter().filter(|part| !part.trim().is_empty()).collect();
    Cow::Owned(parts.join("\n\n"))
}

/// Where the blocks and notes are, in order and apart. One pass, whatever the text.
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
            // The nearest closing tag is the same for all openings before it.
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

/// Where the next block or note could start. By bytes, because every text that is replayed is looked through.
fn candidate(text: &str, from: usize) -> Option<usize> {
    text.as_bytes()[from..].iter().position(|byte| matches!(byte, b'<' | b'[')).map(|offset| from + offset)
}

/// The next closing tag at or after `from`: where it starts and ends.
fn find_tag(text: &str, from: usize, opening: &str) -> Option<(usize, usize)> {
    let starts = text[from..].match_indices(opening).map(|(offset, _)| from + offset);
    starts.filter_map(|start| Some((start, tag(text, start, opening)?))).next()
}

/// The end of the `<name>` or `</name>` that starts at `at`, white space inside allowed, in any case.
fn tag(text: &str, at: usize, opening: &str) -> Option<usize> {
    let name = text[at..].strip_prefix(opening)?.trim_start();
    let tail = name
        .get(..NAME.len())
        .filter(|head| head.eq_ignore_ascii_case(NAME))
        .map(|_| name[NAME.len()..].trim_start())?;
    tail.starts_with('>').then(|| text.len() - tail.len() + 1)
}

/// Whether only white space stands before `at` on its line.
fn starts_line(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .rev()
        .find(|character| *character == '\n' || !character.is_whitespace())
        .is_none_or(|character| character == '\n')
}

/// Whether only white space stands behind `at` on its line.
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
