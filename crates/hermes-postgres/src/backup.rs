//! A copy of one state of the store: an export that anything can import again.

use crate::PostgresStore;
use crate::database::{Database, Purpose};
use crate::error::Failure;
use hermes_session::export::Exporter;
use hermes_session::{BackupReport, SessionFilter, StoreError};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) async fn write(store: &PostgresStore, target: &Path) -> Result<BackupReport, StoreError> {
    let refused = |error: &std::io::Error| StoreError::Refused {
        path: target.to_owned(),
        why: match error.kind() {
            std::io::ErrorKind::AlreadyExists => "is there already".to_owned(),
            _ => format!("can't be made: {error}"),
        },
        hint: "choose another name".into(),
    };
    if std::fs::symlink_metadata(target).is_ok() {
        return Err(refused(&std::io::ErrorKind::AlreadyExists.into()));
    }
    let mut part = Part::new(target).map_err(|error| refused(&error))?;
    let database = store.database();
    let failed = |failure: Failure| failure.into_store_error("copy the store", Duration::ZERO, &database.location);
    // Whoever reads this state while this transaction lasts sees what it sees.
    let frame = database.begin(Purpose::ReadAll).await.map_err(failed)?;
    let patient = frame.batch_execute("SET LOCAL idle_in_transaction_session_timeout = 0").await;
    patient.map_err(|error| failed(error.into()))?;
    let row = frame.one("SELECT pg_export_snapshot()", &[]).await.map_err(failed)?;
    let snapshot: String = row.try_get(0).map_err(|error| failed(error.into()))?;
    let frozen = PostgresStore::at(Database { snapshot: Some(snapshot), replica: None, ..database.clone() });
    let mut exporter = Exporter::new(&frozen, SessionFilter::default());
    let (mut bytes, mut sum) = (0, Sum::default());
    while let Some(chunk) = exporter.next_chunk().await? {
        bytes += chunk.len() as u64;
        sum.add(chunk.as_bytes());
        part.file.write_all(chunk.as_bytes()).map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull => StoreError::NoRoom {
                location: target.display().to_string(),
                op: "copy the store",
                source: error.into(),
            },
            _ => refused(&error),
        })?;
    }
    frame.roll_back(&database.marks).await;
    if part.read_again().map_err(|error| refused(&error))? != sum {
        let what = format!("{} does not hold what was written to it", target.display());
        return Err(StoreError::Corrupt { location: target.display().to_string(), what, source: None });
    }
    part.finish(target).map_err(|error| refused(&error))?;
    Ok(BackupReport { path: target.to_owned(), sessions: exporter.sessions(), messages: exporter.messages(), bytes })
}

/// A file that has not got its name yet. It goes if it never does.
struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    fn new(target: &Path) -> std::io::Result<Self> {
        let mut name = target.as_os_str().to_owned();
        // A name of its own: one that a process left that was killed is in nobody's way.
        name.push(format!(".{}.part", std::process::id()));
        let path = PathBuf::from(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path, file })
    }

    /// What the file holds.
    fn read_again(&self) -> std::io::Result<Sum> {
        self.file.sync_all()?;
        let (mut file, mut sum, mut buffer) = (File::open(&self.path)?, Sum::default(), vec![0; 64 << 10]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(sum),
                size => sum.add(&buffer[..size]),
            }
        }
    }

    fn finish(self, target: &Path) -> std::io::Result<()> {
        // A link to a name that is taken fails, where a rename would take its place.
        std::fs::hard_link(&self.path, target)?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    }
}

/// A check sum of bytes, however they are cut (FNV-1a).
#[derive(Debug, PartialEq, Eq)]
struct Sum(u64);

impl Default for Sum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // What can't be removed is at least nobody's backup.
        _ = std::fs::remove_file(&self.path);
    }
}
