//! The home folder, the file and its disk, looked at from outside.

use crate::reports::{Degree, Item, Mend};
use hermes_config::{Origin, Settings};
use hermes_sqlite::FileFacts;
use hermes_terminal::figures::size;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// From here on a log slows every reader down, and takes long to be folded.
const LONG_LOG: u64 = 64 << 20;
/// Below this a disk is as good as full.
const LITTLE_ROOM: u64 = 64 << 20;

/// The folder of everything.
pub(super) fn home(home: &Path) -> Item {
    let place = home.display();
    let found = match std::fs::metadata(home) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Item::new("home", Degree::Problem, format!("{place} does not exist"))
                .remedy("start an agent, or `hermes demo`; --home and HERMES_HOME say where else to look");
        }
        Err(error) => {
            return Item::new("home", Degree::Problem, format!("{place} can't be looked at: {error}"))
                .remedy("check the permissions of the folders above it");
        }
    };
    if !found.is_dir() {
        return Item::new("home", Degree::Problem, format!("{place} is no folder"))
            .remedy("set HERMES_HOME to a folder");
    }
    if let Err(error) = std::fs::read_dir(home) {
        return Item::new("home", Degree::Problem, format!("{place} can't be looked into: {error}"))
            .remedy("run as its owner; --home and HERMES_HOME say where else to look");
    }
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Item::new("home", Degree::Warning, format!("{place} is open to others (mode {mode:o})"))
            .mended_by(Mend::Mode(home.to_owned(), 0o700));
    }
    Item::fine("home", place.to_string())
}

/// Whether others can read a password in the configuration.
pub(super) fn secrets(home: &Path, settings: &Settings) -> Option<Item> {
    let db = &settings.sessiondb;
    let is_in_file = |origin: Option<&Origin>| matches!(origin, Some(Origin::File { .. }));
    let secrets = [&db.postgresql.dsn, &db.postgresql.replica_dsn, &db.mysql.password];
    if !secrets.iter().any(|secret| is_in_file(secret.as_ref().map(|secret| &secret.origin))) {
        return None;
    }
    let path = home.join(hermes_config::FILE_NAME);
    // A file that can't be looked at is reported where the settings are read.
    let mode = std::fs::metadata(&path).ok()?.permissions().mode() & 0o7777;
    (mode & 0o077 != 0).then(|| {
        Item::new(
            "config",
            Degree::Warning,
            format!("{} may hold a password and is open to others (mode {mode:o})", path.display()),
        )
        .mended_by(Mend::Mode(path, 0o600))
    })
}

/// A file and its disk.
pub(super) fn file(path: &Path, facts: &FileFacts) -> Vec<Item> {
    vec![permissions(path, facts), journal(facts), log(facts), disk(facts)]
        .into_iter()
        .chain(beside(path))
        .chain(facts.leftovers.iter().map(|left| {
            Item::new("leftovers", Degree::Note, format!("{} is of a copy that was not finished", left.display()))
                .mended_by(Mend::Remove(left.clone()))
        }))
        .collect()
}

fn permissions(path: &Path, facts: &FileFacts) -> Item {
    if facts.mode & 0o077 != 0 {
        return Item::new(
            "permissions",
            Degree::Warning,
            format!("{} is open to others (mode {:o})", path.display(), facts.mode),
        )
        .mended_by(Mend::Mode(path.to_owned(), 0o600));
    }
    if facts.is_read_only {
        return Item::new(
            "permissions",
            Degree::Warning,
            format!("{} or its folder can't be written here: agents can't store anything", path.display()),
        )
        .remedy("run as its owner, or make the file and its folder writable for you");
    }
    Item::fine("permissions", format!("its owner's alone (mode {:o})", facts.mode))
}

/// The files beside it that others can read: what was said stands in its log as well.
fn beside(path: &Path) -> Vec<Item> {
    let open = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // Most of them do not exist most of the time.
        let mode = std::fs::symlink_metadata(&name).ok()?.permissions().mode() & 0o7777;
        let what = format!("{} is open to others (mode {mode:o})", Path::new(&name).display());
        (mode & 0o077 != 0)
            .then(|| Item::new("permissions", Degree::Warning, what).mended_by(Mend::Mode(name.into(), 0o600)))
    };
    ["-wal", "-shm", "-journal", ".queue"].into_iter().filter_map(open).collect()
}

