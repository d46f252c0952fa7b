//! The conversations of the list, and which of them have what was typed in their titles, previews, ids or sources.
//!
//! What is compared is folded once, when a row comes, into one long text: a keystroke is one pass over it.

use hermes_session::search;
use hermes_session::search::fold::fold;
use hermes_session::{SessionId, SessionSummary, Timestamp};
use memchr::memmem::Finder;
use std::collections::HashMap;

/// Stands between the fields of a row and between rows. No word holds it.
const BORDER: char = '\n';

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) id: SessionId,
    pub(super) title: Option<String>,
    pub(super) preview: String,
    pub(super) source: String,
    pub(super) last_active: Timestamp,
    /// Nothing if that is not known.
    pub(super) messages: Option<i64>,
}

impl Row {
    /// What it is called: its title, else what it starts with, else its id.
    pub(super) fn name(&self) -> &str {
        match &self.title {
            Some(title) => title,
            None if self.preview.is_empty() => self.id.as_str(),
            None => &self.preview,
        }
    }
}

impl From<SessionSummary> for Row {
    fn from(summary: SessionSummary) -> Self {
        Self {
            id: summary.id,
            title: summary.title,
            preview: summary.preview,
            source: summary.source.to_string(),
            last_active: summary.last_active,
            messages: Some(summary.messages),
        }
    }
}

impl From<&search::Hit> for Row {
    fn from(hit: &search::Hit) -> Self {
        Self {
            id: hit.conversation.clone(),
            title: hit.title.clone(),
            preview: String::new(),
            source: hit.source.to_string(),
            last_active: hit.said_at,
            messages: None,
        }
    }
}

/// The words that somebody typed, in the form in which they are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// The longest first: it is in the fewest rows.
    words: Vec<(String, Finder<'static>)>,
}

impl Words {
    /// The words of a text. Quotes around them count only where text is searched.
    pub(super) fn of(text: &str) -> Self {
        let folded = fold(text);
        let words = folded.split_whitespace().map(|word| word.trim_matches('"')).filter(|word| !word.is_empty());
        let mut words: Vec<_> = words.map(|word| (word.to_owned(), Finder::new(word).into_owned())).collect();
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Self { words }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether whatever has these words has the others too.
    pub(super) fn is_within(&self, others: &Self) -> bool {
        others.words.iter().all(|(other, _)| self.words.iter().any(|(word, _)| word.contains(other.as_str())))
    }

    fn are_in(&self, text: &[u8]) -> bool {
        self.words.iter().all(|(_, finder)| finder.find(text).is_some())
    }
}

/// All rows that have come, in the order of the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// The fields of all rows.
    folded: String,
    /// Where each row ends in it.
    ends: Vec<usize>,
    places: HashMap<SessionId, usize>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Row> {
        self.rows.get(place)
    }

    pub(super) fn place(&self, id: &SessionId) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Adds a row behind the others. One that is there already stays where it is: it became active while the list was read.
    pub(super) fn push(&mut self, row: Row) {
        if self.places.contains_key(&row.id) {
            return;
        }
        for field in [row.title.as_deref().unwrap_or_default(), &row.preview, row.id.as_str(), &row.source] {
            self.folded.push_str(&fold(field));
            self.folded.push(BORDER);
        }
        self.ends.push(self.folded.len());
        self.places.insert(row.id.clone(), self.rows.len());
        self.rows.push(row);
    }

    /// Gives a row another title.
    pub(super) fn rename(&mut self, id: &SessionId, title: &str) {
        if let Some(place) = self.place(id) {
            self.rows[place].title = Some(title.to_owned());
            self.again(|_| true);
        }
    }

    /// Takes rows away.
    pub(super) fn remove(&mut self, ids: &[SessionId]) {
        self.again(|row| !ids.contains(&row.id));
    }

    /// Puts all rows together anew, those that stay.
    fn again(&mut self, stays: impl Fn(&Row) -> bool) {
        let rows = std::mem::take(self).rows;
        rows.into_iter().filter(stays).for_each(|row| self.push(row));
    }

