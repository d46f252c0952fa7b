//! Erasing a conversation: nothing of it is left in the file, and that is proven by looking for it.
//!
//! Deleting takes rows away; what they held stays in free pages, in the log, in words of the full-text indexes. So what goes is overwritten
//! where it stood, the indexes are made anew from what stays, and the file is rewritten without its free room. Then its bytes are looked
//! through for signs of what was erased, taken beforehand ([`Needles`]).

mod note;
mod scan;
mod signs;
mod ties;

pub use scan::look_through;

use crate::database::Database;
use crate::error::{Circumstances, Failure};
use crate::hidden::{self, Hidden};
use crate::{SqliteOptions, SqliteStore, connection};
use hermes_session::needles::Needles;
use hermes_session::versions::Versions;
use hermes_session::{Deleted, Location, Maintenance as _, Optimizing, Request, SessionId, StoreError, Timestamp};
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use ties::Ties;

/// How long to wait for others to let go of the file.
const WAIT: Duration = Duration::from_millis(500);

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasePhase {
    /// Rows go.
    Deleting,
    /// Indexes are made anew from what stays.
    Indexing,
    /// The file is rewritten. This is one step, as long as the file is large, and needs the file for itself.
    Rewriting,
    /// What is left is looked through.
    Scanning,
}

/// What became of the file's free room and its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewritten {
    /// The file was rewritten: it has neither.
    Done,
    /// Somebody else has the file open. What was deleted before this may be left in them.
    InUse,
    /// The disk has no room for the copy that it takes.
    NoRoom,
}

/// A file in which a sign of what was erased was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The file.
    pub path: PathBuf,
    /// The first place, in bytes from its start.
    pub at: u64,
}

/// What was erased, and what looking for it came to.
#[derive(Debug)]
pub struct Erased {
    /// What went, from the store and from the trash.
    pub deleted: Deleted,
    /// What became of the rest of the file.
    pub rewritten: Rewritten,
    /// How many stretches and words were looked for among the bytes, and how many words in the indexes.
    pub needles: u64,
    /// How many words were looked for in the indexes.
    pub words: u64,
    /// How many bytes of the store's own files were looked through.
    pub scanned: u64,
    /// The store's own files that have some of it still.
    pub left: Vec<Left>,
    /// How many words of it are still in the indexes.
    pub words_left: u64,
    /// Tables of the agent's in which some of what was said stands all the same; nothing ties it to a session, so it was left.
    pub tables_left: Vec<String>,
    /// Other files beside the store that have some of it: copies, backups. They are not touched.
    pub beside: Vec<Left>,
    /// The signs, to look for it elsewhere.
    pub signs: Needles,
}

impl Erased {
    /// Whether nothing of it is left in the store, and nothing could be.
    pub fn is_clean(&self) -> bool {
        self.left.is_empty() && self.words_left == 0 && self.tables_left.is_empty() && self.rewritten == Rewritten::Done
    }
}

/// Erases every version of a conversation, in the store and in the trash, and rows of the agent's other tables that belong to it. `tell` hears what is
/// being done; when it hears of [`ErasePhase::Indexing`], all rows are gone, and what is kept outside of the file should go too.
///
/// Nobody in this process may have the file open: it is read past SQLite at the end, and closing it then drops the locks of the process. If
/// another process has it open, all is done but rewriting it, and the answer says so. Whoever is interrupted leaves a note that
/// [`erasing`] reads, and [`finish_erasing`] ends it.
///
/// # Errors
/// What the store says.
pub async fn erase(
    path: &Path,
    versions: &Versions,
    now: Timestamp,
    options: &SqliteOptions,
    tell: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    let path = &crate::place::resolve(path)?;
    let store = open(path, options)?;
    tell(ErasePhase::Deleting);
    let of = versions.clone();
    let signs = store.workers.read("read what is to be erased", move |database| signs::take(database, &of)).await?;
    let of = versions.clone();
    store.workers.write("begin to erase", move |database| begin(database, &of)).await?;
    let deleted = versions.delete(&store, &Request::at(now)).await?;
    complete(path, store, signs, deleted, tell).await
}

/// The sessions that somebody was erasing who was interrupted: rows or transcripts of them may be left. None of them if only the file has to be
/// rewritten; nothing at all if nothing is left to be done.
///
/// # Errors
/// If the file can't be opened or read.
pub fn erasing(path: &Path) -> Result<Option<Vec<SessionId>>, StoreError> {
    let path = &crate::place::resolve(path)?;
    crate::place::check(path, false)?;
    connection::set_deadline(WAIT);
    let location = Location::from(path);
    let read = || {
        let database = connection::open_read_only(path)?;
        note::read(&database)
    };
    read().map_err(|failure| {
        let op = "see whether something is being erased";
        failure.into_store_error(Circumstances { op, waited: Duration::ZERO, location: &location })
    })
}

