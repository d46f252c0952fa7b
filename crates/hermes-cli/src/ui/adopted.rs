//! What adopting a store did.

use super::Line;
use super::checks::plural;
use crate::commands::adopt::Adopted;

/// Prints what was added, what was kept and how to undo it.
pub(crate) fn lines(adopted: &Adopted, place: &str) -> Vec<Line> {
    let location = &adopted.location;
    if !adopted.is_file {
        return vec![Line::plain_text(format!("The tables of {location} are up to date."))];
    }
    if adopted.was_adopted {
        return vec![Line::plain_text(format!("{location} is adopted already; nothing was added."))];
    }
    let added = plural(adopted.added.len() as u64, "objects");
    let mut lines = vec![Line::plain_text(format!(
        "Adopted {location}: added {added} whose names begin with hx_ (tables, indexes, views and triggers)."
    ))];
    lines.extend(adopted.notices.iter().map(|notice| Line::plain_text(format!("Note: {notice}."))));
    if !adopted.notices.iter().any(|notice| notice.contains("copy")) {
        lines.push(Line::plain_text("No copy was kept: no row or object of the agent was altered."));
    }
    lines.push(Line::plain_text(format!("To undo it, run: hermes sessiondb detach{place}")));
    lines
}
