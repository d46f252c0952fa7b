//! The list that was printed last, so that its rows can be named by their numbers.
//!
//! It is kept in a small file in the home folder, for its owner alone. Nothing depends on it: where it can't be written, numbers name nothing.

use crate::context::Context;
use crate::error::{CliError, Kind};
use hermes_session::{SessionId, Timestamp};
use hermes_terminal::time::Now;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The file, in the home folder.
const FILE: &str = "state.last-list";
/// The version of its form.
const FORMAT: u64 = 1;
/// After this long nobody remembers which row was which.
const MOST_SECONDS: f64 = 24.0 * 3_600.0;
/// No file of ours is longer: the most rows of a page, with the longest ids.
const MOST_BYTES: u64 = 8 << 20;

/// What to do where a number names nothing.
pub(crate) const AGAIN: &str = "`hermes sessions list` numbers its rows anew";

/// The list that was printed last.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LastList {
    /// The number of its first row.
    first: u64,
    /// Whether its rows are single sessions, not conversations.
    pub(crate) is_of_sessions: bool,
    rows: Vec<SessionId>,
}

impl LastList {
    /// A list whose first row has this number.
    pub(crate) fn new(first: u64, is_of_sessions: bool, rows: impl IntoIterator<Item = SessionId>) -> Self {
        Self { first, is_of_sessions, rows: rows.into_iter().collect() }
    }

    /// Keeps the list. A folder that is not there is not made, and one that can't be written to is left alone.
    pub(crate) fn keep(&self, context: &Context) {
        if let Some((folder, store)) = place(context) {
            let _ = self.write(&folder, &store, context.now.at);
        }
    }

    fn write(&self, folder: &Path, store: &str, at: Timestamp) -> std::io::Result<()> {
        let rows: Vec<&str> = self.rows.iter().map(SessionId::as_str).collect();
        let text = json!({
            "format": FORMAT, "store": store, "at": at.seconds(), "first": self.first, "sessions": self.is_of_sessions, "rows": rows,
        });
        // Made for its owner alone; a link that somebody put there is replaced, not followed.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.to_string().as_bytes())?;
        file.persist(folder.join(FILE))?;
        Ok(())
    }

    /// The list that was printed last of the store that the command is about.
    ///
    /// # Errors
    /// If there is none, or none that could still be meant.
    pub(crate) fn read(context: &Context) -> Result<Self, CliError> {
        let error = |text: String| CliError::new(Kind::User, text, AGAIN);
        let none = || error("no list of this store was printed yet, so that a number names no session".into());
        let (folder, store) = place(context).ok_or_else(none)?;
        let (list, at) = stored(&folder.join(FILE), &store).ok_or_else(none)?;
        match is_old(at, &context.now) {
            true => Err(error(format!("the last list is from {}, too old to go by", context.now.day_and_minute(at)))),
            false => Ok(list),
        }
    }

    /// The session of a row.
    ///
    /// # Errors
    /// If the list has no such row.
    pub(crate) fn row(&self, number: u64) -> Result<&SessionId, CliError> {
        let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.rows.get(place)).ok_or_else(|| {
            let last = self.first + (self.rows.len() as u64).saturating_sub(1);
            let text = match self.rows.len() {
                0 => format!("the last list has no row {number}: it was empty"),
                _ => format!("the last list has no row {number}: it has {} to {last}", self.first),
            };
            CliError::new(Kind::User, text, AGAIN)
        })
    }
}

/// The folder of the file, and the name of the store that a list is kept for.
/// Removes the list that is kept of the store that the command is about.
pub(crate) fn forget(context: &Context) {
    if let Some((folder, store)) = place(context)
        && stored(&folder.join(FILE), &store).is_some()
    {
        _ = std::fs::remove_file(folder.join(FILE));
    }
}

fn place(context: &Context) -> Option<(PathBuf, String)> {
    let settings = context.settings().ok()?;
    let url = context.configured_url(&settings).ok()?;
    // The same file may be named from different folders.
    let store = match url.file() {
        Some(path) => format!("sqlite:{}", path.canonicalize().ok()?.display()),
        None => url.to_string(),
    };
    Some((settings.home.value, store))
}

fn stored(path: &Path, store: &str) -> Option<(LastList, Timestamp)> {
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return None;
    }
    let value: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    if value["format"].as_u64() != Some(FORMAT) || value["store"].as_str() != Some(store) {
        return None;
    }
    let rows = value["rows"].as_array()?.iter().map(|id| SessionId::parse(id.as_str()?).ok());
    let list = LastList {
        first: value["first"].as_u64()?,
        is_of_sessions: value["sessions"].as_bool()?,
        rows: rows.collect::<Option<_>>()?,
    };
    Some((list, Timestamp::from_seconds(value["at"].as_f64()?).ok()?))
}

fn is_old(at: Timestamp, now: &Now) -> bool {
    now.at.since(at) > MOST_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_seconds(seconds).unwrap()
    }

    #[test]
    fn a_list_comes_back_for_its_store_alone() {
        let folder = tempfile::tempdir().unwrap();
        let list = LastList::new(21, true, [id("a"), id("大\u{1b}")]);
        list.write(folder.path(), "sqlite:/x", at(5.25)).unwrap();
        let file = folder.path().join(FILE);
        assert_eq!(stored(&file, "sqlite:/x"), Some((list, at(5.25))));
        assert_eq!(stored(&file, "sqlite:/y"), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_no_list_of_ours_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        assert_eq!(stored(&file, "s"), None);
        for text in [
            "",
            "{",
            "[]",
            r#"{"format": 2, "store": "s", "at": 1.0, "first": 1, "sessions": false, "rows": []}"#,
            r#"{"format": 1, "store": "s", "at": 1.0, "first": 1, "sessions": false, "rows": [3]}"#,
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(stored(&file, "s"), None, "{text}");
        }
    }

    #[test]
    fn rows_have_the_numbers_that_were_printed() {
        let list = LastList::new(21, false, [id("a"), id("b")]);
        assert_eq!(list.row(22).unwrap(), &id("b"));
        for number in [0, 1, 20, 23, u64::MAX] {
            let text = list.row(number).unwrap_err().text();
            assert_eq!(text, format!("the last list has no row {number}: it has 21 to 22"));
        }
        assert!(LastList::new(1, false, []).row(1).unwrap_err().text().ends_with("it was empty"));
    }

    #[test]
    fn a_list_of_yesterday_is_too_old() {
        let now = Now { at: at(1e6), zone: jiff::tz::TimeZone::UTC };
        assert!(!is_old(at(1e6 - MOST_SECONDS), &now) && is_old(at(1e6 - MOST_SECONDS - 1.0), &now));
    }
}
