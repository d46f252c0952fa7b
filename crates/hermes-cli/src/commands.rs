//! The commands, one file each.

pub(crate) mod backup;
pub(crate) mod demo;
pub(crate) mod list;
pub(crate) mod optimize;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod verify;
