//! Reasons why a file or a server is not a store that this program may use, or why a file can't be created.

use std::path::PathBuf;

/// Reason why a file or a server is refused. Its text follows the location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such file.
    #[error("does not exist")]
    Absent,
    /// The path is a link whose target does not exist.
    #[error("is a link to {target}, which does not exist")]
    LinkToNothing {
        /// The target.
        target: String,
    },
    /// The path is a link that can't be followed.
    #[error("is a link to {target}, which can't be followed: {cause}")]
    BrokenLink {
        /// The target.
        target: String,
        /// The system's error.
        cause: String,
    },
    /// The folder's permissions do not let us examine the file.
    #[error("can't be accessed: {cause}")]
    NotExamined {
        /// The system's error.
        cause: String,
    },
    /// The path is a folder.
    #[error("is a folder")]
    Folder,
    /// The path is neither a file nor a folder.
    #[error("is not a regular file")]
    NotRegular,
    /// The file is empty while its WAL is not: the file was lost.
    #[error("is empty, but its WAL is not")]
    Lost,
    /// The file is empty.
    #[error("is empty")]
    Empty,
    /// The file may not be read by this user.
    #[error("is not readable by you")]
    NotReadable,
    /// The file can't be read before a rollback journal is rolled back.
    #[error(
        "has a rollback journal (-journal) of a writer that was killed; to read the file, SQLite would have to change it"
    )]
    HotJournal,
    /// The WAL can't be read in this folder.
    #[error("has a WAL that can't be read here")]
    WalNotReadable,
    /// A newer release of this program wrote the file.
    #[error("was written by a newer hermes (revision {revision})")]
    NewerRevision {
        /// The revision of our tables.
        revision: i64,
    },
    /// A newer agent wrote the file.
    #[error("has schema {found}; this hermes supports up to {newest}")]
    NewerSchema {
        /// The schema of the file.
        found: i64,
        /// The newest that is known.
        newest: i64,
    },
    /// The file does not start as a SQLite file does.
    #[error("is not a SQLite database")]
    NotDatabase,
    /// The file is another program's database.
    #[error("is a database of another program")]
    OtherProgram,
    /// The file has a `user_version` that is not ours.
    #[error("has the user_version {version} of another program")]
    OtherUserVersion {
        /// The number.
        version: i64,
    },
    /// Nothing of a store can be found in a damaged file.
    #[error("contains no data of a session store")]
    NothingToSave,
    /// The file can't be read at all.
    #[error("can't be read: {cause}")]
    ReadFailed {
        /// The system's error.
        cause: String,
    },
    /// The file that should be restored is not sound.
    #[error("is {}", unsound(what.as_deref()))]
    UnsoundBackup {
        /// The damage, if it is known.
        what: Option<String>,
    },
    /// The file that should be restored is the store itself.
    #[error("is the store itself")]
    BackupIsStore,
    /// There is a WAL without its store.
    #[error("is the WAL of a store that does not exist")]
    OrphanedWal,
    /// Another program has the file open.
    #[error("is in use")]
    InUse,
    /// Other processes of this program have the file open.
    #[error("is in use: {}", holders_named(holders))]
    InUseByUs {
        /// Their process ids, if they are known.
        holders: Vec<u32>,
    },
    /// The file is damaged, so it is unknown whether another program has it open.
    #[error("is damaged, so it is unknown which programs have it open")]
    UseUnknown,
    /// An erasure is not finished.
    #[error("has an unfinished erase")]
    BeingErased,
    /// Background work has to be finished before our tables can be removed.
    #[error("can't be detached yet: {what}")]
    NotSettled {
        /// The work.
        what: String,
    },
    /// A file can't be created, replaced or removed.
    #[error("{problem}")]
    Target {
        /// The kind of file.
        purpose: Purpose,
        /// The obstacle.
        problem: TargetProblem,
    },
    /// The server can't be used.
    #[error("can't be used: {cause}")]
    Server {
        /// The kind of problem.
        problem: ServerProblem,
        /// The server's or the driver's error.
        cause: String,
    },
    /// The server has no store in this schema or database.
    #[error("has no session store in the {namespace}")]
    NoStore {
        /// `schema NAME` or `database NAME`.
        namespace: String,
    },
    /// The tables are older than this program can read, and may not be migrated.
    #[error("has tables of version {found}; this program needs version {needed}")]
    OlderTables {
        /// The version of the tables.
        found: i32,
        /// The version that is needed.
        needed: i32,
    },
    /// The tables are newer than this program knows.
    #[error("has tables of version {found}, newer than {newest}, the newest this program supports")]
    NewerTables {
        /// The version of the tables.
        found: i32,
        /// The newest that is known.
        newest: i32,
    },
    /// A table with one of our names is another program's.
    #[error("has a table {table} in the {namespace} that is not ours")]
    OtherTables {
        /// The table.
        table: String,
        /// `schema NAME` or `database NAME`.
        namespace: String,
    },
    /// The server is too old.
    #[error("is {product}, which is too old")]
    TooOld {
        /// The name of the server and its version.
        product: String,
    },
    /// The database has another encoding than UTF-8.
    #[error("stores text as {encoding}, not UTF-8")]
    Encoding {
        /// The encoding.
        encoding: String,
    },
    /// Another process is migrating the tables.
    #[error("is being migrated by another process")]
    Migrating,
    /// The server accepts no packet of this size.
    #[error("does not accept a packet of this size")]
    PacketTooLarge,
}

