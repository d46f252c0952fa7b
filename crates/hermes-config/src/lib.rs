//! Settings: `config.yaml`, the environment and the command line, turned into values that know where they came from.
//!
//! [`resolve`] holds the one rule (flag, then environment, then file, then default). It does no I/O; its inputs are
//! passed in. Keys that are not ours belong to the agent and are ignored, even if their values are invalid.

#![warn(missing_docs)]

pub mod env;
mod error;
mod file;
mod home;
mod look;
mod read;
mod secret;
mod setting;
mod settings;

pub use env::Environment;
pub use error::ConfigError;
pub use file::{ConfigFile, FILE_NAME};
pub use home::{expand_tilde, home, state_folder};
pub use look::{Looked, UnknownKey, look};
pub use secret::Secret;
pub use setting::{Origin, Setting};
pub use settings::{
    Display, Flags, Mysql, Postgresql, Provider, ResumeDisplay, Search, SessionDb, Sessions, Settings, Sqlite,
    StoreLocation, Synchronous, resolve,
};
