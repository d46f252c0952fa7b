//! What the SQL providers share: column lists, statement text, stored forms, kept answers, decoding of rows, and the search of the servers.
//!
//! Text and decoding only. Control flow (transactions, waiting, retries) stays in each provider, because
//! that is where the servers differ. Search is read-only, and its order is the same on every server: it is written once.

#![warn(missing_docs)]

mod answer;
pub mod columns;
pub mod decode;
mod prefix;
pub mod search;
pub mod statements;
pub mod stored;

pub use answer::Answer;
pub use decode::{Cell, SqlRow};
pub use prefix::after_prefix;
