//! Settings, each with who set it.

use anstyle::Style;
use hermes_config::Origin;
use hermes_session::json::ObjectWriter;
use hermes_terminal::Line;

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

/// The same as one object.
pub(crate) fn json(rows: &[Row]) -> String {
    let row = |row: &Row| {
        let mut object = ObjectWriter::new();
        object
            .text("key", Some(row.key))
            .text("value", Some(&row.value))
            .text("origin", Some(origin_name(&row.origin)));
        match &row.origin {
            Origin::Environment(name) => _ = object.text("variable", Some(name)),
            Origin::File { path, .. } => _ = object.text("file", Some(&path.display().to_string())),
            Origin::Flag | Origin::Default => {}
        }
        object.finish()
    };
    let mut object = ObjectWriter::new();
    let rows = rows.iter().map(row).collect::<Vec<_>>().join(", ");
    object.raw("schema", &super::json::SCHEMA.to_string()).raw("settings", &format!("[{rows}]"));
    object.finish()
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
