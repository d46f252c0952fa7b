//! Hints: what a person can do about an error, with the commands and settings of this program.

use hermes_session::{Location, Purpose, Refusal, ServerProblem, StoreError, TargetProblem};
use std::borrow::Cow;

/// Returns what a person can do about an error of a store.
pub(crate) fn of_store(error: &StoreError) -> Cow<'static, str> {
    match error {
        StoreError::Refused { location, refusal } => of_refusal(location, refusal),
        other => hermes_recall::hints::of(other),
    }
}

fn of_refusal(location: &Location, refusal: &Refusal) -> Cow<'static, str> {
    let is_postgres = matches!(location, Location::Server(url) if url.starts_with("postgres"));
    match refusal {
        Refusal::Absent => "check the path, or let an agent or `hermes demo` make a store".into(),
        Refusal::LinkToNothing { .. } => "make the file that the link leads to, or remove the link".into(),
        Refusal::BrokenLink { .. } => "mend the link, or remove it".into(),
        Refusal::NotExamined { .. } => "check the permissions of its folder".into(),
        Refusal::Folder => "give the path of the file in it, such as state.db".into(),
        Refusal::NotRegular => "give the path of a state.db".into(),
        Refusal::Lost => {
            "the file was lost while its log was not; restore both from a backup, or move the -wal away to start anew"
                .into()
        }
        Refusal::NotReadable => "ask its owner, or run as its owner".into(),
        Refusal::HotJournal => {
            "start the agent once, or run a command that may write; either rolls the journal back".into()
        }
        Refusal::WalNotReadable => "copy the file and its -wal to a folder that you can write".into(),
        Refusal::NewerRevision { .. } => "install the newest hermes".into(),
        Refusal::NewerSchema { .. } => "install the newest hermes; this one leaves the file alone".into(),
        Refusal::Empty | Refusal::OtherProgram | Refusal::OtherUserVersion { .. } => {
            "give the path of an agent's state.db".into()
        }
        Refusal::NothingToSave => "give the path of an agent's state.db, or of a copy of one".into(),
        Refusal::ReadFailed { .. } => "copy what the disk still gives to another one, and repair the copy".into(),
        Refusal::UnsoundBackup { .. } => {
            "take another backup; `hermes sessions repair FILE` saves what can be read of this one".into()
        }
        Refusal::BackupIsStore => "give the path of a backup".into(),
        Refusal::OrphanedWal => "move it away first".into(),
        Refusal::InUse => "stop every agent and every other program that has it open, and try again".into(),
        Refusal::InUseByUs { .. } => "end it and try again; agents that use the file without hermes may go on".into(),
        Refusal::UseUnknown => {
            "see that nobody uses it, move it and its -wal away, and try again: then the backup takes its place".into()
        }
        Refusal::BeingErased => "run `hermes sessions erase --finish` first".into(),
        Refusal::NotSettled { .. } => "start hermes and let it finish, then try again".into(),
        Refusal::Target { purpose, problem } => of_target(*purpose, problem),
        Refusal::Server { problem, .. } => of_server(is_postgres, *problem).into(),
        Refusal::NoStore { .. } => "`hermes demo --url …` or `hermes sessiondb migrate` makes one".into(),
        Refusal::OlderTables { .. } => "run `hermes sessiondb adopt`, which brings them up to date".into(),
        Refusal::NewerTables { .. } => "use a newer hermes".into(),
        Refusal::OtherTables { .. } if is_postgres => {
            "name a schema of its own in sessiondb.postgresql.schema, or another database".into()
        }
        Refusal::OtherTables { .. } => "name a database of its own in sessiondb.mysql.database".into(),
        Refusal::TooOld { .. } if is_postgres => "use PostgreSQL 13 or later".into(),
        Refusal::TooOld { .. } => "use MariaDB 10.6 or MySQL 8.0, or later".into(),
        Refusal::Encoding { .. } => "make the database with ENCODING 'UTF8'".into(),
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
        (TargetProblem::FolderAbsent, _) => "make the folder first, or choose another".into(),
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
                "if it was left behind when the damaged file was renamed, move it along, so that it is read too: {}; else choose another name",
                moves.join(", ")
            )
            .into()
        }
        (TargetProblem::NotMade { .. }, Purpose::Store) => "choose another place with HERMES_HOME or --url".into(),
        (TargetProblem::NotMade { .. }, Purpose::StoreFolder) => {
            "choose another place with HERMES_HOME or --url, or make the folder yourself".into()
        }
        (TargetProblem::NotMade { .. }, Purpose::Repaired) => "choose a place that you may write to (--out)".into(),
        (TargetProblem::NotMade { .. }, _) => "choose a folder that you may write to".into(),
        (TargetProblem::NotWritten { .. }, Purpose::Detached) => {
            "free some room, or pass --discard to do without the file; the store is unchanged".into()
        }
        (TargetProblem::NotWritten { .. }, Purpose::DamageNote) => {
            "the file is damaged all the same: write nothing to it before `hermes sessions repair`".into()
        }
        (TargetProblem::NotWritten { .. }, _) => "free some room".into(),
        (TargetProblem::NotPlaced { .. }, Purpose::Restored) => "see that its folder can be written".into(),
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
        (ServerProblem::NoDatabase, true) => "make the database first (createdb), or name another one in the URL",
        (ServerProblem::NoDatabase, false) => {
            "make the database first (CREATE DATABASE …), or name another one in the URL"
        }
        (ServerProblem::NoAccess, _) => "let the user use the database (GRANT ALL ON … TO …), or name another one",
        (ServerProblem::NoPrivilege, true) => {
            "let the user make tables there (GRANT CREATE ON SCHEMA …), or name a schema of its own in sessiondb.postgresql.schema"
        }
        (ServerProblem::NoPrivilege, false) => {
            "let the user make tables there (GRANT ALL ON … TO …), or name a database of its own"
        }
        (_, true) => {
            "see that the server runs, that its address is right, and that it is asked for the right kind of TLS (sslmode)"
        }
        (_, false) => {
            "see that the server runs, that its address is right, and that it is asked for the right kind of TLS (ssl-mode)"
        }
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
