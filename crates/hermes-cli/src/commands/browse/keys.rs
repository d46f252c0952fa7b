//! What keys and the mouse mean.

use super::event::{Event, Input};
use crossterm::event::{
    Event as Raw, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use std::time::Duration;

/// How many lines the wheel moves at once.
const WHEEL: i32 = 3;

/// What each key does, in the order in which they are told. The first ones are told wherever there is room for any.
pub(super) const KEYS: [(&str, &str, &str); 15] = [
    ("Enter", "resume", "resumes the conversation under the cursor"),
    ("Esc", "quit", "clears what was typed; then quits"),
    ("F1", "help", "shows this; so does ? before anything is typed"),
    ("Tab", "mark", "marks for Del and Ctrl-E; Shift-Tab goes up"),
    ("F3", "preview", "shows what was said, or hides it; so does Ctrl-P"),
    ("F2", "rename", "changes the title; so does Ctrl-R"),
    ("Del", "delete", "deletes what is marked, else this; so does Ctrl-D"),
    ("Ctrl-E", "export", "writes what is marked, else this, to a file"),
    ("↑ ↓", "move", "goes up and down, and around at the ends"),
    ("PgUp PgDn", "", "goes by pages; Home and End to the ends"),
    ("Shift-↑ ↓", "", "moves the preview"),
    ("Ctrl-U", "", "clears what was typed; Ctrl-W the last word"),
    ("q", "", "quits, before anything is typed"),
    ("Ctrl-C", "", "quits"),
    ("mouse", "", "a click goes there, a second one resumes"),
];

/// What happened on the terminal, so long after the start; nothing if it means nothing here.
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
        _ => return None,
    })
}

fn command(letter: char, modifiers: KeyModifiers) -> Option<Input> {
    // Some keyboards reach characters by both together.
    if modifiers.contains(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return Some(Input::Text(letter.to_string()));
    }
    if !modifiers.contains(KeyModifiers::CONTROL) {
        return None;
    }
    Some(match letter.to_ascii_lowercase() {
        'c' => Input::Quit,
        'd' => Input::Delete,
        'e' => Input::Export,
        'h' => Input::Backspace,
        'p' => Input::Preview,
        'r' => Input::Rename,
        'u' => Input::Clear,
        'w' => Input::ClearWord,
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
            (KeyCode::Char('p'), control, Input::Preview),
            (KeyCode::Char('R'), control, Input::Rename),
            (KeyCode::Delete, plain, Input::Delete),
            (KeyCode::Char('d'), control, Input::Delete),
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
        assert_eq!(key(KeyCode::Char('x'), control), None);
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
