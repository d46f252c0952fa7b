//! A value and where it came from.

use std::fmt;
use std::path::PathBuf;

/// A value that knows its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Origin of the value.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// Returns a default value.
    pub const fn default_value(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }

    /// Converts the value and keeps the origin.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }
}

/// Place where a value was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// This environment variable.
    Environment(&'static str),
    /// This key of this file.
    File {
        /// The file.
        path: PathBuf,
        /// The key, with dots between its parts.
        key: &'static str,
    },
    /// The built-in default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("the command line"),
            Self::Environment(name) => write!(f, "${name}"),
            Self::File { path, key } => write!(f, "{} ({key})", path.display()),
            Self::Default => f.write_str("the default"),
        }
    }
}
