//! Languages of questions: stop words, and stems of the other words.

use super::stop_words;
use crate::search::fold::fold;
use snowball_stemmers_rs::{Algorithm, Stemmer};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Maximum length of a word that is stemmed, in bytes. A longer one is not a word of a language, and the rules take
/// long on it.
const MAX_STEMMED: usize = 64;

/// Maximum length of a stem in languages with compound words, in characters.
const MAX_JOINED: usize = 8;

/// A language, by its index in [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language(u8);

struct Rules {
    algorithm: Algorithm,
    stop_words: &'static str,
}

/// English comes first: names, code and borrowed words are stemmed by its rules in any text of Latin letters.
const LANGUAGES: &[Rules] = &[
    Rules { algorithm: Algorithm::English, stop_words: stop_words::ENGLISH },
    Rules { algorithm: Algorithm::German, stop_words: stop_words::GERMAN },
    Rules { algorithm: Algorithm::French, stop_words: stop_words::FRENCH },
    Rules { algorithm: Algorithm::Spanish, stop_words: stop_words::SPANISH },
    Rules { algorithm: Algorithm::Italian, stop_words: stop_words::ITALIAN },
    Rules { algorithm: Algorithm::Portuguese, stop_words: stop_words::PORTUGUESE },
    Rules { algorithm: Algorithm::DutchPorter, stop_words: stop_words::DUTCH },
    Rules { algorithm: Algorithm::Swedish, stop_words: stop_words::SWEDISH },
    Rules { algorithm: Algorithm::Danish, stop_words: stop_words::DANISH },
    Rules { algorithm: Algorithm::Norwegian, stop_words: stop_words::NORWEGIAN },
    Rules { algorithm: Algorithm::Polish, stop_words: stop_words::POLISH },
    Rules { algorithm: Algorithm::Turkish, stop_words: stop_words::TURKISH },
    Rules { algorithm: Algorithm::Russian, stop_words: stop_words::RUSSIAN },
    Rules { algorithm: Algorithm::Ukrainian, stop_words: stop_words::UKRAINIAN },
    Rules { algorithm: Algorithm::Greek, stop_words: stop_words::GREEK },
];

pub(super) const ENGLISH_RULES: Language = Language(0);
const RUSSIAN_RULES: Language = Language(12);
const GREEK_RULES: Language = Language(14);

/// Languages in which a folded word is a stop word, one bit each.
static STOP_WORDS: LazyLock<HashMap<String, u16>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (language, rules) in LANGUAGES.iter().enumerate() {
        for word in rules.stop_words.split(' ') {
            *all.entry(fold(word).into_owned()).or_default() |= 1 << language;
        }
    }
    all
});

/// The possible languages of a question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guess {
    spoken: u16,
}

impl Guess {
    /// Guesses by stop words: the languages that have the most of them.
    pub(super) fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut counts = [0u32; LANGUAGES.len()];
        for word in words {
            let languages = STOP_WORDS.get(word).copied().unwrap_or_default();
            for (language, count) in counts.iter_mut().enumerate() {
                *count += u32::from(languages >> language & 1);
            }
        }
        let most = counts.iter().copied().max().unwrap_or_default();
        let spoken = counts.iter().enumerate().filter(|(_, count)| most > 0 && **count == most);
        Self { spoken: spoken.map(|(language, _)| 1 << language).sum() }
    }

    /// Returns whether a folded word is a stop word in these languages.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        STOP_WORDS.get(word).is_some_and(|languages| languages & self.spoken != 0)
    }

    /// Returns the languages whose rules a word is stemmed by: the default language of its script, and guessed
    /// languages that use this script.
    pub(super) fn rules(self, word: &str) -> Vec<Language> {
        let Some((home, script)) = word.chars().next().and_then(script) else { return Vec::new() };
        let spoken =
            (0..LANGUAGES.len()).filter(|language| self.spoken >> language & 1 == 1 && script.contains(language));
        let mut rules = vec![home];
        // More than a few languages can't be distinguished by a query, and each makes more words equal.
        rules.extend(spoken.map(|language| Language(language as u8)).filter(|language| *language != home).take(2));
        rules
    }
}

/// Returns the default language of a script, and all languages that use it.
fn script(letter: char) -> Option<(Language, std::ops::Range<usize>)> {
    match letter {
        'a'..='z' | '\u{df}'..='\u{24f}' => Some((ENGLISH_RULES, 0..12)),
        '\u{400}'..='\u{4ff}' => Some((RUSSIAN_RULES, 12..14)),
        '\u{370}'..='\u{3ff}' => Some((GREEK_RULES, 14..15)),
        _ => None,
    }
}

impl Language {
    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..LANGUAGES.len()).map(|language| Self(language as u8))
    }

    /// Returns the stem of a folded word.
    pub(super) fn stem(self, word: &str) -> String {
        if word.len() > MAX_STEMMED || !word.chars().all(char::is_alphabetic) {
            return word.to_owned();
        }
        let algorithm = LANGUAGES[usize::from(self.0)].algorithm;
        let stem = Stemmer::create(algorithm).stem(word).into_owned();
        match algorithm {
            // The rules look for `é`, which a folded word does not have: `arrivée` ends in `ee`.
            Algorithm::French if stem.len() > 3 => stem.trim_end_matches('e').to_owned(),
            // These form compounds, and a question uses other compounds: `haftpflichtversichert` is about the
            // `Haftpflicht`.
            Algorithm::German
            | Algorithm::DutchPorter
            | Algorithm::Swedish
            | Algorithm::Danish
            | Algorithm::Norwegian => stem.chars().take(MAX_JOINED).collect(),
            _ => stem,
        }
    }
}
