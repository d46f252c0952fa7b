//! Looking through the maps, and writing them to a file.

use super::{ModelStore, State};
use hermes_session::export::Exporter;
use hermes_session::{BackupReport, Check, Report, SessionFilter, SessionId, StoreError};
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
            let said = self.transcripts.get(id).map_or(&[][..], Vec::as_slice);
            let calls: i64 = said.iter().map(|message| message.body.tool_call_count()).sum();
            if (session.message_count, session.tool_call_count) != (said.len() as i64, calls) {
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
        self.existing(id)?;
        let said = self.transcripts.get(id).map_or(&[][..], Vec::as_slice);
        let right = (said.len() as i64, said.iter().map(|message| message.body.tool_call_count()).sum());
        let Some(session) = self.sessions.get_mut(id) else { return Ok(false) };
        let told = (session.message_count, session.tool_call_count);
        (session.message_count, session.tool_call_count) = right;
        Ok(told != right)
    }

    /// The sessions and what was said in them, to be read while others go on writing.
    fn contents(&self) -> Self {
        Self { sessions: self.sessions.clone(), transcripts: self.transcripts.clone(), ..Self::default() }
    }
}

impl ModelStore {
    /// Writes the export of every session. The file gets its name when it is whole.
    pub(super) async fn export_to(&self, target: &Path) -> Result<BackupReport, StoreError> {
        let frozen = Self { state: Arc::new(Mutex::new(self.state().contents())) };
        let mut exporter = Exporter::new(&frozen, SessionFilter::default());
        let mut text = String::new();
        while let Some(chunk) = exporter.next_chunk().await? {
            text.push_str(&chunk);
        }
        let (sessions, messages, bytes) = (exporter.sessions(), exporter.messages(), text.len() as u64);
        put(target, &text).map_err(|error| StoreError::Refused {
            path: target.to_owned(),
            why: format!("can't be made: {error}"),
            hint: "choose another name".into(),
        })?;
        Ok(BackupReport { path: target.to_owned(), sessions, messages, bytes })
    }
}

fn put(target: &Path, text: &str) -> std::io::Result<()> {
    let mut part = target.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    // A link to a name that is taken fails, where a rename would take its place.
    let outcome =
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| std::fs::hard_link(&part, target));
    std::fs::remove_file(&part)?;
    outcome
}
