//! The part of a conversation around its matches, within a budget of characters.
//!
//! It contains every matching message. The rest of the budget is shared among the turns that contain matches, best
//! first; then whole turns around these are added, nearest first. A turn is a message of the person and everything up
//! to the person's next message. Omissions are noted.

use crate::render;
use crate::transcript::{Said, Transcript};
use hermes_session::{MessageId, Role};
use std::ops::Range;

/// Maximum length of a note about omitted messages, in characters.
const NOTE: usize = 48;
/// Placeholder for messages that were not read.
const GAP: &str = "[…]";

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The messages as text, separated by blank lines.
    pub text: String,
    /// Number of messages in it.
    pub messages: usize,
    /// Number of messages of the conversation that are not in it, as its sessions count them.
    pub left_out: usize,
    /// The first message in it.
    pub first: Option<MessageId>,
    /// The last one.
    pub last: Option<MessageId>,
}

/// A message that may be shown in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    id: MessageId,
    text: String,
    /// Number of characters, including the blank line after it.
    size: usize,
    /// Rank if it matched: 0 is the best.
    rank: Option<usize>,
    /// Whether a turn begins here.
    starts_turn: bool,
    follows: bool,
}

impl Window {
    /// Builds the window of at most `budget` characters. `marks` returns the matches in a text.
    pub(crate) fn new(read: &Transcript, budget: usize, marks: impl Fn(&str) -> Vec<Range<usize>>) -> Self {
        let pieces = pieces(&read.said, budget, marks);
        let kept = choose(&pieces, read.to_end, budget);
        // Notes what is missing before piece `to`, or at the end. If messages between `from` and `to` were not read,
        // the count is a lower bound.
        let missing = |from: usize, to: usize| {
            let more = match pieces.get(to) {
                Some(_) => pieces[from..=to].iter().any(|piece| !piece.follows),
                None => !read.to_end || pieces[from..].iter().any(|piece| !piece.follows),
            };
            note(to - from, more)
        };
        let mut window = Self::default();
        let (mut next, mut parts) = (0, Vec::new());
        for (place, piece) in pieces.iter().enumerate().filter(|(place, _)| kept[*place]) {
            parts.extend(missing(next, place));
            parts.push(piece.text.clone());
            next = place + 1;
            window.messages += 1;
            window.first = window.first.or(Some(piece.id));
            window.last = Some(piece.id);
        }
        parts.extend(missing(next, pieces.len()));
        window.left_out = pieces.len() - window.messages + read.unread;
        window.text = parts.join("\n\n");
        window
    }

    /// Returns its number of characters.
    pub fn characters(&self) -> usize {
        self.text.chars().count()
    }
}

/// Returns a note that `count` messages are left out; with `more`, that there are more than these.
fn note(count: usize, more: bool) -> Option<String> {
    let messages = if count == 1 { "message" } else { "messages" };
    match (count, more) {
        (0, false) => None,
        (0, true) => Some(GAP.to_owned()),
        (count, false) => Some(format!("[… {count} {messages} left out …]")),
        (count, true) => Some(format!("[… more than {count} {messages} left out …]")),
    }
}

fn pieces(said: &[Said], budget: usize, marks: impl Fn(&str) -> Vec<Range<usize>>) -> Vec<Piece> {
    let full: Vec<Option<String>> = said
        .iter()
        .map(|said| match said.rank.is_some() {
            true => Some(render::matched(&said.message, usize::MAX, &marks)),
            false => render::message(&said.message),
        })
        .collect();
    let long: Vec<usize> = said
        .iter()
        .zip(&full)
        .filter(|(said, _)| said.rank.is_some())
        .map(|(_, text)| text.as_ref().map_or(0, |text| text.chars().count()))
        .collect();
    // A quarter of the budget is for context.
    let room = budget.saturating_sub((long.len() + 2) * NOTE) / 4 * 3;
    let most = level(&long, room.saturating_sub(2 * long.len()));
    let (mut pieces, mut has_gap) = (Vec::with_capacity(said.len()), false);
    for (said, text) in said.iter().zip(full) {
        has_gap |= !said.follows;
        let Some(mut text) = text else { continue };
        let mut size = text.chars().count();
        if said.rank.is_some() && size > most {
            text = render::matched(&said.message, most, &marks);
            size = text.chars().count();
        }
        let follows = !std::mem::take(&mut has_gap);
        pieces.push(Piece {
            id: said.message.id,
            text,
            size: size + 2,
            rank: said.rank,
            starts_turn: said.message.body.role == Role::User || !follows,
            follows,
        });
    }
    pieces
}

