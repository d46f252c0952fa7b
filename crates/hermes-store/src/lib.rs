//! Opens a session store by its URL, for every provider.

#![warn(missing_docs)]

mod open;
mod redact;
mod url;

pub use hermes_sqlite::{Adopt, IndexAtClose, Shrunk, Synchronous};
pub use open::{MysqlSettings, OpenOptions, PostgresSettings, open, shrink};
pub use url::{ServerUrl, StoreUrl};

/// Checks that the README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
