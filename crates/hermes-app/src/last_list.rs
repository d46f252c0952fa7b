//! The numbered lists that were printed last, so that their rows can be named by number.
//!
//! Each terminal has a list of each store, in a small file in the state folder of the person
//! ([`hermes_config::state_folder`]), readable by its owner only. The folder of the store is not written to, so numbers
//! work for stores that may only be read. Nothing depends on these files: if one can't be written, row numbers don't
//! work.

use crate::{Terminal, Workspace};
use hermes_session::{SessionId, Timestamp};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The folder of the files, in the state folder.
const FOLDER: &str = "lists";
/// The ending of their names.
const ENDING: &str = ".json";
/// The file of earlier versions, in the home folder.
const OLD_FILE: &str = "state.last-list";
/// The version of the format.
const FORMAT: u64 = 1;
/// A list older than this is not used: nobody remembers which row was which.
const MAX_AGE_SECONDS: f64 = 24.0 * 3_600.0;
/// A longer file is not ours: the largest page with the longest ids fits.
const MAX_BYTES: u64 = 8 << 20;
/// At most this many files are kept. More terminals than a person has open at once.
const MAX_FILES: usize = 64;

/// A numbered list.
#[derive(Debug, Clone, PartialEq)]
pub struct LastList {
    /// The number of its first row.
    first: u64,
    /// Whether its rows are single sessions, not conversations.
    pub is_of_sessions: bool,
    /// Whether it was printed on the terminal, not into a file or a pipe.
    is_on_terminal: bool,
    rows: Vec<SessionId>,
}

/// The terminals whose lists a row number may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// Only this terminal, and only a list that was printed on it: for work that a person at a terminal changes
    /// something with, because another list of the same terminal has not been seen.
    OnTerminal,
    /// Only this terminal: for work that changes something, because the person has not seen the lists of others.
    Own,
    /// The newest list of any terminal if this one has none: for work that only reads.
    Any,
}

/// A list that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundList {
    /// The list.
    pub list: LastList,
    /// When another terminal printed it; `None` if this one did.
    pub elsewhere: Option<Timestamp>,
}

