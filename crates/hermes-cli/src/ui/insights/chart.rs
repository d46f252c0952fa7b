//! Charts drawn with characters.

/// Bars of one character, from lowest to full.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const NONE: char = '·';

/// Returns a line of characters, each as high as its count. If there are more counts than columns, each character sums
/// several. Also returns how many.
pub(super) fn sparkline(counts: &[u64], columns: usize) -> (String, usize) {
    let (shared, each) = shared(counts, columns);
    let sums: Vec<u64> = shared.into_iter().map(|some| some.iter().sum()).collect();
    let most = sums.iter().copied().max().unwrap_or(0);
    (sums.iter().map(|sum| level(*sum, most).unwrap_or(NONE)).collect(), each)
}

/// Divides items into at most `most` groups. Also returns the size of a group.
pub(super) fn shared<T>(items: &[T], most: usize) -> (Vec<&[T]>, usize) {
    let each = items.len().div_ceil(most.max(1)).max(1);
    // The first group may be short, never the last one: it holds the latest days, which people look at.
    let (head, rest) = items.split_at(items.len() % each);
    (std::iter::once(head).filter(|head| !head.is_empty()).chain(rest.chunks(each)).collect(), each)
}

fn level(count: u64, most: u64) -> Option<char> {
    let step = |part: f64| LEVELS[((part * 8.0).ceil() as usize).clamp(1, 8) - 1];
    (count > 0 && most > 0).then(|| step(count as f64 / most as f64))
}

/// Returns upright bars over the hours of a day, from the top line down to the line of hours. Empty if there is no
/// room.
pub(super) fn hours(counts: &[u64; 24], height: usize, columns: usize) -> Vec<String> {
    let Some((cell, bar)) = [(3, 2), (2, 1), (1, 1)].into_iter().find(|(cell, _)| cell * 24 <= columns) else {
        return Vec::new();
    };
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let eighths = |count: u64| match count {
        0 => 0,
        count => ((count as f64 / most as f64 * height as f64 * 8.0).round() as usize).max(1),
    };
    let mut lines = Vec::new();
    for row in (0..height).rev() {
        let mut line = String::new();
        for count in counts {
            let here = eighths(*count).saturating_sub(row * 8).min(8);
            let mark = if here == 0 { ' ' } else { LEVELS[here - 1] };
            line.extend(std::iter::repeat_n(mark, bar));
            line.extend(std::iter::repeat_n(' ', cell - bar));
        }
        lines.push(line.trim_end().to_owned());
    }
    let room = cell * 3;
    let axis: String = (0..24).step_by(3).map(|hour| format!("{hour:<room$}")).collect();
    lines.push(axis.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_at_all_is_seen() {
        assert_eq!(sparkline(&[0, 1, 4, 8, 800], 10), ("·▁▁▁█".into(), 1));
        assert_eq!(sparkline(&[0, 0], 10), ("··".into(), 1));
        assert_eq!(sparkline(&[], 10), (String::new(), 1));
    }

    #[test]
    fn many_days_share_a_mark() {
        assert_eq!(sparkline(&[1, 1, 1, 1, 4], 2), ("▃█".into(), 3));
        assert_eq!(sparkline(&[1, 0, 0, 0], 2), ("█·".into(), 2));
        for columns in 1..40 {
            assert!(sparkline(&[3; 31], columns).0.chars().count() <= columns);
        }
    }

    #[test]
    fn hours_stand_upright() {
        let mut counts = [0; 24];
        (counts[0], counts[9], counts[23]) = (1, 4, 2);
        assert_eq!(hours(&counts, 2, 24), ["         █", "▄        █             █", "0  3  6  9  12 15 18 21"]);
        assert_eq!(hours(&counts, 1, 48)[1], "0     3     6     9     12    15    18    21");
        assert!(hours(&counts, 1, 48)[0].starts_with("▂                 █"));
        assert_eq!(hours(&counts, 1, 23), [""; 0]);
        assert_eq!(hours(&[0; 24], 1, 24)[0], "");
        for columns in 24..100 {
            assert!(hours(&counts, 3, columns).iter().all(|line| line.chars().count() <= columns));
        }
    }
}
