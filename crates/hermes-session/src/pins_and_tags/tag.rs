//! Tags: single words, normalised once, independent of case.

use crate::title::drop_invisible;
use crate::{Invalid, quoted};
use std::fmt;
use unicode_normalization::UnicodeNormalization as _;

/// Maximum length of a tag, in code points after normalisation.
pub const MAX_TAG: usize = 50;

/// A tag in its stored form: 1 to 50 code points in lower case, without white space, commas or invisible characters.
///
/// `Work` and `work` are one tag, so stored tags are compared byte by byte everywhere. Accents count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(String);

impl Tag {
    /// Normalises user input as titles are, and converts it to lower case.
    ///
    /// # Errors
    /// If nothing is left of it, if it has more than [`MAX_TAG`] code points, or if it contains white space or a comma.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        // Composed before and after: lower-casing can add a combining accent.
        let composed: String = drop_invisible(text).nfc().collect();
        let cleaned: String = composed.trim().to_lowercase().nfc().collect();
        let wrong = |why: String, hint: &'static str| Err(Invalid::new("tag", why, hint));
        if cleaned.is_empty() {
            return wrong("is empty".to_owned(), "give at least one visible character");
        }
        if cleaned.chars().any(|character| character.is_whitespace() || character == ',') {
            return wrong(
                format!("{} has a blank or a comma in it", quoted(text)),
                "a tag is a single word without a comma, such as work or to-do",
            );
        }
        match cleaned.chars().count() {
            1..=MAX_TAG => Ok(Self(cleaned)),
            n => wrong(format!("is too long ({n} characters, at most {MAX_TAG})"), "shorten it"),
        }
    }

    /// Takes a stored tag unchanged.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_and_what_is_invisible_do_not_count() {
        let table = [
            ("Work", "work"),
            (" to-do\n", "to-do"),
            ("e\u{301}t\u{e9}", "été"),
            ("GRÖSSE", "grösse"),
            ("\u{202e}evil\u{200b}", "evil"),
            ("大别山", "大别山"),
            ("#7", "#7"),
            ("👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"),
        ];
        for (typed, expect) in table {
            assert_eq!(Tag::parse(typed).unwrap().as_str(), expect);
        }
    }

    #[test]
    fn what_is_no_word_is_refused() {
        for (typed, expect) in [
            ("", "tag is empty"),
            (" \u{200b}\t", "tag is empty"),
            ("A b", "tag \"A b\" has a blank or a comma in it"),
            ("a\u{a0}b", "tag \"a\\u{a0}b\" has a blank or a comma in it"),
            ("a,b", "tag \"a,b\" has a blank or a comma in it"),
        ] {
            assert_eq!(Tag::parse(typed).unwrap_err().to_string(), expect);
        }
        assert_eq!(Tag::parse(&"x".repeat(51)).unwrap_err().to_string(), "tag is too long (51 characters, at most 50)");
        assert!(Tag::parse(&"é".repeat(50)).is_ok());
    }

    proptest! {
        #[test]
        fn a_tag_is_the_same_when_it_is_cleaned_again(text in "\\PC{1,60}|[İΣςẞǅ,\u{301}\u{200d}👩 a]{1,12}") {
            if let Ok(tag) = Tag::parse(&text) {
                prop_assert!(tag.as_str().len() <= 4 * MAX_TAG);
                prop_assert_eq!(Tag::parse(tag.as_str()).unwrap(), tag);
            }
        }
    }
}
