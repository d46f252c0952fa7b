//! Decides which calls may run concurrently. Calls that name the same session keep their order. A call that names no
//! session waits for the calls before it; one that may change any session also blocks the calls after it.

use std::collections::HashMap;
use tokio::sync::watch;

/// The sessions that a call may read or change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The sessions that these parameters name. A call that names none is treated as [`Lane::Look`].
    Sessions(&'static [&'static str]),
    /// Reads any session: runs after all earlier calls.
    Look,
    /// Changes any session: runs after all earlier calls and before all later ones.
    Change,
    /// Independent of the order.
    Free,
}

/// Closes when a call has been answered.
type Done = watch::Receiver<()>;

/// Guard that a call holds while it runs.
#[derive(Debug)]
pub(crate) struct Running {
    _sender: watch::Sender<()>,
}

/// The calls that must finish before a call runs.
#[derive(Debug, Default)]
pub(crate) struct Before(Vec<Done>);

impl Before {
    pub(crate) async fn wait(self) {
        for mut done in self.0 {
            while done.changed().await.is_ok() {}
        }
    }
}

/// Tracks the order of the running calls.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    last_of_session: HashMap<String, Done>,
    looks: Vec<Done>,
    last_change: Option<Done>,
}

/// Number of calls that are tracked before the finished ones are dropped.
const MAX_REMEMBERED: usize = 1024;

impl Scheduler {
    /// Schedules a call. Returns the calls that it waits for, and the guard that it holds while it runs.
    pub(crate) fn enter(&mut self, lane: Lane, sessions: Vec<String>) -> (Before, Running) {
        let (sender, done) = watch::channel(());
        let mut before = Before::default();
        match lane {
            Lane::Free => {}
            Lane::Sessions(_) if !sessions.is_empty() => {
                before.0.extend(self.last_change.clone());
                for session in sessions {
                    before.0.extend(self.last_of_session.insert(session, done.clone()));
                }
            }
            Lane::Sessions(_) | Lane::Look => {
                before.0.extend(self.last_change.clone());
                before.0.extend(self.last_of_session.values().cloned());
                self.looks.push(done);
            }
            Lane::Change => {
                before.0.extend(self.last_change.replace(done));
                before.0.extend(self.last_of_session.drain().map(|(_, done)| done));
                before.0.append(&mut self.looks);
            }
        }
        self.forget();
        (before, Running { _sender: sender })
    }

    fn forget(&mut self) {
        let is_running = |done: &Done| done.has_changed().is_ok();
        if self.last_of_session.len() > MAX_REMEMBERED {
            self.last_of_session.retain(|_, done| is_running(done));
        }
        if self.looks.len() > MAX_REMEMBERED {
            self.looks.retain(is_running);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a call may run at once.
    async fn is_free(before: Before) -> bool {
        tokio::select! {
            biased;
            () = before.wait() => true,
            () = std::future::ready(()) => false,
        }
    }

    fn one(scheduler: &mut Scheduler, session: &str) -> (Before, Running) {
        scheduler.enter(Lane::Sessions(&["session_id"]), vec![session.to_owned()])
    }

    #[tokio::test]
    async fn a_session_waits_for_itself_alone() {
        let mut scheduler = Scheduler::default();
        let (_, first) = one(&mut scheduler, "a");
        let (other, _other) = one(&mut scheduler, "b");
        assert!(is_free(other).await);
        let (before, _held) = one(&mut scheduler, "a");
        assert!(!is_free(before).await);
        let (before, _held) = one(&mut scheduler, "a");
        drop(first);
        assert!(!is_free(before).await, "the one between is still under way");
    }

    #[tokio::test]
    async fn what_is_done_is_not_waited_for() {
        let mut scheduler = Scheduler::default();
        drop(one(&mut scheduler, "a"));
        assert!(is_free(one(&mut scheduler, "a").0).await);
    }

    #[tokio::test]
    async fn a_look_sees_what_came_before_and_holds_up_nobody() {
        let mut scheduler = Scheduler::default();
        let (_, held) = one(&mut scheduler, "a");
        let (before, _look) = scheduler.enter(Lane::Look, vec![]);
        let (other, _other) = one(&mut scheduler, "b");
        assert!(is_free(other).await);
        drop(held);
        assert!(is_free(before).await);
    }

    #[tokio::test]
    async fn a_change_stands_between() {
        let mut scheduler = Scheduler::default();
        let (_, look) = scheduler.enter(Lane::Look, vec![]);
        let (before, change) = scheduler.enter(Lane::Change, vec![]);
        let (after, _held) = one(&mut scheduler, "a");
        assert!(!is_free(after).await);
        drop(look);
        assert!(is_free(before).await);
        let (after, _held) = one(&mut scheduler, "b");
        drop(change);
        assert!(is_free(after).await);
        assert!(is_free(scheduler.enter(Lane::Free, vec![]).0).await);
    }
}
