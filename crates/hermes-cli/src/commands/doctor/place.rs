//! Checks of the home folder, the file and its disk, without opening the store.

use crate::reports::{Degree, Fix, Item};
use hermes_config::{Origin, Settings};
use hermes_sqlite::FileFacts;
use hermes_terminal::figures::size;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Size of the WAL, in bytes, from which it slows every reader down and takes long to checkpoint.
const LONG_LOG: u64 = 64 << 20;
/// Free space of a disk, in bytes, below which it is as good as full.
const LITTLE_ROOM: u64 = 64 << 20;

/// Checks the home folder.
pub(super) fn home(home: &Path) -> Item {
    let place = home.display();
    let found = match std::fs::metadata(home) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Item::new("home", Degree::Problem, format!("{place} does not exist"))
                .remedy("start an agent or run `hermes demo`; --home and HERMES_HOME choose another folder");
        }
        Err(error) => {
            return Item::new("home", Degree::Problem, format!("{place} can't be accessed: {error}"))
                .remedy("check the permissions of the folders above it");
        }
    };
    if !found.is_dir() {
        return Item::new("home", Degree::Problem, format!("{place} is not a folder"))
            .remedy("set HERMES_HOME to a folder");
    }
    if let Err(error) = std::fs::read_dir(home) {
        return Item::new("home", Degree::Problem, format!("{place} can't be read: {error}"))
            .remedy("run as its owner; --home and HERMES_HOME choose another folder");
    }
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Item::new("home", Degree::Warning, format!("{place} is accessible to other users (mode {mode:o})"))
            .fixed_by(Fix::Mode(home.to_owned(), 0o700));
    }
    Item::fine("home", place.to_string())
}

/// Checks whether others can read a password in the configuration.
pub(super) fn secrets(home: &Path, settings: &Settings) -> Option<Item> {
    let db = &settings.sessiondb;
    let is_in_file = |origin: Option<&Origin>| matches!(origin, Some(Origin::File { .. }));
    let secrets = [&db.postgresql.dsn, &db.postgresql.replica_dsn, &db.mysql.password];
    if !secrets.iter().any(|secret| is_in_file(secret.as_ref().map(|secret| &secret.origin))) {
        return None;
    }
    let path = home.join(hermes_config::FILE_NAME);
    // A file that can't be read is reported where the settings are read.
    let mode = std::fs::metadata(&path).ok()?.permissions().mode() & 0o7777;
    (mode & 0o077 != 0).then(|| {
        Item::new(
            "config",
            Degree::Warning,
            format!("{} may hold a password and is accessible to other users (mode {mode:o})", path.display()),
        )
        .fixed_by(Fix::Mode(path, 0o600))
    })
}

/// Checks a file and its disk.
pub(super) fn file(path: &Path, facts: &FileFacts) -> Vec<Item> {
    vec![permissions(path, facts), journal(facts), log(facts), disk(facts)]
        .into_iter()
        .chain(beside(path))
        .chain(facts.leftovers.iter().map(|left| {
            Item::new("leftovers", Degree::Note, format!("{} is left over from an interrupted copy", left.display()))
                .fixed_by(Fix::Remove(left.clone()))
        }))
        .collect()
}

fn permissions(path: &Path, facts: &FileFacts) -> Item {
    if facts.mode & 0o077 != 0 {
        return Item::new(
            "permissions",
            Degree::Warning,
            format!("{} is accessible to other users (mode {:o})", path.display(), facts.mode),
        )
        .fixed_by(Fix::Mode(path.to_owned(), 0o600));
    }
    if facts.is_read_only {
        return Item::new(
            "permissions",
            Degree::Warning,
            format!("{} or its folder is not writable: agents can't store anything", path.display()),
        )
        .remedy("run as its owner, or make the file and its folder writable for you");
    }
    Item::fine("permissions", format!("accessible only to its owner (mode {:o})", facts.mode))
}

/// Checks whether others can read the files beside the store: the WAL holds message text too.
fn beside(path: &Path) -> Vec<Item> {
    let open = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // Most of these files usually do not exist.
        let mode = std::fs::symlink_metadata(&name).ok()?.permissions().mode() & 0o7777;
        let what = format!("{} is accessible to other users (mode {mode:o})", Path::new(&name).display());
        (mode & 0o077 != 0)
            .then(|| Item::new("permissions", Degree::Warning, what).fixed_by(Fix::Mode(name.into(), 0o600)))
    };
    ["-wal", "-shm", "-journal", ".queue"].into_iter().filter_map(open).collect()
}

fn journal(facts: &FileFacts) -> Item {
    let Some(mode) = facts.journal_mode.as_deref() else {
        // In WAL mode SQLite needs a file beside the store, which a folder that can't be written does not allow.
        let why = match facts.is_read_only {
            true => "unknown: finding it needs permission to write to the folder",
            false => "unknown: SQLite can't read the file",
        };
        return Item::new("journal", Degree::Note, why);
    };
    match (facts.bad_file_system, mode) {
        (Some(kind), "wal") => Item::new(
            "journal",
            Degree::Problem,
            format!("WAL mode on {kind}, which does not support it: writers can corrupt the file"),
        )
        .remedy("stop every agent, then move the store to a local disk, or run PRAGMA journal_mode=DELETE on it"),
        (Some(kind), mode) => {
            Item::new("journal", Degree::Note, format!("{mode} on {kind}: safe, but a writer blocks readers"))
                .remedy("move the store to a local disk if it is slow")
        }
        (None, _) if facts.has_journal => Item::new(
            "journal",
            Degree::Note,
            "there is a rollback journal beside the file: a writer is active, or was killed",
        )
        .remedy("the next program that opens the store rolls it back; never delete the -journal file"),
        (None, "wal") => Item::fine("journal", "wal"),
        (None, mode) => {
            let what = format!("{mode}, not wal: a writer blocks readers");
            Item::new("journal", Degree::Note, what)
                .remedy("sqlite3 FILE 'PRAGMA journal_mode=WAL' while no agent runs")
        }
    }
}

fn log(facts: &FileFacts) -> Item {
    let amount = size(facts.log_bytes);
    if facts.log_bytes >= LONG_LOG {
        return Item::new(
            "log",
            Degree::Warning,
            format!("the WAL has {amount}: a reader has been open for long, or writers were killed"),
        )
        .fixed_by(Fix::Upkeep);
    }
    Item::fine("log", amount)
}

fn disk(facts: &FileFacts) -> Item {
    let amount = format!("{} free", size(facts.disk_free));
    if facts.disk_free < LITTLE_ROOM {
        return Item::new("disk", Degree::Problem, format!("{amount}: writing will fail"))
            .remedy("free some disk space");
    }
    if facts.disk_free < facts.bytes.saturating_add(facts.bytes / 8) {
        return Item::new(
            "disk",
            Degree::Warning,
            format!("{amount}, less than a copy of the store needs ({})", size(facts.bytes)),
        )
        .remedy("free some disk space, or back up to another disk");
    }
    Item::fine("disk", amount)
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
