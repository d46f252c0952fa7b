//! Results of commands that change or list pins and tags.

use crate::program::called;
use anstyle::Style;
use hermes_session::{SessionId, Tag};
use hermes_terminal::Line;
use hermes_terminal::figures::number;
use hermes_terminal::table::{Column, Table};

/// Prefix of the title of a pinned conversation.
pub(crate) const SIGN: &str = "* ";

/// Minimum width of a tag in a table, in columns.
const LEAST_TAG: usize = 12;

/// A conversation that was to be pinned or unpinned.
#[derive(Debug)]
pub(crate) struct Pinned {
    /// The session that the conversation continues in today.
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
    /// Whether it is pinned now.
    pub(crate) is_pinned: bool,
    /// Whether the command changed it.
    pub(crate) is_changed: bool,
}

/// A conversation and its tags.
#[derive(Debug)]
pub(crate) struct Tagged {
    /// The session that the conversation continues in today.
    pub(crate) id: SessionId,
    pub(crate) tags: Vec<Tag>,
}

/// Returns a line for each conversation that was pinned or unpinned.
pub(crate) fn pinned(done: &[Pinned]) -> Vec<Line> {
    let line = |one: &Pinned| {
        let (start, end) = match (one.is_pinned, one.is_changed) {
            (true, true) => ("Pinned ", ""),
            (false, true) => ("Unpinned ", ""),
            (true, false) => ("", " was pinned already"),
            (false, false) => ("", " was not pinned"),
        };
        let name = one.title.as_deref().unwrap_or(one.id.as_str());
        Line::plain_text(start).with(name, Style::new().bold()).text(end)
    };
    done.iter().map(line).collect()
}

/// Returns tags as one line.
pub(crate) fn listed(tags: &[Tag]) -> String {
    tags.iter().map(Tag::as_str).collect::<Vec<_>>().join(", ")
}

/// Returns a line for each conversation with its tags.
pub(crate) fn tagged(done: &[Tagged]) -> Vec<Line> {
    let line = |one: &Tagged| {
        let what = if one.tags.is_empty() { "(no tags)".to_owned() } else { listed(&one.tags) };
        Line::styled(one.id.as_str(), Style::new().dimmed()).text("  ").text(what.as_str())
    };
    done.iter().map(line).collect()
}

/// Returns a table of all tags with the number of conversations that have each.
pub(crate) fn tags(tags: &[(Tag, u64)], columns: usize) -> Vec<Line> {
    if tags.is_empty() {
        let hint = "`hermes sessions tag SESSION --add TAG` gives a conversation one.";
        return vec![Line::plain_text("No conversation has a tag."), Line::plain_text(&*called(hint))];
    }
    let column = |head, least, is_number| Column { head, style: Style::new(), least, is_number };
    let rows = tags.iter().map(|(tag, count)| vec![tag.as_str().into(), number(*count).as_str().into()]);
    let table = Table {
        columns: vec![column("Tag", Some(LEAST_TAG), false), column("Conversations", None, true)],
        rows: rows.collect(),
    };
    table.lines(columns)
}
