//! Results of `archive` and `unarchive`, and how archived conversations are marked.

use anstyle::Style;
use hermes_session::SessionId;
use hermes_terminal::Line;

/// Word behind an archived conversation.
pub(crate) const MARK: &str = "archived";

/// A conversation that was to be archived or unarchived.
#[derive(Debug)]
pub(crate) struct Archived {
    /// The session that the conversation continues in today.
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
    /// Whether it is archived now.
    pub(crate) is_archived: bool,
    /// Whether the command changed it.
    pub(crate) is_changed: bool,
}

/// Returns a line for each conversation that was archived or unarchived.
pub(crate) fn archived(done: &[Archived]) -> Vec<Line> {
    let line = |one: &Archived| {
        let (start, end) = match (one.is_archived, one.is_changed) {
            (true, true) => ("Archived ", ""),
            (false, true) => ("Unarchived ", ""),
            (true, false) => ("", " was archived already"),
            (false, false) => ("", " was not archived"),
        };
        let name = one.title.as_deref().unwrap_or(one.id.as_str());
        Line::plain_text(start).with(name, Style::new().bold()).text(end)
    };
    done.iter().map(line).collect()
}
