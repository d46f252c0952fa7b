//! Titles: normalised once, unique among sessions, numbered along a lineage.

use crate::Invalid;
use crate::{SessionId, Timestamp};
use std::collections::BTreeSet;
use std::fmt;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum length of a title, in code points after normalisation.
pub const MAX_TITLE: usize = 100;

/// Maximum length of a title without its number: ` #` and sixteen digits always fit after it.
const MAX_STEM: usize = MAX_TITLE - 2 - MAX_DIGITS;
const MAX_DIGITS: usize = 16;

/// A title in its stored form: one line, no invisible characters, 1 to 100 code points.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Title(String);

impl Title {
    /// Normalises user input; `None` if it is blank.
    ///
    /// Control and formatting characters are removed, runs of white space become one space, accents are composed.
    /// Joiners inside emoji stay.
    ///
    /// # Errors
    /// If more than [`MAX_TITLE`] code points are left.
    pub fn clean(text: &str) -> Result<Option<Self>, Invalid> {
        let visible: String = drop_invisible(text).nfc().collect();
        let cleaned = visible.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match cleaned.chars().count() {
            0 => Ok(None),
            1..=MAX_TITLE => Ok(Some(Self(cleaned))),
            n => Err(Invalid::new("title", format!("is too long ({n} characters, at most {MAX_TITLE})"), "shorten it")),
        }
    }

