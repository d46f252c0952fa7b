//! Scans files byte by byte, past SQLite. This process must not have the store open.

use super::Left;
use hermes_session::needles::Needles;
use hermes_session::{Location, StoreError};
use hermes_sqlite::file::beside;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// How much is read at once.
const PIECE: usize = 1 << 20;
/// The first bytes of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// The files of a store. The last one, the writers' queue, holds nothing but process ids.
const OWN: [&str; 5] = ["", "-wal", "-shm", "-journal", ".queue"];

/// The result of scanning files.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) bytes: u64,
    pub(super) left: Vec<Left>,
    pub(super) beside: Vec<Left>,
}

/// Scans a store's files, and files beside it that may be copies of it.
pub(super) fn files(store: &Path, needles: &Needles) -> Result<Scanned, StoreError> {
    let mut scanned = Scanned::default();
    let own: Vec<PathBuf> = OWN.iter().map(|suffix| beside(store, suffix)).collect();
    for path in &own[..OWN.len() - 1] {
        let (bytes, found) = look_through(path, needles).map_err(|error| unread(path, error))?;
        scanned.bytes += bytes;
        scanned.left.extend(found.map(|at| Left { path: path.clone(), at }));
    }
    for path in copies(store, &own) {
        // A file that can't be read is skipped: whether it is a copy is unknown.
        let Ok((_, found)) = look_through(&path, needles) else { continue };
        scanned.beside.extend(found.map(|at| Left { path, at }));
    }
    Ok(scanned)
}

fn unread(path: &Path, error: io::Error) -> StoreError {
    let location = Location::from(path);
    StoreError::Backend { location, op: "scan the store's files", source: error.into() }
}

/// Lists the files beside a store that are named after it, or are SQLite files.
fn copies(store: &Path, own: &[PathBuf]) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (store.parent(), store.file_name()) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_meant = |path: &PathBuf| {
        let is_named =
            path.file_name().is_some_and(|other| other.as_encoded_bytes().starts_with(name.as_encoded_bytes()));
        let is_own = own.iter().any(|own| own.file_name() == path.file_name());
        path.is_file() && !is_own && (is_named || is_database(path))
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_meant).collect();
    found.sort();
    found
}

fn is_database(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

/// Scans a file. Returns its size in bytes and the offset of the first sign. A missing file has none.
///
/// # Errors
/// If it can't be read.
pub fn look_through(path: &Path, needles: &Needles) -> io::Result<(u64, Option<u64>)> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((0, None)),
        file => file?,
    };
    let (mut buffer, mut kept, mut start) = (vec![0; PIECE + Needles::OVERLAP], 0, 0_u64);
    let (mut bytes, mut found) = (0, None);
    loop {
        let read = file.read(&mut buffer[kept..])?;
        if read == 0 {
            return Ok((bytes, found));
        }
        bytes += read as u64;
        let filled = kept + read;
        if found.is_none() {
            found = needles.find(&buffer[..filled]).map(|(at, _)| start + at as u64);
        }
        // A sign may begin in this piece and end in the next one.
        let rest = filled.min(Needles::OVERLAP);
        buffer.copy_within(filled - rest..filled, 0);
        start += (filled - rest) as u64;
        kept = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_across_two_pieces_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let mut needles = Needles::default();
        needles.take(b"the secret of kilimanjaro");
        for at in [0, 5, PIECE - 3, PIECE + 40, 2 * PIECE + 60] {
            let mut bytes = vec![b'.'; 3 * PIECE];
            bytes[at..at + 11].copy_from_slice(b"kilimanjaro");
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(look_through(&path, &needles).unwrap(), (bytes.len() as u64, Some(at as u64)));
        }
        std::fs::write(&path, "nothing").unwrap();
        assert_eq!(look_through(&path, &needles).unwrap(), (7, None));
        assert_eq!(look_through(&folder.path().join("none"), &needles).unwrap(), (0, None));
        std::fs::write(folder.path().join("state.db.backup-v9"), "… of kilimanjaro").unwrap();
        std::fs::write(folder.path().join("other.bak"), "SQLite format 3\0 kilimanjaro").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "kilimanjaro").unwrap();
        let scanned = files(&path, &needles).unwrap();
        let names: Vec<_> = scanned.beside.iter().map(|left| left.path.file_name().unwrap().to_owned()).collect();
        assert_eq!((names, scanned.left), (vec!["other.bak".into(), "state.db.backup-v9".into()], vec![]));
    }
}
