//! An open file: a connection with cached facts about its tables.

use crate::calls::extra::Extras;
use crate::index::indexes::{Census, Layout};
use crate::open::shape::Shape;
use crate::search::Facts;
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::Arc;

/// A connection, with cached facts about its tables.
pub(crate) struct Database {
    connection: Connection,
    shape: Cell<Shape>,
    layout: Cell<Layout>,
    extras: RefCell<Arc<Extras>>,
    /// SQLite's schema version as of the last look at the schema.
    cookie: Cell<Option<i64>>,
    /// Our revision of the file, as of that look.
    revision: Cell<i64>,
    /// The last counts of the word index.
    census: RefCell<Option<Census>>,
    /// The facts that the last search read.
    facts: RefCell<Option<Arc<Facts>>>,
    /// Whether reads run on the thread of a caller, so that they have to be short.
    is_callers: Cell<bool>,
    /// Objects that the last write failed in; the retry goes without them.
    blamed: RefCell<Blame>,
    /// Objects that the current write goes without.
    given_up: RefCell<Blame>,
    /// The temporary side tables, on a connection that reads a file which is not adopted.
    memory: Option<Memory>,
}

/// State of the temporary side tables.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// SQLite's `data_version` of the file when they were filled; `None` if they are not filled.
    pub(crate) version: Cell<Option<i64>>,
}

/// Derived objects that a write failed in and can go without.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Blame {
    /// The search indexes in use, which are then replaced.
    pub(crate) indexes: bool,
    /// Discarded tables that could not be cleared, and are left.
    pub(crate) leftovers: Vec<String>,
    /// The index of lists, which every write to `sessions` updates.
    pub(crate) card: Card,
}

/// State of the index of lists during a write. Upkeep creates the index again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Card {
    /// It stays.
    #[default]
    Kept,
    /// It is damaged and is dropped.
    Dropped,
    /// It is so damaged that it can't be dropped: only its entry in the schema is removed, and its pages are left
    /// unused.
    Forgotten,
}

impl Database {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            shape: Cell::default(),
            layout: Cell::default(),
            extras: RefCell::default(),
            cookie: Cell::new(None),
            revision: Cell::new(0),
            census: RefCell::default(),
            facts: RefCell::default(),
            is_callers: Cell::new(false),
            blamed: RefCell::default(),
            given_up: RefCell::default(),
            memory: None,
        }
    }

    /// Returns the connection alone.
    pub(crate) fn into_connection(self) -> Connection {
        self.connection
    }

    /// Records that the side tables are temporary tables of this connection.
    pub(crate) fn keep_side_in_memory(&mut self) {
        self.memory = Some(Memory::default());
    }

    /// Returns the temporary side tables; `None` if the file has its own.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// Returns whether the schema has changed since [`Database::refresh`] read it; `false` if it never did.
    pub(crate) fn has_new_schema(&self) -> Result<bool, rusqlite::Error> {
        match self.cookie.get() {
            Some(known) => Ok(self.schema_cookie()? != known),
            None => Ok(false),
        }
    }

    fn schema_cookie(&self) -> Result<i64, rusqlite::Error> {
        self.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))
    }

    /// Wraps a connection that is used outside of the store's threads, and reads its schema.
    pub(crate) fn fresh(connection: Connection) -> Result<Self, rusqlite::Error> {
        let database = Self::new(connection);
        database.refresh()?;
        Ok(database)
    }

    /// Returns our revision of the file, as of the start of this transaction.
    pub(crate) fn revision(&self) -> i64 {
        self.revision.get()
    }

    /// Returns the shape of the tables, as of the start of this transaction.
    pub(crate) fn shape(&self) -> Shape {
        self.shape.get()
    }

    /// Returns the layout of the indexes, as of the start of this transaction.
    pub(crate) fn layout(&self) -> Layout {
        self.layout.get()
    }

    /// Returns the last counts of the word index; `None` if there are none since the schema changed.
    pub(crate) fn census(&self) -> Option<Census> {
        self.census.borrow().clone()
    }

    pub(crate) fn set_census(&self, census: Census) {
        self.census.replace(Some(census));
    }

    /// Returns the facts that the last search read; `None` if there are none since the schema changed.
    pub(crate) fn facts(&self) -> Option<Arc<Facts>> {
        self.facts.borrow().clone()
    }

    pub(crate) fn set_facts(&self, facts: Arc<Facts>) {
        self.facts.replace(Some(facts));
    }

    /// Returns a value that changes with every commit of another connection, and with every change by this one.
    pub(crate) fn stamp(&self) -> Result<(i64, u64), rusqlite::Error> {
        let version = self.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        Ok((version, self.total_changes()))
    }

    /// Records that reads run on the thread of a caller.
    pub(crate) fn read_on_callers_thread(&self) {
        self.is_callers.set(true);
    }

    /// Returns whether a read has to be short because it runs on the thread of a caller. One that turns out to take
    /// longer fails with [`Failure::Long`](crate::error::Failure::Long) and is repeated on a reader thread.
    pub(crate) fn is_on_callers_thread(&self) -> bool {
        self.is_callers.get()
    }

    /// Returns the columns of newer agents that are not modelled, as of the start of this transaction.
    pub(crate) fn extras(&self) -> Arc<Extras> {
        self.extras.borrow().clone()
    }

    /// Records what a write failed in, so that the next one goes without it.
    pub(crate) fn blame(&self, blame: Blame) {
        self.blamed.replace(blame);
    }

    /// Returns whether the last write failed in something that it can go without.
    pub(crate) fn has_blame(&self) -> bool {
        *self.blamed.borrow() != Blame::default()
    }

    /// Starts a write without what the last one failed in, and returns that.
    pub(crate) fn give_up(&self) -> Blame {
        let blame = self.blamed.take();
        self.given_up.replace(blame.clone());
        blame
    }

    /// Returns whether a discarded table is not to be cleared.
    pub(crate) fn is_given_up(&self, table: &str) -> bool {
        self.given_up.borrow().leftovers.iter().any(|left| left == table)
    }

    /// Reads the schema again if it changed: a newer agent may upgrade the file while we have it open.
    pub(crate) fn refresh(&self) -> Result<(), rusqlite::Error> {
        let cookie = self.schema_cookie()?;
        if self.cookie.get() != Some(cookie) {
            self.shape.set(Shape::of(&self.connection)?);
            self.layout.set(Layout::of(&self.connection)?);
            self.revision.set(self.pragma_query_value(None, "user_version", |row| row.get(0))?);
            self.extras.replace(Arc::new(Extras::of(&self.connection)?));
            self.cookie.set(Some(cookie));
            self.census.replace(None);
            self.facts.replace(None);
        }
        Ok(())
    }
}

impl Deref for Database {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        &self.connection
    }
}
