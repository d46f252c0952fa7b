//! What a process takes for known of a server, so as not to ask each time.
//!
//! A server that failed may have forgotten what it told before, and one that took its place may never have known it. Either way its connections are new
//! ones. So a connection that was made later than all that were met before begins an epoch in which nothing is known yet, whoever had it first, and what
//! was found out in an epoch is noted in that epoch alone.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What is known of a server, in one epoch after the other.
#[derive(Debug, Default)]
pub struct Knowledge<T>(Mutex<State<T>>);

#[derive(Debug, Default)]
struct State<T> {
    epoch: Epoch,
    known: T,
}

/// Between two connections that were each the newest.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(Option<Instant>);

impl<T: Default> Knowledge<T> {
    /// Meets a connection, which was made at some time, before anything known is used on it. The epoch is what [`note`](Self::note) asks for.
    pub fn meet(&self, made: Instant) -> Epoch {
        let mut state = self.state();
        if state.epoch.0.is_none_or(|newest| newest < made) {
            *state = State { epoch: Epoch(Some(made)), known: T::default() };
        }
        state.epoch
    }

    /// Reads what is known.
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.state().known)
    }

    /// Notes what was found out on a connection that was met in an epoch; nothing, if another has begun since.
    pub fn note(&self, epoch: Epoch, note: impl FnOnce(&mut T)) {
        let mut state = self.state();
        if state.epoch == epoch {
            note(&mut state.known);
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_newer_connection_knows_nothing() {
        let knowledge = Knowledge::<Vec<&str>>::default();
        let first = Instant::now();
        let second = first + Duration::from_secs(1);
        let old = knowledge.meet(first);
        knowledge.note(old, |known| known.push("a"));
        assert_eq!(knowledge.meet(first), old, "met before");
        knowledge.read(|known| assert_eq!(known, &["a"]));

        let new = knowledge.meet(second);
        knowledge.read(|known| assert!(known.is_empty(), "{known:?}"));
        knowledge.note(old, |known| known.push("b"));
        knowledge.read(|known| assert!(known.is_empty(), "found out before: {known:?}"));
        knowledge.note(new, |known| known.push("c"));
        assert_eq!(knowledge.meet(first), new, "an older one changes nothing");
        knowledge.read(|known| assert_eq!(known, &["c"]));
    }
}
