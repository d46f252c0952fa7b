//! Erases a conversation and proves that nothing of it is left in the file.
//!
//! Deleting removes rows; their bytes stay in free pages, in the WAL and in words of the full-text indexes. So deleted
//! bytes are overwritten, the indexes are rebuilt from the remaining rows, and the file is rewritten without its free
//! pages. Then its bytes are scanned for signs of the erased text, which were taken beforehand ([`Needles`]).

mod live;
mod note;
mod scan;
mod signs;
mod ties;

pub use scan::look_through;

use hermes_session::needles::Needles;
use hermes_session::versions::Versions;
use hermes_session::{Deleted, Maintenance as _, Optimizing, Request, SessionId, StoreError, Timestamp};
use hermes_sqlite::file::{self, Failure};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ties::Ties;

/// How long to wait for other programs to close the file.
const WAIT: Duration = Duration::from_millis(500);
const REWRITE: &str = "rewrite the store";

/// A phase of erasing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasePhase {
    /// Rows are deleted.
    Deleting,
    /// Indexes are rebuilt from the remaining rows.
    Indexing,
    /// The file is rewritten: one step, whose duration grows with the file, under an exclusive lock.
    Rewriting,
    /// The bytes of the file are scanned.
    Scanning,
}

/// The state of the file's free pages and WAL after erasing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewritten {
    /// The file was rewritten and has neither.
    Done,
    /// Another program has the file open. Deleted bytes may be left in them.
    InUse,
    /// The disk has no room for the copy that rewriting takes.
    NoRoom,
}

/// A file in which a sign of the erased text was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The file.
    pub path: PathBuf,
    /// The offset of the first sign, in bytes.
    pub at: u64,
}

/// The outcome of erasing and of the scan.
#[derive(Debug)]
pub struct Erased {
    /// The sessions and messages that were deleted from the store and the trash.
    pub deleted: Deleted,
    /// Whether the file was rewritten.
    pub rewritten: Rewritten,
    /// How many stretches and words the bytes were scanned for.
    pub needles: u64,
    /// How many words were looked for in the indexes.
    pub words: u64,
    /// How many bytes of the store's own files were scanned.
    pub scanned: u64,
    /// The store's own files that still contain a sign.
    pub left: Vec<Left>,
    /// How many erased words are still in the indexes.
    pub words_left: u64,
    /// Tables of the agent that contain some of the erased text in rows that belong to no session. They were left
    /// alone.
    pub tables_left: Vec<String>,
    /// Other files beside the store that contain a sign, such as backups. They are not touched.
    pub beside: Vec<Left>,
    /// The signs, to scan other files for.
    pub signs: Needles,
}

impl Erased {
    /// Returns whether nothing of it is left in the store, and the file was rewritten.
    pub fn is_clean(&self) -> bool {
        self.left.is_empty() && self.words_left == 0 && self.tables_left.is_empty() && self.rewritten == Rewritten::Done
    }
}

/// Erases every version of a conversation, in the store and in the trash, and rows of the agent's other tables that
/// belong to it. Calls `report` at the start of each phase; at [`ErasePhase::Indexing`] all rows are gone, and the
/// caller should remove what it keeps outside of the file.
///
/// This process must not have the file open: the file is read past SQLite at the end, and closing it drops the locks of
/// the process. If another process has it open, everything but the rewriting is done ([`Rewritten::InUse`]). An
/// interrupted call leaves a note that [`erasing`] reads; [`finish_erasing`] completes it.
///
/// # Errors
/// Errors of the store.
pub async fn erase(
    path: &Path,
    versions: &Versions,
    now: Timestamp,
    options: &SqliteOptions,
    report: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    let path = &file::resolve(path)?;
    let store = open(path, options)?;
    report(ErasePhase::Deleting);
    let of = versions.clone();
    let signs =
        file::read(&store, "read the sessions to erase", move |connection| signs::take(connection, &of)).await?;
    let of = versions.clone();
    file::write(&store, "start the erase", move |connection| begin(connection, &of)).await?;
    let deleted = versions.delete(&store, &Request::at(now)).await?;
    complete(path, store, signs, deleted, report).await
}

/// Returns the sessions that an interrupted call was erasing: rows or transcripts of them may be left. The list is
/// empty if only the file has to be rewritten. Returns `None` if nothing is left to be done.
///
/// # Errors
/// If the file can't be opened or read.
pub fn erasing(path: &Path) -> Result<Option<Vec<SessionId>>, StoreError> {
    let path = &file::resolve(path)?;
    file::check(path, false)?;
    file::run(path, "look for an unfinished erase", WAIT, || note::read(&file::open_read_only(path)?))
}