/// The purpose of a file that is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// A new store.
    Store,
    /// The folder of a new store.
    StoreFolder,
    /// A backup of a file.
    Backup,
    /// A backup of a server.
    ServerBackup,
    /// The store that a backup is restored to.
    Restored,
    /// The copy of the store that a restored backup replaces, or that is kept before an alteration.
    Kept,
    /// The store that a repair makes.
    Repaired,
    /// The file with the data that only our tables hold.
    Detached,
    /// The note beside a damaged store.
    DamageNote,
}

/// Reason why a file can't be created, replaced or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetProblem {
    /// The path is a folder.
    #[error("is a folder")]
    Folder,
    /// The parent is not a folder.
    #[error("is not in a folder")]
    NotInFolder,
    /// The parent does not exist.
    #[error("is in a folder that does not exist")]
    FolderAbsent,
    /// The path is one of the store's own files.
    #[error("belongs to the store itself")]
    OfStore,
    /// The path is a link.
    #[error("is a link")]
    Link,
    /// The file exists already.
    #[error("already exists")]
    Exists,
    /// SQLite would read the file with the WAL or journal of another database.
    #[error("would be read with the {suffix} file of another database, which is beside it")]
    BesideOther {
        /// The end of that file's name.
        suffix: String,
        /// The files that may belong to the damaged store, each with the name it should have then.
        moves: Vec<(PathBuf, PathBuf)>,
    },
    /// It can't be created.
    #[error("can't be created: {cause}")]
    NotMade {
        /// The system's error.
        cause: String,
    },
    /// It can't be written.
    #[error("can't be written: {cause}")]
    NotWritten {
        /// The system's error.
        cause: String,
    },
    /// It can't be renamed to its final name.
    #[error("can't be renamed to its final name: {cause}")]
    NotPlaced {
        /// The system's error.
        cause: String,
    },
    /// It can't be removed.
    #[error("can't be removed: {cause}")]
    NotRemoved {
        /// The system's error.
        cause: String,
    },
}

/// Reason why a server can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerProblem {
    /// It does not answer, or not in the expected protocol.
    NotReached,
    /// The user or the password is wrong.
    Authentication,
    /// There is no such database.
    NoDatabase,
    /// The user may not use the database.
    NoAccess,
    /// The user may not create tables.
    NoPrivilege,
}

fn unsound(what: Option<&str>) -> String {
    what.map_or_else(|| "not sound".to_owned(), |what| format!("not a sound store: {what}"))
}

fn holders_named(holders: &[u32]) -> String {
    match holders {
        [] => "another process of hermes has it open".to_owned(),
        [one] => format!("process {one} of hermes has it open"),
        several => {
            let named: Vec<String> = several.iter().map(u32::to_string).collect();
            format!("processes {} of hermes have it open", named.join(", "))
        }
    }
}