    /// The places of the rows that have all words, from one on.
    pub(super) fn with(&self, words: &Words, from: usize) -> Vec<usize> {
        let Some((_, first)) = words.words.first() else { return (from..self.len()).collect() };
        let text = self.folded.as_bytes();
        let (mut found, mut place, mut at) = (Vec::new(), from, self.start(from));
        while let Some(next) = text.get(at..).and_then(|rest| first.find(rest)) {
            let hit = at + next;
            while self.ends[place] <= hit {
                place += 1;
            }
            if words.are_in(self.folded(place)) {
                found.push(place);
            }
            at = self.ends[place];
            place += 1;
        }
        found
    }

    /// Those of some places whose rows have all words.
    pub(super) fn of_these_with(&self, places: &[usize], words: &Words) -> Vec<usize> {
        places.iter().copied().filter(|place| words.are_in(self.folded(*place))).collect()
    }

    fn start(&self, place: usize) -> usize {
        place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0)
    }

    fn folded(&self, place: usize) -> &[u8] {
        let end = self.ends.get(place).copied().unwrap_or(0);
        self.folded.as_bytes().get(self.start(place)..end).unwrap_or_default()
    }
}

#[cfg(test)]
pub(in crate::commands::browse) mod tests {
    use super::*;

    pub(in crate::commands::browse) fn row(id: &str, title: Option<&str>, preview: &str, source: &str) -> Row {
        Row {
            id: SessionId::parse(id).unwrap(),
            title: title.map(str::to_owned),
            preview: preview.into(),
            source: source.into(),
            last_active: Timestamp::from_seconds(1_741_166_123.0).unwrap(),
            messages: Some(2),
        }
    }

    fn rows() -> Rows {
        let mut rows = Rows::default();
        rows.push(row("a1", Some("Größe & Farbe"), "Welche?", "cli"));
        rows.push(row("b2", None, "周末想去大别山徒步", "telegram"));
        rows.push(row("c3", Some("ﬂaky Login"), "the login test", "cli"));
        rows.push(row("d4", None, "", "CRÈME"));
        rows
    }

    #[track_caller]
    fn check(text: &str, expect: &[usize]) {
        let (rows, words) = (rows(), Words::of(text));
        assert_eq!(rows.with(&words, 0), expect, "{text}");
        assert_eq!(rows.of_these_with(&[0, 1, 2, 3], &words), expect, "{text}");
        let behind: Vec<usize> = expect.iter().copied().filter(|place| *place >= 2).collect();
        assert_eq!(rows.with(&words, 2), behind, "{text}, from the third on");
    }

    #[test]
    fn every_field_is_compared_whatever_its_case_and_accents() {
        check("", &[0, 1, 2, 3]);
        check("grosse", &[0]);
        check("大别", &[1]);
        check("TELE", &[1]);
        check("creme", &[3]);
        check("cli", &[0, 2]);
        check("cli login", &[2]);
        check("login test cli c3", &[2]);
        check("\"login test\"", &[2]);
        check("e", &[0, 1, 2, 3]);
        check("nothing", &[]);
        check("cli nothing", &[]);
        check("telegram login", &[]);
        // Fields and rows are borders.
        check("farbewelche", &[]);
        check("telegramc3", &[]);
    }

    #[test]
    fn longer_words_are_within_shorter_ones() {
        let is_within = |longer: &str, shorter: &str| Words::of(longer).is_within(&Words::of(shorter));
        assert!(is_within("login", "log") && is_within("login te", "login") && is_within("x", ""));
        assert!(!is_within("log", "login") && !is_within("login", "login te") && !is_within("", "x"));
    }

    #[test]
    fn rows_are_renamed_removed_and_never_twice() {
        let mut rows = rows();
        rows.push(row("a1", Some("another"), "", "cli"));
        assert_eq!((rows.len(), rows.with(&Words::of("another"), 0)), (4, vec![]));
        rows.rename(&SessionId::parse("b2").unwrap(), "Wandern");
        assert_eq!(rows.with(&Words::of("wandern 大"), 0), [1]);
        rows.remove(&[SessionId::parse("a1").unwrap(), SessionId::parse("zz").unwrap()]);
        assert_eq!((rows.len(), rows.place(&SessionId::parse("c3").unwrap())), (3, Some(1)));
        assert_eq!(rows.with(&Words::of("login"), 0), [1]);
        assert_eq!(rows.get(0).unwrap().name(), "Wandern");
    }
}
