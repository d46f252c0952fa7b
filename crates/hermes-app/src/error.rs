//! Why settings or a store can't be used.

use hermes_config::{ConfigError, Origin};
use hermes_session::{Invalid, StoreError};
use std::io;
use std::path::PathBuf;

/// Where the text of a URL came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlOrigin {
    /// A setting.
    Setting(Origin),
    /// An argument of the command.
    Argument,
    /// This environment variable, named by an argument.
    Variable(String),
}

/// Why settings or a store can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The settings can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),

    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),

    /// A text is no URL of a store.
    #[error("{invalid}")]
    Url {
        /// What is wrong with it.
        invalid: Invalid,
        /// Where it came from.
        origin: UrlOrigin,
    },

    /// An argument names a variable that is not set or holds no text.
    #[error("the variable {name} is not set, or is no text")]
    Unset {
        /// The variable.
        name: String,
    },

    /// The configured replica is no PostgreSQL server.
    #[error("the replica of PostgreSQL is no PostgreSQL server")]
    Replica {
        /// Who configured it.
        origin: Origin,
    },

    /// The store is to be written, and the command line or the configuration forbids it.
    #[error("the store is read-only, set by {origin}")]
    ReadOnly {
        /// Who forbids it.
        origin: Origin,
    },

    /// There is no such file, and only what creates stores may create one.
    #[error("there is no session store at {}", path.display())]
    NoStore {
        /// The file.
        path: PathBuf,
    },

    /// No temporary folder could be made.
    #[error("could not make a temporary folder: {0}")]
    TemporaryFolder(#[source] io::Error),
}
