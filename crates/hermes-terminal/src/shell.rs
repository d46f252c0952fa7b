//! Words of commands that a person can paste into a shell.

use shlex::try_quote;
use std::borrow::Cow;

/// Quotes a word for a shell. Bash, zsh and fish read the result alike. A line break stays, inside the quotes. A NUL is
/// dropped, because no program can be passed one.
pub fn shell_word(text: &str) -> String {
    let text = text.replace('\0', "");
    // `try_quote` fails only on a NUL.
    try_quote(&text).map_or_else(|_| String::new(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        for (text, expect) in [
            ("/tmp/a-b", "/tmp/a-b"),
            ("a b", "'a b'"),
            ("it's", r#""it's""#),
            ("it's $5", r#""it's "'$5'"#),
            (r"a\b", r#""a\\b""#),
            ("", "''"),
            ("大别山", "'大别山'"),
            ("#4", "'#4'"),
            ("a\nb", "'a\nb'"),
            ("a\0b", "ab"),
        ] {
            assert_eq!(shell_word(text), expect);
        }
    }
}
