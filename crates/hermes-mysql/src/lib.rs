//! The MySQL and MariaDB provider: sessions for agents on more than one machine.
//!
//! A call is one transaction on a connection of a pool, sent again as long as that is safe. Whoever changes what a session is to others takes
//! one lock for it; appends lock their session alone.

#![warn(missing_docs)]

mod address;
mod backup;
mod bulk;
mod connection;
mod database;
mod deletion;
mod error;
mod foreign;
mod hints;
mod import;
mod indexes;
mod lapses;
mod lineage;
mod listing;
mod maintenance;
mod marks;
mod messages;
mod meta;
mod options;
mod requests;
mod row;
mod schema;
mod search;
mod sessions;
mod spelling;
mod statistics;
mod store;
mod titles;
mod tls;
mod topics;
mod usage;
mod verify;

pub use options::MysqlOptions;
pub use store::MysqlStore;
