//! Layout of the screen, computed from its size alone.

use ratatui_core::layout::Rect;

/// The smallest screen that a list can be read on, in columns and lines.
pub(super) const LEAST: (u16, u16) = (40, 10);
/// Minimum width, in columns, for the preview beside the list, where it is shown by default.
const WIDE: u16 = 100;
/// Minimum height, in lines, for a preview under the list.
const HIGH: u16 = 16;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Areas {
    /// The filter and the number of conversations.
    pub(super) title: Rect,
    pub(super) heads: Rect,
    /// A line for each conversation. Its height is 0 if the preview takes its place.
    pub(super) list: Rect,
    pub(super) preview: Option<Pane>,
    /// The last line: keys, questions or a notice.
    pub(super) keys: Rect,
}

/// A preview, and the line that separates it from the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pane {
    pub(super) rule: Rect,
    pub(super) text: Rect,
}

/// Returns the areas of a screen, or `None` if it is too small. By default, only wide screens have a preview.
pub(super) fn areas((width, height): (u16, u16), wants_preview: Option<bool>) -> Option<Areas> {
    if width < LEAST.0 || height < LEAST.1 {
        return None;
    }
    let is_wide = width >= WIDE;
    let line = |y: u16| Rect::new(0, y, width, 1);
    let body = Rect::new(0, 1, width, height - 2);
    let (list, preview) = match wants_preview.unwrap_or(is_wide) {
        false => (body, None),
        true if is_wide => beside(body),
        true if height >= HIGH => below(body),
        true => (Rect { height: 0, ..body }, Some(Pane { rule: line(1), text: lower(body, 1) })),
    };
    Some(Areas {
        title: line(0),
        heads: Rect { height: list.height.min(1), ..list },
        list: lower(list, list.height.min(1)),
        preview,
        keys: line(height - 1),
    })
}

fn beside(body: Rect) -> (Rect, Option<Pane>) {
    // The list needs slightly more than half: titles, times, sources and ids are side by side.
    let width = body.width / 100 * 56 + body.width % 100 * 56 / 100;
    let rule = Rect { x: width, width: 1, ..body };
    let text = Rect { x: width + 2, width: body.width - width - 2, ..body };
    (Rect { width, ..body }, Some(Pane { rule, text }))
}

fn below(body: Rect) -> (Rect, Option<Pane>) {
    let height = body.height / 2;
    let rule = Rect { y: body.y + height, height: 1, ..body };
    (Rect { height, ..body }, Some(Pane { rule, text: lower(body, height + 1) }))
}

/// Returns an area without its first `lines`.
fn lower(part: Rect, lines: u16) -> Rect {
    Rect { y: part.y + lines, height: part.height - lines, ..part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_nothing_is_outside() {
        for width in 1..220 {
            for height in 1..60 {
                for wants in [None, Some(false), Some(true)] {
                    let Some(areas) = areas((width, height), wants) else {
                        assert!(width < 40 || height < 10);
                        continue;
                    };
                    let pane = areas.preview.map_or([Rect::ZERO; 2], |pane| [pane.rule, pane.text]);
                    let parts = [areas.title, areas.heads, areas.list, areas.keys, pane[0], pane[1]];
                    let screen = Rect::new(0, 0, width, height);
                    for (index, part) in parts.iter().enumerate() {
                        assert!(part.is_empty() || screen.intersection(*part) == *part, "{width}×{height} {part}");
                        for other in &parts[index + 1..] {
                            assert!(part.intersection(*other).is_empty(), "{width}×{height} {part} {other}");
                        }
                    }
                    assert!(areas.list.height >= 2 || pane[1].height >= 2);
                }
            }
        }
    }

    #[test]
    fn wide_screens_have_a_preview_by_themselves() {
        let has_preview = |size, wants| areas(size, wants).unwrap().preview.is_some();
        assert!(has_preview((100, 24), None) && !has_preview((99, 24), None));
        assert!(!has_preview((100, 24), Some(false)) && has_preview((80, 24), Some(true)));
        assert_eq!(areas((40, 10), Some(true)).unwrap().list.height, 0);
        assert_eq!(areas((80, 24), Some(true)).unwrap().list.height, 10);
    }
}
