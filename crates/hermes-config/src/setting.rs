//! A value and where it came from.

use std::fmt;
use std::path::PathBuf;

/// A value that knows its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Who set it.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// A value nobody set.
    pub const fn default_value(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }

    /// The same origin with a value made of this one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }
}

/// Who set a value.
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
    /// Nobody.
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
