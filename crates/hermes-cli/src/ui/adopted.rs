//! Prints the result of adopting a store.

use crate::program::called;
use crate::reports::Adopted;
use hermes_terminal::Line;

/// Returns lines with the objects added, the copy kept, and the command that undoes it.
pub(crate) fn lines(adopted: &Adopted, place: &str) -> Vec<Line> {
    let location = &adopted.location;
    if !adopted.is_file {
        return vec![Line::plain_text(format!("The tables of {location} are up to date."))];
    }
    if adopted.was_adopted {
        return vec![Line::plain_text(format!("{location} was adopted before; nothing was added."))];
    }
    // The notices count the added objects, and name the copy, if one was kept, and the command that undoes it.
    let undo = |notice: &String| notice.replace("sessiondb detach`", &format!("sessiondb detach{place}`"));
    let notices = adopted.notices.iter().map(|notice| Line::plain_text(format!("  {}", called(&undo(notice)))));
    [Line::plain_text(format!("Adopted {location}:"))].into_iter().chain(notices).collect()
}
