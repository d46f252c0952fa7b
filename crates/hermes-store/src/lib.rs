//! Opens a session store by its URL, whatever the provider.

#![warn(missing_docs)]

mod open;
mod redact;
mod url;

pub use hermes_sqlite::{Adopt, Shrunk, Synchronous};
pub use open::{Indexer, MysqlSettings, OpenOptions, PostgresSettings, open, open_and_index, shrink};
pub use url::{ServerUrl, StoreUrl};

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
