//! Reason why settings or a store can't be used.

use hermes_config::{ConfigError, Origin};
use hermes_session::{Invalid, StoreError};
use std::io;
use std::path::PathBuf;

/// Origin of the text of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlOrigin {
    /// A setting.
    Setting(Origin),
    /// An argument of the command.
    Argument,
    /// This environment variable, named by an argument.
    Variable(String),
}

/// Reason why settings or a store can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The settings can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),

    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),

    /// A text is not the URL of a store.
    #[error("{invalid}")]
    Url {
        /// The reason.
        invalid: Invalid,
        /// Origin of the text.
        origin: UrlOrigin,
    },

    /// An argument names a variable that is not set or not UTF-8 text.
    #[error("the variable {name} is not set, or is not UTF-8")]
    Unset {
        /// The variable.
        name: String,
    },

    /// The configured replica is not a PostgreSQL server.
    #[error("the PostgreSQL replica is not a PostgreSQL server")]
    Replica {
        /// Setting that names the replica.
        origin: Origin,
    },

    /// A write to the store was requested, and the command line or the configuration forbids it.
    #[error("the store is read-only, set by {origin}")]
    ReadOnly {
        /// Setting that forbids writing.
        origin: Origin,
    },

    /// The file does not exist, and only operations that create stores may create one.
    #[error("there is no session store at {}", path.display())]
    NoStore {
        /// The file.
        path: PathBuf,
    },

    /// No temporary folder could be created.
    #[error("could not create a temporary folder: {0}")]
    TemporaryFolder(#[source] io::Error),
}
