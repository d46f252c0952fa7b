//! What a store says of itself.

/// What the search indexes are good for at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexHealth {
    /// They hold every message.
    Whole,
    /// Some messages are to be put in; searching covers them in another way.
    Behind {
        /// How many.
        messages: u64,
    },
    /// They can't be used; messages are written and read all the same.
    Broken {
        /// Why.
        why: String,
    },
}

/// What and where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStatus {
    /// The provider: `sqlite`, `postgresql`, `mysql`, `model`.
    pub provider: &'static str,
    /// The version of what is underneath.
    pub version: String,
    /// Where the data is, without any password.
    pub location: String,
    /// The version of the schema, as the agent counts.
    pub schema_version: i64,
    /// The schema that the tables are in, where a server has several.
    pub schema: Option<String>,
    /// How much room it takes, in bytes, as far as that is known.
    pub bytes: u64,
    /// How much of that is free to be used again.
    pub free_bytes: u64,
    /// What its search indexes are good for.
    pub indexes: IndexHealth,
    /// The connections to a server; nothing where there is none.
    pub pool: Option<PoolStatus>,
}

/// The connections that a store has to its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// Connections that are open.
    pub size: u32,
    /// How many of them are in use.
    pub in_use: u32,
    /// How many there may be at most.
    pub most: u32,
}

/// Something that is stored and that no call of the contract tells of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Foreign {
    /// The table.
    pub table: String,
    /// The column, if the table is one that we read; else all of the table is meant.
    pub column: Option<String>,
    /// How many rows hold something there.
    pub rows: u64,
}

/// How far an optimization is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizing {
    /// New indexes are being built: how much of it is done, and of how much, in no unit.
    Building {
        /// So much is done.
        done: u64,
        /// All that there is to do, as far as is known.
        total: u64,
    },
    /// What was replaced is being cleared away.
    Clearing,
    /// Nothing is left to do.
    Done,
}
