//! What the SQL providers share: column lists, statement text, stored forms, decoding of rows.
//!
//! Text and decoding only. Control flow (transactions, waiting, retries) stays in each provider, because
//! that is where the servers differ.

#![warn(missing_docs)]

pub mod columns;
pub mod decode;
pub mod statements;
pub mod stored;

pub use decode::{Cell, SqlRow};
