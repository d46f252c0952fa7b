//! Words of commands that a person can paste into a shell.

/// Returns a text quoted as one word of a POSIX shell, if it needs quotes.
pub fn shell_word(text: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "/._-:@%+,=".contains(character);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        for (text, expect) in [
            ("/tmp/a-b", "/tmp/a-b"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("大别山", "大别山"),
            ("#4", "'#4'"),
        ] {
            assert_eq!(shell_word(text), expect);
        }
    }
}
