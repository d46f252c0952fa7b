//! Cached facts about a server, so as not to query them each time.
//!
//! A server that failed may have lost what it reported before, and its replacement may never have had it. So facts
//! belong to one server, identified by its name, and to an epoch. A new epoch, without any facts, begins with another
//! server, when something is missing that was there, and, where a newer connection may mean a restart, with a
//! connection newer than all before. Facts found in an epoch are recorded in that epoch only.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Facts about a server, by epoch.
#[derive(Debug, Default)]
pub struct Knowledge<T>(Mutex<State<T>>);

#[derive(Debug, Default)]
struct State<T> {
    epoch: Epoch,
    /// Name that the server reports for itself.
    server: Option<Box<str>>,
    /// Time at which the newest connection was made.
    made: Option<Instant>,
    known: T,
}

/// Number of times that everything was forgotten.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(u64);

impl<T: Default> Knowledge<T> {
    /// Registers a server by the name it reports and returns the epoch for the other calls. `made` is the time at which
    /// the connection was made, for a server that does not report restarts: there each newer connection begins a new
    /// epoch.
    pub fn meet(&self, server: &str, made: Option<Instant>) -> Epoch {
        let mut state = self.state();
        if state.server.as_deref() != Some(server) || state.made < made {
            let epoch = state.epoch.next();
            *state = State { epoch, server: Some(server.into()), made, known: T::default() };
        }
        state.epoch
    }

    /// Forgets all facts and begins a new epoch.
    pub fn forget(&self) {
        let mut state = self.state();
        state.epoch = state.epoch.next();
        state.known = T::default();
    }

    /// Returns the epoch of the server registered last.
    pub fn epoch(&self) -> Epoch {
        self.state().epoch
    }

    /// Reads the facts of an epoch; there are none if another epoch has begun.
    pub fn read<R>(&self, epoch: Epoch, read: impl FnOnce(&T) -> R) -> R {
        let state = self.state();
        if state.epoch == epoch { read(&state.known) } else { read(&T::default()) }
    }

    /// Records facts found in an epoch; ignored if another epoch has begun.
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

impl Epoch {
    fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn known<'k>(knowledge: &Knowledge<Vec<&'k str>>, epoch: Epoch) -> Vec<&'k str> {
        knowledge.read(epoch, Clone::clone)
    }

    #[test]
    fn a_newer_connection_knows_nothing() {
        let knowledge = Knowledge::<Vec<&str>>::default();
        let first = Instant::now();
        let second = first + Duration::from_secs(1);
        let old = knowledge.meet("a", Some(first));
        knowledge.note(old, |known| known.push("a"));
        assert_eq!(knowledge.meet("a", Some(first)), old, "met before");
        assert_eq!(known(&knowledge, old), ["a"]);

        let new = knowledge.meet("a", Some(second));
        knowledge.note(old, |known| known.push("b"));
        assert!(known(&knowledge, new).is_empty() && known(&knowledge, old).is_empty(), "found out before");
        knowledge.note(new, |known| known.push("c"));
        assert_eq!(knowledge.meet("a", Some(first)), new, "an older one changes nothing");
        assert_eq!(known(&knowledge, new), ["c"]);
    }

    #[test]
    fn what_one_server_told_is_not_known_of_another() {
        let knowledge = Knowledge::<Vec<&str>>::default();
        let (older, newer) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        let new = knowledge.meet("b", Some(newer));
        knowledge.note(new, |known| known.push("new"));
        // A connection to the previous server is still in use.
        let old = knowledge.meet("a", Some(older));
        assert!(old != new && known(&knowledge, old).is_empty());
        knowledge.note(old, |known| known.push("old"));
        let new = knowledge.meet("b", Some(newer));
        assert!(known(&knowledge, new).is_empty(), "neither the other's nor what may have changed meanwhile");
    }

    #[test]
    fn what_is_forgotten_is_not_noted_by_whoever_knew_it() {
        let knowledge = Knowledge::<Vec<&str>>::default();
        let before = knowledge.meet("a", None);
        assert_eq!(before, knowledge.meet("a", None));
        knowledge.note(before, |known| known.push("a"));
        knowledge.forget();
        knowledge.note(before, |known| known.push("b"));
        assert_ne!(knowledge.epoch(), before);
        assert!(known(&knowledge, knowledge.epoch()).is_empty());
        assert_eq!(knowledge.meet("a", None), knowledge.epoch(), "it is the same server");
    }
}
