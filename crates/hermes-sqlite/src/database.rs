//! An open file: a connection that knows what it is connected to.

use crate::indexes::Layout;
use crate::shape::Shape;
use rusqlite::Connection;
use std::cell::Cell;
use std::ops::Deref;

/// A connection, and what the tables behind it are like.
pub(crate) struct Database {
    connection: Connection,
    shape: Cell<Shape>,
    layout: Cell<Layout>,
    /// SQLite's own count of changes to the schema, as of when the shape was looked at.
    cookie: Cell<Option<i64>>,
    /// Whether a write failed in an index.
    blamed: Cell<bool>,
}

impl Database {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            shape: Cell::default(),
            layout: Cell::default(),
            cookie: Cell::new(None),
            blamed: Cell::new(false),
        }
    }

    /// The shape of the tables, as of the start of this transaction.
    pub(crate) fn shape(&self) -> Shape {
        self.shape.get()
    }

    /// What there is of the indexes, as of the same time.
    pub(crate) fn layout(&self) -> Layout {
        self.layout.get()
    }

    /// Notes that a write failed in an index, so that the next one begins by making them anew; or that this was done.
    pub(crate) fn blame_indexes(&self, are_to_blame: bool) {
        self.blamed.set(are_to_blame);
    }

    /// Whether the last write failed in an index.
    pub(crate) fn are_indexes_blamed(&self) -> bool {
        self.blamed.get()
    }

    /// Looks at the tables again if they changed: a newer agent may upgrade the file while we have it open.
    pub(crate) fn refresh(&self) -> Result<(), rusqlite::Error> {
        let cookie = self.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?;
        if self.cookie.get() != Some(cookie) {
            self.shape.set(Shape::of(&self.connection)?);
            self.layout.set(Layout::of(&self.connection)?);
            self.cookie.set(Some(cookie));
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
