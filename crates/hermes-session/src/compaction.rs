//! Recognises messages that the agent wrote under the user role when it compressed a context.

/// Prefixes of such messages: the summary in its newer and its older form, and the task list that follows it.
const STARTS: [&str; 3] = [
    "[CONTEXT COMPACTION — REFERENCE ONLY]",
    "[CONTEXT SUMMARY]:",
    "[Your active task list was preserved across context compression]",
];

/// Line that ends a summary when text of the user follows in the same message.
const END: &str = "--- END OF CONTEXT SUMMARY";

/// Returns whether a message starts with text that the agent wrote when it compressed the context.
pub fn is_handover(text: &str) -> bool {
    let text = text.trim_start();
    STARTS.iter().any(|start| text.starts_with(start))
}

/// Returns the text of the user in a message: all of it, or the part after a summary that was put in front.
pub fn without_summary(text: &str) -> &str {
    if !is_handover(text) {
        return text;
    }
    // The summary may quote an older one, so the last such line counts.
    match text.rfind(END).map(|at| &text[at..]).and_then(|tail| tail.split_once('\n')) {
        Some((_, said)) => said.trim_start_matches(['\r', '\n']),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_start_of_a_message_tells() {
        for text in ["why do I see [CONTEXT SUMMARY]: here?", "", "context summary"] {
            assert_eq!(without_summary(text), text);
        }
        for text in [
            "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns …",
            "\n[CONTEXT SUMMARY]: goal",
            "[Your active task list was preserved across context compression]\n- [ ] 1. x",
        ] {
            assert_eq!(without_summary(text), "");
        }
    }

    #[test]
    fn what_follows_a_summary_was_said_by_the_person() {
        let text = "[CONTEXT SUMMARY]: a\n--- END OF CONTEXT SUMMARY — old ---\nb\n\n--- END OF CONTEXT SUMMARY — respond ---\n\n  go on\n";
        assert_eq!(without_summary(text), "  go on\n");
        assert_eq!(without_summary("[CONTEXT SUMMARY]: a\n--- END OF CONTEXT SUMMARY ---"), "");
    }
}
