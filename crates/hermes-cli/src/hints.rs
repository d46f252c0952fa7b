//! Hints: the commands and settings of this program that help with an error.

use hermes_session::{Location, Purpose, Refusal, ServerProblem, StoreError, TargetProblem};
use hermes_terminal::shell::shell_word;
use std::borrow::Cow;
use std::path::Path;

/// Returns the hint for an error of a store.
pub(crate) fn of_store(error: &StoreError) -> Cow<'static, str> {
    match error {
        StoreError::Refused { location, refusal } => of_refusal(location, refusal),
        StoreError::Corrupt { location: Location::File(path), .. } => of_damaged(path).into(),
        other => hermes_recall::hints::of(other),
    }
}

/// Returns the hint for a damaged file.
pub(crate) fn of_damaged(path: &Path) -> String {
    let file = shell_word(&path.display().to_string());
    format!(
        "stop every agent, keep a copy of the file and its -wal, then restore a backup or run `hermes sessions repair {file}`"
    )
}

fn of_refusal(location: &Location, refusal: &Refusal) -> Cow<'static, str> {
    let is_postgres = matches!(location, Location::Server(url) if url.starts_with("postgres"));
    match refusal {
        Refusal::Absent => "check the path, or let an agent or `hermes demo` create a store".into(),
        Refusal::LinkToNothing { .. } => "create the target of the link, or remove the link".into(),
        Refusal::BrokenLink { .. } => "fix the link, or remove it".into(),
        Refusal::NotExamined { .. } => "check the permissions of its folder".into(),
        Refusal::Folder => "give the path of the file in it, such as state.db".into(),
        Refusal::NotRegular => "give the path of a state.db".into(),
        Refusal::Lost => {
            "the file was lost, but its WAL was not; restore both from a backup, or move the -wal file away to start with an empty store"
                .into()
        }
        Refusal::NotReadable => "ask its owner, or run as its owner".into(),
        Refusal::HotJournal => {
            "start the agent once, or run a command that may write; either rolls the journal back".into()
        }
        Refusal::WalNotReadable => "copy the file and its -wal to a folder that you can write".into(),
        Refusal::NewerRevision { .. } => "install the newest hermes".into(),
        Refusal::NewerSchema { .. } => "install the newest hermes; this one does not change the file".into(),
        Refusal::Empty | Refusal::OtherProgram | Refusal::OtherUserVersion { .. } => {
            "give the path of an agent's state.db".into()
        }
        Refusal::NotDatabase => {
            "give the path of an agent's state.db; if this was one, `hermes sessions repair FILE` saves what can be read of it"
                .into()
        }
        Refusal::NothingToSave => "give the path of an agent's state.db, or of a copy of one".into(),
        Refusal::ReadFailed { .. } => "copy what can still be read to another disk, and repair the copy".into(),
        Refusal::UnsoundBackup { .. } => {
            "take another backup; `hermes sessions repair FILE` saves what can be read of this one".into()
        }
        Refusal::BackupIsStore => "give the path of a backup".into(),
        Refusal::OrphanedWal => "move it away first".into(),
        Refusal::InUse => "stop every agent and every other program that has it open, and try again".into(),
        Refusal::InUseByUs { .. } => "stop it and try again; agents that use the file without hermes can keep running".into(),
        Refusal::UseUnknown => {
            "make sure that no program uses it, move it and its -wal file away, and try again".into()
        }
        Refusal::BeingErased => "run `hermes sessions erase --finish` first".into(),
        Refusal::NotSettled { .. } => "start hermes and let it finish, then try again".into(),
        Refusal::Target { purpose, problem } => of_target(*purpose, problem),
        Refusal::Server { problem, .. } => of_server(is_postgres, *problem).into(),
        Refusal::NoStore { .. } => "`hermes demo --url …` or `hermes sessiondb migrate` makes one".into(),
        Refusal::OlderTables { .. } => "run `hermes sessiondb adopt` to update them".into(),
        Refusal::NewerTables { .. } => "use a newer hermes".into(),
        Refusal::OtherTables { .. } if is_postgres => {
            "set sessiondb.postgresql.schema to a schema for hermes alone, or use another database".into()
        }
        Refusal::OtherTables { .. } => "set sessiondb.mysql.database to a database for hermes alone".into(),
        Refusal::TooOld { .. } if is_postgres => "use PostgreSQL 13 or later".into(),
        Refusal::TooOld { .. } => "use MariaDB 10.6 or MySQL 8.0, or later".into(),
        Refusal::Encoding { .. } => "create the database with ENCODING 'UTF8'".into(),
        Refusal::Migrating => "try again when it is done".into(),
        Refusal::PacketTooLarge => {
            "raise max_allowed_packet of the server above twice the size of the largest message".into()
        }
        _ => "see the cause; nothing was written".into(),
    }
}

