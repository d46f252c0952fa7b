//! Settings, each with who set it.

use anstyle::Style;
use hermes_config::Origin;
use hermes_terminal::Line;
use hermes_wire::{config as wire, document};

/// A setting as it may be shown.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// A line for each setting. What somebody set stands out.
pub(crate) fn lines(rows: &[Row]) -> Vec<Line> {
    let key = rows.iter().map(|row| row.key.len()).max().unwrap_or(0);
    let line = |row: &Row| {
        let style = if row.origin == Origin::Default { Style::new() } else { Style::new().bold() };
        Line::plain_text(format!("{:<key$}  ", row.key))
            .with(row.value.as_str(), style)
            .with(format!("  ({})", source(&row.origin)), Style::new().dimmed())
    };
    rows.iter().map(line).collect()
}

/// Who set a value, where the key is known already.
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
        wire::Setting { key: row.key, value: &row.value, origin: origin_name(&row.origin), variable, file }
    });
    document(&wire::Settings { settings: settings.collect() })
}

/// Returns the name of where a value came from, for programs.
const fn origin_name(origin: &Origin) -> &'static str {
    match origin {
        Origin::Flag => "flag",
        Origin::Environment(_) => "environment",
        Origin::File { .. } => "file",
        Origin::Default => "default",
    }
}
