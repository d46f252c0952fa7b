//! Message states: whether a message is replayed, found by search, or only kept.

use std::fmt;

/// The state of a message, as newer agents keep it in `messages.active` and `messages.compacted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MessageState {
    /// Part of the transcript: replayed and found by search.
    #[default]
    Active,
    /// Summarized by a compaction in the same session (`active = 0, compacted = 1`): not replayed, found by search.
    Compacted,
    /// Taken back by a rewind (`active = 0, compacted = 0`): neither replayed nor found, only kept.
    Undone,
}

impl MessageState {
    /// Every state, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::Active, Self::Compacted, Self::Undone];

    /// Returns the state of a row. A NULL in `active` counts as active, because some upgrades left it so.
    pub const fn from_columns(active: Option<i64>, compacted: Option<i64>) -> Self {
        match (active, compacted) {
            (Some(0), Some(1)) => Self::Compacted,
            (Some(0), _) => Self::Undone,
            _ => Self::Active,
        }
    }

    /// Returns the values of the columns `active` and `compacted`.
    pub const fn columns(self) -> (i64, i64) {
        match self {
            Self::Active => (1, 0),
            Self::Compacted => (0, 1),
            Self::Undone => (0, 0),
        }
    }

    /// Returns the name of the state in exports and JSON output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Compacted => "compacted",
            Self::Undone => "undone",
        }
    }

    /// Parses the name of a state; `None` if there is no such state.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Returns whether search finds a message of this state.
    pub const fn is_said(self) -> bool {
        !matches!(self, Self::Undone)
    }

    /// Returns whether a message of this state is replayed.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Active)
    }
}

impl fmt::Display for MessageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The number of messages of each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateCounts {
    /// Messages of the transcript.
    pub active: u64,
    /// Messages that were summarized by a compaction.
    pub compacted: u64,
    /// Messages that were undone.
    pub undone: u64,
}

impl StateCounts {
    /// Counts one message.
    pub const fn add(&mut self, state: MessageState) {
        match state {
            MessageState::Active => self.active += 1,
            MessageState::Compacted => self.compacted += 1,
            MessageState::Undone => self.undone += 1,
        }
    }

    /// Adds another count.
    pub const fn add_all(&mut self, other: Self) {
        self.active += other.active;
        self.compacted += other.compacted;
        self.undone += other.undone;
    }

    /// Returns the number of messages of all states.
    pub const fn total(self) -> u64 {
        self.active + self.compacted + self.undone
    }

    /// Returns the counts of messages that are not active, such as `12 compacted, 2 undone`; `None` if every message
    /// is.
    pub fn not_active(self) -> Option<String> {
        let kinds = [(self.compacted, MessageState::Compacted), (self.undone, MessageState::Undone)];
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, state)| format!("{count} {state}"));
        Some(kinds.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
    }

    /// Returns the counts by state, such as `5 active, 12 compacted, 2 undone`; `None` if every message is active.
    pub fn by_state(self) -> Option<String> {
        (self.total() > self.active)
            .then(|| format!("{} active, {} compacted, {} undone", self.active, self.compacted, self.undone))
    }
}

impl FromIterator<MessageState> for StateCounts {
    fn from_iter<I: IntoIterator<Item = MessageState>>(states: I) -> Self {
        let mut counts = Self::default();
        states.into_iter().for_each(|state| counts.add(state));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_names_read_back() {
        for state in MessageState::ALL {
            let (active, compacted) = state.columns();
            assert_eq!(MessageState::from_columns(Some(active), Some(compacted)), state);
            assert_eq!(MessageState::from_name(state.as_str()), Some(state));
        }
        assert_eq!(MessageState::from_columns(None, Some(1)), MessageState::Active);
        assert_eq!(MessageState::from_columns(Some(0), None), MessageState::Undone);
    }

    #[test]
    fn states_are_reported_where_there_are_several() {
        use MessageState::{Active, Compacted, Undone};
        assert_eq!(StateCounts::from_iter([Active, Active]).by_state(), None);
        let mixed = StateCounts::from_iter([Active, Compacted, Undone, Compacted]);
        assert_eq!(mixed.not_active().as_deref(), Some("2 compacted, 1 undone"));
        assert_eq!(StateCounts::from_iter([Active, Undone]).not_active().as_deref(), Some("1 undone"));
        assert_eq!(StateCounts::from_iter([Active]).not_active(), None);
        assert_eq!((mixed.total(), mixed.by_state().as_deref()), (4, Some("1 active, 2 compacted, 1 undone")));
    }
}
