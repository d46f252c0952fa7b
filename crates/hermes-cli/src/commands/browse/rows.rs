//! The conversations of the list, filtered by words in their titles, previews, ids, sources and tags.
//!
//! The fields are folded once, when a row is added, into one long text. A keystroke is then one pass over it.

use hermes_session::search;
use hermes_session::search::fold::fold;
use hermes_session::{SessionId, SessionSummary, Tag, Timestamp};
use hermes_terminal::transcript::NO_TITLE;
use memchr::memmem::Finder;
use std::collections::HashMap;

/// Separates the fields of a row, and rows. No word contains it.
const BORDER: char = '\n';

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) id: SessionId,
    pub(super) title: Option<String>,
    pub(super) preview: String,
    pub(super) source: String,
    pub(super) last_active: Timestamp,
    /// `None` if the number is not known.
    pub(super) messages: Option<i64>,
    pub(super) is_pinned: bool,
    pub(super) tags: Vec<Tag>,
}

impl Row {
    /// Returns the display name: the title, else the preview, else `(no title)`.
    pub(super) fn name(&self) -> &str {
        match &self.title {
            Some(title) => title,
            None if self.preview.is_empty() => NO_TITLE,
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
            is_pinned: summary.pinned_at.is_some(),
            tags: summary.tags,
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
            // Search hits do not have them.
            is_pinned: false,
            tags: Vec::new(),
        }
    }
}

/// The words of the filter, folded for comparison.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// The words, the longest first, because it is in the fewest rows.
    words: Vec<(String, Finder<'static>)>,
}

impl Words {
    /// Returns the words of a text. Quotes around words are dropped; they matter only in a text search.
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

    /// Returns whether every row that has these words also has the others.
    pub(super) fn is_within(&self, others: &Self) -> bool {
        others.words.iter().all(|(other, _)| self.words.iter().any(|(word, _)| word.contains(other.as_str())))
    }

    fn are_in(&self, text: &[u8]) -> bool {
        self.words.iter().all(|(_, finder)| finder.find(text).is_some())
    }
}

/// All rows received so far, in the order of the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// The folded fields of all rows.
    folded: String,
    /// The end of each row in `folded`.
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

    /// Appends a row. A row that exists already keeps its position: it became active while the list was read.
    pub(super) fn push(&mut self, row: Row) {
        if self.places.contains_key(&row.id) {
            return;
        }
        let fields = [row.title.as_deref().unwrap_or_default(), &row.preview, row.id.as_str(), &row.source];
        for field in fields.into_iter().chain(row.tags.iter().map(Tag::as_str)) {
            self.folded.push_str(&fold(field));
            self.folded.push(BORDER);
        }
        self.ends.push(self.folded.len());
        self.places.insert(row.id.clone(), self.rows.len());
        self.rows.push(row);
    }

    /// Changes the title of a row.
    pub(super) fn rename(&mut self, id: &SessionId, title: &str) {
        if let Some(place) = self.place(id) {
            self.rows[place].title = Some(title.to_owned());
            self.again(|_| true);
        }
    }

    /// Pins or unpins rows, and moves them to where the list has them: pinned rows first, both by activity.
    pub(super) fn pin(&mut self, ids: &[SessionId], is_pinned: bool) {
        for place in ids.iter().filter_map(|id| self.place(id)).collect::<Vec<_>>() {
            self.rows[place].is_pinned = is_pinned;
        }
        self.rows.sort_by(|one, other| {
            let by_activity = || other.last_active.seconds().total_cmp(&one.last_active.seconds());
            other.is_pinned.cmp(&one.is_pinned).then_with(by_activity)
        });
        self.again(|_| true);
    }

    /// Changes the tags of a row.
    pub(super) fn tag(&mut self, changed: &[(SessionId, Vec<Tag>)]) {
        for (id, tags) in changed {
            if let Some(place) = self.place(id) {
                self.rows[place].tags.clone_from(tags);
            }
        }
        self.again(|_| true);
    }

    /// Removes rows.
    pub(super) fn remove(&mut self, ids: &[SessionId]) {
        self.again(|row| !ids.contains(&row.id));
    }

    /// Rebuilds everything from the rows that stay.
    fn again(&mut self, stays: impl Fn(&Row) -> bool) {
        let rows = std::mem::take(self).rows;
        rows.into_iter().filter(stays).for_each(|row| self.push(row));
    }

    /// Returns the positions, from `from` on, of the rows that have all words.
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

    /// Returns those of `places` whose rows have all words.
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
            is_pinned: false,
            tags: Vec::new(),
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
        // A match never crosses the border between fields or rows.
        check("farbewelche", &[]);
        check("telegramc3", &[]);
    }

    #[test]
    fn pinned_rows_are_first_and_unpinned_ones_go_back() {
        let mut rows = Rows::default();
        for (name, seconds) in [("new", 30.0), ("middle", 20.0), ("old", 10.0)] {
            let last_active = Timestamp::from_seconds(seconds).unwrap();
            rows.push(Row { last_active, ..row(name, None, name, "cli") });
        }
        let order = |rows: &Rows| rows.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>();
        let ids = |names: &[&str]| names.iter().map(|name| SessionId::parse(*name).unwrap()).collect::<Vec<_>>();
        rows.pin(&ids(&["old", "gone"]), true);
        assert_eq!(order(&rows), ["old", "new", "middle"]);
        assert_eq!(rows.with(&Words::of("middle"), 0), [2]);
        rows.pin(&ids(&["middle"]), true);
        assert_eq!(order(&rows), ["middle", "old", "new"]);
        rows.pin(&ids(&["old", "middle"]), false);
        assert_eq!(order(&rows), ["new", "middle", "old"]);
    }

    #[test]
    fn tags_are_found() {
        let mut rows = rows();
        let place = |rows: &Rows, text: &str| rows.with(&Words::of(text), 0);
        assert!(place(&rows, "work").is_empty());
        let tags = ["home", "work"].map(Tag::from_stored).to_vec();
        rows.tag(&[(SessionId::parse("b2").unwrap(), tags)]);
        assert_eq!((place(&rows, "WORK"), place(&rows, "work home 大别")), (vec![1], vec![1]));
        rows.tag(&[(SessionId::parse("b2").unwrap(), vec![])]);
        assert!(place(&rows, "work").is_empty());
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
