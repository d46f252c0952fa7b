//! A copy of one state of a store: an export that anything can import again.

use hermes_session::export::Exporter;
use hermes_session::{BackupReport, ConversationStore, Purpose, SessionFilter, StoreError, TargetProblem};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Where a copy goes. The name is given to it when it is whole.
pub struct Backup<'t> {
    target: &'t Path,
    part: Part,
}

impl<'t> Backup<'t> {
    /// Begins a copy.
    ///
    /// # Errors
    /// `Refused` if something has that name, or no file can be made there.
    pub fn new(target: &'t Path) -> Result<Self, StoreError> {
        if std::fs::symlink_metadata(target).is_ok() {
            return Err(refused(target, &std::io::ErrorKind::AlreadyExists.into()));
        }
        let part = Part::new(target).map_err(|error| refused(target, &error))?;
        Ok(Self { target, part })
    }

    /// Writes all that a store holds, reads it again, and gives it its name.
    ///
    /// # Errors
    /// What the store says, or why the file can't be written; nothing is left of it then.
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
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(path = ?self.path, %error, "part of a backup not removed");
        }
    }
}
