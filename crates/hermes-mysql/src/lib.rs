//! The MySQL and MariaDB provider: sessions for agents on more than one machine.
//!
//! A call is one transaction on a pooled connection, retried as long as that is safe. Changes of the relations between
//! sessions take one lock; appends lock only their session.

#![warn(missing_docs)]

mod address;
mod backup;
mod bulk;
mod connection;
mod database;
mod error;
mod foreign;
mod hints;
mod import;
mod indexes;
mod lapses;
mod maintenance;
mod messages;
mod options;
mod receipts;
mod row;
mod schema;
mod search;
mod spelling;
mod statistics;
mod store;
mod tls;
mod transaction;

pub use options::MysqlOptions;
pub use store::MysqlStore;
