//! Archiving.

use schemars::JsonSchema;
use serde::Serialize;

/// Conversations that were archived or unarchived.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Archiving<'a> {
    /// The conversations.
    pub sessions: Vec<Archived<'a>>,
}

/// A conversation that was archived or unarchived.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Archived<'a> {
    /// The session in which the conversation continues today.
    pub id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Whether it is archived now.
    pub archived: bool,
    /// Whether that changed.
    pub changed: bool,
}
