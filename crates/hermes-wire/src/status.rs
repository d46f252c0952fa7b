//! The kind, the location and the state of a store.

use crate::statistics::Counts;
use hermes_session::IndexHealth;
use schemars::JsonSchema;
use serde::Serialize;

/// The kind, the location and the state of a store.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoreStatus<'a> {
    /// `sqlite`, `postgresql` or `mysql`.
    pub provider: &'a str,
    /// The version of SQLite or of the server.
    pub version: &'a str,
    /// Location of the store, without passwords.
    pub location: &'a str,
    /// The version of the schema in the agent's numbering.
    pub schema_version: i64,
    /// The schema of the tables on a server; `null` for a file.
    pub schema_name: Option<&'a str>,
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
    /// The size in bytes.
    pub bytes: u64,
    /// The part of `bytes` that is free.
    pub free_bytes: u64,
    /// The state of the search indexes.
    pub indexes: Indexes<'a>,
    /// Connections to the server; `null` for a file.
    pub pool: Option<Pool>,
}

/// The state of the search indexes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Indexes<'a> {
    /// `whole`, `behind` or `broken`.
    pub state: &'static str,
    /// Messages that are not indexed yet.
    pub behind: u64,
    /// The damage, if they are broken.
    pub why: Option<&'a str>,
}

/// Connections to a server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pool {
    /// Open connections.
    pub size: u32,
    /// Connections in use.
    pub in_use: u32,
    /// The maximum number of open connections.
    pub most: u32,
}

impl<'a> From<&'a IndexHealth> for Indexes<'a> {
    fn from(health: &'a IndexHealth) -> Self {
        match health {
            IndexHealth::Whole => Self { state: "whole", behind: 0, why: None },
            IndexHealth::Behind { messages } => Self { state: "behind", behind: *messages, why: None },
            IndexHealth::Broken { why } => Self { state: "broken", behind: 0, why: Some(why) },
        }
    }
}

impl<'a> StoreStatus<'a> {
    /// Returns the status of a store.
    pub fn new(status: &'a hermes_session::StoreStatus, counts: &hermes_session::Counts) -> Self {
        let pool = |pool: hermes_session::PoolStatus| Pool { size: pool.size, in_use: pool.in_use, most: pool.most };
        Self {
            provider: status.provider,
            version: &status.version,
            location: &status.location,
            schema_version: status.schema_version,
            schema_name: status.schema.as_deref(),
            counts: counts.into(),
            bytes: status.bytes,
            free_bytes: status.free_bytes,
            indexes: (&status.indexes).into(),
            pool: status.pool.map(pool),
        }
    }
}
