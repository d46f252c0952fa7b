//! Removes parts of an answer that were never meant to be seen: reasoning between tags, and tool calls that leaked into
//! the text.

/// Tags around reasoning. An unclosed tag hides everything after it, because the model never got to its answer.
/// Directly after a word it does not, because there it is code, such as `Vec<Thought>`.
const REASONING: [&str; 5] = ["think", "thinking", "reasoning", "reasoning_scratchpad", "thought"];

/// Tags around tool calls, with or without attributes. `function` counts only with a name: it is a word of many
/// languages.
const TOOLS: [&str; 6] = ["tool_call", "tool_calls", "tool_result", "function_call", "function_calls", "function"];

/// Returns the text without blocks of reasoning and tool calls, and without stray closing tags. White space after a
/// block is removed with it.
pub(super) fn without_machinery(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Names without a further closing tag, so that long texts are not searched repeatedly.
    let mut never_closed: Vec<&str> = Vec::new();
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(tag) = Tag::at_start(rest) else {
            out.push('<');
            rest = &rest[1..];
            continue;
        };
        let after = &rest[tag.length..];
        if tag.is_closing {
            rest = after.trim_start();
        } else if let Some(end) = (!never_closed.contains(&tag.name)).then(|| closing_end(after, tag.name)).flatten() {
            rest = after[end..].trim_start();
        } else if REASONING.contains(&tag.name) && !out.ends_with(char::is_alphanumeric) {
            rest = "";
        } else {
            never_closed.push(tag.name);
            out.push_str(&rest[..tag.length]);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// A tag from the lists above.
struct Tag {
    name: &'static str,
    is_closing: bool,
    /// Its length in bytes, brackets included.
    length: usize,
}

impl Tag {
    fn at_start(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('<')?;
        let is_closing = inner.starts_with('/');
        let inner = inner.strip_prefix('/').unwrap_or(inner);
        let word = inner.find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))?;
        let name = REASONING.into_iter().chain(TOOLS).find(|name| name.eq_ignore_ascii_case(&inner[..word]))?;
        let attributes = &inner[word..inner.find(['<', '>']).filter(|end| inner[*end..].starts_with('>'))?];
        let is_tag = match attributes.trim_start() {
            "" => name != "function" || is_closing,
            // Prose such as `a <thinking man> …` is not a tag.
            words if words.len() == attributes.len() || is_closing => false,
            words => TOOLS.contains(&name) && (name != "function" || words.starts_with("name")),
        };
        let length = text.len() - inner.len() + word + attributes.len() + 1;
        is_tag.then_some(Self { name, is_closing, length })
    }
}

/// Returns the end of the next closing tag of `name`.
fn closing_end(text: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find("</").map(|offset| at + offset) {
        match Tag::at_start(&text[start..]) {
            Some(tag) if tag.name == name => return Some(start + tag.length),
            _ => at = start + 2,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(input: &str, expect: &str) {
        assert_eq!(without_machinery(input), expect);
    }

    #[test]
    fn reasoning_is_not_seen() {
        check("<think>hm\n</think>\n\nyes", "yes");
        check("a <THINKING>x</thinking > b", "a b");
        check("<REASONING_SCRATCHPAD>x</REASONING_SCRATCHPAD>y\n<thought>never closed", "y\n");
        check("left over</reasoning> here", "left overhere");
        check("<think>a<thinking>b</think>c", "c");
    }

    #[test]
    fn leaked_calls_are_not_seen() {
        check(r#"ok <tool_call>{"name": "x"}</tool_call> done"#, "ok done");
        check(r#"<function name="ls"><parameter>1</parameter></function>done</tool_calls>"#, "done");
        check("<function_calls kind='x'>y</function_calls>", "");
    }

    #[test]
    fn other_brackets_stay() {
        for text in [
            "a < b <c> </d> <",
            "<function>f</div>",
            "fn f() -> Vec<function> {}",
            "<tool_call> open",
            "<tool_call-x>y",
            "a <thinking man> sat",
            "<thinker>x</thinker>",
            "<é>",
            "<think",
            "let thoughts: Vec<Thought> = vec![];",
        ] {
            check(text, text);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_invented(text in "(<|</|think|tool_call|function name|>|\n| |x|é){0,40}") {
            let mut characters = text.chars();
            let visible = without_machinery(&text);
            prop_assert!(visible.chars().all(|kept| characters.any(|character| character == kept)));
        }
    }
}
