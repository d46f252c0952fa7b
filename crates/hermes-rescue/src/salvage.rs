//! Salvages the rows of a damaged file into a new one, without SQLite.
//!
//! SQLite gives up a table at its first damaged page. Here every page is read by itself: trees are followed as far as
//! possible, and leaves that no tree leads to are recognized by the shape of their rows. The damaged file is only read.

mod catalog;
mod fill;
mod finish;
mod live;
mod page;
mod pins_and_tags;
mod recognize;
mod record;
mod source;
mod wal;
mod walk;

use catalog::Catalog;
use fill::Scratch;
use finish::Reading;
use hermes_session::{Refusal, SessionId, StoreError};
use hermes_sqlite::file::{self, Failure, Salvaged, StoredRelation, StoredRow, beside};
use pins_and_tags::PinsAndTags;
use record::Value;
use source::Source;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};
use walk::{Free, Row, Walker};

/// Counts of the rows and pages read from a damaged file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvage {
    /// The tables that were read, `messages` first.
    pub tables: Vec<SalvagedTable>,
    /// How many pages the file and its WAL have.
    pub pages: u64,
    /// Damaged pages and cells that a tree leads to.
    pub damaged: u64,
    /// Pages that were taken from the WAL.
    pub wal_frames: u64,
    /// Frames of the WAL whose checksum is wrong.
    pub damaged_frames: u64,
    /// Rows on pages that no tree leads to any more.
    pub stray_rows: u64,
    /// Whether deleted messages may be among those, because the list of free pages could not be read.
    pub may_revive: bool,
    /// Whether the definitions of tables were lost, so that known ones were used.
    pub has_guessed: bool,
    /// Sessions whose row was rebuilt from the indexes.
    pub rebuilt_sessions: u64,
    /// Sessions whose row was rebuilt from their messages alone.
    pub recovered_sessions: u64,
    /// Sessions that were being deleted or imported. They were hidden, and are left out.
    pub hidden_sessions: u64,
    /// Whether the file changed while it was read, because another program is using it.
    pub has_changed: bool,
    /// Whether a rollback journal lies beside the file: the last transaction may be half-written.
    pub has_journal: bool,
    /// Conversations in the trash. They are left out.
    pub trashed: u64,
    /// Tables that were not read, because their definition is lost or their rows are stored in another form.
    pub unread: Vec<String>,
}

/// Counts of the rows read from a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvagedTable {
    /// Its name.
    pub name: String,
    /// Rows that were saved.
    pub saved: u64,
    /// Saved rows whose end is missing.
    pub cut: u64,
    /// Rows that are known to be lost.
    pub lost: u64,
    /// Whether no further rows can be lost.
    pub is_certain: bool,
}

impl Salvage {
    /// Corrects the counts by the rows that the new store has: it may refuse a garbled row. Removes tables that the
    /// store does not have.
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

