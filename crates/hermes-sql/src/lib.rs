//! What the SQL providers share: column lists, statement text, stored forms, kept answers, decoding of rows; and what the servers share: how a call is
//! sent again, and the search.
//!
//! Statements, locks and what errors mean stay in each provider, because that is where the servers differ.

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
