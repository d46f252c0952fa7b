//! The calls of the store contract, one file per concern. File names match those of the server providers.

pub(crate) mod archive;
pub(crate) mod deletion;
pub(crate) mod extra;
pub(crate) mod fence;
pub(crate) mod handoffs;
pub(crate) mod hidden;
pub(crate) mod import;
pub(crate) mod insights;
pub(crate) mod lineage;
pub(crate) mod listing;
pub(crate) mod maintenance;
pub(crate) mod messages;
pub(crate) mod meta;
pub(crate) mod pins_and_tags;
pub(crate) mod recount;
pub(crate) mod row;
pub(crate) mod sessions;
pub(crate) mod statistics;
pub(crate) mod store;
pub(crate) mod titles;
pub(crate) mod topics;
pub(crate) mod trash;
pub(crate) mod usage;
