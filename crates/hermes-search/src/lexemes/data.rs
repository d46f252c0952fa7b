//! Runs that are data and not words: pieces of them are rarely searched for, and each would be a new vocabulary word.

use std::ops::Range;

/// Minimum length, in bytes, of a run of Base64 characters that counts as data.
const MIN_DATA: usize = 256;

/// Returns the ranges of a text that are data, in order.
pub(super) fn runs(text: &str) -> Vec<Range<usize>> {
    let is_data = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
    let (bytes, mut runs, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at + MIN_DATA <= bytes.len() {
        // Searched from the far end: no run that begins before a gap is long enough, so most bytes are skipped.
        match bytes[at..at + MIN_DATA].iter().rposition(|byte| !is_data(byte)) {
            Some(gap) => at += gap + 1,
            None => {
                let more = bytes[at + MIN_DATA..].iter().take_while(|byte| is_data(byte)).count();
                let end = at + MIN_DATA + more;
                runs.push(at..end);
                at = end;
            }
        }
    }
    runs
}

/// Returns whether a word lies within one of the runs.
pub(super) fn is_in(runs: &[Range<usize>], word: &Range<usize>) -> bool {
    let after = runs.partition_point(|run| run.start <= word.start);
    after > 0 && word.end <= runs[after - 1].end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_run_is_data_from_a_length_on() {
        let (short, long) = ("aB3+/=_-".repeat(31) + "7654321", "aB3+/=_-".repeat(32));
        assert_eq!(runs(&format!("x {short} é{short} y")), []);
        assert_eq!(runs(&format!("x {long} é{long}z\n{short}")), [2..258, 261..518]);
        let runs = [2..258, 261..518];
        for (word, expect) in [(2..5, true), (515..518, true), (0..1, false), (257..259, false), (600..601, false)] {
            assert_eq!(is_in(&runs, &word), expect, "{word:?}");
        }
    }

    proptest! {
        #[test]
        fn looking_at_few_bytes_finds_the_same(parts in prop::collection::vec(("[ .é]{0,2}", 0..600_usize), 0..6)) {
            let text: String = parts.iter().map(|(gap, length)| format!("{gap}{}", "a".repeat(*length))).collect();
            let mut expect = Vec::new();
            for run in text.split(|character| character != 'a').filter(|run| run.len() >= MIN_DATA) {
                let start = run.as_ptr() as usize - text.as_ptr() as usize;
                expect.push(start..start + run.len());
            }
            prop_assert_eq!(runs(&text), expect);
        }
    }
}