fn of_target(purpose: Purpose, problem: &TargetProblem) -> Cow<'static, str> {
    match (problem, purpose) {
        (_, Purpose::ServerBackup) => "choose another name".into(),
        (TargetProblem::Folder, _) => "give the name of a file in it".into(),
        (TargetProblem::FolderAbsent, _) => "create the folder first, or choose another".into(),
        (TargetProblem::OfStore, _) => "choose another name, or another folder".into(),
        (TargetProblem::Link | TargetProblem::Exists, _) => "choose another name, or remove it first".into(),
        (TargetProblem::BesideOther { .. }, Purpose::Backup) => "choose another name, or remove that file first".into(),
        (TargetProblem::BesideOther { moves, .. }, _) if moves.is_empty() => {
            "choose another name, or move that file away first".into()
        }
        (TargetProblem::BesideOther { moves, .. }, _) => {
            let moves: Vec<String> =
                moves.iter().map(|(from, to)| format!("`mv {} {}`", from.display(), to.display())).collect();
            format!(
                "if it was left behind when the damaged file was renamed, rename it too, so that it is read: {}; otherwise choose another name",
                moves.join(", ")
            )
            .into()
        }
        (TargetProblem::NotMade { .. }, Purpose::Store) => "choose another place with HERMES_HOME or --url".into(),
        (TargetProblem::NotMade { .. }, Purpose::StoreFolder) => {
            "choose another place with HERMES_HOME or --url, or create the folder yourself".into()
        }
        (TargetProblem::NotMade { .. }, Purpose::Repaired) => "choose a place that you may write to (--out)".into(),
        (TargetProblem::NotMade { .. }, _) => "choose a folder that you may write to".into(),
        (TargetProblem::NotWritten { .. }, Purpose::Detached) => {
            "free some disk space, or pass --discard to detach without that file; the store is unchanged".into()
        }
        (TargetProblem::NotWritten { .. }, _) => "free some disk space".into(),
        (TargetProblem::NotPlaced { .. }, Purpose::Restored) => "make sure that its folder is writable".into(),
        (TargetProblem::NotRemoved { .. }, _) => "remove it yourself: the file it warns of was found sound".into(),
        _ => "choose another place".into(),
    }
}

const fn of_server(is_postgres: bool, problem: ServerProblem) -> &'static str {
    match (problem, is_postgres) {
        (ServerProblem::Authentication, true) => {
            "check the user and the password in sessiondb.postgresql.dsn or HERMES_SESSIONDB_URL"
        }
        (ServerProblem::Authentication, false) => {
            "check the user and the password in sessiondb.mysql or HERMES_SESSIONDB_URL"
        }
        (ServerProblem::NoDatabase, true) => "create the database first (createdb), or name another one in the URL",
        (ServerProblem::NoDatabase, false) => {
            "create the database first (CREATE DATABASE …), or name another one in the URL"
        }
        (ServerProblem::NoAccess, _) => "let the user use the database (GRANT ALL ON … TO …), or name another one",
        (ServerProblem::NoPrivilege, true) => {
            "let the user create tables there (GRANT CREATE ON SCHEMA …), or set sessiondb.postgresql.schema to a schema for hermes alone"
        }
        (ServerProblem::NoPrivilege, false) => {
            "let the user create tables there (GRANT ALL ON … TO …), or use a database for hermes alone"
        }
        (_, true) => "check that the server is running, its address, and the kind of TLS it expects (sslmode)",
        (_, false) => "check that the server is running, its address, and the kind of TLS it expects (ssl-mode)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_hint_fits_the_provider_and_the_file() {
        let tables = || Refusal::OtherTables { table: "sessions".into(), namespace: "schema public".into() };
        let server = |url: &str| StoreError::Refused { location: Location::Server(url.into()), refusal: tables() };
        assert!(of_store(&server("postgresql://db/h")).contains("sessiondb.postgresql.schema"));
        assert!(of_store(&server("mysql://db/h")).contains("sessiondb.mysql.database"));
        let moves = vec![("a-wal".into(), "b-wal".into())];
        let beside = TargetProblem::BesideOther { suffix: "-wal".into(), moves };
        let error = StoreError::no_target(Path::new("a"), Purpose::Repaired, beside);
        assert!(of_store(&error).contains("`mv a-wal b-wal`"));
    }
}
