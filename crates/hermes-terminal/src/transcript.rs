//! A session for people: its head, then its messages.

use crate::layout::{cut, width, wrap, wrap_hanging};
use crate::time::Now;
use crate::{Line, Visible, markdown};
use anstyle::{AnsiColor, Style};
use hermes_session::{Fault, Message, Role, Session, SessionId, StateCounts};
use serde_json::Value;

/// Lines of a tool's result that a folded transcript shows.
const RESULT_LINES: usize = 3;
/// The greatest width of lines, in columns. Wider lines are hard to read.
const MAX_COLUMNS: usize = 120;
const INDENT: &str = "  ";
/// The name of a session without a title, wherever no preview can be shown instead.
pub const NO_TITLE: &str = "(no title)";
/// The greatest width of an argument that is followed by a count of the others, in columns.
const MAX_ARGUMENT: usize = 60;

/// How much of a transcript is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Tool calls on one line, results on three.
    Folded,
    /// Everything.
    Full,
}

/// The other sessions of a compressed conversation.
pub struct Segments {
    /// The sessions that were compressed into this one, oldest first.
    pub compressed: Vec<SessionId>,
    /// The sessions that this one was compressed into, oldest first. The conversation continues in the last one today.
    pub continued_in: Vec<SessionId>,
}