    /// Returns the counts of a table; `None` if it was not read.
    pub fn table(&self, name: &str) -> Option<&SalvagedTable> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// How long to wait for a lock on the scratch file, which no other program knows.
const WAIT: Duration = Duration::from_secs(1);

/// Callback that gets the pages read so far and their approximate total.
pub(crate) type SalvageWatch<'a> = &'a mut (dyn FnMut(u64, u64) -> ControlFlow<()> + Send);

/// Salvages a damaged file into the new file `scratch`, which gets the agent's tables.
///
/// Writes nothing to the file, its WAL or their folder. This process must not have the file open. Returns `None` if
/// `watch` stopped it.
///
/// # Errors
/// `Refused` if the file holds nothing of a store, or `scratch` exists. Damage is not an error.
pub(crate) fn salvage(path: &Path, scratch: &Path, watch: SalvageWatch<'_>) -> Result<Option<Salvage>, StoreError> {
    file::run(scratch, "salvage the store", WAIT, || match read(path, scratch, watch) {
        Err(Stopped::Asked) => Ok(None),
        Err(Stopped::Failed(failure)) => Err(failure),
        Ok(salvage) => Ok(Some(salvage)),
    })
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
    let connection = file::open_new(scratch)?;
    let mut job = Job { source: &source, walker, catalog, scratch: None, found: Salvage::default(), watch, looked: 0 };
    job.scratch = Some(Scratch::make(connection, &job.catalog)?);
    let mut salvage = job.run(scratch)?;
    salvage.pages = u64::from(source.last);
    salvage.wal_frames = source.wal.as_ref().map_or(0, |wal| wal.frames);
    salvage.damaged_frames = source.wal.as_ref().map_or(0, |wal| wal.damaged);
    if salvage.damaged_frames > 0 {
        // If a frame of the WAL is missing, an index is as old as its table and proves nothing.
        salvage.tables.iter_mut().for_each(|table| table.is_certain = false);
    }
    salvage.has_journal = beside(path, "-journal").metadata().is_ok_and(|journal| journal.len() > 0);
    salvage.has_changed = before != state(path);
    if salvage.tables.iter().all(|table| table.saved == 0 && table.lost == 0) && !source.has_head {
        return Err(Failure::Store(StoreError::refused(path, Refusal::NothingToSave)).into());
    }
    Ok(salvage)
}

/// Returns the size and time of a file and of its WAL, to detect whether another program writes to them.
fn state(path: &Path) -> [Option<(u64, SystemTime)>; 2] {
    ["", "-wal"].map(|suffix| {
        let found = beside(path, suffix).metadata().ok()?;
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
        let (hidden, relations, found) = (self.hidden()?, self.relations()?, self.pins_and_tags()?);
        let (archived, live) = (self.archived()?, self.live()?);
        let undone = self.catalog.objects.get(live::UNDONE).and_then(|object| object.sql.clone());
        for (place, reading) in readings.iter_mut().enumerate() {
            reading.has_index = self.indexes(&scratch, place)?;
        }
        if !is_whole {
            self.strays(&mut scratch)?;
        }
        // Hidden sessions are removed before rows are counted or derived from others.
        self.found.hidden_sessions = finish::leave_out(&scratch, &hidden)?;
        finish::times(&scratch)?;
        let sessions = scratch.tables.iter().find(|table| table.name == "sessions");
        let made = sessions.map(|table| finish::sessions(&scratch, table)).transpose()?.unwrap_or_default();
        (self.found.rebuilt_sessions, self.found.recovered_sessions) = (made.rebuilt, made.recovered);
        finish::widowed(&mut scratch)?;
        self.found.unread.clone_from(&scratch.unread);
        self.found.has_guessed = scratch.tables.iter().take(2).any(|table| !table.is_from_file);
        for (table, reading) in scratch.tables.iter().zip(&readings) {
            self.found.damaged += table.cut;
            self.found.tables.push(finish::count(&scratch, table, *reading)?);
        }
        finish::version(&scratch)?;
        scratch.connection.execute_batch("COMMIT")?;
        let (pins_and_tags, indexes) = (found.into_list(), self.catalog.index_statements());
        let salvaged = Salvaged { relations, pins_and_tags, archived, live, undone, indexes };
        file::bring_into_use(scratch.connection, path, &salvaged)?;
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
                // The tree leads to a page of another tree.
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

    /// Records the rows that the indexes of a table list. Returns whether an index that covers every row was read
    /// completely.
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

    /// Salvages rows on pages that no tree leads to.
    fn strays(&mut self, scratch: &mut Scratch) -> Result<(), Stopped> {
        // Mark the pages of all other trees as seen.
        let others: Vec<(u32, bool)> =
            self.catalog.objects.values().map(|other| (other.root, other.is_table)).collect();
        for (root, is_table) in others {
            // A WITHOUT ROWID table is stored as an index.
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

    /// Returns the sessions that are being deleted or imported.
    fn hidden(&mut self) -> Result<Vec<String>, Stopped> {
        let mut hidden = Vec::new();
        let Some(root) = self.catalog.objects.get("hx_hidden").map(|object| object.root) else { return Ok(hidden) };
        self.walk(root, false, &mut |row| {
            hidden.extend(text(row, 0));
            Ok(())
        })?;
        Ok(hidden)
    }

    /// Returns the number of conversations in the trash.
    fn trashed(&mut self) -> Result<u64, Stopped> {
        let Some(root) = self.catalog.objects.get("hx_trash").map(|object| object.root) else { return Ok(0) };
        let mut trashed = 0;
        self.walk(root, true, &mut |row| {
            // The last column is not 0 while the entry is being taken out.
            trashed += u64::from(row.values.last() == Some(&Value::Integer(0)));
            Ok(())
        })?;
        Ok(trashed)
    }

    /// Returns the relations of sessions to their parents.
    fn relations(&mut self) -> Result<Vec<StoredRelation>, Stopped> {
        let mut relations = Vec::new();
        let Some(root) = self.catalog.objects.get("hx_session").map(|object| object.root) else { return Ok(relations) };
        self.walk(root, false, &mut |row| {
            if let (Some(session), Some(relation)) = (text(row, 0), text(row, 1)) {
                // The last column came with revision 2.
                let cause = text(row, 10);
                relations.push(StoredRelation { session, relation, origin: text(row, 2), cause });
            }
            Ok(())
        })?;
        Ok(relations)
    }

    /// Returns the pins and tags.
    fn pins_and_tags(&mut self) -> Result<PinsAndTags, Stopped> {
        let mut found = PinsAndTags::default();
        for table in ["hx_pin", "hx_tag"] {
            let Some(root) = self.catalog.objects.get(table).map(|object| object.root) else { continue };
            self.walk(root, false, &mut |row| {
                found.take(table, row);
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Returns the sessions that our own table has as archived.
    fn archived(&mut self) -> Result<Vec<SessionId>, Stopped> {
        let mut archived = Vec::new();
        let Some(root) = self.catalog.objects.get("hx_archived").map(|object| object.root) else { return Ok(archived) };
        self.walk(root, false, &mut |row| {
            archived.extend(text(row, 0).map(SessionId::from_stored));
            Ok(())
        })?;
        Ok(archived)
    }

    /// Returns the rows of live clients.
    fn live(&mut self) -> Result<Vec<StoredRow>, Stopped> {
        let mut found = Vec::new();
        for (table, is_numbered) in live::TABLES {
            let Some(root) = self.catalog.objects.get(table).map(|object| object.root) else { continue };
            self.walk(root, is_numbered, &mut |row| {
                found.extend(live::stored(table, row, is_numbered));
                Ok(())
            })?;
        }
        if let Some(root) = self.catalog.objects.get(live::UNDONE).map(|object| object.root) {
            self.walk(root, true, &mut |row| {
                found.extend(live::stored(live::UNDONE, row, false));
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
