//! Conversations as Markdown documents. The text of messages stays Markdown; tool calls and results become code blocks.

use crate::sanitize::shown_lines;
use crate::time::Now;
use hermes_session::{Message, MessageState, Role, Session};

/// Returns the head of a conversation: its title, then its facts.
pub fn head(session: &Session, now: &Now) -> String {
    let title = session.title.as_deref().unwrap_or(session.id.as_str());
    format!("# {}\n\n{}", heading(title), facts(session, now))
}

/// Returns the head of a further session of the same conversation.
pub fn part(session: &Session, now: &Now) -> String {
    let title = session.title.as_deref().unwrap_or(session.id.as_str());
    format!("## {} ({})\n\n{}", heading(title), session.relation.as_str(), facts(session, now))
}

fn facts(session: &Session, now: &Now) -> String {
    let facts = [
        ("id", Some(code(session.id.as_str()))),
        ("source", Some(code(session.source.as_str()))),
        ("model", session.model.as_deref().map(code)),
        ("started", Some(now.day_and_minute(session.started_at))),
        ("ended", session.ended_at.map(|at| now.day_and_minute(at))),
        ("archived", session.archived.then(|| "yes".to_owned())),
    ];
    let lines = facts.into_iter().filter_map(|(name, value)| Some(format!("- {name}: {}\n", value?)));
    lines.chain(["\n".into()]).collect()
}

/// Returns a message with its speaker and time.
pub fn message(message: &Message, now: &Now) -> String {
    let body = &message.body;
    let name = match &body.role {
        Role::User => "You",
        Role::Assistant => "Hermes",
        Role::System => "System",
        Role::Tool => body.tool_name.as_deref().unwrap_or("tool"),
        Role::Other(name) => name,
    };
    let state = match message.state {
        MessageState::Active => String::new(),
        other => format!(" · {other}"),
    };
    let mut out = format!("### {} · {}{state}\n\n", heading(name), now.day_and_minute(message.timestamp));
    let text = shown_lines(body.plain_text().trim_end());
    match body.role {
        _ if text.is_empty() => {}
        Role::Tool => out.push_str(&fenced(&text, "")),
        _ => out.push_str(&format!("{text}\n\n")),
    }
    if let Some(calls) = &body.tool_calls {
        let pretty = calls.to_value().and_then(|value| serde_json::to_string_pretty(&value).ok());
        out.push_str(&fenced(&shown_lines(pretty.as_deref().unwrap_or(calls.as_str())), "json"));
    }
    for fault in &message.faults {
        out.push_str(&format!("*{} can't be read: {}*\n\n", fault.column, heading(&fault.why)));
    }
    out
}

/// Returns a text on one line, with Markdown syntax escaped.
fn heading(text: &str) -> String {
    let flat = shown_lines(text).split_whitespace().collect::<Vec<_>>().join(" ");
    flat.chars().fold(String::new(), |mut out, character| {
        if "\\`*[]<>#".contains(character) {
            out.push('\\');
        }
        out.push(character);
        out
    })
}

fn code(text: &str) -> String {
    let flat = shown_lines(text).replace('\n', " ");
    let fence = "`".repeat(longest_run(&flat) + 1);
    if flat.contains('`') { format!("{fence} {flat} {fence}") } else { format!("{fence}{flat}{fence}") }
}

/// Returns a code block. The fence is longer than any inside, so that no text can close it.
fn fenced(text: &str, language: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}\n\n")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_closes_its_block() {
        assert_eq!(fenced("a\n````\nb", "json"), "`````json\na\n````\nb\n`````\n\n");
        assert_eq!((code("x"), code("a`b")), ("`x`".into(), "`` a`b ``".into()));
        assert_eq!(heading("a\n# b <script> *c* \u{1b}[2J"), "a \\# b \\<script\\> \\*c\\* ␛\\[2J");
    }

    #[test]
    fn a_document_keeps_its_tabs_and_lines() {
        assert_eq!(shown_lines("all:\r\n\tcc \u{1b}[0m\n"), "all:\n\tcc ␛[0m\n");
    }
}