/// Returns the title and the facts of a session.
pub fn head(session: &Session, states: StateCounts, lineage: &Segments, now: &Now, columns: usize) -> Vec<Line> {
    let bold = Style::new().bold();
    let title = session.title.as_deref().unwrap_or(NO_TITLE);
    let mut lines: Vec<Line> = wrap(&title.into(), columns).into_iter().map(|line| Line::styled(line, bold)).collect();
    let ended = session.ended_at.map(|at| match &session.end_reason {
        Some(reason) => format!("{} ({reason})", now.day_and_minute(at)),
        None => now.day_and_minute(at),
    });
    let named = |ids: &[SessionId]| {
        let ids: Vec<&str> = ids.iter().map(SessionId::as_str).collect();
        Some(ids.join(", ")).filter(|ids| !ids.is_empty())
    };
    let next = if lineage.continued_in.len() > 1 { "next parts" } else { "next part" };
    let facts = [
        ("id", Some(session.id.to_string())),
        ("source", Some(session.source.to_string())),
        ("model", session.model.clone()),
        ("started", Some(now.day_and_minute(session.started_at))),
        ("ended", Some(ended.unwrap_or_else(|| "– (still open)".into()))),
        ("archived", session.archived.then(|| "yes".into())),
        ("messages", Some(counts(session, states))),
        ("continues", named(&lineage.compressed)),
        (next, named(&lineage.continued_in)),
        ("unreadable", faults(session)),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    lines.extend(known.map(|(name, value)| Line::styled(format!("{name:<12}"), Style::new().dimmed()).text(value)));
    lines
}

/// Returns the number of active messages, and of tool calls if there are any.
fn counts(session: &Session, states: StateCounts) -> String {
    let plural = |count: i64, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    match session.tool_call_count {
        0 => states.active.to_string(),
        calls => format!("{} ({})", states.active, plural(calls, "tool call")),
    }
}

/// Returns the line under a head that says how to see the other sessions of a compressed conversation. `None` if there
/// are none.
pub fn other_parts(segments: &Segments) -> Option<Line> {
    let text = match (segments.compressed.len(), segments.continued_in.len()) {
        (0, 0) => return None,
        (0, 1) => "--all shows the next part as well",
        (0, _) => "--all shows the next parts as well",
        (1, 0) => "--all shows the earlier part as well",
        (_, 0) => "--all shows the earlier parts as well",
        (_, _) => "--all shows the other parts as well",
    };
    Some(Line::styled(format!("{:12}{text}", ""), Style::new().dimmed()))
}

/// Returns a note about the messages of a session that are not shown. `None` if all are.
pub fn not_shown(states: StateCounts) -> Option<Line> {
    let kinds = [(states.compacted, "compacted"), (states.undone, "undone")];
    let kinds: Vec<String> =
        kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
    let are = if states.compacted + states.undone == 1 { "message is" } else { "messages are" };
    let text = format!("{} {are} not shown; --all shows every message", kinds.join(" and "));
    (!kinds.is_empty()).then(|| Line::styled(text, Style::new().dimmed()))
}

fn faults(session: &Session) -> Option<String> {
    let columns: Vec<String> = session.faults.iter().map(|fault| format!("{} ({})", fault.column, fault.why)).collect();
    Some(columns.join(", ")).filter(|text| !text.is_empty())
}

/// Returns the lines that separate one session from the next.
pub fn rule(columns: usize) -> Vec<Line> {
    let rule = Line::styled("═".repeat(columns.min(MAX_COLUMNS)), Style::new().dimmed());
    vec![Line::default(), rule, Line::default()]
}

/// Lays out messages one by one, oldest first.
pub struct Transcript {
    detail: Detail,
    /// Whether Markdown is drawn; otherwise its source is shown.
    is_drawn: bool,
    columns: usize,
    day: String,
}

impl Transcript {
    /// Returns a transcript in at most `columns`. `is_drawn` says whether Markdown is drawn or shown as its source.
    pub fn new(detail: Detail, is_drawn: bool, columns: usize) -> Self {
        Self { detail, is_drawn, columns: columns.min(MAX_COLUMNS), day: String::new() }
    }

    /// Sets the detail of the messages that follow.
    pub const fn show(&mut self, detail: Detail) {
        self.detail = detail;
    }

    /// Returns the lines of the next message. The first message of a day starts with the date.
    pub fn message(&mut self, message: &Message, now: &Now) -> Vec<Line> {
        self.next(message, now, "")
    }

    /// Returns the lines of the next message, with a mark beside the name of its speaker.
    pub fn marked(&mut self, message: &Message, now: &Now) -> Vec<Line> {
        self.next(message, now, &format!("  ◀ message {}", message.id))
    }

    fn next(&mut self, message: &Message, now: &Now, mark: &str) -> Vec<Line> {
        let date = now.date(message.timestamp);
        let mut lines = vec![Line::default()];
        if date != self.day {
            lines.push(Line::styled(format!("── {date}"), Style::new().dimmed()));
            lines.push(Line::default());
            self.day = date;
        }
        lines.extend(self.one(message, now, mark));
        lines
    }

    fn one(&self, message: &Message, now: &Now, mark: &str) -> Vec<Line> {
        let (body, columns) = (&message.body, self.columns);
        let (name, style) = speaker(&body.role, body.tool_name.as_deref());
        let state = if message.state.is_active() { 0 } else { 13 };
        let room = columns.saturating_sub(7 + state + width(&mark.into()));
        let head = Line::styled(cut(&name, room), style);
        let state = if message.state.is_active() { String::new() } else { format!("  [{}]", message.state) };
        let facts = format!("  {}{state}", now.minute(message.timestamp));
        let head = head.with(facts, Style::new().dimmed());
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let mut lines = vec![if mark.is_empty() { head } else { head.with(mark, red) }];
        lines.extend(self.said(&body.plain_text(), &body.role));
        for call in body.tool_calls.iter().flat_map(|calls| tool_calls(calls.to_value(), calls.as_str(), self.detail)) {
            let call = Visible::line(&format!("{INDENT}⚙ {call}"));
            let folded = if self.detail == Detail::Folded { vec![cut(&call, columns)] } else { wrap(&call, columns) };
            let cyan = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
            lines.extend(folded.into_iter().map(|line| Line::styled(line, cyan)));
        }
        let unreadable = Style::new().fg_color(Some(AnsiColor::Red.into()));
        let fault = |fault: &Fault| format!("{INDENT}! {} can't be read: {}", fault.column, fault.why);
        lines.extend(message.faults.iter().map(|found| Line::styled(fault(found), unreadable)));
        lines
    }

    fn said(&self, text: &str, role: &Role) -> Vec<Line> {
        if text.is_empty() {
            return Vec::new();
        }
        let is_result = *role == Role::Tool;
        if self.is_drawn && !is_result {
            let drawn = markdown::lines(text, self.columns.saturating_sub(width(&INDENT.into())));
            if let Some(drawn) = drawn.filter(|drawn| !drawn.is_empty()) {
                return drawn.into_iter().map(indented_line).collect();
            }
        }
        let limit = if is_result && self.detail == Detail::Folded { RESULT_LINES } else { usize::MAX };
        let style = if is_result { Style::new().dimmed() } else { Style::new() };
        paragraphs(text, limit, self.columns).into_iter().map(|line| indented(line, style)).collect()
    }
}

/// Returns the name of a speaker with its symbol, and its style.
pub fn speaker(role: &Role, tool_name: Option<&str>) -> (Visible, Style) {
    let (symbol, name, color) = match role {
        Role::User => ("●", "You", AnsiColor::Yellow),
        Role::Assistant => ("◆", "Hermes", AnsiColor::Green),
        Role::Tool => ("↳", tool_name.unwrap_or("tool"), AnsiColor::Cyan),
        Role::System => ("■", "System", AnsiColor::Magenta),
        Role::Other(name) => ("■", name.as_str(), AnsiColor::Magenta),
    };
    (format!("{symbol} {name}").into(), Style::new().bold().fg_color(Some(color.into())))
}

fn indented(line: Visible, style: Style) -> Line {
    if line.as_str().is_empty() { Line::default() } else { Line::plain_text(INDENT).with(line, style) }
}

fn indented_line(line: Line) -> Line {
    if line.plain().is_empty() {
        return line;
    }
    let mut indented = Line::plain_text(INDENT);
    indented.extend(line);
    indented
}

/// Returns a text in lines of the terminal, up to `limit` of them.
fn paragraphs(text: &str, limit: usize, columns: usize) -> Vec<Visible> {
    let inner = columns.saturating_sub(width(&INDENT.into()));
    // Lays out only the start of long lines: a result may have megabytes, of which three lines are shown.
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

/// Returns each call as its name and arguments, or the first argument if folded. Takes the wire formats of all
/// providers.
fn tool_calls(calls: Option<Value>, raw: &str, detail: Detail) -> Vec<String> {
    let one = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str).unwrap_or("?").to_owned();
        let Some(arguments) = function.get("arguments").or_else(|| function.get("input")) else { return name };
        match (detail, first_argument(arguments)) {
            (Detail::Folded, Some(first)) => format!("{name} {first}"),
            _ => format!("{name} {}", as_text(arguments)),
        }
    };
    match calls {
        Some(Value::Array(calls)) => calls.iter().map(one).collect(),
        Some(call @ Value::Object(_)) => vec![one(&call)],
        _ => vec![raw.to_owned()],
    }
}

