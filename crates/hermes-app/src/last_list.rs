//! The list that was printed last, so that its rows can be named by their numbers.
//!
//! It is kept in a small file in the home folder, readable by its owner only. Nothing depends on it: if it can't be written, numbers name
//! nothing.

use crate::Workspace;
use hermes_session::{SessionId, Timestamp};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The file, in the home folder.
const FILE: &str = "state.last-list";
/// The version of its form.
const FORMAT: u64 = 1;
/// A list older than this is not used: nobody remembers which row was which.
const MAX_AGE_SECONDS: f64 = 24.0 * 3_600.0;
/// A longer file is not ours: the largest page with the longest ids fits.
const MAX_BYTES: u64 = 8 << 20;

/// The list that was printed last.
#[derive(Debug, Clone, PartialEq)]
pub struct LastList {
    /// The number of its first row.
    first: u64,
    /// Whether its rows are single sessions, not conversations.
    pub is_of_sessions: bool,
    rows: Vec<SessionId>,
}

/// Why a number names no row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoRow {
    /// No list of this store is kept.
    #[error("no list of this store was printed yet, so that a number names no session")]
    NoList,
    /// The list is too old.
    #[error("the last list is too old to go by")]
    TooOld {
        /// When it was printed.
        at: Timestamp,
    },
    /// The list has no row of this number.
    #[error("{}", out_of_range(*number, *first, *count))]
    OutOfRange {
        /// The number.
        number: u64,
        /// The number of the first row.
        first: u64,
        /// How many rows it has.
        count: u64,
    },
}

fn out_of_range(number: u64, first: u64, count: u64) -> String {
    match count {
        0 => format!("the last list has no row {number}: it was empty"),
        _ => format!("the last list has no row {number}: it has {first} to {}", first + (count - 1)),
    }
}

impl LastList {
    /// Returns a list whose first row has this number.
    pub fn new(first: u64, is_of_sessions: bool, rows: impl IntoIterator<Item = SessionId>) -> Self {
        Self { first, is_of_sessions, rows: rows.into_iter().collect() }
    }

    /// Keeps the list for the configured store. Nothing is kept if the folder does not exist or can't be written to.
    pub fn keep(&self, workspace: &Workspace, now: Timestamp) {
        if let Some((folder, store)) = place(workspace) {
            // Row numbers are a convenience: the command has printed its list.
            if let Err(error) = self.write(&folder, &store, now) {
                tracing::debug!(?folder, rows = self.rows.len(), %error, "printed list not kept");
            }
        }
    }

    fn write(&self, folder: &Path, store: &str, at: Timestamp) -> std::io::Result<()> {
        let rows: Vec<&str> = self.rows.iter().map(SessionId::as_str).collect();
        let text = json!({
            "format": FORMAT, "store": store, "at": at.seconds(), "first": self.first, "sessions": self.is_of_sessions, "rows": rows,
        });
        // The temporary file is readable by its owner only. A symbolic link in its place is replaced, not followed.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.to_string().as_bytes())?;
        file.persist(folder.join(FILE))?;
        Ok(())
    }

    /// Returns the list of the configured store that was printed last.
    ///
    /// # Errors
    /// If there is none, or it is older than a day.
    pub fn read(workspace: &Workspace, now: Timestamp) -> Result<Self, NoRow> {
        let (folder, store) = place(workspace).ok_or(NoRow::NoList)?;
        let (list, at) = stored(&folder.join(FILE), &store).ok_or(NoRow::NoList)?;
        if is_old(at, now) { Err(NoRow::TooOld { at }) } else { Ok(list) }
    }

    /// Returns the session of a row.
    ///
    /// # Errors
    /// If the list has no such row.
    pub fn row(&self, number: u64) -> Result<&SessionId, NoRow> {
        let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        let error = || NoRow::OutOfRange { number, first: self.first, count: self.rows.len() as u64 };
        place.and_then(|place| self.rows.get(place)).ok_or_else(error)
    }
}

/// Removes the list that is kept of the configured store.
pub fn forget(workspace: &Workspace) {
    if let Some((folder, store)) = place(workspace)
        && stored(&folder.join(FILE), &store).is_some()
        && let Err(error) = std::fs::remove_file(folder.join(FILE))
    {
        tracing::warn!(?folder, %error, "printed list not removed");
    }
}

/// Returns the folder of the file, and the name of the store that a list is kept for. Returns `None` if settings, URL or file can't be used: the
/// command that opens the store reports why.
fn place(workspace: &Workspace) -> Option<(PathBuf, String)> {
    let (settings, url) = (workspace.settings().ok()?, workspace.url().ok()?);
    // The same file may be named from different folders.
    let store = match url.file() {
        Some(path) => format!("sqlite:{}", path.canonicalize().ok()?.display()),
        None => url.to_string(),
    };
    Some((settings.home.value.clone(), store))
}

/// Reads a list. A file that is missing, of another store or unreadable counts as no list: the next list replaces it.
fn stored(path: &Path, store: &str) -> Option<(LastList, Timestamp)> {
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > MAX_BYTES {
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

fn is_old(at: Timestamp, now: Timestamp) -> bool {
    now.since(at) > MAX_AGE_SECONDS
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
    fn a_file_of_another_form_is_ignored() {
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
            let text = list.row(number).unwrap_err().to_string();
            assert_eq!(text, format!("the last list has no row {number}: it has 21 to 22"));
        }
        assert!(LastList::new(1, false, []).row(1).unwrap_err().to_string().ends_with("it was empty"));
    }

    #[test]
    fn a_list_of_yesterday_is_too_old() {
        assert!(!is_old(at(1e6 - MAX_AGE_SECONDS), at(1e6)) && is_old(at(1e6 - MAX_AGE_SECONDS - 1.0), at(1e6)));
    }
}
