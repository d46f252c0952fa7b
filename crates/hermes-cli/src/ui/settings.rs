//! Settings with their origins.

use anstyle::{AnsiColor, Style};
use hermes_config::Origin;
use hermes_terminal::Line;
use hermes_wire::{config as wire, document};

/// A setting in printable form.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    pub(crate) origin: Origin,
    /// Why it can't be used.
    pub(crate) problem: Option<String>,
}

/// Returns a line for each setting. Values that are not defaults stand out, and those that can't be used say why.
pub(crate) fn lines(rows: &[Row]) -> Vec<Line> {
    let key = rows.iter().map(|row| row.key.len()).max().unwrap_or(0);
    let line = |row: &Row| {
        let style = if row.origin == Origin::Default { Style::new() } else { Style::new().bold() };
        let line = Line::plain_text(format!("{:<key$}  ", row.key))
            .with(row.value.as_str(), style)
            .with(format!("  ({})", source(&row.origin)), Style::new().dimmed());
        let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
        row.problem.iter().fold(line, |line, problem| line.with(format!("  ✗ {problem}"), red))
    };
    rows.iter().map(line).collect()
}

/// Returns the origin of a value, without the key.
fn source(origin: &Origin) -> String {
    match origin {
        Origin::File { path, .. } => path.display().to_string(),
        other => other.to_string(),
    }
}

/// Returns the document of `config show`.
pub(crate) fn json(rows: &[Row]) -> String {
    let settings = rows.iter().map(|row| {
        let (variable, file) = match &row.origin {
            Origin::Environment(name) => (Some(*name), None),
            Origin::File { path, .. } => (None, Some(path.display().to_string())),
            Origin::Flag | Origin::Default => (None, None),
        };
        let (origin, error) = (origin_name(&row.origin), row.problem.clone());
        wire::Setting { key: row.key, value: &row.value, origin, variable, file, error }
    });
    document(&wire::Settings { settings: settings.collect() })
}

/// Returns the name of an origin, for programs.
const fn origin_name(origin: &Origin) -> &'static str {
    match origin {
        Origin::Flag => "flag",
        Origin::Environment(_) => "environment",
        Origin::File { .. } => "file",
        Origin::Default => "default",
    }
}
