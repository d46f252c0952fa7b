//! What can be wrong with settings, and what the person can do about it.

use crate::Origin;
use std::path::PathBuf;

/// Why settings can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is neither `$HERMES_HOME` nor a home folder.
    #[error("there is no home folder to keep sessions in")]
    NoHome,

    /// A variable holds bytes that are no text.
    #[error("${name} is not UTF-8 text")]
    NotText {
        /// The variable.
        name: &'static str,
    },

    /// The file is there and can't be read.
    #[error("could not read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// The file is no YAML.
    #[error("{}:{line}: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What the parser said.
        why: String,
        /// What the person can do.
        hint: &'static str,
    },

    /// A value is not what its key takes.
    #[error("{key} is {value}, set by {origin}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value as it may be shown.
        value: String,
        /// Who set it.
        origin: Origin,
        /// What the key takes.
        hint: &'static str,
    },

    /// A value names a variable that is not set.
    #[error("{key} uses {{{{ env.{name} }}}}, which is not set ({origin})")]
    Unset {
        /// The key.
        key: &'static str,
        /// The variable.
        name: String,
        /// Where the value is.
        origin: Origin,
    },

    /// The chosen provider lacks a key.
    #[error("{key} is missing, which sessiondb.provider asks for ({origin})")]
    Missing {
        /// The key.
        key: &'static str,
        /// Who chose the provider.
        origin: Origin,
    },
}

impl ConfigError {
    /// What the person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoHome => "set HERMES_HOME to a folder".into(),
            Self::NotText { name } => format!("set {name} again"),
            Self::Unreadable { .. } => "make the file readable, or move it away".into(),
            Self::Broken { hint, .. } | Self::Value { hint, .. } => (*hint).into(),
            Self::Unset { name, .. } => format!("set {name}, or write the value into the file"),
            Self::Missing { key, .. } => format!("set {key} in config.yaml, or give the store with --url"),
        }
    }
}
