//! What erasing came to, for a person.

use super::Line;
use super::checks::{number, plural, size};
use crate::commands::erase::Outcome;
use anstyle::Style;

/// What was erased, and what was proven.
pub(crate) fn erased(outcome: &Outcome) -> Vec<Line> {
    let name = outcome.title.as_deref().unwrap_or(outcome.id.as_str());
    let parts = [plural(outcome.deleted.sessions, "sessions"), plural(outcome.deleted.messages, "messages")];
    let parts = parts.into_iter().chain((outcome.files > 0).then(|| plural(outcome.files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    let line = Line::plain_text("Erased ").with(name, Style::new().bold()).text(format!(" ({what})."));
    let proof = outcome.erased.as_ref().filter(|erased| erased.is_clean()).map(|erased| {
        Line::plain_text(format!(
            "Nothing is left: {} of it are nowhere in {}, and {} in no index.",
            plural(erased.needles, "signs"),
            size(erased.scanned),
            format_args!("{} words", number(erased.words))
        ))
    });
    [line].into_iter().chain(proof).collect()
}

/// A file that was rewritten.
pub(crate) fn finished() -> Vec<Line> {
    vec![Line::plain_text("The file was rewritten: it has neither free room nor a log.")]
}