fn journal(facts: &FileFacts) -> Item {
    let Some(mode) = facts.journal_mode.as_deref() else {
        return Item::new("journal", Degree::Note, "can't be told: SQLite can't read the file");
    };
    match (facts.bad_file_system, mode) {
        (Some(kind), "wal") => Item::new(
            "journal",
            Degree::Problem,
            format!("a write-ahead log on {kind}, which can't share one: writers destroy each other's pages"),
        )
        .remedy("stop every agent, then move the store to a local disk, or run PRAGMA journal_mode=DELETE on it"),
        (Some(kind), mode) => {
            Item::new("journal", Degree::Note, format!("{mode} on {kind}: safe, but a writer blocks readers"))
                .remedy("move the store to a local disk if it is slow")
        }
        (None, _) if facts.has_journal => Item::new(
            "journal",
            Degree::Note,
            "a rollback journal lies beside the file: a writer is at work, or was killed",
        )
        .remedy("the next who opens the store rolls it back; never delete the -journal file"),
        (None, "wal") => Item::fine("journal", "wal"),
        (None, mode) => {
            let what = format!("{mode}, not wal: a writer blocks readers");
            Item::new("journal", Degree::Note, what)
                .remedy("sqlite3 FILE 'PRAGMA journal_mode=WAL' while no agent runs")
        }
    }
}

fn log(facts: &FileFacts) -> Item {
    let told = size(facts.log_bytes);
    if facts.log_bytes >= LONG_LOG {
        return Item::new(
            "log",
            Degree::Warning,
            format!("the log (-wal) has {told}: somebody has been reading for long, or writers were killed"),
        )
        .mended_by(Mend::Upkeep);
    }
    Item::fine("log", told)
}

fn disk(facts: &FileFacts) -> Item {
    let told = format!("{} free", size(facts.disk_free));
    if facts.disk_free < LITTLE_ROOM {
        return Item::new("disk", Degree::Problem, format!("{told}: writing will fail")).remedy("free some room");
    }
    if facts.disk_free < facts.bytes.saturating_add(facts.bytes / 8) {
        return Item::new(
            "disk",
            Degree::Warning,
            format!("{told}, less than a copy of the store needs ({})", size(facts.bytes)),
        )
        .remedy("free some room, or back up to another disk");
    }
    Item::fine("disk", told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> FileFacts {
        FileFacts {
            mode: 0o600,
            bytes: 1 << 20,
            disk_free: 1 << 40,
            journal_mode: Some("wal".into()),
            ..FileFacts::default()
        }
    }

    fn degrees(facts: &FileFacts) -> Vec<(&'static str, Degree)> {
        let items = file(Path::new("/h/state.db"), facts);
        items.into_iter().filter(|item| item.degree > Degree::Fine).map(|item| (item.name, item.degree)).collect()
    }

    #[test]
    fn what_a_place_tells() {
        assert_eq!(degrees(&sound()), []);
        let cases: [(FileFacts, &str, Degree); 9] = [
            (FileFacts { mode: 0o644, ..sound() }, "permissions", Degree::Warning),
            (FileFacts { is_read_only: true, ..sound() }, "permissions", Degree::Warning),
            (FileFacts { bad_file_system: Some("NFS"), ..sound() }, "journal", Degree::Problem),
            (
                FileFacts { bad_file_system: Some("NFS"), journal_mode: Some("delete".into()), ..sound() },
                "journal",
                Degree::Note,
            ),
            (FileFacts { has_journal: true, ..sound() }, "journal", Degree::Note),
            (FileFacts { log_bytes: LONG_LOG, ..sound() }, "log", Degree::Warning),
            (FileFacts { disk_free: LITTLE_ROOM - 1, ..sound() }, "disk", Degree::Problem),
            (FileFacts { bytes: 1 << 40, ..sound() }, "disk", Degree::Warning),
            (FileFacts { leftovers: vec!["/h/state.db.x.part-1".into()], ..sound() }, "leftovers", Degree::Note),
        ];
        for (facts, name, degree) in cases {
            assert_eq!(degrees(&facts), [(name, degree)], "{facts:?}");
        }
    }
}
