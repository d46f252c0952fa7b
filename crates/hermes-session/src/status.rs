//! Status of a store.

/// State of the search indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexHealth {
    /// They cover every message.
    Whole,
    /// There is a backlog; a search scans these messages.
    Behind {
        /// Number of messages in the backlog.
        messages: u64,
    },
    /// They are unusable. Writing and reading messages still works.
    Broken {
        /// The reason.
        why: String,
    },
}

/// Identity and state of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStatus {
    /// The provider: `sqlite`, `postgresql`, `mysql`, `model`.
    pub provider: &'static str,
    /// Version of the underlying database.
    pub version: String,
    /// Location of the data, without any password.
    pub location: String,
    /// Schema version, as the agent counts.
    pub schema_version: i64,
    /// Schema that holds the tables, on servers that have several.
    pub schema: Option<String>,
    /// Size in bytes, as far as it is known.
    pub bytes: u64,
    /// Part of that size that is free for reuse, in bytes.
    pub free_bytes: u64,
    /// State of its search indexes.
    pub indexes: IndexHealth,
    /// Connections to the server; `None` if there is no server.
    pub pool: Option<PoolStatus>,
}

/// Connection pool of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// Open connections.
    pub size: u32,
    /// Connections in use.
    pub in_use: u32,
    /// Maximum number of connections.
    pub most: u32,
}

/// Stored data that no call of the contract returns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Foreign {
    /// The table.
    pub table: String,
    /// The column, if we read the table; `None` for the whole table.
    pub column: Option<String>,
    /// Number of rows that hold a value there.
    pub rows: u64,
}

/// Progress of an optimization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizing {
    /// New indexes are being built. The numbers have no unit.
    Building {
        /// Work done.
        done: u64,
        /// Total work, as far as it is known.
        total: u64,
    },
    /// Replaced data is being removed.
    Clearing,
    /// It is complete.
    Done,
}
