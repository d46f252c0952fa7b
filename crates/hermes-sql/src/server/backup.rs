//! A copy of one state of a store: an export that every store can import.

use hermes_session::export::Exporter;
use hermes_session::{BackupReport, ConversationStore, Purpose, SessionFilter, StoreError, TargetProblem};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Target of a copy. The file gets its final name when it is complete.
pub struct Backup<'t> {
    target: &'t Path,
    part: Part,
}

impl<'t> Backup<'t> {
    /// Starts a copy.
    ///
    /// # Errors
    /// `Refused` if the target exists or no file can be created there.
    pub fn new(target: &'t Path) -> Result<Self, StoreError> {
        if std::fs::symlink_metadata(target).is_ok() {
            return Err(refused(target, &std::io::ErrorKind::AlreadyExists.into()));
        }
        let part = Part::new(target).map_err(|error| refused(target, &error))?;
        Ok(Self { target, part })
    }

    /// Writes the whole store, verifies the file by reading it again, and gives it its final name.
    ///
    /// # Errors
    /// Fails if the store cannot be read or the file cannot be written; the file is removed then.
    pub async fn fill(mut self, store: &dyn ConversationStore) -> Result<BackupReport, StoreError> {
        let target = self.target;
        let refused = |error: std::io::Error| refused(target, &error);
        let mut exporter = Exporter::new(store, SessionFilter::default());
        let (mut bytes, mut sum) = (0, Sum::default());
        while let Some(chunk) = exporter.next_chunk().await? {
            bytes += chunk.len() as u64;
            sum.add(chunk.as_bytes());
            self.part.file.write_all(chunk.as_bytes()).map_err(|error| match error.kind() {
                std::io::ErrorKind::StorageFull => {
                    StoreError::NoRoom { location: target.into(), op: "copy the store", source: error.into() }
                }
                _ => refused(error),
            })?;
        }
        if self.part.read_again().map_err(refused)? != sum {
            let what = format!("{} does not hold what was written to it", target.display());
            return Err(StoreError::Corrupt { location: target.into(), what, source: None });
        }
        self.part.finish(target).map_err(refused)?;
        Ok(BackupReport {
            path: target.to_owned(),
            sessions: exporter.sessions(),
            messages: exporter.messages(),
            bytes,
        })
    }
}

fn refused(target: &Path, error: &std::io::Error) -> StoreError {
    let problem = match error.kind() {
        std::io::ErrorKind::AlreadyExists => TargetProblem::Exists,
        _ => TargetProblem::NotMade { cause: error.to_string() },
    };
    StoreError::no_target(target, Purpose::ServerBackup, problem)
}

/// A temporary file. It is removed on drop, also after it got its final name by a hard link.
struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    fn new(target: &Path) -> std::io::Result<Self> {
        let mut name = target.as_os_str().to_owned();
        // Includes the process id, so that a file left by a killed process is not in the way.
        name.push(format!(".{}.part", std::process::id()));
        let path = PathBuf::from(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path, file })
    }

    /// Syncs the file and returns the checksum of its content.
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
        // Linking fails if the name is taken; a rename would replace that file.
        std::fs::hard_link(&self.path, target)?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    }
}

/// Checksum of bytes, independent of how they are split (FNV-1a).
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
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(path = ?self.path, %error, "part of a backup not removed");
        }
    }
}
