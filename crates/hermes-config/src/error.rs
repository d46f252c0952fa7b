//! Errors in settings, with hints for the person.

use crate::Origin;
use std::path::PathBuf;

/// Reason why settings can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is neither `$HERMES_HOME` nor a home folder.
    #[error("there is no home folder to keep sessions in")]
    NoHome,

    /// A variable is not UTF-8.
    #[error("${name} is not UTF-8 text")]
    NotText {
        /// The variable.
        name: &'static str,
    },

    /// The file exists and can't be read.
    #[error("could not read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },

    /// The home folder does not let this user in.
    #[error("{} can't be read: {source}", folder.display())]
    ClosedFolder {
        /// The folder.
        folder: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },

    /// The file is not valid YAML.
    #[error("{}:{line}: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// Message of the parser.
        why: String,
        /// Hint for the person.
        hint: &'static str,
    },

    /// A value is not allowed for its key.
    #[error("{key} is {value}, set by {origin}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value as it may be printed.
        value: String,
        /// Origin of the value.
        origin: Origin,
        /// Hint that names the allowed values.
        hint: &'static str,
    },

    /// A value names a variable that is not set.
    #[error("{key} uses {{{{ env.{name} }}}}, which is not set ({origin})")]
    Unset {
        /// The key.
        key: &'static str,
        /// The variable.
        name: String,
        /// Origin of the value.
        origin: Origin,
    },

    /// The chosen provider lacks a key.
    #[error("{key} is missing, which sessiondb.provider requires ({origin})")]
    Missing {
        /// The key.
        key: &'static str,
        /// Setting that chose the provider.
        origin: Origin,
    },
}

impl ConfigError {
    /// Returns the key of the setting that can't be used. `None` if the error is not about a single key.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::Value { key, .. } | Self::Unset { key, .. } | Self::Missing { key, .. } => Some(key),
            Self::NoHome
            | Self::NotText { .. }
            | Self::Unreadable { .. }
            | Self::ClosedFolder { .. }
            | Self::Broken { .. } => None,
        }
    }

    /// Returns a hint: what the person can do about the error.
    pub fn hint(&self) -> String {
        match self {
            Self::NoHome => "set HERMES_HOME to a folder".into(),
            Self::NotText { name } => format!("set {name} again"),
            Self::Unreadable { .. } => "make the file readable, or move it away".into(),
            Self::ClosedFolder { .. } => "run as its owner; --home and HERMES_HOME choose another folder".into(),
            Self::Broken { hint, .. } | Self::Value { hint, .. } => (*hint).into(),
            Self::Unset { name, .. } => format!("set {name}, or write the value into the file"),
            Self::Missing { key, .. } => format!("set {key} in config.yaml, or give the store with --url"),
        }
    }
}
