//! Statements of a search that are the same on all servers: reading messages and their context.
//!
//! Conditions, candidates and the order of an answer are in [`hermes_search`].

pub mod rows;
pub mod surround;
