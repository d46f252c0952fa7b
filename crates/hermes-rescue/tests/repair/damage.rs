//! Ways to damage a file, each with a fixed seed.

use crate::fixture::Sound;
use std::path::Path;

/// A way to damage a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Head,
    FirstPage,
    Schema,
    Interior,
    Leaf,
    Sessions,
    Overflow,
    Index,
    Freelist,
    FullText,
    Cut,
    Zeroed,
    Garbage,
    Sectors,
    Log,
    CutLog,
}

pub(crate) const WAYS: [Way; 16] = [
    Way::Head,
    Way::FirstPage,
    Way::Schema,
    Way::Interior,
    Way::Leaf,
    Way::Sessions,
    Way::Overflow,
    Way::Index,
    Way::Freelist,
    Way::FullText,
    Way::Cut,
    Way::Zeroed,
    Way::Garbage,
    Way::Sectors,
    Way::Log,
    Way::CutLog,
];

impl Way {
    /// Returns whether it needs a file with a WAL.
    pub(crate) const fn is_of_log(self) -> bool {
        matches!(self, Self::Log | Self::CutLog)
    }
}

/// Pseudo-random numbers, the same on every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }

    fn some(&mut self, of: &[usize], count: usize) -> Vec<usize> {
        if of.is_empty() { Vec::new() } else { (0..count).map(|_| of[self.roll(of.len())]).collect() }
    }
}

/// Damages a copy. Returns the pages that were hit.
pub(crate) fn damage(sound: &Sound, copy: &Path, way: Way, dice: &mut Dice) -> Vec<usize> {
    let log = copy.with_file_name("state.db-wal");
    let mut bytes = std::fs::read(copy).unwrap();
    let mut hit = match way {
        Way::Head => Vec::new(),
        Way::FirstPage => vec![1],
        Way::Schema => sound.of("sqlite_schema", "leaf"),
        Way::Interior => dice.some(&sound.of("messages", "internal"), 2),
        Way::Leaf => dice.some(&sound.of("messages", "leaf"), 3),
        Way::Sessions => [sound.of("sessions", "leaf"), sound.of("sessions", "internal")].concat(),
        Way::Overflow => dice.some(&sound.of("messages", "overflow"), 4),
        Way::Index => {
            let indexes = ["idx_messages_session", "sqlite_autoindex_sessions_1", "idx_sessions_started", "hx_session"];
            indexes.iter().flat_map(|index| [sound.of(index, "leaf"), sound.of(index, "internal")].concat()).collect()
        }
        Way::Freelist => dice.some(&sound.free, 8),
        Way::FullText => dice.some(&sound.of("messages_fts_data", "leaf"), 6),
        Way::Cut => (2 + dice.roll(sound.count - 2)..=sound.count).collect(),
        Way::Zeroed | Way::Garbage | Way::Sectors => (0..6).map(|_| 2 + dice.roll(sound.count - 1)).collect(),
        Way::Log | Way::CutLog => Vec::new(),
    };
    hit.sort_unstable();
    hit.dedup();
    // Half of the files get zeros, half of them garbage.
    let is_garbage = way == Way::Garbage || (way != Way::Zeroed && dice.roll(2) == 0);
    let spoil = |part: &mut [u8], dice: &mut Dice| {
        part.iter_mut().for_each(|byte| *byte = if is_garbage { dice.roll(256) as u8 } else { 0 });
    };
    match way {
        Way::Head => spoil(&mut bytes[..100], dice),
        Way::Cut => {
            // Often in the middle of a page.
            let keep = (hit[0] - 1) * sound.page_size + dice.roll(sound.page_size);
            bytes.truncate(keep);
        }
        Way::Log => {
            let mut frames = std::fs::read(&log).unwrap();
            let size = 24 + sound.page_size;
            let start = 32 + dice.roll((frames.len() - 32) / size) * size + dice.roll(size - 200);
            spoil(&mut frames[start..start + 200], dice);
            std::fs::write(&log, frames).unwrap();
        }
        Way::CutLog => {
            let mut frames = std::fs::read(&log).unwrap();
            let keep = dice.roll(frames.len());
            frames.truncate(keep);
            std::fs::write(&log, frames).unwrap();
        }
        _ => {
            for page in &hit {
                let start = (page - 1) * sound.page_size;
                let from = if way == Way::Sectors { sound.page_size.min(512) / 2 } else { 0 };
                spoil(&mut bytes[start + from..start + sound.page_size], dice);
            }
        }
    }
    std::fs::write(copy, bytes).unwrap();
    hit
}