/// Reason why a number names no row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoRow {
    /// No list of this store is kept.
    #[error("no numbered list yet")]
    NoList,
    /// Only another terminal has printed a list of this store.
    #[error("this terminal has not printed a numbered list yet, only another one has")]
    OtherTerminal,
    /// The last list of this terminal went elsewhere.
    #[error("the last list of this terminal was not printed on it (its output went to a file or a pipe)")]
    NotOnTerminal,
    /// The list is too old.
    #[error("the last list is too old to use its row numbers")]
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
    /// Returns a list whose first row has this number, printed into a file or a pipe.
    pub fn new(first: u64, is_of_sessions: bool, rows: impl IntoIterator<Item = SessionId>) -> Self {
        Self { first, is_of_sessions, is_on_terminal: false, rows: rows.into_iter().collect() }
    }

    /// Sets whether the list was printed on the terminal.
    #[must_use]
    pub fn on_terminal(self, is_on_terminal: bool) -> Self {
        Self { is_on_terminal, ..self }
    }

    /// Keeps the list for the configured store and this terminal, and removes old lists. Nothing is kept if the folder
    /// can't be written to.
    pub fn keep(&self, workspace: &Workspace, now: Timestamp) {
        let Some(place) = Place::of(workspace) else { return };
        // Row numbers are a convenience: the command has printed its list.
        if let Err(error) = place.write(self, workspace.terminal(), now) {
            tracing::debug!(folder = ?place.folder, rows = self.rows.len(), %error, "printed list not kept");
        }
        place.remove_old(now);
    }

    /// Returns the list of the configured store that this terminal printed last, or, if it has none and `lists` allows
    /// it, the newest of another terminal.
    ///
    /// # Errors
    /// If there is none, it is older than a day, another terminal printed it, or it has to be on the terminal and is
    /// not.
    pub fn read(workspace: &Workspace, lists: Lists, now: Timestamp) -> Result<FoundList, NoRow> {
        let place = Place::of(workspace).ok_or(NoRow::NoList)?;
        match place.read(workspace.terminal()) {
            Some((_, at)) if is_old(at, now) => return Err(NoRow::TooOld { at }),
            Some((list, _)) if lists == Lists::OnTerminal && !list.is_on_terminal => return Err(NoRow::NotOnTerminal),
            Some((list, _)) => return Ok(FoundList { list, elsewhere: None }),
            None => {}
        }
        let other = place.newest().filter(|(_, at)| !is_old(*at, now));
        match (other, lists) {
            (None, _) => Err(NoRow::NoList),
            (Some(_), Lists::OnTerminal | Lists::Own) => Err(NoRow::OtherTerminal),
            (Some((list, at)), Lists::Any) => Ok(FoundList { list, elsewhere: Some(at) }),
        }
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

/// Removes the lists of all terminals that are kept of the configured store.
pub fn forget(workspace: &Workspace) {
    let Some(place) = Place::of(workspace) else { return };
    let mut files = place.of_store();
    if let Ok(settings) = workspace.settings() {
        let old = settings.home.value.join(OLD_FILE);
        files.extend(stored(&old, &place.store).map(|_| old));
    }
    files.iter().for_each(|file| remove(file));
}

/// Where the lists of a store are kept.
struct Place {
    folder: PathBuf,
    /// The name of the store.
    store: String,
}

impl Place {
    /// Returns `None` if the person has no state folder, or if settings, URL or file can't be used: the command that
    /// opens the store reports why.
    fn of(workspace: &Workspace) -> Option<Self> {
        let url = workspace.url().ok()?;
        // The same file may be named from different folders.
        let store = match url.file() {
            Some(path) => format!("sqlite:{}", path.canonicalize().ok()?.display()),
            None => url.to_string(),
        };
        Some(Self { folder: hermes_config::state_folder(workspace.environment())?.join(FOLDER), store })
    }

    /// Returns how the names of the files of this store begin. A hash is enough: the file names the store too.
    fn start(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.store.hash(&mut hasher);
        format!("{:016x}.", hasher.finish())
    }

    fn file(&self, terminal: &Terminal) -> PathBuf {
        self.folder.join(format!("{}{}{ENDING}", self.start(), terminal.name()))
    }

    fn write(&self, list: &LastList, terminal: &Terminal, at: Timestamp) -> io::Result<()> {
        let rows: Vec<&str> = list.rows.iter().map(SessionId::as_str).collect();
        let text = json!({
            "format": FORMAT, "store": self.store, "at": at.seconds(), "first": list.first, "sessions": list.is_of_sessions,
            "on_terminal": list.is_on_terminal, "rows": rows,
        });
        make_folder(&self.folder)?;
        // The temporary file is readable by its owner only. A symbolic link in its place is replaced, not followed.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.to_string().as_bytes())?;
        file.as_file().set_modified(system_time(at))?;
        file.persist(self.file(terminal))?;
        Ok(())
    }

    fn read(&self, terminal: &Terminal) -> Option<(LastList, Timestamp)> {
        stored(&self.file(terminal), &self.store)
    }

    /// Returns the newest list of any terminal.
    fn newest(&self) -> Option<(LastList, Timestamp)> {
        let lists = self.of_store().into_iter().filter_map(|file| stored(&file, &self.store));
        lists.max_by(|(_, one), (_, other)| one.seconds().total_cmp(&other.seconds()))
    }

    /// Returns the files of this store.
    fn of_store(&self) -> Vec<PathBuf> {
        let start = self.start();
        let is_ours = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start));
        lists(&self.folder).into_iter().map(|(_, file)| file).filter(is_ours).collect()
    }

    /// Removes lists, of any store and terminal, that are too old to be used, and the oldest of too many.
    fn remove_old(&self, now: Timestamp) {
        let mut files = lists(&self.folder);
        files.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        let oldest = system_time(now.plus(-MAX_AGE_SECONDS));
        let is_old = |place: usize, at: SystemTime| place >= MAX_FILES || at < oldest;
        let old = files.iter().enumerate().filter(|(place, (at, _))| is_old(*place, *at));
        old.for_each(|(_, (_, file))| remove(file));
    }
}

/// Returns the files of lists in a folder, each with the time when it was written.
fn lists(folder: &Path) -> Vec<(SystemTime, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().ends_with(ENDING));
    files.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect()
}

fn remove(file: &Path) {
    // Another process may have removed it.
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(?file, %error, "printed list not removed");
        }
        _ => {}
    }
}

/// Makes a folder and those above it, for their owner only.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns the time for a file. Times before 1970 count as 1970.
fn system_time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(at.seconds()).unwrap_or_default()
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
        // Absent if an earlier version wrote the list, which did not record it.
        is_on_terminal: value["on_terminal"].as_bool().unwrap_or(false),
        rows: rows.collect::<Option<_>>()?,
    };
    Some((list, Timestamp::from_seconds(value["at"].as_f64()?).ok()?))
}

fn is_old(at: Timestamp, now: Timestamp) -> bool {
    now.since(at) > MAX_AGE_SECONDS
}

#[cfg(test)]
mod tests;
