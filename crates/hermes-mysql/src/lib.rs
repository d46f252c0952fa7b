//! The MySQL and MariaDB provider: sessions for agents on more than one machine.
//!
//! A call is one transaction on a connection of a pool, sent again as long as that is safe. Whoever changes what a session is to others takes
//! one lock for it; appends lock their session alone.

#![warn(missing_docs)]

mod options;

pub use options::MysqlOptions;
