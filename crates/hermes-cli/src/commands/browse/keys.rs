//! Meaning of keys and of the mouse.

use super::event::{Event, Input};
use crossterm::event::{
    Event as Raw, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use std::time::Duration;

/// Lines that one step of the wheel scrolls.
const WHEEL: i32 = 3;

/// The keys, a word for the last line of the screen, and their description on the page of keys. The first ones are on
/// the last line even if there is little room; those without a word never are.
pub(super) const KEYS: [(&str, &str, &str); 17] = [
    ("Enter", "resume", "resume the conversation under the cursor"),
    ("Esc", "quit", "clear the filter; if there is none, quit. Also Ctrl-G"),
    ("F1", "help", "show this page. Also ? before anything is typed"),
    ("Tab", "mark", "mark for F4, F5, Del and Ctrl-E, and go down; Shift-Tab goes up"),
    ("F3", "preview", "show or hide the preview. Also Ctrl-O, Ctrl-/"),
    ("F2", "rename", "change the title. Also Ctrl-R"),
    ("Del", "delete", "delete what is marked, else this one. Also Ctrl-X"),
    ("F4", "pin", "pin or unpin the same. Also Ctrl-S"),
    ("F5", "tag", "tag the same: work adds a tag, -work removes it. Also Ctrl-T"),
    ("Ctrl-E", "export", "write the same to a file"),
    ("↑ ↓", "move", "move, and around at the ends. Also Ctrl-P, Ctrl-N and Ctrl-K, Ctrl-J"),
    ("PgUp PgDn", "", "move by a page; Home and End to the ends"),
    ("Shift-↑ ↓", "", "scroll the preview"),
    ("Ctrl-U", "", "clear the filter; Ctrl-W: its last word"),
    ("Ctrl-D", "", "quit if nothing is typed, like q"),
    ("Ctrl-C", "", "quit"),
    ("mouse", "", "click to go there, click again to resume"),
];

/// Translates an event of the terminal; `at` is the time since the start. Returns `None` if it has no meaning here.
pub(super) fn event(raw: Raw, at: Duration) -> Option<Event> {
    match raw {
        Raw::Key(key) if key.kind != KeyEventKind::Release => input(key).map(Event::Input),
        Raw::Mouse(mouse) => pointed(mouse, at).map(Event::Input),
        Raw::Paste(text) => Some(Event::Input(Input::Text(text))),
        Raw::Resize(width, height) => Some(Event::Resized(width, height)),
        _ => None,
    }
}

fn input(key: KeyEvent) -> Option<Input> {
    let is_shifted = key.modifiers.contains(KeyModifiers::SHIFT);
    let is_command = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    Some(match key.code {
        KeyCode::Char(letter) if is_command => return command(letter, key.modifiers),
        KeyCode::Char(character) => Input::Text(character.to_string()),
        KeyCode::Up if is_shifted => Input::ScrollPreview(-1),
        KeyCode::Down if is_shifted => Input::ScrollPreview(1),
        KeyCode::Up => Input::Up,
        KeyCode::Down => Input::Down,
        KeyCode::PageUp => Input::PageUp,
        KeyCode::PageDown => Input::PageDown,
        KeyCode::Home => Input::Home,
        KeyCode::End => Input::End,
        KeyCode::Left => Input::Left,
        KeyCode::Right => Input::Right,
        KeyCode::Enter => Input::Enter,
        KeyCode::Esc => Input::Escape,
        KeyCode::Backspace if is_command => Input::ClearWord,
        KeyCode::Backspace => Input::Backspace,
        KeyCode::Tab => Input::Mark,
        KeyCode::BackTab => Input::MarkUp,
        KeyCode::Delete => Input::Delete,
        KeyCode::F(1) => Input::Help,
        KeyCode::F(2) => Input::Rename,
        KeyCode::F(3) => Input::Preview,
        KeyCode::F(4) => Input::Pin,
        KeyCode::F(5) => Input::Tag,
        _ => return None,
    })
}

fn command(letter: char, modifiers: KeyModifiers) -> Option<Input> {
    // On some keyboards, Ctrl and Alt together (AltGr) type characters.
    if modifiers.contains(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return Some(Input::Text(letter.to_string()));
    }
    if !modifiers.contains(KeyModifiers::CONTROL) {
        return None;
    }
    Some(match letter.to_ascii_lowercase() {
        'c' => Input::Quit,
        'd' => Input::EndOfFile,
        'e' => Input::Export,
        'g' => Input::Escape,
        'h' => Input::Backspace,
        'j' | 'n' => Input::Down,
        'k' | 'p' => Input::Up,
        // Terminals send Ctrl-/ as the control character that is read as Ctrl-7.
        'o' | '/' | '7' => Input::Preview,
        'r' => Input::Rename,
        's' => Input::Pin,
        't' => Input::Tag,
        'u' => Input::Clear,
        'w' => Input::ClearWord,
        'x' => Input::Delete,
        'z' => Input::Suspend,
        _ => return None,
    })
}

fn pointed(mouse: MouseEvent, at: Duration) -> Option<Input> {
    let MouseEvent { column, row, .. } = mouse;
    match mouse.kind {
        MouseEventKind::ScrollDown => Some(Input::Wheel { lines: WHEEL, column, row }),
        MouseEventKind::ScrollUp => Some(Input::Wheel { lines: -WHEEL, column, row }),
        MouseEventKind::Down(MouseButton::Left) => Some(Input::Click { column, row, at }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_is_told() {
        let key = |code, modifiers| event(Raw::Key(KeyEvent::new(code, modifiers)), Duration::ZERO);
        let (plain, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        let table = [
            (KeyCode::Enter, plain, Input::Enter),
            (KeyCode::Esc, plain, Input::Escape),
            (KeyCode::Tab, plain, Input::Mark),
            (KeyCode::BackTab, KeyModifiers::SHIFT, Input::MarkUp),
            (KeyCode::F(3), plain, Input::Preview),
            (KeyCode::Char('o'), control, Input::Preview),
            (KeyCode::Char('7'), control, Input::Preview),
            (KeyCode::Char('p'), control, Input::Up),
            (KeyCode::Char('k'), control, Input::Up),
            (KeyCode::Char('n'), control, Input::Down),
            (KeyCode::Char('j'), control, Input::Down),
            (KeyCode::Char('R'), control, Input::Rename),
            (KeyCode::F(4), plain, Input::Pin),
            (KeyCode::Char('s'), control, Input::Pin),
            (KeyCode::F(5), plain, Input::Tag),
            (KeyCode::Char('t'), control, Input::Tag),
            (KeyCode::Delete, plain, Input::Delete),
            (KeyCode::Char('x'), control, Input::Delete),
            (KeyCode::Char('d'), control, Input::EndOfFile),
            (KeyCode::Char('g'), control, Input::Escape),
            (KeyCode::Char('e'), control, Input::Export),
            (KeyCode::Char('u'), control, Input::Clear),
            (KeyCode::Char('c'), control, Input::Quit),
            (KeyCode::Up, KeyModifiers::SHIFT, Input::ScrollPreview(-1)),
            (KeyCode::Char('大'), plain, Input::Text("大".into())),
            (KeyCode::Char('Ä'), KeyModifiers::SHIFT, Input::Text("Ä".into())),
            (KeyCode::Char('@'), control | KeyModifiers::ALT, Input::Text("@".into())),
        ];
        for (code, modifiers, expect) in table {
            assert_eq!(key(code, modifiers), Some(Event::Input(expect)), "{code:?}");
        }
        assert_eq!(key(KeyCode::Char('b'), control), None);
        assert_eq!(key(KeyCode::Char('x'), KeyModifiers::ALT), None);
    }

    #[test]
    fn a_key_that_is_let_go_is_no_key() {
        let mut key = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        assert_eq!(event(Raw::Key(key), Duration::ZERO), None);
    }

    #[test]
    fn the_mouse_points_and_scrolls() {
        let mouse = |kind| MouseEvent { kind, column: 3, row: 4, modifiers: KeyModifiers::NONE };
        let seen = |kind| event(Raw::Mouse(mouse(kind)), Duration::from_secs(7));
        let click = Input::Click { column: 3, row: 4, at: Duration::from_secs(7) };
        assert_eq!(seen(MouseEventKind::Down(MouseButton::Left)), Some(Event::Input(click)));
        assert_eq!(seen(MouseEventKind::Moved), None);
        let wheel = Input::Wheel { lines: 3, column: 3, row: 4 };
        assert_eq!(seen(MouseEventKind::ScrollDown), Some(Event::Input(wheel)));
    }
}