    /// Normalises user input and rejects a blank one.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::clean(text)?.ok_or_else(|| Invalid::new("title", "is empty", "give at least one visible character"))
    }

    /// Returns the title as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the title without its number.
    pub fn base(&self) -> &str {
        split_number(&self.0).0
    }

    /// Returns the texts that define this title's lineage: a title belongs to the lineage if it is one of them, or one
    /// of them followed by ` #` and a number.
    pub fn stems(&self) -> Vec<String> {
        let base = self.base();
        let short = cut(base, MAX_STEM);
        if short == base { vec![base.to_owned()] } else { vec![base.to_owned(), short] }
    }

    /// Returns the next title in this one's lineage, given the titles that are taken: the title without its number if
    /// that is free and no number is taken, otherwise the highest number plus one. It is never too long: the text is
    /// cut, not the number.
    pub fn next<'a>(&self, taken: impl IntoIterator<Item = &'a str>) -> Self {
        let stems = self.stems();
        let taken: BTreeSet<&str> = taken.into_iter().collect();
        let number_of = |title: &str| {
            let (base, number) = split_number(title);
            let is_stem = |text: &str| stems.iter().any(|stem| stem == text);
            if is_stem(title) { Some(1) } else { number.filter(|_| is_stem(base)) }
        };
        let Some(highest) = taken.iter().filter_map(|title| number_of(title)).max() else {
            return Self(self.base().to_owned());
        };
        // A user may have typed a number that is too long to count as one, so taken titles are skipped.
        let numbered = |number: u64| format!("{} #{number}", cut(self.base(), MAX_STEM));
        let free = (highest.max(1) + 1..).map(numbered).find(|title| !taken.contains(title.as_str()));
        Self(free.unwrap_or_else(|| self.base().to_owned()))
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Splits ` #7` off a title. A text that is only a number, or whose number has more than 15 digits, has no number.
pub fn split_number(title: &str) -> (&str, Option<u64>) {
    let number = title.rsplit_once(" #").filter(|(base, digits)| {
        !base.is_empty() && (1..MAX_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    match number {
        Some((base, digits)) => (base, digits.parse().ok()),
        None => (title, None),
    }
}

/// Returns the first `limit` code points, without a partial grapheme at the end.
fn cut(text: &str, limit: usize) -> String {
    let mut left = limit;
    let whole = text.graphemes(true).take_while(|grapheme| {
        let size = grapheme.chars().count();
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    });
    whole.collect::<String>().trim_end().to_owned()
}

/// Returns whether a character is white space for the agent: Unicode's, and the four ASCII separators.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// Removes control and formatting characters, except white space and the joiners inside emoji.
pub(crate) fn drop_invisible(text: &str) -> impl Iterator<Item = char> {
    const JOINER: char = '\u{200d}';
    let characters: Vec<char> = text.chars().collect();
    let inside_emoji = move |characters: &[char], at: usize| {
        let before = characters[..at]
            .iter()
            .rev()
            .find(|character| !matches!(**character, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}'));
        before.is_some_and(|character| is_pictograph(*character))
            && characters.get(at + 1).is_some_and(|next| is_pictograph(*next))
    };
    let kept: Vec<char> = (0..characters.len())
        .filter(|at| match characters[*at] {
            JOINER => inside_emoji(&characters, *at),
            '\t' | '\n' | '\r' | '\u{85}' => true,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => false,
            '\u{feff}' | '\u{fff9}'..='\u{fffc}' | '\u{61c}' | '\u{180e}' | '\u{ad}' => false,
            character => !character.is_control(),
        })
        .map(|at| characters[at])
        .collect();
    kept.into_iter()
}

/// Returns whether a character combines with others to one emoji by a joiner.
const fn is_pictograph(character: char) -> bool {
    matches!(character, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{3030}')
}

/// A session found by its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Titled {
    /// The session.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// Start time.
    pub started_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn title(text: &str) -> Title {
        Title::parse(text).unwrap()
    }

    #[track_caller]
    fn check(input: &str, expect: &str) {
        assert_eq!(Title::clean(input).unwrap().map_or(String::new(), |title| title.0), expect);
    }

    #[test]
    fn cleaning_leaves_one_visible_line() {
        check("  my\t project \r\n plan ", "my project plan");
        check("a\u{b}b\u{c}c\u{2028}d\u{0}\u{7f}\u{9b}", "abcd");
        check("a\u{a0}\u{3000}b\u{85}c", "a b c");
        check("\u{202e}evil\u{200b}\u{feff}", "evil");
        check("e\u{301}", "é");
        check(" \u{200b}\n", "");
    }

    #[test]
    fn families_stay_together() {
        check("👨\u{200d}👩\u{200d}👧 trip", "👨\u{200d}👩\u{200d}👧 trip");
        check("❤\u{fe0f}\u{200d}🔥 👩🏽\u{200d}💻", "❤\u{fe0f}\u{200d}🔥 👩🏽\u{200d}💻");
        check("a\u{200d}b 👨\u{200d}", "ab 👨");
    }

    #[test]
    fn a_hundred_characters_are_counted_after_cleaning() {
        assert!(Title::clean(&format!(" {} ", "大".repeat(100))).unwrap().is_some());
        let error = Title::clean(&"x".repeat(101)).unwrap_err();
        assert_eq!(error.to_string(), "title is too long (101 characters, at most 100)");
        assert!(Title::parse(" ").is_err());
    }

    #[test]
    fn only_plain_numbers_are_numbers() {
        assert_eq!(split_number("x #2 #3"), ("x #2", Some(3)));
        for text in ["#3", "x #", "x #notes", "x#3", "x #٣", "x # 3", "x #12345678901234567890"] {
            assert_eq!(split_number(text), (text, None));
        }
    }

    #[test]
    fn the_next_number_counts_only_the_lineage() {
        assert_eq!(title("fresh #7").next([]).as_str(), "fresh");
        assert_eq!(title("proj").next(["proj"]).as_str(), "proj #2");
        assert_eq!(
            title("proj #2").next(["proj", "proj #2", "proj #10", "PROJ #90", "proj #notes", "proj #bar #99"]).as_str(),
            "proj #11"
        );
        let taken = ["x #999999999999999", "x #1000000000000000"];
        assert_eq!(title("x #999999999999999").next(taken).as_str(), "x #1000000000000001");
    }

    #[test]
    fn a_long_title_makes_room_for_its_number() {
        let long = title(&"é".repeat(98));
        let second = long.next([long.as_str()]);
        assert_eq!(second.as_str(), format!("{} #2", "é".repeat(82)));
        assert_eq!(second.next([long.as_str(), second.as_str()]).as_str(), format!("{} #3", "é".repeat(82)));
        assert_eq!(long.next([long.as_str(), second.as_str()]).as_str(), format!("{} #3", "é".repeat(82)));
    }

    proptest! {
        #[test]
        fn a_lineage_of_any_title_has_distinct_clean_titles(text in "\\PC{1,120}|[ #0-9a\u{200d}👩\u{301}]{1,100}") {
            prop_assume!(matches!(Title::clean(&text), Ok(Some(_))));
            let first = title(&text);
            let mut taken = vec![first.0.clone()];
            for _ in 0..4 {
                let next = first.next(taken.iter().map(String::as_str));
                prop_assert!(next.0.chars().count() <= MAX_TITLE && !taken.contains(&next.0));
                prop_assert_eq!(Title::clean(&next.0).unwrap(), Some(next.clone()));
                taken.push(next.0);
            }
        }
    }
}
