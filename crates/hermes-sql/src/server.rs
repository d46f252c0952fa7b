//! Code shared by the providers of servers: the calls of the contract over [`Sql`], retrying a call, looking up a
//! commit whose answer was lost, and making a copy.

pub mod archive;
mod attempt;
mod backup;
pub mod carry;
pub mod changes;
pub mod deletion;
mod failure;
pub mod fence;
pub mod handoffs;
pub mod import;
pub mod insights;
mod knowledge;
pub mod leases;
pub mod lineage;
pub mod listing;
pub mod mail;
pub mod maintenance;
pub mod messages;
pub mod meta;
pub mod pins_and_tags;
mod receipts;
mod requests;
pub mod routes;
pub mod row;
pub mod sessions;
mod sql;
pub mod statistics;
mod store;
pub mod titles;
pub mod topics;
pub mod trash;
pub mod turns;
pub mod undo;
pub mod usage;
mod value;
pub mod verify;

pub use attempt::{Attempts, Failing, Lost, Remedy, Server};
pub use backup::Backup;
pub use knowledge::{Epoch, Knowledge};
pub use receipts::{Receipt, Receipts};
pub use sql::{Dialect, LIST, Odd, ServerRow, Sql, Words, among, list};
pub use value::{Field, Fields, Value};
