//! State that the members of the queue share, kept in the lock file and written by the holder of the lock.
//!
//! Correctness does not depend on it: an unreadable record counts as empty. Times are from the system's monotonic
//! clock, which all processes share until the machine restarts; a time in the future is from before a restart.

use super::pace;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

const MAGIC: &[u8; 8] = b"hxqueue\x01";
/// The bytes that every version of the record starts with.
const SIGNATURE: &[u8] = b"hxqueue";
/// Length of the whole record; the last eight bytes are a checksum of the others.
const LENGTH: usize = 128;
/// Offset, after the record, of the time when a writer last began to wait, which that writer stores.
const CAME: u64 = LENGTH as u64;
/// Maximum length of the file.
pub(super) const FILE_LENGTH: u64 = CAME + 8;
const OP: std::ops::Range<usize> = 64..120;

/// A time of the clock that all processes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Moment(pub(super) u64);

impl Moment {
    pub(crate) fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        Self(seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0)))
    }

    /// Returns the time from `earlier` to this; zero if `earlier` is later.
    pub(crate) const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The stage of the holder of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    /// It writes, or rests.
    Writing = 1,
    /// It waits for a foreign writer.
    Waiting = 2,
}

/// The holder of the queue, and its operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) process: u32,
    pub(crate) since: Moment,
    pub(crate) stage: Stage,
    /// The operation, as a verb.
    pub(crate) op: String,
}

impl Holder {
    /// Returns whether it has held the slot for too long. A holder that waits for a foreign writer is not stuck: every
    /// other writer would have to wait too.
    pub(crate) fn is_stuck(&self, limit: Duration, now: Moment) -> bool {
        self.stage == Stage::Writing && now.since(self.since) >= limit
    }
}

/// The shared record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    pub(crate) holder: Option<Holder>,
    /// When the last slot started, ended or not.
    pub(crate) entered: Moment,
    /// When a member last released SQLite's lock.
    pub(crate) released: Moment,
    /// Use of SQLite's lock that free time has not made up for.
    pub(crate) strain: Duration,
    /// The newest message that members know of.
    pub(crate) newest: Option<i64>,
    /// When a message of a foreign writer was last noticed.
    pub(crate) foreign: Option<Moment>,
    /// When a member last started a checkpoint.
    pub(crate) folded: Moment,
}

impl State {
    /// Reads the record; an empty one if there is no valid record.
    pub(crate) fn read(file: &File, now: Moment) -> Self {
        let mut bytes = [0; LENGTH];
        match file.read_exact_at(&mut bytes, 0) {
            Ok(()) => Self::decode(&bytes, now).unwrap_or_default(),
            Err(_) => Self::default(),
        }
    }

    /// Writes the record. If that fails, the other members only know less.
    pub(crate) fn write(&self, file: &File) {
        if let Err(error) = file.write_all_at(&self.encode(), 0) {
            tracing::debug!(%error, "state of the writers' queue not written");
        }
    }

    /// Returns whether a foreign writer was active recently.
    pub(crate) fn is_beside_foreign(&self, now: Moment) -> bool {
        self.foreign.is_some_and(|seen| now.since(seen) < pace::MEMORY)
    }

    /// Compares the newest message at the start of a slot: one that no member recorded is from a foreign writer.
    pub(crate) fn look_for_foreign(&mut self, newest: i64, now: Moment) {
        if self.newest.is_some_and(|known| newest > known) {
            self.foreign = Some(now);
        }
    }

    fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(0, u64::from_le_bytes(*MAGIC));
        put(8, self.released.0);
        put(16, u64::try_from(self.strain.as_nanos()).unwrap_or(u64::MAX));
        put(24, self.newest.map_or(0, |id| id.cast_unsigned().wrapping_add(1)));
        put(32, self.foreign.map_or(0, |seen| seen.0));
        put(40, self.folded.0);
        put(48, self.entered.0);
        if let Some(holder) = &self.holder {
            let op = &holder.op.as_bytes()[..holder.op.floor_char_boundary(OP.len())];
            put(56, u64::from(holder.process) | u64::from(holder.stage as u8) << 32 | (op.len() as u64) << 40);
            bytes[OP.start..OP.start + op.len()].copy_from_slice(op);
        }
        let sum = sum(&bytes[..OP.end]);
        bytes[OP.end..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; LENGTH], now: Moment) -> Option<Self> {
        let get = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).unwrap_or(0);
        if bytes[..8] != *MAGIC || get(OP.end) != sum(&bytes[..OP.end]) {
            return None;
        }
        let times = [get(8), get(32), get(40), get(48)].map(Moment);
        if times.iter().any(|time| *time > now) {
            return None;
        }
        let [released, foreign, folded, entered] = times;
        let [word, length] = [get(56), get(56) >> 40 & 0xff];
        let stage = match word >> 32 & 0xff {
            1 => Some(Stage::Writing),
            2 => Some(Stage::Waiting),
            _ => None,
        };
        let op = bytes[OP].get(..length as usize).and_then(|op| std::str::from_utf8(op).ok())?;
        let process = word as u32;
        Some(Self {
            holder: stage.map(|stage| Holder { process, since: entered, stage, op: op.to_owned() }),
            entered,
            released,
            strain: Duration::from_nanos(get(16)),
            newest: get(24).checked_sub(1).map(u64::cast_signed),
            foreign: (foreign > Moment::default()).then_some(foreign),
            folded,
        })
    }
}

