//! Charts as pieces of SVG, to stand in a page. Every text in them is escaped.

use super::html::escape;
use std::fmt::Write as _;

/// Room for the labels under the bars.
const LABELS: f64 = 18.0;
/// The room that a character of a label takes, at most.
const CHARACTER: f64 = 7.0;
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 120.0;

/// A bar of an upright chart.
pub(super) struct Bar {
    /// What stands under it; nothing if there is no room for all.
    pub(super) label: Option<String>,
    /// What is told of it by pointing at it.
    pub(super) title: String,
    pub(super) count: u64,
}

/// Upright bars; `name` tells what they are to who does not see them.
pub(super) fn upright(name: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / bars.len().max(1) as f64;
    let gap = if step > 6.0 { 2.0 } else { 0.0 };
    let mut out = format!(
        "<svg class=\"chart\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {}\">",
        escape(name),
        HEIGHT + LABELS
    );
    for (index, bar) in bars.iter().enumerate() {
        let left = index as f64 * step;
        // What there is at all is seen.
        let height = if bar.count == 0 { 0.0 } else { (bar.count as f64 / most * HEIGHT).max(2.0) };
        _ = write!(
            out,
            "<rect x=\"{left:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\"><title>{}</title></rect>",
            HEIGHT - height,
            (step - gap).max(0.5),
            escape(&bar.title)
        );
        if let Some(label) = &bar.label {
            let half = label.chars().count() as f64 * CHARACTER / 2.0;
            let middle = (left + step / 2.0).clamp(half, WIDTH - half);
            _ = write!(out, "<text x=\"{middle:.2}\" y=\"{}\">{}</text>", HEIGHT + LABELS - 4.0, escape(label));
        }
    }
    out.push_str("</svg>");
    out
}

/// A bar that lies in a row of a table, as long as its part of the longest.
pub(super) fn lying(part: f64) -> String {
    let length = if part > 0.0 { (part.min(1.0) * 100.0).max(1.0) } else { 0.0 };
    format!(
        "<svg class=\"bar\" aria-hidden=\"true\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\"><rect width=\"{length:.2}\" height=\"10\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_counts() {
        let bar = |label: &str, count| Bar { label: Some(label.into()), title: format!("{label}: {count}"), count };
        let chart = upright("By <day>", &[bar("A", 4), bar("</svg>", 1), bar("C", 0)]);
        assert!(chart.contains("aria-label=\"By &lt;day&gt;\""), "{chart}");
        assert!(chart.contains("y=\"0.00\" width=\"238.00\" height=\"120.00\"><title>A: 4<"), "{chart}");
        assert!(chart.contains("height=\"30.00\"><title>&lt;/svg&gt;: 1<"), "{chart}");
        assert!(chart.contains("height=\"0.00\"><title>C: 0<"), "{chart}");
        assert_eq!(chart.matches("</svg>").count(), 1);
        assert!(upright("none", &[]).ends_with("</svg>"));
    }

    #[test]
    fn labels_at_the_edges_stay_within_the_chart() {
        let bars: Vec<Bar> = (0..366)
            .map(|day| Bar { label: (day % 365 == 0).then(|| "07-05".to_owned()), title: String::new(), count: 1 })
            .collect();
        let chart = upright("By day", &bars);
        assert!(chart.contains("<text x=\"17.50\"") && chart.contains("<text x=\"702.50\""), "{chart}");
    }

    #[test]
    fn what_there_is_at_all_has_a_bar() {
        for (part, expect) in [(0.0, "0.00"), (1e-9, "1.00"), (0.5, "50.00"), (7.0, "100.00"), (-1.0, "0.00")] {
            assert!(lying(part).contains(&format!("<rect width=\"{expect}\"")), "{part}");
        }
    }
}
