//! What releases of the agent after 0.14 added to its tables, and what it means for us.
//!
//! Told by column, never by version number: a release in between, or a file that was upgraded half-way, is read as it is.

use rusqlite::Connection;

/// The columns and tables that change what a row means, or what is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// `messages.active`: 0 is a message that was taken back, or compacted away.
    active: bool,
    /// `messages.compacted`: 1 is a message whose content went into a summary in the same session.
    compacted: bool,
    /// `sessions.archived`: 1 is a session put away.
    archived: bool,
    /// `session_model_usage`: counters by model.
    pub(crate) model_usage: bool,
    /// Whether `hx_pin` and `hx_tag` exist, which are ours and created by the first pin or tag.
    pub(crate) pins_and_tags: bool,
}

impl Shape {
    /// Looks at the tables of an open file.
    pub(crate) fn of(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let has = |table: &str, column: &str| {
            connection
                .prepare_cached("SELECT 1 FROM pragma_table_info(?) WHERE name = ?")
                .and_then(|mut statement| statement.exists([table, column]))
        };
        Ok(Self {
            active: has("messages", "active")?,
            compacted: has("messages", "compacted")?,
            archived: has("sessions", "archived")?,
            model_usage: has("session_model_usage", "input_tokens")?,
            pins_and_tags: has("hx_pin", "pinned_at")? && has("hx_tag", "tag")?,
        })
    }

    /// The condition on `messages` for being part of the transcript.
    pub(crate) const fn in_transcript(self) -> &'static str {
        // NULL is active: some upgrades left it so.
        if self.active { "active IS NOT 0" } else { "1" }
    }

    /// The condition on `messages` for having been said: part of the transcript, or compacted out of it.
    pub(crate) const fn was_said(self) -> &'static str {
        match (self.active, self.compacted) {
            (true, true) => "(active IS NOT 0 OR compacted = 1)",
            (true, false) => "active IS NOT 0",
            (false, _) => "1",
        }
    }

    /// The condition on `messages` for having been compacted out of the transcript; nothing if this file has no such.
    pub(crate) const fn was_compacted(self) -> Option<&'static str> {
        if self.active && self.compacted { Some("active = 0 AND compacted = 1") } else { None }
    }

    /// The condition on a conversation whose first session is `r` and whose tip is `t` for being shown.
    pub(crate) const fn is_listed(self) -> &'static str {
        if self.archived { "coalesce(t.archived, r.archived) IS NOT 1" } else { "1" }
    }
}