/// Returns the length to which long texts are cut so that together they fit into `room`.
fn level(lengths: &[usize], room: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (place, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - place);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// Selects the pieces that are shown: all if they fit; else the matches, the rest of their turns, and whole turns
/// around them.
fn choose(pieces: &[Piece], to_end: bool, budget: usize) -> Vec<bool> {
    let all: usize = pieces.iter().map(|piece| piece.size).sum();
    let gaps = pieces.iter().filter(|piece| !piece.follows).count() + usize::from(!to_end);
    let gaps = gaps * (GAP.chars().count() + 2);
    if all + gaps <= budget {
        return vec![true; pieces.len()];
    }
    let mut kept: Vec<bool> = pieces.iter().map(|piece| piece.rank.is_some()).collect();
    let taken: usize = pieces.iter().filter(|piece| piece.rank.is_some()).map(|piece| piece.size).sum();
    let matches = kept.iter().filter(|is_kept| **is_kept).count();
    let mut left = budget.saturating_sub(taken + gaps + (matches + 2) * NOTE);
    let turns = turns(pieces);
    let best = |turn: &usize| pieces[turns[*turn].clone()].iter().filter_map(|piece| piece.rank).min();
    let mut centres: Vec<usize> = (0..turns.len()).filter(|turn| best(turn).is_some()).collect();
    centres.sort_by_key(best);
    if centres.is_empty() {
        // Without matches, the end of the conversation is shown.
        centres.extend(turns.len().checked_sub(1));
    }
    // First a share for each turn, so that a long one does not use up everything; then the rest, best first.
    for (place, centre) in centres.iter().enumerate() {
        let share = left / (centres.len() - place);
        left -= share - complete(pieces, &turns[*centre], &mut kept, share);
    }
    for centre in &centres {
        left = complete(pieces, &turns[*centre], &mut kept, left);
    }
    // Extends each side by one turn at a time, until nothing more fits.
    let mut edges: Vec<[Option<usize>; 2]> = centres.iter().map(|centre| [Some(*centre); 2]).collect();
    while edges.iter().flatten().any(Option::is_some) {
        for edge in &mut edges {
            for (side, at) in edge.iter_mut().enumerate() {
                let next = at.and_then(|at| if side == 0 { at.checked_sub(1) } else { Some(at + 1) });
                *at = next.filter(|next| turns.get(*next).is_some_and(|turn| take(pieces, turn, &mut kept, &mut left)));
            }
        }
    }
    kept
}

/// Returns the turns, as ranges of pieces.
fn turns(pieces: &[Piece]) -> Vec<Range<usize>> {
    let starts: Vec<usize> = (0..pieces.len()).filter(|place| *place == 0 || pieces[*place].starts_turn).collect();
    let ends = starts.iter().skip(1).copied().chain([pieces.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Takes a whole turn if it fits.
fn take(pieces: &[Piece], turn: &Range<usize>, kept: &mut [bool], left: &mut usize) -> bool {
    let size: usize = turn.clone().filter(|place| !kept[*place]).map(|place| pieces[place].size).sum();
    if size > *left {
        return false;
    }
    *left -= size;
    kept[turn.clone()].fill(true);
    true
}

/// Takes the rest of a turn with matches. If it is too long, takes the messages on both sides of the matches, nearest
/// first, as long as they fit. Of a turn without matches the end is taken. Returns the remaining room.
fn complete(pieces: &[Piece], turn: &Range<usize>, kept: &mut [bool], mut left: usize) -> usize {
    if take(pieces, turn, kept, &mut left) {
        return left;
    }
    let mut found: Vec<usize> = turn.clone().filter(|place| pieces[*place].rank.is_some()).collect();
    if found.is_empty() {
        found.push(turn.end);
    }
    let mut nearest: Vec<usize> = turn.clone().filter(|place| pieces[*place].rank.is_none()).collect();
    // At equal distance the later one is preferred: an answer comes after its question.
    nearest.sort_by_key(|place| {
        let far = found.iter().map(|found| (found.abs_diff(*place), found > place)).min();
        (far, *place)
    });
    for place in nearest {
        let beside = |other: usize| found.contains(&other) || (turn.contains(&other) && kept[other]);
        if !kept[place] && pieces[place].size <= left && (beside(place + 1) || beside(place.wrapping_sub(1))) {
            left -= pieces[place].size;
            kept[place] = true;
        }
    }
    left
}

#[cfg(test)]
mod tests;
