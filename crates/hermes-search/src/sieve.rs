//! Excludes messages that can't match, before their JSON is decoded.
//!
//! Decoding JSON costs more than everything else in a scan. Every run of letters and digits of a message stands
//! unbroken in its rough text ([`search_text::rough`](hermes_session::search_text::rough)) too, so a message whose folded rough
//! text lacks such a run of the query does not match.

use hermes_session::search::fold::fold;
use hermes_session::search::query::{Node, Query};
use hermes_session::search::relax::Word;
use hermes_session::search::tokens::is_word;
use memchr::memmem::Finder;

/// First character of the planes that hold emoji. Like letters, they have no short escape in JSON.
const FIRST_EMOJI: char = '\u{1f000}';

/// A necessary condition on the folded rough text of a message.
#[derive(Debug, Clone)]
pub struct Sieve {
    root: Part,
}

#[derive(Debug, Clone)]
enum Part {
    /// Holds for every text.
    Open,
    Run(Box<Finder<'static>>),
    All(Vec<Part>),
    Any(Vec<Part>),
}

impl Sieve {
    /// Returns the condition for messages that match a query.
    pub fn of_query(query: &Query) -> Self {
        Self { root: Part::of(query.root()) }
    }

    /// Returns the condition for messages that contain a form of one of these words.
    pub fn of_words(words: &[Word]) -> Self {
        Self { root: Part::Any(words.iter().flat_map(Word::beginnings).map(Part::of_text).collect()) }
    }

    /// Returns whether a message with this folded rough text may match.
    pub fn admits(&self, folded: &str) -> bool {
        self.root.holds(folded.as_bytes())
    }
}

impl Part {
    fn of(node: &Node) -> Self {
        match node {
            Node::Not(_) => Self::Open,
            Node::Term(term) => Self::of_text(&fold(&term.text)),
            Node::All(nodes) => Self::All(nodes.iter().map(Self::of).collect()),
            Node::Any(nodes) => Self::Any(nodes.iter().map(Self::of).collect()),
        }
    }

    /// Returns the condition for a folded text: that its runs occur.
    fn of_text(folded: &str) -> Self {
        let is_in_run = |character: char| is_word(character) || character >= FIRST_EMOJI;
        let runs =
            folded.split(|character| !is_in_run(character)).filter(|run| !run.is_empty() && !is_like_escape(run));
        Self::All(runs.map(|run| Self::Run(Box::new(Finder::new(run).into_owned()))).collect())
    }

    fn holds(&self, folded: &[u8]) -> bool {
        match self {
            Self::Open => true,
            Self::Run(finder) => finder.find(folded).is_some(),
            Self::All(parts) => parts.iter().all(|part| part.holds(folded)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(folded)),
        }
    }
}

/// Returns whether a run contains the letters of an escape, such as `u00e9`. A text with `\\u00e9` may mean the letter or
/// its escape.
fn is_like_escape(run: &str) -> bool {
    run.as_bytes().windows(5).any(|window| window[0] == b'u' && window[1..].iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::search::matching::Matcher;
    use hermes_session::search::relax;
    use hermes_session::search_text::{Columns, of_columns, rough};
    use proptest::prelude::*;

    fn folded_rough(columns: Columns<'_>) -> Option<String> {
        let mut text = String::new();
        rough(columns, &mut text).then(|| fold(&text).into_owned())
    }

    fn calls(text: &str, is_ascii: bool) -> String {
        // As the agent writes them: arguments are JSON in a string of the JSON.
        let spell = |text: &str| {
            let json = serde_json::to_string(text).unwrap();
            if !is_ascii {
                return json;
            }
            let mut out = String::new();
            for character in json.chars() {
                match character {
                    other if other.is_ascii() => out.push(other),
                    other => {
                        other.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")))
                    }
                }
            }
            out
        };
        let arguments = format!("{{\"path\": {}}}", spell(text));
        format!("[{{\"function\": {{\"name\": \"f\", \"arguments\": {}}}}}]", spell(&arguments))
    }

    #[test]
    fn messages_without_a_run_of_the_query_are_excluded() {
        for (query, text, expect) in [
            ("fox", "a Fox", true),
            ("fox", "a f ox", false),
            ("fox OR den", "den", true),
            ("fox den", "den", false),
            ("fox NOT den", "fox den", true),
            ("main.rs", "main\nrs", true),
            ("uber", "über", true),
            ("++", "nothing", true),
            ("u00e9", "nothing", true),
            ("大别", "大 别", false),
            ("🚀", "rocket", false),
        ] {
            let sieve = Sieve::of_query(&Query::parse(query));
            let stored = calls(text, true);
            for columns in [
                Columns { content: Some(text), ..Columns::default() },
                Columns { tool_calls: Some(&stored), ..Columns::default() },
                Columns { content: Some("\0"), structured: Some(&stored), ..Columns::default() },
            ] {
                assert_eq!(sieve.admits(&folded_rough(columns).unwrap()), expect, "{query} in {columns:?}");
            }
        }
    }

    #[test]
    fn escapes_at_several_depths_are_not_resolved_for_certain() {
        let rough_of = |calls: &str| folded_rough(Columns { tool_calls: Some(calls), ..Columns::default() });
        // The text is `\u00e9` as written, followed by an emoji that is escaped.
        assert_eq!(rough_of(r#"["{\"path\": \"u\\\\u00e9\\ud83d\\ude80\"}"]"#), None);
        assert!(rough_of(r#"["{\"path\": \"\\u00e9\\ud83d\\ude80\"}"]"#).unwrap().contains("e🚀"));
    }

    proptest! {
        #[test]
        fn no_match_is_excluded(
            text in "([a-eé]|[\\\\/\"\n\t ]|u00e9|u|[大ж🚀🥰\u{301}ﬁßＡ]){0,12}",
            from in 0_usize..12,
            length in 1_usize..6,
            is_ascii: bool,
        ) {
            let part: String = text.chars().skip(from).take(length).collect();
            if part.trim().is_empty() {
                return Ok(());
            }
            let query = Query::parse(&format!("\"{}\"", part.replace('"', " ")));
            let stored = calls(&text, is_ascii);
            let columns = Columns { content: Some("x"), tool_calls: Some(&stored), ..Columns::default() };
            let decoded = of_columns(columns);
            prop_assert_eq!(relax::Prepared::new(&relax::words(&query)).bits(&fold(&decoded)), relax::words_in(&decoded, &relax::words(&query)));
            let Some(rough) = folded_rough(columns) else { return Ok(()) };
            if Matcher::new(&query).tier(&decoded).is_some() {
                prop_assert!(Sieve::of_query(&query).admits(&rough), "{query:?} in {stored}");
            }
            let words = relax::words(&query);
            if relax::words_in(&decoded, &words) != 0 {
                prop_assert!(Sieve::of_words(&words).admits(&rough), "{words:?} in {stored}");
            }
        }
    }
}
