//! The page of keys, laid out for a width.

use super::keys::KEYS;
use hermes_terminal::Visible;
use hermes_terminal::layout::{fit, wrap};

/// Width of the longest name of a key and a blank, in columns.
const KEY: usize = 11;

/// Returns the lines of the page: the name of the key, padded, and its description, wrapped.
pub(super) fn lines(columns: u16) -> Vec<(Visible, Visible)> {
    let room = usize::from(columns).saturating_sub(KEY).max(1);
    let lines = KEYS.iter().flat_map(|(key, _, what)| {
        let what = wrap(&(*what).into(), room);
        what.into_iter().enumerate().map(|(line, what)| {
            let key = if line == 0 { *key } else { "" };
            (fit(&key.into(), KEY), what)
        })
    });
    lines.collect()
}

/// Returns the number of lines that do not fit on a screen of this size, in columns and lines.
pub(super) fn hidden((columns, height): (u16, u16)) -> usize {
    lines(columns).len().saturating_sub(usize::from(height.saturating_sub(OTHER_LINES)))
}

/// The title and the last line of the screen.
const OTHER_LINES: u16 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_terminal::layout::width;

    #[test]
    fn nothing_is_cut_at_any_width() {
        for columns in [40, 41, 60, 80, 200] {
            let lines = lines(columns);
            for (key, what) in &lines {
                assert!(width(key) == KEY && KEY + width(what) <= usize::from(columns), "{columns}: {key}{what}");
                assert!(!key.as_str().contains('…') && !what.as_str().contains('…'));
            }
            let whole: String = lines.iter().map(|(_, what)| format!("{what} ")).collect();
            KEYS.iter().for_each(|(_, _, what)| assert!(whole.contains(what), "{columns}: {what}"));
        }
        assert_eq!((hidden((80, 24)), hidden((200, 50))), (0, 0));
        assert_eq!(hidden((40, 10)), lines(40).len() - 8);
    }
}
