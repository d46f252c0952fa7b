//! Settings with their origins.

use anstyle::{AnsiColor, Style};
use hermes_config::Origin;
use hermes_terminal::Line;
use hermes_wire::{config as wire, document};

/// Columns between the names and the values of settings; the indentation of values below their names.
const INDENT: usize = 2;
/// Minimum width of the column of values, so that most values and origins fit on one line.
const LEAST_VALUE: usize = 30;

/// A setting in printable form.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    pub(crate) origin: Origin,
    /// Why it can't be used.
    pub(crate) problem: Option<String>,
}

/// Returns the settings with their values and origins in two columns. Values that are not defaults stand out, and those
/// that can't be used say why. If there is no room for the second column, it stands below the first one, indented.
pub(crate) fn lines(rows: &[Row], columns: usize) -> Vec<Line> {
    let key = rows.iter().map(|row| row.key.len()).max().unwrap_or(0) + INDENT;
    let is_stacked = columns < key + LEAST_VALUE;
    let indent = if is_stacked { INDENT } else { key };
    let lines = |row: &Row| -> Vec<Line> {
        let broken = value(row).broken(columns.saturating_sub(indent));
        let first = is_stacked.then(|| Line::plain_text(row.key));
        let rest = broken.into_iter().enumerate().map(|(place, piece)| {
            let name = if place == 0 && !is_stacked { row.key } else { "" };
            let mut line = Line::plain_text(format!("{name:<indent$}"));
            line.extend(piece);
            line
        });
        first.into_iter().chain(rest).collect()
    };
    rows.iter().flat_map(lines).collect()
}

/// Returns the value of a setting, its origin, and why it can't be used.
fn value(row: &Row) -> Line {
    let style = if row.origin == Origin::Default { Style::new() } else { Style::new().bold() };
    let line =
        Line::styled(row.value.as_str(), style).with(format!("  ({})", source(&row.origin)), Style::new().dimmed());
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    row.problem.iter().fold(line, |line, problem| line.with(format!("  ✗ {problem}"), red))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_broken_between_words_and_stand_below_their_names_on_a_narrow_terminal() {
        let row = |key, value: &str, origin, problem: Option<&str>| Row {
            key,
            value: value.to_owned(),
            origin,
            problem: problem.map(str::to_owned),
        };
        let rows = [
            row("sessions.trash_days", "30", Origin::Default, None),
            row("a.b", "maybe", Origin::Environment("VARIABLE"), Some("can't be used: give a number")),
        ];
        let shown = |columns| lines(&rows, columns).iter().map(Line::plain).collect::<Vec<_>>();
        let last = "a.b                  maybe  ($VARIABLE)  ✗ can't be used: give a number";
        assert_eq!(shown(80), ["sessions.trash_days  30  (the default)", last]);
        assert_eq!(
            shown(52),
            [
                "sessions.trash_days  30  (the default)",
                "a.b                  maybe  ($VARIABLE)  ✗ can't be",
                "                     used: give a number",
            ]
        );
        assert_eq!(
            shown(40),
            [
                "sessions.trash_days",
                "  30  (the default)",
                "a.b",
                "  maybe  ($VARIABLE)  ✗ can't be used:",
                "  give a number",
            ]
        );
    }
}