/// Whether something is being erased, or was when somebody was interrupted.
pub(crate) fn is_noted(database: &Database) -> Result<bool, Failure> {
    Ok(note::read(database)?.is_some())
}

/// Does what is left to be done after something was erased while others had the file open, or by somebody who was interrupted. Of what was erased
/// the ids are known at most, and those are looked for.
///
/// # Errors
/// If the file can't be opened or read; what the store says.
pub async fn finish_erasing(
    path: &Path,
    options: &SqliteOptions,
    tell: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    let nothing = Deleted { sessions: 0, messages: 0 };
    let ids = erasing(path)?.unwrap_or_default();
    if ids.is_empty() {
        return prove(path, Needles::default(), Vec::new(), nothing, tell);
    }
    let store = open(path, options)?;
    let mut signs = Needles::default();
    ids.iter().for_each(|id| signs.take(id.as_str().as_bytes()));
    complete(path, store, signs, nothing, tell).await
}

fn open(path: &Path, options: &SqliteOptions) -> Result<SqliteStore, StoreError> {
    let options = SqliteOptions { overwrite: true, background: false, create: false, ..options.clone() };
    SqliteStore::open(path, &options)
}

/// Notes what goes, and takes away what can only be found as long as its sessions are there.
fn begin(database: &Database, versions: &Versions) -> Result<(), Failure> {
    note::add(database, versions.members.iter())?;
    Ties::of(database, versions)?.remove(database)?;
    for member in &versions.members {
        // Half-way back from the trash, it would be shown with what the agent has said in it.
        if hidden::is(database, member, Hidden::Restoring)? {
            hidden::hide(database, member, Hidden::Doomed)?;
        }
    }
    Ok(())
}

/// Does the rest, once the rows are on their way out.
async fn complete(
    path: &Path,
    store: SqliteStore,
    signs: Needles,
    deleted: Deleted,
    tell: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    settle(&store).await?;
    tell(ErasePhase::Indexing);
    store.rebuild_indexes().await?;
    while store.optimize().await? != Optimizing::Done {}
    settle(&store).await?;
    let kept = store.workers.read("read what stays", move |database| signs::keep(database, signs)).await?;
    store.workers.write("note what is erased", note::clear).await?;
    drop(store);
    prove(path, kept.0, kept.1, deleted, tell)
}

/// Rewrites the file and looks through it.
fn prove(
    path: &Path,
    signs: Needles,
    tables_left: Vec<String>,
    deleted: Deleted,
    tell: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    tell(ErasePhase::Rewriting);
    let (rewritten, words_left) = rewrite(path, &signs)?;
    tell(ErasePhase::Scanning);
    let scanned = scan::files(path, &signs)?;
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

/// Ends all that is outstanding.
async fn settle(store: &SqliteStore) -> Result<(), StoreError> {
    while store.upkeep().await? {}
    Ok(())
}

fn is_passing(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Rewrites the file without its free room, if nobody else has it open; how many words are in its indexes all the same.
fn rewrite(path: &Path, signs: &Needles) -> Result<(Rewritten, u64), StoreError> {
    connection::set_deadline(WAIT);
    let start = Instant::now();
    let location = Location::from(path);
    let failed = |failure: Failure| {
        let circumstances = Circumstances { op: "rewrite the store", waited: start.elapsed(), location: &location };
        failure.into_store_error(circumstances)
    };
    let alone = connection::open_alone(path).and_then(|alone| {
        let outcome = match alone.execute_batch("PRAGMA secure_delete = ON; VACUUM") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok(Rewritten::NoRoom),
            outcome => outcome.map(|()| Rewritten::Done),
        };
        outcome.map(|outcome| (alone, outcome))
    });
    let (open, rewritten) = match alone {
        Ok(alone) => alone,
        Err(error) if is_passing(&error) => {
            connection::set_deadline(WAIT);
            let open = connection::open_beside(path).map_err(|error| failed(error.into()))?;
            // Whoever reads from the log keeps it; what nobody reads goes.
            _ = open.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            (open, Rewritten::InUse)
        }
        Err(error) => return Err(failed(error.into())),
    };
    let words = signs::words_left(&open, signs).map_err(failed)?;
    if rewritten == Rewritten::Done {
        note::remove(&open).map_err(failed)?;
    }
    open.close().map_err(|(_, error)| failed(error.into()))?;
    Ok((rewritten, words))
}
