//! Answers for programs: the documents of `--json`, as types of `hermes-wire`.

pub(crate) mod archive;
pub(crate) mod changes;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod insights;
pub(crate) mod owners;
pub(crate) mod pins_and_tags;
pub(crate) mod repaired;
pub(crate) mod store;
pub(crate) mod trash;

use crate::reports::Optimized;
use hermes_rescue::BackupRestored;
use hermes_session::search::{Hit, SearchAnswer};
use hermes_session::{BackupReport, Listing, Report, Room, Session, StateCounts, Statistics, StoreStatus};
use hermes_store::Shrunk;
use hermes_terminal::highlight::Delimiters;
use hermes_terminal::transcript::Segments;
use hermes_wire::session::{SessionDetail, Transcript};
use hermes_wire::{document, search as wire, session, statistics as figures, verify};

/// The end of a transcript without messages.
const EMPTY_END: &str = "]}";

/// Returns a page of a list.
pub(crate) fn listing(listing: &Listing, is_more: bool) -> String {
    document(&session::Listing::new(listing, is_more))
}

/// Returns how much a store holds. Sizes that were not measured are null.
pub(crate) fn statistics(status: &StoreStatus, statistics: &Statistics, room: Option<&Room>) -> String {
    document(&figures::Statistics::new(status, statistics, room))
}

/// Returns the text before and after the messages of a transcript, so that messages can be written one by one.
pub(crate) fn around_messages(session: &Session, states: StateCounts, segments: &Segments) -> (String, &'static str) {
    let session = SessionDetail::new(session, states, &segments.compressed, segments.continued_in.last());
    let mut before = document(&Transcript { session, messages: Vec::new() });
    before.truncate(before.len() - EMPTY_END.len());
    (before, EMPTY_END)
}

/// Returns the report of `verify`.
pub(crate) fn report(report: &Report) -> String {
    document(&verify::VerifyReport::from(report))
}

/// Returns what a copy of a store holds.
pub(crate) fn backup(report: &BackupReport) -> String {
    document(&verify::Backup {
        path: report.path.display().to_string(),
        sessions: report.sessions,
        messages: report.messages,
        bytes: report.bytes,
    })
}

/// Returns what a store holds after a backup was restored.
pub(crate) fn backup_restored(restored: &BackupRestored) -> String {
    document(&verify::BackupRestored {
        sessions: restored.sessions,
        messages: restored.messages,
        bytes: restored.bytes,
        kept: restored.kept.as_ref().map(|kept| kept.display().to_string()),
    })
}

/// Returns the size of a store before and after it was optimized.
pub(crate) fn optimized(optimized: &Optimized) -> String {
    let shrunk = match optimized.shrunk {
        Shrunk::NotNeeded => "not needed",
        Shrunk::Done => "done",
        Shrunk::InUse => "in use",
        Shrunk::NoRoom => "no room",
    };
    document(&verify::Optimized {
        bytes_before: optimized.before.bytes,
        bytes_after: optimized.after.bytes,
        free_bytes: optimized.after.free_bytes,
        shrunk,
    })
}

/// The start of the next page of a search: the number of hits before it, and its position.
#[derive(Debug, Default)]
pub(crate) struct Next {
    pub(crate) offset: Option<u64>,
    pub(crate) place: Option<String>,
}

/// Returns the answer to a search. `delimiters` are those that the store put around matches.
pub(crate) fn search(query: &str, answer: &SearchAnswer, next: &Next, delimiters: &Delimiters) -> String {
    document(&wire::SearchAnswer {
        query,
        served: (&answer.served).into(),
        hits: answer.hits.iter().map(|found| hit(found, delimiters)).collect(),
        next_offset: next.offset,
        next: next.place.as_deref(),
    })
}

fn hit<'a>(hit: &'a Hit, delimiters: &Delimiters) -> wire::Hit<'a> {
    let found = delimiters.read(&hit.snippet);
    let highlights = found.in_characters().into_iter().map(|range| [range.start, range.end]).collect();
    wire::Hit::new(hit, found.text, highlights)
}
