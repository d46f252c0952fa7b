//! What the providers of servers share: the calls of the contract over [`Sql`], how a call is sent again, how a commit whose answer was lost is found out
//! about, and how a copy is made.

mod attempt;
mod backup;
pub mod deletion;
mod failure;
pub mod handoffs;
pub mod import;
pub mod insights;
mod knowledge;
pub mod lineage;
pub mod listing;
pub mod maintenance;
pub mod messages;
pub mod meta;
pub mod pins_and_tags;
mod receipts;
mod requests;
pub mod row;
pub mod sessions;
mod sql;
pub mod statistics;
mod store;
pub mod titles;
pub mod topics;
pub mod trash;
pub mod usage;
mod value;
pub mod verify;

pub use attempt::{Attempts, Failing, Lost, Remedy, Server};
pub use backup::Backup;
pub use knowledge::{Epoch, Knowledge};
pub use receipts::{Receipt, Receipts};
pub use sql::{Dialect, LIST, Odd, ServerRow, Sql, Words, among, list};
pub use value::{Field, Fields, Value};
