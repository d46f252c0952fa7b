//! Location of a store.

use std::fmt;
use std::path::{Path, PathBuf};

/// Location of a store in a form that may be shown, without a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// A server, by its URL without the password.
    Server(String),
}

impl Location {
    /// Returns whether the store is on a server.
    pub const fn is_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(url) => f.write_str(url),
        }
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Self::File(path.clone())
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}
