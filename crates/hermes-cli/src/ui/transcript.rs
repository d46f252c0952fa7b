//! A session in full: its head, then what was said.

use super::layout::{cut, width, wrap, wrap_hanging};
use super::time::Now;
use super::{Line, Visible};
use anstyle::{AnsiColor, Style};
use hermes_session::{Message, Role, Session, SessionId};
use serde_json::Value;

/// Lines of a tool's result that are shown unless all are asked for.
const RESULT_LINES: usize = 3;
/// Wider lines are hard to read.
const MOST_COLUMNS: usize = 120;
const INDENT: &str = "  ";

/// How much of a transcript is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Tool calls on one line, results on a few.
    Folded,
    /// Everything.
    Full,
}

/// The other sessions of a compressed conversation.
pub(crate) struct Segments {
    /// Those whose contexts were compressed into this one's, oldest first.
    pub(crate) compressed: Vec<SessionId>,
    /// Where it goes on today, if that is another one.
    pub(crate) continued_in: Option<SessionId>,
}

/// What a session is.
pub(crate) fn head(session: &Session, lineage: &Segments, now: &Now, columns: usize) -> Vec<Line> {
    let bold = Style::new().bold();
    let title = session.title.as_deref().unwrap_or("(no title)");
    let mut lines: Vec<Line> = wrap(&title.into(), columns).into_iter().map(|line| Line::styled(line, bold)).collect();
    let ended = session.ended_at.map(|at| match &session.end_reason {
        Some(reason) => format!("{} ({reason})", now.day_and_minute(at)),
        None => now.day_and_minute(at),
    });
    let before = lineage.compressed.iter().map(SessionId::as_str).collect::<Vec<_>>().join(", ");
    let facts = [
        ("id", Some(session.id.to_string())),
        ("source", Some(session.source.to_string())),
        ("model", session.model.clone()),
        ("started", Some(now.day_and_minute(session.started_at))),
        ("ended", Some(ended.unwrap_or_else(|| "no, still active".into()))),
        ("messages", Some(counts(session))),
        ("carries on", Some(before).filter(|ids| !ids.is_empty())),
        ("goes on in", lineage.continued_in.as_ref().map(ToString::to_string)),
        ("unreadable", faults(session)),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    lines.extend(known.map(|(name, value)| Line::styled(format!("{name:<12}"), Style::new().dimmed()).text(value)));
    lines
}

fn counts(session: &Session) -> String {
    let plural = |count: i64, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    match session.tool_call_count {
        0 => session.message_count.to_string(),
        calls => format!("{} ({})", session.message_count, plural(calls, "tool call")),
    }
}

fn faults(session: &Session) -> Option<String> {
    let columns: Vec<String> = session.faults.iter().map(|fault| format!("{} ({})", fault.column, fault.why)).collect();
    Some(columns.join(", ")).filter(|text| !text.is_empty())
}

/// What was said, oldest first.
pub(crate) fn messages(messages: &[Message], detail: Detail, now: &Now, columns: usize) -> Vec<Line> {
    let columns = columns.min(MOST_COLUMNS);
    let mut lines = Vec::new();
    let mut day = String::new();
    for message in messages {
        let date = now.date(message.timestamp);
        lines.push(Line::default());
        if date != day {
            lines.push(Line::styled(format!("── {date}"), Style::new().dimmed()));
            lines.push(Line::default());
            day = date;
        }
        lines.extend(one(message, detail, now, columns));
    }
    lines
}

/// Who said something, with a mark of its own, in a colour of its own.
pub(super) fn speaker(role: &Role, tool_name: Option<&str>) -> (Visible, Style) {
    let (mark, name, color) = match role {
        Role::User => ("●", "You", AnsiColor::Yellow),
        Role::Assistant => ("◆", "Hermes", AnsiColor::Green),
        Role::Tool => ("↳", tool_name.unwrap_or("tool"), AnsiColor::Cyan),
        Role::System => ("■", "System", AnsiColor::Magenta),
        Role::Other(name) => ("■", name.as_str(), AnsiColor::Magenta),
    };
    (format!("{mark} {name}").into(), Style::new().bold().fg_color(Some(color.into())))
}

fn one(message: &Message, detail: Detail, now: &Now, columns: usize) -> Vec<Line> {
    let body = &message.body;
    let (name, style) = speaker(&body.role, body.tool_name.as_deref());
    let head = Line::styled(cut(&name, columns.saturating_sub(7)), style);
    let mut lines = vec![head.with(format!("  {}", now.minute(message.timestamp)), Style::new().dimmed())];
    let text = body.plain_text();
    let is_result = body.role == Role::Tool;
    let limit = if is_result && detail == Detail::Folded { RESULT_LINES } else { usize::MAX };
    let said = if is_result { Style::new().dimmed() } else { Style::new() };
    if !text.is_empty() {
        lines.extend(paragraphs(&text, limit, columns).into_iter().map(|line| indented(line, said)));
    }
    for call in body.tool_calls.iter().flat_map(|calls| tool_calls(calls.to_value(), calls.as_str())) {
        let call = Visible::line(&format!("{INDENT}⚙ {call}"));
        let folded = if detail == Detail::Folded { vec![cut(&call, columns)] } else { wrap(&call, columns) };
        lines.extend(
            folded.into_iter().map(|line| Line::styled(line, Style::new().fg_color(Some(AnsiColor::Cyan.into())))),
        );
    }
    let unreadable = Style::new().fg_color(Some(AnsiColor::Red.into()));
    lines.extend(
        message
            .faults
            .iter()
            .map(|fault| Line::styled(format!("{INDENT}! {} can't be read: {}", fault.column, fault.why), unreadable)),
    );
    lines
}

fn indented(line: Visible, style: Style) -> Line {
    if line.as_str().is_empty() { Line::default() } else { Line::plain_text(INDENT).with(line, style) }
}

/// A text in lines of the terminal, up to `limit` of them.
fn paragraphs(text: &str, limit: usize, columns: usize) -> Vec<Visible> {
    let inner = columns.saturating_sub(width(&INDENT.into()));
    // A result of megabytes is not laid out to show three lines of it.
    let lines = text.trim_end().split('\n').flat_map(|line| {
        let head = if limit == usize::MAX { line } else { &line[..line.floor_char_boundary(4_000)] };
        Visible::lines(head).into_iter().flat_map(|line| wrap_hanging(&line, inner)).collect::<Vec<_>>()
    });
    let mut shown: Vec<Visible> = lines.take(limit.saturating_add(1)).collect();
    if shown.len() > limit {
        shown.truncate(limit);
        while shown.last().is_some_and(|line| line.as_str().is_empty()) {
            shown.pop();
        }
        shown.push("… (--full shows the rest)".into());
    }
    shown
}

/// Each call as a name and its arguments, whatever wire format it is in.
fn tool_calls(calls: Option<Value>, raw: &str) -> Vec<String> {
    let one = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str).unwrap_or("?").to_owned();
        match function.get("arguments").or_else(|| function.get("input")) {
            Some(Value::String(arguments)) => format!("{name} {arguments}"),
            Some(arguments) => format!("{name} {arguments}"),
            None => name,
        }
    };
    match calls {
        Some(Value::Array(calls)) => calls.iter().map(one).collect(),
        Some(call @ Value::Object(_)) => vec![one(&call)],
        _ => vec![raw.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_every_wire_format_are_told() {
        let of = |text: &str| tool_calls(serde_json::from_str(text).ok(), text);
        assert_eq!(of(r#"[{"function": {"name": "a", "arguments": "{\"x\": 1}"}}]"#), [r#"a {"x": 1}"#]);
        assert_eq!(of(r#"[{"name": "b", "input": {"y": 2}}, {"id": "c"}]"#), [r#"b {"y":2}"#, "?"]);
        assert_eq!(of("NaN"), ["NaN"]);
    }

    #[test]
    fn a_long_result_is_folded() {
        let lines = paragraphs("1\n2\n3\n4\n", 3, 80);
        assert_eq!(lines.iter().map(Visible::as_str).collect::<Vec<_>>(), ["1", "2", "3", "… (--full shows the rest)"]);
        assert_eq!(paragraphs("1\n2\n3\n", 3, 80).len(), 3);
    }
}
