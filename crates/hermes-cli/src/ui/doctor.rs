//! Prints the findings of `doctor` with their severity and remedy.

use crate::reports::{Degree, Diagnosis, Item};
use anstyle::{AnsiColor, Style};
use hermes_terminal::figures::plural;
use hermes_terminal::layout::{fit, width, wrap};
use hermes_terminal::{Line, Visible};

/// Returns a line for each check, followed by the remedy.
pub(crate) fn lines(diagnosis: &Diagnosis, columns: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (what, why_not) in &diagnosis.fixed {
        lines.push(match why_not {
            None => Line::plain_text("⚒ ").text(what.as_str()),
            Some(why) => Line::plain_text(format!("⚒ failed: {what}: {why}")),
        });
    }
    let widest = diagnosis.items.iter().map(|item| width(&item.name.into())).max().unwrap_or(0);
    lines.extend(diagnosis.items.iter().flat_map(|item| item_lines(item, widest, columns)));
    let counts = [(Degree::Problem, "problems"), (Degree::Warning, "warnings"), (Degree::Note, "notes")]
        .into_iter()
        .map(|(degree, things)| (diagnosis.count(degree), things))
        .filter(|(count, _)| *count > 0)
        .map(|(count, things)| plural(count, things))
        .collect::<Vec<_>>();
    lines.push(Line::plain_text(if counts.is_empty() {
        "No problems found.".to_owned()
    } else {
        format!("{}.", counts.join(", "))
    }));
    lines
}

fn item_lines(item: &Item, widest: usize, columns: usize) -> Vec<Line> {
    let (mark, color) = match item.degree {
        Degree::Fine => ("✓", Some(AnsiColor::Green)),
        Degree::Note => ("·", None),
        Degree::Warning => ("!", Some(AnsiColor::Yellow)),
        Degree::Problem => ("✗", Some(AnsiColor::Red)),
    };
    let style = color.map_or(Style::new(), |color| Style::new().bold().fg_color(Some(color.into())));
    let indent = widest + 4;
    let room = columns.saturating_sub(indent).max(20);
    let blank = " ".repeat(indent);
    let mut lines = Vec::new();
    for (place, text) in wrap(&Visible::line(&item.what), room).into_iter().enumerate() {
        lines.push(match place {
            0 => Line::styled(mark, style).text(" ").text(fit(&item.name.into(), widest)).text("  ").text(text),
            _ => Line::plain_text(blank.as_str()).text(text),
        });
    }
    if let Some(remedy) = &item.remedy {
        let sign = if item.fix.is_some() { "⚒" } else { "→" };
        for (place, text) in wrap(&Visible::line(remedy), room.saturating_sub(2)).into_iter().enumerate() {
            let start = if place == 0 { format!("{blank}{sign} ") } else { format!("{blank}  ") };
            lines.push(Line::plain_text(start).with(text, Style::new().bold()));
        }
    }
    lines
}
