//! Writes the file with the data that only our tables hold. `hermes sessions import` reads it.
//!
//! It has a line for the pin and tags of each conversation with any, a line for each session that our own table has as
//! archived, for each route, cursor, cause of a reset and undone message, then the conversations of the trash as exported sessions, each line with its entry. `docs/leaving.md`
//! describes the format.

use super::holdings;
use crate::calls::trash::{self, Kept};
use crate::calls::{archive, carry, messages, row, undo};
use crate::error::Failure;
use crate::open::{copy, place};
use crate::write::database::Database;
use hermes_session::export::{
    SESSION_LINE_END, archived_line, line_head_with_pin_and_tags, live_line, message_object, pins_and_tags_line,
    undone_line, with_trash,
};
use hermes_session::import::InTrash;
use hermes_session::live::LiveRecord;
use hermes_session::{MessageId, MessageRequest, PinAndTags, Purpose, SessionId, StoreError, TargetProblem};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Messages held in memory at once.
const PAGE: u32 = 100;

/// Writes the file with mode 0600. It appears under its name only when it is complete and on disk. `database` can't be
/// used for anything else afterwards: temporary views hide its tables.
pub(super) fn write(database: &Database, target: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), Failure> {
    let part = place::beside(target, &format!(".part-{}", std::process::id()));
    let failed = |error: std::io::Error| {
        let problem = TargetProblem::NotWritten { cause: error.to_string() };
        Failure::Store(StoreError::no_target(target, Purpose::Detached, problem))
    };
    place::remove(&part);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part).map_err(failed)?;
    let mut out = BufWriter::new(made);
    let outcome = lines(database, &mut |piece| out.write_all(piece.as_bytes()).map_err(failed), progress)
        .and_then(|()| out.into_inner().map_err(|error| failed(error.into_error())))
        .and_then(|made: File| made.sync_all().map_err(failed))
        .and_then(|()| copy::place_new(&part, target).map_err(failed));
    place::remove(&part);
    outcome
}

/// Passes every line to `put`, in pieces.
fn lines(
    database: &Database,
    put: &mut dyn FnMut(&str) -> Result<(), Failure>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    for (id, pins_and_tags) in holdings::marked(database)? {
        put(&pins_and_tags_line(&id, &pins_and_tags))?;
    }
    for id in archive::beside(database)? {
        put(&archived_line(&id))?;
    }
    let mut after: Option<LiveRecord> = None;
    loop {
        let page = carry::list(database, after.as_ref(), PAGE)?;
        for line in page.iter().filter_map(live_line) {
            put(&line)?;
        }
        match page.last() {
            Some(last) if page.len() == PAGE as usize => after = Some(last.clone()),
            _ => break,
        }
    }
    for id in undo::sessions(database)? {
        // The agent's table has the others.
        for undone in undo::whole_of(database, &id)? {
            put(&undone_line(&id, &undone))?;
        }
    }
    for (at, entry) in holdings::trashed(database)?.into_iter().enumerate() {
        trash::show_kept(database, entry.number)?;
        for (place, member) in entry.members.iter().enumerate() {
            // The pin and the tags of a conversation are kept with its first session.
            let pins_and_tags = if place == 0 { entry.pins_and_tags.clone() } else { PinAndTags::default() };
            session(database, &entry, member, &pins_and_tags, put)?;
        }
        progress(at as u64 + 1);
    }
    Ok(())
}

fn session(
    database: &Database,
    entry: &Kept,
    id: &SessionId,
    pins_and_tags: &PinAndTags,
    put: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let session = row::existing(database, id)?;
    let in_trash = InTrash { conversation: entry.id.clone(), deleted_at: entry.deleted_at, kept_until: entry.until };
    let rows = trash::kept_rows(database, entry.number, id, entry.members.first() == Some(id))?;
    put(&with_trash(&line_head_with_pin_and_tags(&session, pins_and_tags), &in_trash, &rows))?;
    let (mut after, mut is_first) = (None::<MessageId>, true);
    loop {
        let window = after.map_or_else(|| MessageRequest::first(PAGE), |last| MessageRequest::after(last, PAGE));
        let page = messages::read(database, id, &window.every())?;
        for message in &page {
            put(if is_first { "" } else { ", " })?;
            put(&message_object(message))?;
            is_first = false;
        }
        match page.last() {
            Some(last) if page.len() == PAGE as usize => after = Some(last.id),
            _ => return put(SESSION_LINE_END),
        }
    }
}