/// Completes an erasure that was interrupted, or during which another program had the file open. Scans for the ids at
/// most: the erased text is no longer known.
///
/// # Errors
/// If the file can't be opened or read, and errors of the store.
pub async fn finish_erasing(
    path: &Path,
    options: &SqliteOptions,
    report: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    let nothing = Deleted { sessions: 0, messages: 0 };
    let ids = erasing(path)?.unwrap_or_default();
    if ids.is_empty() {
        return prove(path, Needles::default(), Vec::new(), nothing, report);
    }
    let store = open(path, options)?;
    let mut signs = Needles::default();
    ids.iter().for_each(|id| signs.take(id.as_str().as_bytes()));
    complete(path, store, signs, nothing, report).await
}

fn open(path: &Path, options: &SqliteOptions) -> Result<SqliteStore, StoreError> {
    let options = SqliteOptions { overwrite: true, background: false, create: false, ..options.clone() };
    SqliteStore::open(path, &options)
}

/// Notes the sessions to be erased, and removes rows that can only be found while those sessions exist.
fn begin(connection: &Connection, versions: &Versions) -> Result<(), Failure> {
    note::add(connection, versions.members.iter())?;
    Ties::of(connection, versions)?.remove(connection)?;
    versions.members.iter().try_for_each(|member| file::abandon_restore(connection, member))
}

/// Completes the erasure once the rows are deleted or hidden.
async fn complete(
    path: &Path,
    store: SqliteStore,
    signs: Needles,
    deleted: Deleted,
    report: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    settle(&store).await?;
    report(ErasePhase::Indexing);
    store.rebuild_indexes().await?;
    while store.optimize().await? != Optimizing::Done {}
    settle(&store).await?;
    file::write(&store, "forget the deleted sessions", live::forget_changes).await?;
    let kept =
        file::read(&store, "read the sessions that stay", move |connection| signs::keep(connection, signs)).await?;
    file::write(&store, "record the erase", note::clear).await?;
    drop(store);
    prove(path, kept.0, kept.1, deleted, report)
}

/// Rewrites the file and scans it.
fn prove(
    path: &Path,
    signs: Needles,
    tables_left: Vec<String>,
    deleted: Deleted,
    report: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    report(ErasePhase::Rewriting);
    let (rewritten, words_left) = rewrite(path, &signs)?;
    report(ErasePhase::Scanning);
    let scanned = scan::files(path, &signs)?;
    tracing::info!(?rewritten, words_left, bytes = scanned.bytes, files_left = scanned.left.len(), "erased");
    let (needles, words) = signs.count();
    Ok(Erased {
        deleted,
        rewritten,
        needles,
        words,
        scanned: scanned.bytes,
        left: scanned.left,
        words_left,
        tables_left,
        beside: scanned.beside,
        signs,
    })
}

/// Runs upkeep until nothing is outstanding.
async fn settle(store: &SqliteStore) -> Result<(), StoreError> {
    while store.upkeep().await? {}
    Ok(())
}

fn is_passing(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Rewrites the file without its free pages, if no other program has it open. Returns how many erased words its indexes
/// still have.
fn rewrite(path: &Path, signs: &Needles) -> Result<(Rewritten, u64), StoreError> {
    file::run(path, REWRITE, WAIT, || {
        let (open, rewritten) = match vacuumed(path) {
            Err(error) if is_passing(&error) => (checkpointed(path)?, Rewritten::InUse),
            outcome => outcome?,
        };
        let words = signs::words_left(&open, signs)?;
        if rewritten == Rewritten::Done {
            note::remove(&open)?;
        }
        open.close().map_err(|(_, error)| error)?;
        Ok((rewritten, words))
    })
}

/// Opens the file alone and rewrites it.
fn vacuumed(path: &Path) -> Result<(Connection, Rewritten), rusqlite::Error> {
    let alone = file::open_alone(path)?;
    match alone.execute_batch("PRAGMA secure_delete = ON; VACUUM") {
        Ok(()) => Ok((alone, Rewritten::Done)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok((alone, Rewritten::NoRoom)),
        Err(error) => Err(error),
    }
}

/// Opens the file beside other programs and truncates its WAL, unless a reader still needs it.
fn checkpointed(path: &Path) -> Result<Connection, StoreError> {
    file::run(path, REWRITE, WAIT, || {
        let open = file::open_beside(path)?;
        // A reader keeps the WAL from being truncated; the outcome `InUse` covers that case.
        if let Err(error) = open.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            tracing::debug!(code = ?error.sqlite_error_code(), "WAL not truncated");
        }
        Ok(open)
    })
}
