//! Reads what can be read of a damaged file, row by row past SQLite, into a new one.
//!
//! SQLite gives up a table at the first page that is not what it should be. Here every page is looked at by itself: trees are followed as far
//! as they go, and leaves that no tree leads to any more are told by the shape of their rows. The damaged file is only read.

mod catalog;
mod fill;
mod finish;
mod layout;
mod log;
mod marks;
mod page;
mod record;
mod source;
mod walk;

use crate::connection;
use crate::database::Database;
use crate::error::{Circumstances, Failure};
use crate::{mend, place, recount, schema};
use catalog::Catalog;
use fill::Scratch;
use finish::{Reading, Stamp};
use hermes_session::{Location, Refusal, SessionId, StoreError};
use record::Value;
use rusqlite::params;
use source::Source;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};
use walk::{Free, Row, Walker};

/// What was read of a damaged file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvage {
    /// The tables that were read, `messages` first.
    pub tables: Vec<SalvagedTable>,
    /// How many pages the file and its log have.
    pub pages: u64,
    /// Pages and cells that were led to and are not what they should be.
    pub damaged: u64,
    /// Pages that were taken from the log (`-wal`).
    pub log_frames: u64,
    /// Pages of the log that are not what was written.
    pub damaged_frames: u64,
    /// Rows on pages that no tree leads to any more.
    pub stray_rows: u64,
    /// Whether messages that had been deleted may be among those: the list of free pages could not be read.
    pub may_revive: bool,
    /// Whether the file no longer tells what columns its tables have, so that those of this version were taken.
    pub has_guessed: bool,
    /// Sessions whose row was made again from what the indexes tell of it.
    pub rebuilt_sessions: u64,
    /// Sessions whose row was made again from their messages alone.
    pub recovered_sessions: u64,
    /// Sessions that were on the way out, or in, when the file was damaged. Nobody saw them; they are left out.
    pub hidden_sessions: u64,
    /// Whether the file changed while it was read: then something is still using it.
    pub has_changed: bool,
    /// Whether a rollback journal lies beside the file. What was changed last may not be whole.
    pub has_journal: bool,
    /// Conversations in the trash. They are left out.
    pub trashed: u64,
    /// Tables that were not read, because the file does not tell how their rows are kept.
    pub unread: Vec<String>,
}

/// What was read of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvagedTable {
    /// Its name.
    pub name: String,
    /// Rows that are saved.
    pub saved: u64,
    /// Those of them whose end is missing.
    pub cut: u64,
    /// Rows that were there and could not be read.
    pub lost: u64,
    /// Whether no more than these can be lost.
    pub is_certain: bool,
}

impl Salvage {
    /// Tells how many rows of each table the new store keeps: a row that was garbled may be one that none can. A table that it does not have
    /// at all is no longer among these.
    pub(crate) fn settle(&mut self, kept: impl Fn(&str) -> Result<Option<u64>, Failure>) -> Result<(), Failure> {
        let mut settled = Vec::new();
        for mut table in std::mem::take(&mut self.tables) {
            if let Some(kept) = kept(&table.name)? {
                table.lost += table.saved.saturating_sub(kept);
                table.saved = table.saved.min(kept);
                settled.push(table);
            }
        }
        self.tables = settled;
        Ok(())
    }

