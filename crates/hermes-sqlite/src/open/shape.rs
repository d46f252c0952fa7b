//! Columns and tables that releases of the agent after 0.14 added, and their meaning for us.
//!
//! They are detected by column, never by version number, so that files of releases in between, or upgraded half-way,
//! are read correctly.

use rusqlite::Connection;

/// The columns and tables that change the meaning of a row, or what we return of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// `messages.active`: 0 is a message that was rewound or compacted away.
    active: bool,
    /// `messages.compacted`: 1 is a message whose content was summarized in the same session.
    compacted: bool,
    /// `sessions.archived`: 1 is an archived session.
    pub(crate) archived: bool,
    /// Whether `hx_archived` exists, which has the archived sessions of a file without that column and is created by
    /// the first.
    pub(crate) archived_beside: bool,
    /// `sessions.rewind_count`: how often messages were undone.
    pub(crate) rewinds: bool,
    /// Whether `hx_change` exists, which is ours and created when somebody follows changes.
    pub(crate) changes: bool,
    /// Whether `hx_undone` exists, which is ours and created by the first undo.
    pub(crate) undone: bool,
    /// `session_model_usage`: counters by model.
    pub(crate) model_usage: bool,
    /// Whether `hx_session` has the causes of resets; a file of revision 1 has none until it is written.
    pub(crate) causes: bool,
    /// Whether `hx_handoff` has the columns of revision 2.
    pub(crate) handoffs: bool,
    /// `gateway_routing`: the routes of an agent's gateway.
    pub(crate) routing: bool,
    /// Whether `hx_pin` and `hx_tag` exist, which are ours and created by the first pin or tag.
    pub(crate) pins_and_tags: bool,
}

impl Shape {
    /// Reads the tables of an open file.
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
            archived_beside: has("hx_archived", "session_id")?,
            rewinds: has("sessions", "rewind_count")?,
            changes: has("hx_change", "number")?,
            undone: has("hx_undone", "hx_batch")?,
            model_usage: has("session_model_usage", "input_tokens")?,
            causes: has("hx_session", "cause")?,
            handoffs: has("hx_handoff", "expires_at")?,
            routing: has("gateway_routing", "entry_json")?,
            pins_and_tags: has("hx_pin", "pinned_at")? && has("hx_tag", "tag")?,
        })
    }

    /// Returns the SQL condition that a message is part of the transcript.
    pub(crate) const fn in_transcript(self) -> &'static str {
        // NULL means active: some upgrades left it so.
        if self.active { "active IS NOT 0" } else { "1" }
    }

    /// Returns the SQL condition that a message is part of the transcript, or was compacted out of it.
    pub(crate) const fn was_said(self) -> &'static str {
        match (self.active, self.compacted) {
            (true, true) => "(active IS NOT 0 OR compacted = 1)",
            (true, false) => "active IS NOT 0",
            (false, _) => "1",
        }
    }

    /// Returns the SQL condition that a message was compacted out of the transcript; `None` if this file has no such
    /// messages.
    pub(crate) const fn was_compacted(self) -> Option<&'static str> {
        if self.active && self.compacted { Some("active = 0 AND compacted = 1") } else { None }
    }

    /// Returns the SQL condition that a message was undone and stayed in the table; `None` if this file has no such
    /// messages.
    pub(crate) const fn was_undone(self) -> Option<&'static str> {
        match (self.active, self.compacted) {
            (true, true) => Some("active = 0 AND compacted IS NOT 1"),
            (true, false) => Some("active = 0"),
            (false, _) => None,
        }
    }

    /// Returns whether undone messages stay in the table.
    pub(crate) const fn has_active(self) -> bool {
        self.active
    }

    /// Returns whether messages can be compacted.
    pub(crate) const fn has_compacted(self) -> bool {
        self.compacted
    }

    /// Returns a table, for use after FROM, with a row and the column `session_id` for each message, undone ones too.
    pub(crate) const fn every_message(self) -> &'static str {
        if self.undone {
            "(SELECT session_id FROM messages UNION ALL SELECT session_id FROM hx_undone WHERE hx_number IS NULL AND role IS NOT NULL)"
        } else {
            "messages"
        }
    }

    /// Returns the SQL expression for the time of the newest message of a session `s`, undone ones too; NULL if it has
    /// none. Numbers sort before text, so the bound excludes values that are not times.
    pub(crate) const fn newest_time(self) -> &'static str {
        if self.undone {
            "(SELECT max(time) FROM (SELECT (SELECT m.timestamp FROM messages m WHERE m.session_id = s.id \
             AND m.timestamp <= 9e999 ORDER BY m.timestamp DESC LIMIT 1) AS time UNION ALL SELECT u.timestamp \
             FROM hx_undone u WHERE u.session_id = s.id AND u.hx_number IS NULL AND u.timestamp <= 9e999))"
        } else {
            "(SELECT m.timestamp FROM messages m WHERE m.session_id = s.id AND m.timestamp <= 9e999 \
             ORDER BY m.timestamp DESC LIMIT 1)"
        }
    }

    /// Returns the SQL expression, 0 or 1, that a session with this alias is archived.
    pub(crate) fn is_archived(self, alias: &str) -> String {
        let column = format!("coalesce({alias}.archived, 0) <> 0");
        // An agent may have added the column after the table was made, and nothing has moved the rows yet.
        let beside = format!("EXISTS (SELECT 1 FROM hx_archived a WHERE a.session_id = {alias}.id)");
        match (self.archived, self.archived_beside) {
            (false, false) => "0".to_owned(),
            (true, false) => format!("({column})"),
            (false, true) => beside,
            (true, true) => format!("({column} OR {beside})"),
        }
    }
}