/// Returns the first argument and the number of others. `None` if the arguments are no object.
fn first_argument(arguments: &Value) -> Option<String> {
    let parsed;
    let named = match arguments {
        Value::String(text) => {
            parsed = serde_json::from_str::<Value>(text).ok()?;
            parsed.as_object()?
        }
        value => value.as_object()?,
    };
    let Some(first) = named.values().next() else { return Some(String::new()) };
    match named.len() - 1 {
        0 => Some(as_text(first)),
        more => Some(format!("{} (+{more})", shortened(&as_text(first)))),
    }
}

/// Returns a string without quotes, any other value as JSON.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Cuts a long argument, to leave room for the count behind it.
fn shortened(text: &str) -> String {
    cut(&Visible::line(text), MAX_ARGUMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_every_wire_format_are_shown() {
        let of = |text: &str| tool_calls(serde_json::from_str(text).ok(), text, Detail::Full);
        assert_eq!(of(r#"[{"function": {"name": "a", "arguments": "{\"x\": 1}"}}]"#), [r#"a {"x": 1}"#]);
        assert_eq!(of(r#"[{"name": "b", "input": {"y": 2}}, {"id": "c"}]"#), [r#"b {"y":2}"#, "?"]);
        assert_eq!(of("NaN"), ["NaN"]);
    }

    #[test]
    fn a_folded_call_shows_its_first_argument() {
        let of = |text: &str| tool_calls(serde_json::from_str(text).ok(), text, Detail::Folded);
        assert_eq!(of(r#"[{"function": {"name": "a", "arguments": "{\"command\": \"ls -l\"}"}}]"#), ["a ls -l"]);
        assert_eq!(of(r#"[{"name": "b", "input": {"path": "/x", "limit": 2, "deep": true}}]"#), ["b /x (+2)"]);
        assert_eq!(of(r#"[{"name": "c", "input": {"y": [1, 2]}}, {"name": "d", "input": {}}]"#), ["c [1,2]", "d "]);
        assert_eq!(
            of(r#"[{"name": "e", "arguments": "not json"}, {"name": "f", "input": [1]}]"#),
            ["e not json", "f [1]"]
        );
    }

    #[test]
    fn a_long_result_is_folded() {
        let lines = paragraphs("1\n2\n3\n4\n", 3, 80);
        assert_eq!(lines.iter().map(Visible::as_str).collect::<Vec<_>>(), ["1", "2", "3", "… (--full shows the rest)"]);
        assert_eq!(paragraphs("1\n2\n3\n", 3, 80).len(), 3);
    }
}
