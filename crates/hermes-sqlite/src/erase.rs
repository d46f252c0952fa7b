//! Erasing a conversation: nothing of it is left in the file, and that is proven by looking for it.
//!
//! Deleting takes rows away; what they held stays in free pages, in the log, in words of the full-text indexes. So what goes is overwritten
//! where it stood, the indexes are made anew from what stays, and the file is rewritten without its free room. Then its bytes are looked
//! through for signs of what was erased, taken beforehand ([`Needles`]).

mod scan;
mod signs;

pub use scan::look_through;

use crate::error::{Circumstances, Failure};
use crate::{SqliteOptions, SqliteStore, connection};
use hermes_session::needles::Needles;
use hermes_session::{
    Deleted, Emptying, Maintenance as _, Optimizing, Request, SessionId, SessionStore as _, StoreError, Timestamp,
    TrashStore as _,
};
use rusqlite::ErrorCode;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    /// Other files beside the store that have some of it: copies, backups. They are not touched.
    pub beside: Vec<Left>,
    /// The signs, to look for it elsewhere.
    pub signs: Needles,
}

impl Erased {
    /// Whether nothing of it is left in the store, and nothing could be.
    pub fn is_clean(&self) -> bool {
        self.left.is_empty() && self.words_left == 0 && self.rewritten == Rewritten::Done
    }
}

/// Erases what a session stands for, as [`delete_chain`](hermes_session::Maintenance::delete_chain) deletes it, and every version of it that is in
/// the trash. `tell` hears what is being done.
///
/// Nobody in this process may have the file open: it is read past SQLite at the end, and closing it then drops the locks of the process. If
/// another process has it open, all is done but rewriting it, and the answer says so.
///
/// # Errors
/// `NotFound` if there is no such session, nor in the trash. What the store says.
pub async fn erase(
    path: &Path,
    id: &SessionId,
    now: Timestamp,
    options: &SqliteOptions,
    tell: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    let options = SqliteOptions { overwrite: true, background: false, create: false, ..options.clone() };
    let store = SqliteStore::open(path, &options)?;
    tell(ErasePhase::Deleting);
    let members = members(&store, id).await?;
    let of = members.clone();
    let signs = store.workers.read("read what is to be erased", move |database| signs::take(database, &of)).await?;
    let deleted = delete(&store, id, &members, now).await?;
    tell(ErasePhase::Indexing);
    settle(&store).await?;
    store.rebuild_indexes().await?;
    while store.optimize().await? != Optimizing::Done {}
    settle(&store).await?;
    let signs = store.workers.read("read what stays", move |database| signs::keep(database, signs)).await?;
    drop(store);
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
        beside: scanned.beside,
        signs,
    })
}

/// Rewrites a file in which something was erased while others had it open, so that nothing is left in free room or in the log.
///
/// # Errors
/// If the file can't be opened or read.
pub fn finish_erasing(path: &Path) -> Result<Rewritten, StoreError> {
    crate::place::check(path, false)?;
    rewrite(path, &Needles::default()).map(|(rewritten, _)| rewritten)
}

/// The sessions that go: those of the chain, and those of everything in the trash that holds one of them.
async fn members(store: &SqliteStore, id: &SessionId) -> Result<BTreeSet<SessionId>, StoreError> {
    let mut members = BTreeSet::new();
    if store.session(id).await?.is_some() {
        members.extend(store.lineage(id).await?.chain(id));
    }
    if let Some((_, kept)) = store.trashed(id).await? {
        members.extend(kept);
    }
    if members.is_empty() { Err(StoreError::no_session(id)) } else { Ok(members) }
}

async fn delete(
    store: &SqliteStore,
    id: &SessionId,
    members: &BTreeSet<SessionId>,
    now: Timestamp,
) -> Result<Deleted, StoreError> {
    let mut sum = Deleted { sessions: 0, messages: 0 };
    if store.session(id).await?.is_some() {
        sum = store.delete_chain(id, &Request::at(now)).await?;
    }
    for member in members {
        // The newest of them comes first, and then what is older.
        while store.trashed(member).await?.is_some() {
            for gone in store.empty_trash(&Emptying::One(member.clone())).await? {
                sum.sessions += gone.sessions;
                sum.messages += gone.messages;
            }
        }
    }
    Ok(sum)
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
    let location = path.display().to_string();
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
    open.close().map_err(|(_, error)| failed(error.into()))?;
    Ok((rewritten, words))
}