    /// What was read of a table.
    pub fn table(&self, name: &str) -> Option<&SalvagedTable> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// How far it is: pages that were looked at, and about how many there are to look at.
pub(crate) type SalvageWatch<'a> = &'a mut (dyn FnMut(u64, u64) -> ControlFlow<()> + Send);

/// Reads a damaged file into a new one that is as the agent's tables are.
///
/// Nothing is written to the file, its log or their folder. Nobody in this process may have the file open, and it can be read.
///
/// # Errors
/// `Refused` if there is nothing of a store in it, or something is where the new file should go. Damage is no error.
pub(crate) fn salvage(path: &Path, scratch: &Path, watch: SalvageWatch<'_>) -> Result<Option<Salvage>, StoreError> {
    let failed = |failure: Failure| {
        failure.into_store_error(Circumstances {
            op: "salvage the store",
            waited: Duration::ZERO,
            location: &Location::from(scratch),
        })
    };
    match read(path, scratch, watch) {
        Err(Stopped::Asked) => Ok(None),
        Err(Stopped::Failed(failure)) => Err(failed(failure)),
        Ok(salvage) => Ok(Some(salvage)),
    }
}

enum Stopped {
    Asked,
    Failed(Failure),
}

impl<T: Into<Failure>> From<T> for Stopped {
    fn from(error: T) -> Self {
        Self::Failed(error.into())
    }
}

fn read(path: &Path, scratch: &Path, watch: SalvageWatch<'_>) -> Result<Salvage, Stopped> {
    let before = state(path);
    let source = Source::open(path)
        .map_err(|error| StoreError::refused(path, Refusal::ReadFailed { cause: error.to_string() }))?;
    let mut walker = Walker::new(&source);
    let catalog = Catalog::read(&source, &mut walker);
    let connection = connection::open_new(scratch)?;
    let mut job = Job { source: &source, walker, catalog, scratch: None, found: Salvage::default(), watch, looked: 0 };
    job.scratch = Some(Scratch::make(connection, &job.catalog)?);
    let mut salvage = job.run(scratch)?;
    salvage.pages = u64::from(source.last);
    salvage.log_frames = source.log.as_ref().map_or(0, |log| log.frames);
    salvage.damaged_frames = source.log.as_ref().map_or(0, |log| log.damaged);
    if salvage.damaged_frames > 0 {
        // Indexes and tables are as old as each other where a page of the log is missing.
        salvage.tables.iter_mut().for_each(|table| table.is_certain = false);
    }
    salvage.has_journal = place::beside(path, "-journal").metadata().is_ok_and(|journal| journal.len() > 0);
    salvage.has_changed = before != state(path);
    if salvage.tables.iter().all(|table| table.saved == 0 && table.lost == 0) && !source.has_head {
        return Err(Failure::Store(StoreError::refused(path, Refusal::NothingToSave)).into());
    }
    Ok(salvage)
}

/// What tells whether somebody writes to a file: its size and time, and those of its log.
fn state(path: &Path) -> [Option<(u64, SystemTime)>; 2] {
    ["", "-wal"].map(|suffix| {
        let found = place::beside(path, suffix).metadata().ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

struct Job<'a, 'w> {
    source: &'a Source,
    walker: Walker<'a>,
    catalog: Catalog,
    scratch: Option<Scratch>,
    found: Salvage,
    watch: SalvageWatch<'w>,
    looked: u64,
}

impl Job<'_, '_> {
    fn run(mut self, path: &Path) -> Result<Salvage, Stopped> {
        let mut scratch = self.scratch.take().ok_or_else(|| Failure::Damaged("no table could be made".into()))?;
        self.found.damaged = self.catalog.damaged;
        let mut readings = Vec::new();
        // Messages come first.
        for place in 0..scratch.tables.len() {
            readings.push(self.table(&mut scratch, place)?);
        }
        let is_whole = readings.iter().take(3).all(|reading| reading.is_whole);
        self.found.trashed = self.trashed()?;
        let (hidden, stamps, marks) = (self.hidden()?, self.stamps()?, self.marks()?);
        for (place, reading) in readings.iter_mut().enumerate() {
            reading.has_index = self.indexes(&scratch, place)?;
        }
        if !is_whole {
            self.strays(&mut scratch)?;
        }
        // Before anything is counted, or told from what is there.
        self.found.hidden_sessions = finish::leave_out(&scratch, &hidden)?;
        finish::times(&scratch)?;
        let sessions = scratch.tables.iter().find(|table| table.name == "sessions");
        let made = sessions.map(|table| finish::sessions(&scratch, table)).transpose()?.unwrap_or_default();
        (self.found.rebuilt_sessions, self.found.recovered_sessions) = (made.rebuilt, made.recovered);
        finish::widowed(&mut scratch)?;
        self.found.unread.clone_from(&scratch.unread);
        self.found.has_guessed = scratch.tables.iter().take(2).any(|table| !table.is_told);
        for (table, reading) in scratch.tables.iter().zip(&readings) {
            self.found.damaged += table.cut;
            self.found.tables.push(finish::count(&scratch, table, *reading)?);
        }
        finish::version(&scratch)?;
        bring_into_use(scratch, path, Beside { stamps, marks, indexes: self.catalog.index_statements() })?;
        Ok(self.found)
    }

    /// Reads the tree of a table.
    fn table(&mut self, scratch: &mut Scratch, place: usize) -> Result<Reading, Stopped> {
        let name = scratch.tables.get(place).map(|table| table.name.clone()).unwrap_or_default();
        let Some(root) = self.catalog.objects.get(&name).filter(|object| object.is_table).map(|object| object.root)
        else {
            return Ok(Reading { is_whole: name == "schema_version", has_index: false });
        };
        let before = self.walker.broken.len();
        let mut strange = 0;
        let walked = self.walk(root, true, &mut |row| {
            match scratch.can_be(place, row) {
                true => _ = scratch.put(place, row)?,
                // The tree leads to a page of another one.
                false => strange += 1,
            }
            Ok(())
        })?;
        let walked = walked + strange;
        let broken: Vec<u32> = self.walker.broken.iter().copied().skip(before).collect();
        for number in broken {
            for row in self.walker.carve(number) {
                if scratch.like(&row) == Some(place) {
                    scratch.put(place, &row)?;
                }
            }
        }
        self.found.damaged += walked;
        Ok(Reading { is_whole: walked == 0, has_index: false })
    }

    /// Notes what the indexes of a table tell; whether one of them that has every row was read to its end.
    fn indexes(&mut self, scratch: &Scratch, place: usize) -> Result<bool, Stopped> {
        let Some(table) = scratch.tables.get(place) else { return Ok(false) };
        let mut has_every_row = false;
        let indexes: Vec<_> = self.catalog.indexes(&table.name).cloned().collect();
        for index in indexes {
            let Some(columns) = scratch.index(&index) else { continue };
            let noting = Scratch::noting(&table.name, &columns);
            let note = &mut |row: &Row| Ok(scratch.note(&noting, columns.len(), &row.values)?);
            let damaged = self.walk(index.root, false, note)?;
            self.found.damaged += damaged;
            let is_partial = index.sql.is_some_and(|sql| sql.to_ascii_uppercase().contains(" WHERE "));
            has_every_row |= damaged == 0 && !is_partial;
        }
        Ok(has_every_row)
    }

    /// Looks for rows on pages that no tree leads to.
    fn strays(&mut self, scratch: &mut Scratch) -> Result<(), Stopped> {
        // What belongs to others is no stray.
        let others: Vec<(u32, bool)> =
            self.catalog.objects.values().map(|other| (other.root, other.is_table)).collect();
        for (root, is_table) in others {
            // A table without row numbers is kept as an index is.
            let is_table = is_table && self.walker.is_table_root(root);
            if !self.walker.is_seen(root) {
                self.walk(root, is_table, &mut |_| Ok(()))?;
            }
        }
        let free = Free::read(self.source);
        for number in 2..=self.source.last {
            if self.walker.is_seen(number) || free.has(self.source, number) {
                continue;
            }
            self.look()?;
            for row in self.walker.leaf(number) {
                if let Some(place) = scratch.like(&row) {
                    self.found.stray_rows += u64::from(scratch.put(place, &row)?);
                }
            }
        }
        self.found.may_revive = !free.is_whole && self.found.stray_rows > 0;
        Ok(())
    }

    /// The sessions that are on their way out or in.
    fn hidden(&mut self) -> Result<Vec<String>, Stopped> {
        let mut hidden = Vec::new();
        let Some(root) = self.catalog.objects.get("hx_hidden").map(|object| object.root) else { return Ok(hidden) };
        self.walk(root, false, &mut |row| {
            hidden.extend(text(row, 0));
            Ok(())
        })?;
        Ok(hidden)
    }

    /// How many conversations are in the trash.
    fn trashed(&mut self) -> Result<u64, Stopped> {
        let Some(root) = self.catalog.objects.get("hx_trash").map(|object| object.root) else { return Ok(0) };
        let mut trashed = 0;
        self.walk(root, true, &mut |row| {
            // The last column tells whether somebody is taking it out.
            trashed += u64::from(row.values.last() == Some(&Value::Integer(0)));
            Ok(())
        })?;
        Ok(trashed)
    }

    /// What sessions were to their parents at their birth.
    fn stamps(&mut self) -> Result<Vec<Stamp>, Stopped> {
        let mut stamps = Vec::new();
        let Some(root) = self.catalog.objects.get("hx_session").map(|object| object.root) else { return Ok(stamps) };
        self.walk(root, false, &mut |row| {
            if let (Some(session), Some(relation)) = (text(row, 0), text(row, 1)) {
                stamps.push(Stamp { session, relation, origin: text(row, 2) });
            }
            Ok(())
        })?;
        Ok(stamps)
    }

    /// The pins and tags.
    fn marks(&mut self) -> Result<marks::Found, Stopped> {
        let mut found = marks::Found::default();
        for table in ["hx_pin", "hx_tag"] {
            let Some(root) = self.catalog.objects.get(table).map(|object| object.root) else { continue };
            self.walk(root, false, &mut |row| {
                found.take(table, row);
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn walk(
        &mut self,
        root: u32,
        is_table: bool,
        take: &mut dyn FnMut(&Row) -> Result<(), Stopped>,
    ) -> Result<u64, Stopped> {
        let Self { walker, watch, looked, source, .. } = self;
        let walked = walker.walk(root, is_table, &mut |row| match row {
            Some(row) => take(&row),
            None => look(watch, looked, source),
        })?;
        Ok(walked.damaged)
    }

    fn look(&mut self) -> Result<(), Stopped> {
        look(&mut self.watch, &mut self.looked, self.source)
    }
}

fn look(watch: &mut SalvageWatch<'_>, looked: &mut u64, source: &Source) -> Result<(), Stopped> {
    *looked += 1;
    if looked.is_multiple_of(256) && watch(*looked, u64::from(source.last)).is_break() {
        return Err(Stopped::Asked);
    }
    Ok(())
}

fn text(row: &Row, place: usize) -> Option<String> {
    match row.values.get(place) {
        Some(Value::Text(text)) => String::from_utf8(text.clone()).ok(),
        _ => None,
    }
}

/// What comes to the rows once they are a store's.
struct Beside {
    stamps: Vec<Stamp>,
    marks: marks::Found,
    indexes: Vec<String>,
}

/// Makes the new file one that a store reads: columns, titles of their own, places in lineages, counters.
fn bring_into_use(scratch: Scratch, path: &Path, beside: Beside) -> Result<(), Failure> {
    let connection = scratch.connection;
    connection.execute_batch("COMMIT")?;
    let database = Database::new(connection);
    schema::bring_copy_into_use(&database, path)?;
    database.execute_batch("BEGIN")?;
    for stamp in beside.stamps {
        database
            .prepare_cached(
                "UPDATE hx_session SET relation = ?, origin = ?, dirty = 3 WHERE session_id = ?
                 AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = session_id AND s.parent_session_id IS NOT NULL) AND relation <> ?1",
            )?
            .execute(params![stamp.relation, stamp.origin, stamp.session])?;
    }
    for sql in beside.indexes {
        // One that is there already, or that rows contradict, is not needed to read them.
        _ = database.execute_batch(&sql);
    }
    mend::places(&database)?;
    beside.marks.put(&database)?;
    recount_all(&database)?;
    database.execute_batch("COMMIT")?;
    Ok(())
}

/// Counts messages as they are there now.
fn recount_all(database: &Database) -> Result<(), Failure> {
    let mut statement = database.prepare("SELECT id FROM sessions WHERE typeof(id) = 'text'")?;
    let sessions: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for session in sessions {
        recount::recount(database, &SessionId::from_stored(session))?;
    }
    Ok(())
}
