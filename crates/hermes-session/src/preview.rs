//! The preview line by which a person recognises a conversation in a list.

use crate::{MessageBody, Role, compaction, scrub};

/// Maximum length of a preview, in code points.
pub const MAX_PREVIEW: usize = 120;

/// Returns the text of a user message on one line; `None` if it is blank or from another role.
///
/// A session's preview is that of its first message that has one. Longer texts are cut and end in `...`.
pub fn preview(body: &MessageBody) -> Option<String> {
    if body.role != Role::User {
        return None;
    }
    let text = body.plain_text();
    let text = compaction::without_summary(&text);
    // White space is collapsed lazily, so that a message of megabytes costs no more than its first words.
    let head = text.char_indices().nth(MAX_PREVIEW * 40).map_or(text, |(end, _)| &text[..end]);
    let clean = scrub::without_memory_blocks(head);
    let mut line = String::new();
    for word in
        clean.split(|character: char| character.is_whitespace() || character == '\0').filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().nth(MAX_PREVIEW).is_some() {
            let end = line.char_indices().nth(MAX_PREVIEW - 3).map_or(line.len(), |(end, _)| end);
            line.truncate(end);
            line.truncate(line.trim_end().len());
            line.push_str("...");
            break;
        }
    }
    Some(line).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, Json};

    fn of(text: &str) -> Option<String> {
        preview(&MessageBody::new(Role::User, text))
    }

    #[test]
    fn one_line_of_what_the_person_said() {
        assert_eq!(of("  fix\r\n\tthe \u{3000}build\0now"), Some("fix the build now".into()));
        assert_eq!(of("<memory-context>\nx\n</memory-context>\nhi"), Some("hi".into()));
        assert_eq!(of(" \n"), None);
        assert_eq!(of("[CONTEXT SUMMARY]: what was before"), None);
        assert_eq!(preview(&MessageBody::new(Role::Assistant, "hi")), None);
        let parts = Content::from_json(Json::parse(r#"[{"type": "text", "text": "大别山"}]"#).unwrap());
        assert_eq!(preview(&MessageBody::new(Role::User, parts)), Some("大别山".into()));
    }

    #[test]
    fn a_cut_shows() {
        let cut = of(&"é".repeat(121)).unwrap();
        assert_eq!(cut, format!("{}...", "é".repeat(117)));
        assert_eq!(of(&"é".repeat(120)).unwrap(), "é".repeat(120));
    }
}
