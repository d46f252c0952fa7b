//! The files in which the agent keeps transcripts besides the store, and which go when a session goes.
//!
//! No path is made of an id: the folder is read, and of each file in it the name tells whose it is.

use hermes_session::{SessionId, transcript_file};
use std::collections::BTreeSet;
use std::path::Path;

/// Removes the files of these sessions from a folder. What can't be removed stays; the sessions are gone all the same.
pub(crate) fn remove(folder: &Path, ids: &[SessionId]) {
    let ids: BTreeSet<&str> = ids.iter().filter(|id| id.is_file_safe()).map(SessionId::as_str).collect();
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
        let name = entry.file_name();
        if is_file && name.to_str().and_then(transcript_file::session_of).is_some_and(|id| ids.contains(id)) {
            _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_reaches_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("sessions");
        std::fs::create_dir_all(inside.join("folder.json")).unwrap();
        std::fs::write(folder.path().join("victim.json"), "").unwrap();
        let names = [
            "abc.json",
            "abc.jsonl",
            "session_abc.json",
            "request_dump_abc_20250305_091523_123456.json",
            "request_dump_abc_def_20250305_091523_123456.json",
            "abc_def.json",
            "sessions.json",
        ];
        names.iter().for_each(|name| std::fs::write(inside.join(name), "").unwrap());
        remove(&inside, &["*", "../victim", "folder", "sessions", ""].map(SessionId::from_stored));
        assert!(names.iter().all(|name| inside.join(name).exists()));
        remove(&inside, &[SessionId::from_stored("abc")]);
        let left: Vec<bool> = names.iter().map(|name| inside.join(name).exists()).collect();
        assert_eq!(left, [false, false, false, false, true, true, true]);
        assert!(folder.path().join("victim.json").exists());
    }
}
