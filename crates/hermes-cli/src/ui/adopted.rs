//! What adopting a store did.

use crate::reports::Adopted;
use hermes_terminal::Line;
use hermes_terminal::figures::plural;

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
    let mut lines = vec![Line::plain_text(format!("Adopted {location}; {added} of ours are in it now."))];
    // They say what was added and whether a copy was kept.
    lines.extend(adopted.notices.iter().map(|notice| Line::plain_text(format!("  {notice}"))));
    lines.push(Line::plain_text(format!("To undo it, run: hermes sessiondb detach{place}")));
    lines
}
