//! Reports waits for a lock that are long enough for a person to wonder.

use crate::open::{connection, place::beside};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Target of the event for a wait of more than a second. Its field `holder` describes the process that has the lock, if
/// it is known. A program with a person in front of it may show it.
pub const LONG_WAIT: &str = "hermes_sqlite::long_wait";

/// A wait from which on it is reported. Shorter ones are common, and over before a person has read the report.
pub(crate) const LONG: Duration = Duration::from_secs(1);

/// The bytes that SQLite locks in the `-shm` of a file with a WAL: to write, to checkpoint and to recover.
const WAL_LOCKS: RangeInclusive<u64> = 120..=122;
/// The bytes that SQLite locks in a file without a WAL: pending, reserved and shared.
const FILE_LOCKS: RangeInclusive<u64> = 0x4000_0000..=0x4000_01ff;

/// Reports a long wait.
pub(crate) fn report(holder: Option<String>) {
    tracing::debug!(target: LONG_WAIT, holder, "waiting for a lock of the store");
}

/// Calls `begin`, whose statements wait for SQLite's lock until the deadline. If that takes long, it is reported.
pub(crate) fn reporting<T>(
    store: &Path,
    deadline: Instant,
    mut begin: impl FnMut() -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    let start = Instant::now();
    connection::set_deadline(deadline.saturating_duration_since(start).min(LONG));
    let begun = begin();
    // Also for the statements that follow.
    connection::set_deadline(deadline.saturating_duration_since(Instant::now()));
    match begun {
        // SQLite reports some locks as busy at once, without waiting.
        Err(error) if is_busy(&error) && start.elapsed() >= LONG && Instant::now() < deadline => {
            report(writer(store));
            begin()
        }
        begun => begun,
    }
}

/// Returns whether another connection has the lock.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

/// Describes another process that has SQLite's lock on a store. `None` if it is unknown, as on systems without Linux's
/// `/proc/locks`.
fn writer(store: &Path) -> Option<String> {
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let holder = |file: &Path, bytes: RangeInclusive<u64>| {
        let inode = std::fs::metadata(file).ok()?.ino();
        let mut lockers = locks.lines().filter_map(|line| locker(line, inode, &bytes));
        lockers.find(|process| *process != std::process::id())
    };
    holder(&beside(store, "-shm"), WAL_LOCKS).or_else(|| holder(store, FILE_LOCKS)).map(described)
}

/// Returns the process that has locked one of these bytes of a file for itself, if a line of `/proc/locks` says so,
/// such as `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120`.
fn locker(line: &str, inode: u64, bytes: &RangeInclusive<u64>) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "POSIX", _, "WRITE", process, file, first, last] = words[..] else { return None };
    let is_file = file.rsplit(':').next()?.parse() == Ok(inode);
    let last = if last == "EOF" { u64::MAX } else { last.parse().ok()? };
    let is_locked = first.parse::<u64>().ok()? <= *bytes.end() && last >= *bytes.start();
    // A process outside the container counts as 0.
    process.parse().ok().filter(|process| *process > 0 && is_file && is_locked)
}

/// Describes a process by its number and, if known, its name.
pub(crate) fn described(process: u32) -> String {
    let mut text = format!("process {process}");
    if let Ok(name) = std::fs::read_to_string(format!("/proc/{process}/comm"))
        && !name.trim().is_empty()
    {
        _ = write!(text, " ({})", name.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_process_that_locked_a_byte_of_the_file() {
        let of = |line: &str| locker(line, 5678, &WAL_LOCKS);
        assert_eq!(of("1: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120"), Some(1234));
        assert_eq!(of("1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF"), Some(1234));
        for other in [
            "1: POSIX  ADVISORY  READ 1234 08:01:5678 120 120",
            "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF",
            "1: -> POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120",
            "1: POSIX  ADVISORY  WRITE 1234 08:01:15678 120 120",
            "1: POSIX  ADVISORY  WRITE 1234 08:01:5678 123 128",
            "1: POSIX  ADVISORY  WRITE 0 08:01:5678 120 120",
            "1: OFDLCK ADVISORY  WRITE -1 08:01:5678 120 120",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
