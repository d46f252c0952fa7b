//! The commands, one file each.

pub(crate) mod adopt;
pub(crate) mod archive;
pub(crate) mod backup;
pub(crate) mod browse;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod detach;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod insights;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod optimize;
pub(crate) mod owners;
pub(crate) mod pin;
pub(crate) mod prune;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod restore;
pub(crate) mod restore_backup;
pub(crate) mod rpc;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod tag;
pub(crate) mod trash;
pub(crate) mod verify;

use std::path::{Path, PathBuf};

/// Returns the path of a file beside the store at `path`: its name with `suffix` behind it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
