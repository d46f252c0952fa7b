//! What the SQL providers share: column lists, statement text, stored forms, decoding of rows, and the search of the servers.
//!
//! Text and decoding only. Control flow (transactions, waiting, retries) stays in each provider, because
//! that is where the servers differ. Search is read-only, and its order is the same on every server: it is written once.

#![warn(missing_docs)]

pub mod columns;
pub mod decode;
pub mod search;
pub mod statements;
pub mod stored;

pub use decode::{Cell, SqlRow};
