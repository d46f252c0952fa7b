//! Charts of a page: bars as SVG, and labels as text beside it that keeps its size when the chart is stretched. All
//! text in them is escaped.

use super::html::escape;
use hermes_terminal::figures::number;
use std::fmt::Write as _;

/// The size of a chart in its own units. It is stretched to the size that the page has for it.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 120.0;
/// Maximum number of steps on the axis of values.
const MAX_STEPS: u64 = 4;
/// Number of labels from which a small screen leaves out every second one.
const MANY_LABELS: usize = 8;
/// Half of the maximum width of a character of a label, in `em`.
const HALF_CHARACTER: f64 = 0.3;

/// A bar of an upright chart.
pub(super) struct Bar {
    /// The label under the bar; `None` if there is no room for all labels.
    pub(super) label: Option<String>,
    /// The tooltip.
    pub(super) title: String,
    pub(super) count: u64,
}

/// Returns upright bars with axes; `name` is their label for screen readers.
pub(super) fn upright(name: &str, bars: &[Bar]) -> String {
    let (value, steps) = scale(bars.iter().map(|bar| bar.count).max().unwrap_or(0));
    let top = value as f64 * steps as f64;
    let step = WIDTH / bars.len().max(1) as f64;
    let gap = if step > 6.0 { 2.0 } else { 0.0 };
    let mut out = "<div class=\"plot\"><div class=\"y\">".to_owned();
    for line in (0..=steps).rev() {
        _ = write!(out, "<span>{}</span>", number(value.saturating_mul(line)));
    }
    _ = write!(
        out,
        "</div><svg class=\"chart\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\"><path class=\"grid\" d=\"",
        escape(name)
    );
    for line in 0..=steps {
        _ = write!(out, "M0 {:.2}H{WIDTH}", HEIGHT * line as f64 / steps as f64);
    }
    out.push_str("\"/>");
    for (index, bar) in bars.iter().enumerate() {
        // A count above 0 is always visible.
        let height = if bar.count == 0 { 0.0 } else { (bar.count as f64 / top * HEIGHT).max(2.0) };
        _ = write!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\"><title>{}</title></rect>",
            index as f64 * step,
            HEIGHT - height,
            (step - gap).max(0.5),
            escape(&bar.title)
        );
    }
    out.push_str("</svg><div class=\"x\">");
    let labels: Vec<(usize, &str)> =
        bars.iter().enumerate().filter_map(|(index, bar)| Some((index, bar.label.as_deref()?))).collect();
    for (place, (index, label)) in labels.iter().enumerate() {
        let class = if labels.len() >= MANY_LABELS && place % 2 == 1 { " class=\"odd\"" } else { "" };
        let middle = (*index as f64 + 0.5) / bars.len() as f64 * 100.0;
        // A label at an edge stays within the chart.
        let (edge, label) = (label.chars().count() as f64 * HALF_CHARACTER, escape(label));
        _ = write!(
            out,
            "<span{class} style=\"left:clamp({edge:.1}em,{middle:.2}%,calc(100% - {edge:.1}em))\">{label}</span>"
        );
    }
    out.push_str("</div></div>");
    out
}

/// Returns a round step for an axis up to at least `most`, and the number of steps.
fn scale(most: u64) -> (u64, u64) {
    let mut unit = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let step = unit.saturating_mul(factor);
            let steps = most.div_ceil(step).max(1);
            if steps <= MAX_STEPS {
                return (step, steps);
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// Returns a horizontal bar for a row of a table. `part` is its length relative to the longest.
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
        assert!(upright("none", &[]).ends_with("</div></div>"));
    }

    #[test]
    fn the_axis_has_round_values() {
        for (most, expect) in [
            (0, (1, 1)),
            (1, (1, 1)),
            (4, (1, 4)),
            (5, (2, 3)),
            (9, (5, 2)),
            (44, (20, 3)),
            (200, (50, 4)),
            (1_001, (500, 3)),
            (u64::MAX, (5_000_000_000_000_000_000, 4)),
        ] {
            assert_eq!(scale(most), expect, "{most}");
        }
        let chart = upright("x", &[Bar { label: None, title: String::new(), count: 1_001 }]);
        assert!(chart.contains("<span>1,500</span><span>1,000</span><span>500</span><span>0</span>"), "{chart}");
        // The bar is as high as the axis says.
        assert!(chart.contains("M0 0.00H720M0 40.00H720") && chart.contains("height=\"80.08\""), "{chart}");
    }

    #[test]
    fn labels_at_the_edges_stay_within_the_chart() {
        let bars: Vec<Bar> = (0..366)
            .map(|day| Bar { label: (day % 365 == 0).then(|| "07-05".to_owned()), title: String::new(), count: 1 })
            .collect();
        let chart = upright("By day", &bars);
        for place in ["0.14%", "99.86%"] {
            let label = format!("<span style=\"left:clamp(1.5em,{place},calc(100% - 1.5em))\">07-05</span>");
            assert!(chart.contains(&label), "{chart}");
        }
    }

    #[test]
    fn a_small_screen_leaves_out_every_second_of_many_labels() {
        let bar = |number: usize| Bar { label: Some(number.to_string()), title: String::new(), count: 1 };
        let odd =
            |count: usize| upright("x", &(0..count).map(bar).collect::<Vec<_>>()).matches("class=\"odd\"").count();
        assert_eq!((odd(7), odd(24)), (0, 12));
    }

    #[test]
    fn what_there_is_at_all_has_a_bar() {
        for (part, expect) in [(0.0, "0.00"), (1e-9, "1.00"), (0.5, "50.00"), (7.0, "100.00"), (-1.0, "0.00")] {
            assert!(lying(part).contains(&format!("<rect width=\"{expect}\"")), "{part}");
        }
    }
}
