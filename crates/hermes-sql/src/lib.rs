//! Code shared by the SQL providers: column lists, statement text, stored forms, stored answers and decoding of rows.
//! Code shared by the servers: retrying a call, and the search.
//!
//! Statements, locks and the meaning of errors stay in each provider, because the servers differ there.

#![warn(missing_docs)]

mod answer;
pub mod columns;
pub mod decode;
pub mod pins_and_tags;
mod prefix;
pub mod scope;
pub mod search;
pub mod server;
pub mod statements;
pub mod stored;

pub use answer::Answer;
pub use decode::{Cell, SqlRow};
pub use prefix::after_prefix;
