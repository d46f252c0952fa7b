//! What a process takes for known of a server, so as not to ask each time.
//!
//! A server that failed may have forgotten what it told before, and one that took its place may never have known it. So what is known belongs to the
//! server as it was met, and to an epoch: with another server, with a connection that was made later than all others where that tells of a new start, and
//! when something is not where it was left, another epoch begins, in which nothing is known yet. What was found out in an epoch is noted in that epoch
//! alone.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What is known of a server, in one epoch after the other.
#[derive(Debug, Default)]
pub struct Knowledge<T>(Mutex<State<T>>);

#[derive(Debug, Default)]
struct State<T> {
    epoch: Epoch,
    /// What the server calls itself.
    server: Option<Box<str>>,
    /// When the newest connection was made.
    made: Option<Instant>,
    known: T,
}

/// How often everything was forgotten.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(u64);

impl<T: Default> Knowledge<T> {
    /// Meets a server, as it calls itself, over a connection that was made at some time, if that matters: a server that does not tell its starts apart is
    /// known anew with each newer connection. The epoch is what the others ask for.
    pub fn meet(&self, server: &str, made: Option<Instant>) -> Epoch {
        let mut state = self.state();
        if state.server.as_deref() != Some(server) || state.made < made {
            let epoch = state.epoch.next();
            *state = State { epoch, server: Some(server.into()), made, known: T::default() };
        }
        state.epoch
    }

    /// Takes nothing for known any more.
    pub fn forget(&self) {
        let mut state = self.state();
        state.epoch = state.epoch.next();
        state.known = T::default();
    }

    /// The epoch of the server that was met last.
    pub fn epoch(&self) -> Epoch {
        self.state().epoch
    }

    /// Reads what is known in an epoch; nothing is, if another has begun since.
    pub fn read<R>(&self, epoch: Epoch, read: impl FnOnce(&T) -> R) -> R {
        let state = self.state();
        if state.epoch == epoch { read(&state.known) } else { read(&T::default()) }
    }

    /// Notes what was found out in an epoch; nothing, if another has begun since.
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
        // A connection to the one before is still there.
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
