//! Hints for the errors of an open store: what the person or the program can do next. Shared by all surfaces.

use hermes_session::{Conflict, ReadOnlyReason, Refusal, StoreError};
use std::borrow::Cow;

/// Returns a hint for an error of an open store. For a refusal it covers only running calls; a surface that opens
/// stores knows more about refusals to open.
pub fn of(error: &StoreError) -> Cow<'static, str> {
    match error {
        StoreError::NotFound(_) => "run `hermes sessions list` to find it".into(),
        StoreError::Conflict(conflict) => of_conflict(conflict),
        StoreError::Invalid(invalid) => invalid.hint.clone(),
        StoreError::Busy { location, .. } if location.is_server() => {
            "other programs hold locks that it needs; try again when they are done".into()
        }
        StoreError::Busy { holder: Some(_), .. } => {
            "let that program finish, or stop it, and try again; sessiondb.sqlite.wait_seconds says how long to wait".into()
        }
        StoreError::Busy { holder: None, .. } => {
            "another process has been writing for long; try again, or raise sessiondb.sqlite.wait_seconds".into()
        }
        StoreError::Corrupt { location, .. } if location.is_server() => {
            "stop every agent, keep a dump of the database, then restore a backup".into()
        }
        StoreError::Corrupt { .. } => {
            "stop every agent, keep a copy of the file, then restore a backup or run `hermes sessions repair FILE`".into()
        }
        StoreError::Refused { refusal: Refusal::PacketTooLarge, .. } => {
            "raise max_allowed_packet of the server above twice the size of the largest message".into()
        }
        StoreError::NoRoom { .. } => "free some disk space; nothing was written and nothing is lost".into(),
        StoreError::ReadOnly { location, reason: ReadOnlyReason::Requested, .. } if location.is_server() => {
            "run the command without --read-only".into()
        }
        StoreError::ReadOnly { reason: ReadOnlyReason::Requested, .. } => {
            "run the command without --read-only; the setting sessiondb.sqlite.read_only has the same effect".into()
        }
        StoreError::ReadOnly { location, .. } if location.is_server() => {
            "use an account that may write, and a server that is not a standby".into()
        }
        StoreError::ReadOnly { location, .. } => {
            format!("make {location} and its folder writable, or work on a copy").into()
        }
        StoreError::InDoubt { location, .. } if location.is_server() => {
            "check what is stored before you repeat it; a call with a request key can be repeated unchanged".into()
        }
        StoreError::InDoubt { .. } => {
            "close every program that uses the store, check the disk, then check what is stored before you repeat the write"
                .into()
        }
        StoreError::Backend { location, .. } if location.is_server() => {
            "check that the server is running, its address and account, and its log; nothing was written"
                .into()
        }
        _ => "see the cause; nothing was written".into(),
    }
}

fn of_conflict(conflict: &Conflict) -> Cow<'static, str> {
    match conflict {
        Conflict::Exists(_) => "choose another id".into(),
        Conflict::TitleTaken { holder, .. } => format!("choose another title, or rename session {holder} first").into(),
        Conflict::AlreadySplit { continuation, .. } => format!("continue in session {continuation}").into(),
        Conflict::TopicTaken { .. } => "a session has one topic; choose another session".into(),
        Conflict::KeyReused(_) => "use a new key for each change".into(),
        Conflict::Fenced(_) => "another process took the conversation over; read it again, or take it back".into(),
        Conflict::Moved { .. } => {
            "another program wrote to the session; read it again before you repeat the change".into()
        }
        Conflict::TurnOpen { .. } => "wait until the turn is over, or interrupt it".into(),
        Conflict::TurnClosed(_) => "it was closed, or interrupted by the next owner; nothing was written".into(),
        Conflict::InboxSettled(_) => "it was answered already; nothing was written".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::Location;
    use std::time::Duration;

    #[test]
    fn hints_fit_where_the_store_is() {
        let errors = |location: Location| {
            let op = "read";
            let (waited, holder) = (Duration::ZERO, None);
            [
                StoreError::Busy { location: location.clone(), op, waited, holder, source: "x".into() },
                StoreError::Corrupt { location: location.clone(), what: "x".into(), source: None },
                StoreError::ReadOnly { location: location.clone(), op, reason: ReadOnlyReason::NotWritable },
                StoreError::InDoubt { location: location.clone(), op, source: "x".into() },
                StoreError::Backend { location, op, source: "x".into() },
            ]
        };
        for error in errors(Location::Server("postgresql://ada@db/hermes".into())) {
            let hint = of(&error);
            assert!(!hint.contains("file") && !hint.contains("sqlite") && !hint.contains("disk"), "{hint}");
        }
        let file = errors(Location::File("/home/ada/state.db".into()));
        assert!(file.iter().all(|error| !of(error).contains("server")));
    }
}
