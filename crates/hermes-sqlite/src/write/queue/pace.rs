//! How long SQLite's lock is left free, so that foreign writers can take it.
//!
//! The agent polls the lock, and sleeps for up to 100 ms between tries. What counts is the use of the lock by all our
//! processes together: every use adds up, and free time reduces the sum. When the sum is high enough, the holder of the
//! queue rests.

use std::time::Duration;

/// Breaks shorter than this give a polling writer no chance; they count as use.
const GLIMPSE: Duration = Duration::from_millis(1);
/// How long after it was last seen a foreign writer is assumed to be active.
pub(crate) const MEMORY: Duration = Duration::from_secs(30);

/// The amount of use after which the lock is left free, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rhythm {
    work: Duration,
    rest: Duration,
}

/// Without a foreign writer: a tenth of the time is free, so that one can get in and be noticed.
const ALONE: Rhythm = Rhythm { work: Duration::from_millis(180), rest: Duration::from_millis(20) };
/// Beside a foreign writer: free for as long as the agent sleeps. With half of it, the slowest append of 0.19.0 was a
/// third slower beside us than beside itself.
const BESIDE: Rhythm = Rhythm { work: Duration::from_millis(450), rest: Duration::from_millis(100) };

const fn rhythm(beside_foreign: bool) -> Rhythm {
    if beside_foreign { BESIDE } else { ALONE }
}

/// Returns the use that free time has not made up for, after the lock was free for `gap` and then in use for `used`.
pub(crate) fn strain(before: Duration, gap: Duration, used: Duration, beside_foreign: bool) -> Duration {
    if gap < GLIMPSE {
        return before + gap + used;
    }
    let Rhythm { work, rest } = rhythm(beside_foreign);
    before.saturating_sub(gap.saturating_mul(work.as_millis() as u32) / rest.as_millis() as u32) + used
}

/// Returns how long to leave the lock free now; `None` if no rest is due.
pub(crate) fn rest(strain: Duration, beside_foreign: bool) -> Option<Duration> {
    let Rhythm { work, rest } = rhythm(beside_foreign);
    // Capped, because one transaction may have been very long, and other writers should not wait forever.
    (strain >= work).then(|| strain.min(2 * work) * rest.as_millis() as u32 / work.as_millis() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `uses` of the lock, each a gap and a use in microseconds. Returns after which of them a rest was due, and
    /// its milliseconds.
    fn rests(beside_foreign: bool, uses: impl IntoIterator<Item = (u64, u64)>) -> Vec<(usize, u128)> {
        let (mut strained, mut rests) = (Duration::ZERO, Vec::new());
        for (number, (gap, used)) in uses.into_iter().enumerate() {
            strained = strain(strained, Duration::from_micros(gap), Duration::from_micros(used), beside_foreign);
            if let Some(rest) = rest(strained, beside_foreign) {
                rests.push((number, rest.as_millis()));
                strained = Duration::ZERO;
            }
        }
        rests
    }

    #[test]
    fn unbroken_use_is_broken_for_a_tenth_of_the_time_and_longer_beside_a_foreign_writer() {
        let unbroken = || std::iter::repeat_n((0, 10_000), 46);
        assert_eq!(rests(false, unbroken()), [(17, 20), (35, 20)]);
        assert_eq!(rests(true, unbroken()), [(44, 100)]);
        // A handover from one process to the next gives a polling writer no chance.
        assert_eq!(rests(false, std::iter::repeat_n((900, 9_100), 18)), [(17, 20)]);
    }

    #[test]
    fn time_that_is_free_anyway_is_not_given_twice() {
        // One process that syncs each append outside the lock.
        assert_eq!(rests(false, std::iter::repeat_n((1_500, 300), 10_000)), []);
        assert_eq!(rests(true, std::iter::repeat_n((1_500, 300), 10_000)), []);
        // Free for 2 ms of 52: less than a tenth.
        assert_eq!(rests(false, std::iter::repeat_n((2_000, 50_000), 6)), [(5, 23)]);
        // A pause pays off all debt, but nothing in advance.
        assert_eq!(rests(false, [(0, 170_000), (60_000_000, 170_000), (0, 10_000)]), [(2, 20)]);
    }

    #[test]
    fn one_long_use_is_not_followed_by_a_rest_of_its_own_length() {
        assert_eq!(rests(false, [(0, 600_000_000)]), [(0, 40)]);
        assert_eq!(rests(true, [(0, 600_000_000)]), [(0, 200)]);
    }
}
