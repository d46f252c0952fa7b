//! An open file: a connection that knows what it is connected to.

use crate::calls::extra::Extras;
use crate::index::indexes::{Census, Layout};
use crate::open::shape::Shape;
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::Arc;

/// A connection, and what the tables behind it are like.
pub(crate) struct Database {
    connection: Connection,
    shape: Cell<Shape>,
    layout: Cell<Layout>,
    extras: RefCell<Arc<Extras>>,
    /// SQLite's own count of changes to the schema, as of when the shape was looked at.
    cookie: Cell<Option<i64>>,
    /// What was last counted of the index of words.
    census: RefCell<Option<Census>>,
    /// What the last write failed in; it is tried again without that.
    blamed: RefCell<Blame>,
    /// What this one does without.
    given_up: RefCell<Blame>,
    /// The temporary side tables, on a connection that reads a file which is not adopted.
    memory: Option<Memory>,
}

/// What is known of temporary side tables.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// SQLite's `data_version` of the file as of when they were filled; `None` if they are not.
    pub(crate) version: Cell<Option<i64>>,
}

/// What a write failed in and can do without.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Blame {
    /// The indexes in use, which are made anew.
    pub(crate) indexes: bool,
    /// Tables that were to be cleared away, and are left.
    pub(crate) leftovers: Vec<String>,
    /// The index of lists, which every write to `sessions` goes through.
    pub(crate) card: Card,
}

/// What a write does about the index of lists before it begins. Upkeep makes the index again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Card {
    /// It stays.
    #[default]
    Kept,
    /// It is damaged and is dropped.
    Dropped,
    /// It is so damaged that it can't be dropped: only its entry in the schema is removed, and its pages are left unused.
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
            census: RefCell::default(),
            blamed: RefCell::default(),
            given_up: RefCell::default(),
            memory: None,
        }
    }

    /// Returns the connection alone.
    pub(crate) fn into_connection(self) -> Connection {
        self.connection
    }

    /// Notes that the side tables are temporary tables of this connection.
    pub(crate) fn keep_side_in_memory(&mut self) {
        self.memory = Some(Memory::default());
    }

    /// Returns the temporary side tables; `None` if the file has its own.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// Returns whether the schema has changed since [`Database::refresh`] looked at it; `false` if it never did.
    pub(crate) fn has_new_schema(&self) -> Result<bool, rusqlite::Error> {
        match self.cookie.get() {
            Some(known) => Ok(self.schema_cookie()? != known),
            None => Ok(false),
        }
    }

    fn schema_cookie(&self) -> Result<i64, rusqlite::Error> {
        self.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))
    }

    /// Takes a connection that is used outside of the store's threads, and looks at what is behind it.
    pub(crate) fn fresh(connection: Connection) -> Result<Self, rusqlite::Error> {
        let database = Self::new(connection);
        database.refresh()?;
        Ok(database)
    }

    /// The shape of the tables, as of the start of this transaction.
    pub(crate) fn shape(&self) -> Shape {
        self.shape.get()
    }

    /// What there is of the indexes, as of the same time.
    pub(crate) fn layout(&self) -> Layout {
        self.layout.get()
    }

    /// Returns what was last counted of the index of words; `None` if nothing was since the schema changed.
    pub(crate) fn census(&self) -> Option<Census> {
        self.census.borrow().clone()
    }

    pub(crate) fn set_census(&self, census: Census) {
        self.census.replace(Some(census));
    }

    /// Returns the columns of newer agents that are not modelled, as of the same time.
    pub(crate) fn extras(&self) -> Arc<Extras> {
        self.extras.borrow().clone()
    }

    /// Notes what a write failed in, so that the next one begins without it.
    pub(crate) fn blame(&self, blame: Blame) {
        self.blamed.replace(blame);
    }

    /// Whether the last write failed in something that it can do without.
    pub(crate) fn has_blame(&self) -> bool {
        *self.blamed.borrow() != Blame::default()
    }

    /// Begins a write without what the last one failed in; what that is.
    pub(crate) fn give_up(&self) -> Blame {
        let blame = self.blamed.take();
        self.given_up.replace(blame.clone());
        blame
    }

    /// Whether a table that was to be cleared away is left.
    pub(crate) fn is_given_up(&self, table: &str) -> bool {
        self.given_up.borrow().leftovers.iter().any(|left| left == table)
    }

    /// Looks at the tables again if they changed: a newer agent may upgrade the file while we have it open.
    pub(crate) fn refresh(&self) -> Result<(), rusqlite::Error> {
        let cookie = self.schema_cookie()?;
        if self.cookie.get() != Some(cookie) {
            self.shape.set(Shape::of(&self.connection)?);
            self.layout.set(Layout::of(&self.connection)?);
            self.extras.replace(Arc::new(Extras::of(&self.connection)?));
            self.cookie.set(Some(cookie));
            self.census.replace(None);
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