/// Records that a writer waits, for the holder of the slot.
pub(super) fn come(file: &File, now: Moment) {
    if let Err(error) = file.write_all_at(&now.0.to_le_bytes(), CAME) {
        tracing::debug!(%error, "state of the writers' queue not written");
    }
}

/// Returns whether a writer began to wait during the slot that began at `ours` and no slot was granted since. It may
/// have given up.
pub(super) fn is_somebody_next(file: &File, ours: Moment, now: Moment) -> bool {
    let mut came = [0; 8];
    let came = file.read_exact_at(&mut came, CAME).map_or(Moment::default(), |()| Moment(u64::from_le_bytes(came)));
    (ours..=now).contains(&came) && State::read(file, now).entered == ours
}

/// Returns whether the content of a file of this length can be ours: it is empty, starts with our signature, or has
/// zeros where no record was written yet.
pub(super) fn is_ours(file: &File, length: u64) -> bool {
    let mut bytes = [0; LENGTH];
    let there = usize::try_from(length).map_or(LENGTH, |length| length.min(LENGTH));
    file.read_exact_at(&mut bytes[..there], 0).is_ok() && (bytes.starts_with(SIGNATURE) || bytes == [0; LENGTH])
}

/// FNV-1a checksum: distinguishes a torn or foreign record from a whole one.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment(1_000_000_000_000);

    fn full() -> State {
        State {
            holder: Some(Holder {
                process: u32::MAX,
                since: Moment(999_000_000_000),
                stage: Stage::Waiting,
                op: "append messages".into(),
            }),
            entered: Moment(999_000_000_000),
            released: Moment(998_000_000_000),
            strain: Duration::from_micros(12_345),
            newest: Some(0),
            foreign: Some(Moment(997_000_000_000)),
            folded: Moment(996_000_000_000),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(State::read(&file, NOW), State::default(), "there is nothing yet");
        let over = State { holder: None, ..full() };
        for state in [full(), over, State::default(), State { newest: Some(i64::MAX - 1), ..full() }] {
            state.write(&file);
            assert_eq!(State::read(&file, NOW), state);
        }
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let mut state = full();
        let holder = state.holder.as_mut().unwrap();
        holder.op = "ä".repeat(40);
        let read = State::decode(&state.encode(), NOW).unwrap();
        assert_eq!(read.holder.unwrap().op, "ä".repeat(28));
    }

    #[test]
    fn damage_and_another_boot_count_as_nothing() {
        let whole = full().encode();
        for at in 0..LENGTH {
            let mut damaged = whole;
            damaged[at] ^= 1;
            assert_eq!(State::decode(&damaged, NOW), None, "byte {at}");
        }
        assert_eq!(State::decode(&whole, Moment(998_500_000_000)), None, "a time that is yet to come");
        let short = tempfile::tempfile().unwrap();
        short.write_all_at(&whole[..LENGTH - 1], 0).unwrap();
        assert_eq!(State::read(&short, NOW), State::default());
    }

    #[test]
    fn who_came_to_wait_is_next_until_somebody_had_a_turn() {
        let file = tempfile::tempfile().unwrap();
        let second = |seconds: u64| Moment(seconds * 1_000_000_000);
        let is_next = |file: &File, now| is_somebody_next(file, second(5), second(now));
        State { entered: second(5), ..State::default() }.write(&file);
        assert!(!is_next(&file, 9), "nobody ever came");
        come(&file, second(4));
        assert!(!is_next(&file, 9), "that was before");
        come(&file, second(7));
        assert!(is_next(&file, 9));
        assert!(!is_next(&file, 6), "a time that is yet to come");
        State { entered: second(8), ..State::default() }.write(&file);
        assert!(!is_next(&file, 9), "they had their slot");
        assert_eq!(file.metadata().unwrap().len(), FILE_LENGTH);
    }

    #[test]
    fn a_message_that_no_member_told_of_is_foreign() {
        let second = |seconds: u64| Moment(seconds * 1_000_000_000);
        let mut state = State::default();
        state.look_for_foreign(7, second(1));
        assert!(!state.is_beside_foreign(second(1)), "the first look tells nothing");
        state.newest = Some(7);
        state.look_for_foreign(7, second(2));
        assert!(!state.is_beside_foreign(second(2)));
        state.look_for_foreign(8, second(3));
        assert!(state.is_beside_foreign(second(32)));
        assert!(!state.is_beside_foreign(second(33)), "that was long ago");
    }
}
