//! The panel that shows where a conversation stopped.

use crate::layout::{width, wrap, wrap_hanging};
use crate::{Line, Visible};
use anstyle::{AnsiColor, Style};
use hermes_session::recap::{Recap, RecapEntry, Speaker};

const HEADING: &str = " Previous Conversation ";
const INDENT: usize = 2;
/// The columns of the border and of the spaces inside it, on both sides.
const FRAME: usize = 4;

/// Returns a rounded box as wide as the terminal. Wrapped lines are indented under their text.
pub fn panel(recap: &Recap, columns: usize) -> Vec<Line> {
    let inner = columns.saturating_sub(FRAME);
    let border = Style::new().dimmed();
    let mut content: Vec<Line> = Vec::new();
    if recap.earlier > 0 {
        let noun = if recap.earlier == 1 { "message" } else { "messages" };
        let earlier = format!("{:INDENT$}... {} earlier {noun} ...", "", recap.earlier);
        let style = Style::new().dimmed().italic();
        content.extend(wrap(&earlier.into(), inner).into_iter().map(|line| Line::styled(line, style)));
        content.push(Line::default());
    }
    content.extend(recap.entries.iter().flat_map(|entry| entry_lines(entry, inner)));
    if recap.entries.is_empty() {
        content.push(Line::styled(format!("{:INDENT$}Nothing was said yet.", ""), Style::new().dimmed()));
    }
    content.push(Line::default());

    let heading = crate::layout::cut(&HEADING.into(), columns.saturating_sub(2));
    let dashes = columns.saturating_sub(2 + width(&heading));
    let left = dashes / 2;
    let mut lines = vec![
        Line::styled(format!("╭{}", "─".repeat(left)), border)
            .with(heading, Style::new().dimmed().fg_color(Some(AnsiColor::Yellow.into())))
            .with(format!("{}╮", "─".repeat(dashes - left)), border),
    ];
    lines.extend(content.into_iter().map(|line| framed(line, inner, border)));
    lines.push(Line::styled(format!("╰{}╯", "─".repeat(columns.saturating_sub(2))), border));
    lines
}

fn framed(line: Line, inner: usize, border: Style) -> Line {
    let missing = inner.saturating_sub(width(&line.plain().into()));
    let mut framed = Line::styled("│ ", border);
    framed.extend(line);
    framed.text(" ".repeat(missing)).with(" │", border)
}

fn entry_lines(entry: &RecapEntry, inner: usize) -> Vec<Line> {
    let (label, color) = match entry.speaker {
        Speaker::User => ("● You: ", AnsiColor::Yellow),
        Speaker::Assistant => ("◆ Hermes: ", AnsiColor::Green),
    };
    let faint = |style: Style| if entry.is_last_answer { style } else { style.dimmed() };
    let hanging = INDENT + width(&label.into());
    // In a very narrow terminal the text goes under its label instead of beside it.
    let beside = inner >= hanging + 12;
    let margin = if beside { hanging } else { INDENT };
    let text = Visible::lines(entry.text.trim_end());
    let texts = text.iter().flat_map(|line| wrap_hanging(line, inner.saturating_sub(margin)));
    let label =
        Line::plain_text(" ".repeat(INDENT)).with(label, faint(Style::new().bold().fg_color(Some(color.into()))));
    let mut lines = vec![label];
    for (index, text) in texts.enumerate() {
        let piece = faint(Style::new());
        match (index, lines.last_mut()) {
            (0, Some(first)) if beside => first.extend([(text, piece)]),
            _ => lines.push(Line::plain_text(" ".repeat(margin)).with(text, piece)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recap() -> Recap {
        let entry = |speaker, text: &str, is_last_answer| RecapEntry { speaker, text: text.into(), is_last_answer };
        Recap {
            earlier: 8,
            entries: vec![
                entry(Speaker::User, "看一下这个测试为什么在夜里失败，白天却总是通过", false),
                entry(Speaker::Assistant, "l1\nl2 \u{1b}[2J", false),
                entry(Speaker::Assistant, "The clock 🕛 was the reason: the test compares dates.", true),
            ],
        }
    }

    #[track_caller]
    fn check(columns: usize, expect: &str) {
        let lines: Vec<String> = panel(&recap(), columns).iter().map(Line::plain).collect();
        assert_eq!(lines.join("\n"), expect.trim());
        assert!(lines.iter().all(|line| width(&line.as_str().into()) == columns));
    }

    #[test]
    fn wrapped_lines_stand_under_their_text() {
        check(
            48,
            "
╭─────────── Previous Conversation ────────────╮
│   ... 8 earlier messages ...                 │
│                                              │
│   ● You: 看一下这个测试为什么在夜里失败，白  │
│          天却总是通过                        │
│   ◆ Hermes: l1                               │
│             l2 ␛[2J                          │
│   ◆ Hermes: The clock 🕛 was the reason: the │
│             test compares dates.             │
│                                              │
╰──────────────────────────────────────────────╯",
        );
    }

    #[test]
    fn a_narrow_terminal_keeps_the_frame() {
        for columns in 20..60 {
            let lines = panel(&recap(), columns);
            assert!(lines.iter().all(|line| width(&line.plain().into()) == columns), "{columns}");
        }
    }
}
