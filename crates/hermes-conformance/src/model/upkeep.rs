//! Maintenance: verification of the maps, and export to a file.

use super::{ModelStore, State};
use hermes_session::export::Exporter;
use hermes_session::live::Kinds;
use hermes_session::{
    BackupReport, Check, Extent, Purpose, Report, Session, SessionFilter, SessionId, StoreError, TargetProblem,
};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

impl State {
    pub(super) fn verify(&self) -> Report {
        let mut counters = Check::new("counters", "sessions");
        let mut relations = Check::new("relations", "sessions");
        for (id, session) in &self.sessions {
            if self.recounted(session).is_some() {
                counters.problem(format!("sessions {id}"), "counts other messages than it has");
            }
            if session.parent_session_id.as_ref().is_some_and(|parent| !self.sessions.contains_key(parent)) {
                relations.problem(format!("sessions {id}"), "has a parent that is not there");
            }
            counters.looked_at += 1;
            relations.looked_at += 1;
        }
        Report { checks: vec![counters, relations] }
    }

    pub(super) fn recount(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        let Some(right) = self.recounted(self.existing(id)?) else { return Ok(false) };
        let session = self.existing_mut(id)?;
        (session.message_count, session.tool_call_count) = right;
        self.note(id, Kinds::SESSION);
        Ok(true)
    }

    /// Returns the correct counters of a session, if they are wrong. Newer agents leave inactive messages in the table
    /// and in the counter, so the number of all messages is correct too.
    fn recounted(&self, session: &Session) -> Option<(i64, i64)> {
        let count = |extent: Extent| {
            let all = self.transcripts.get(&session.id).into_iter().flatten();
            let meant = all.filter(|message| extent.has(message.state));
            meant.fold((0, 0), |(messages, calls), message| (messages + 1, calls + message.body.tool_call_count()))
        };
        let (live, all): ((i64, i64), (i64, i64)) = (count(Extent::Transcript), count(Extent::Every));
        let right = |told: i64, live: i64, all: i64| if told == all { told } else { live };
        let right = (right(session.message_count, live.0, all.0), right(session.tool_call_count, live.1, all.1));
        (right != (session.message_count, session.tool_call_count)).then_some(right)
    }

    /// Returns a copy of the sessions and their messages, to be read while others write.
    fn contents(&self) -> Self {
        Self { sessions: self.sessions.clone(), transcripts: self.transcripts.clone(), ..Self::default() }
    }
}

impl ModelStore {
    /// Writes the export of every session. The file gets its final name when it is complete.
    pub(super) async fn export_to(&self, target: &Path) -> Result<BackupReport, StoreError> {
        let frozen = Self { state: Arc::new(Mutex::new(self.state().contents())) };
        let mut exporter = Exporter::new(&frozen, SessionFilter::default());
        let mut text = String::new();
        while let Some(chunk) = exporter.next_chunk().await? {
            text.push_str(&chunk);
        }
        let (sessions, messages, bytes) = (exporter.sessions(), exporter.messages(), text.len() as u64);
        put(target, &text).map_err(|error| {
            let problem = TargetProblem::NotMade { cause: error.to_string() };
            StoreError::no_target(target, Purpose::ServerBackup, problem)
        })?;
        Ok(BackupReport { path: target.to_owned(), sessions, messages, bytes })
    }
}

fn put(target: &Path, text: &str) -> std::io::Result<()> {
    let mut part = target.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    // A hard link to an existing name fails, where a rename would replace it.
    let outcome =
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| std::fs::hard_link(&part, target));
    std::fs::remove_file(&part)?;
    outcome
}
