//! Waits for the lock of a file, up to a deadline.
//!
//! The system wakes threads that block on such a lock in order, but has no deadline for them; polling has a deadline,
//! but no place in the queue. So a thread of its own blocks for the caller. If the caller gives up, the thread keeps
//! the place for the next call, or releases the lock at once.

use crate::write::worker::spawn;
use std::fs::File;
use std::io::ErrorKind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The outcome of waiting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// The lock is ours.
    Granted,
    /// The deadline passed.
    Late,
    /// The file can't be locked here.
    Failed,
}

#[derive(Debug)]
enum Stage {
    Idle,
    /// A caller wants the lock; the thread has not started to wait yet.
    Wanted(Arc<File>),
    /// The thread waits for the lock, and a caller waits for the thread.
    Waiting,
    /// The thread waits for the lock, but the caller has given up.
    Abandoned,
    Granted,
    Failed,
    /// The thread should end.
    Over,
}

struct Shared {
    stage: Mutex<Stage>,
    changed: Condvar,
}

impl Shared {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue for the lock. The thread starts when it is first needed, and ends as soon as possible after
/// this is dropped.
pub(super) struct Waiting(Option<Arc<Shared>>);

impl Waiting {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// Returns whether the thread still waits for a lock that its caller gave up. The file must not be locked otherwise
    /// then: it would be the same lock.
    pub(super) fn is_waiting(&self) -> bool {
        self.0.as_ref().is_some_and(|shared| matches!(*shared.stage(), Stage::Abandoned))
    }

    /// Waits for the lock.
    pub(super) fn wait(&mut self, file: &Arc<File>, deadline: Instant) -> Waited {
        let Some(shared) = self.start() else { return Waited::Failed };
        let mut stage = shared.stage();
        *stage = match *stage {
            Stage::Abandoned => Stage::Waiting,
            _ => Stage::Wanted(Arc::clone(file)),
        };
        shared.changed.notify_all();
        loop {
            match *stage {
                Stage::Granted => {
                    *stage = Stage::Idle;
                    return Waited::Granted;
                }
                Stage::Failed => {
                    *stage = Stage::Idle;
                    return Waited::Failed;
                }
                _ => {}
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                *stage = if matches!(*stage, Stage::Waiting) { Stage::Abandoned } else { Stage::Idle };
                return Waited::Late;
            }
            stage = shared.changed.wait_timeout(stage, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn start(&mut self) -> Option<Arc<Shared>> {
        if self.0.is_none() {
            let shared = Arc::new(Shared { stage: Mutex::new(Stage::Idle), changed: Condvar::new() });
            let thread = Arc::clone(&shared);
            // The thread is never joined: it may be blocked for as long as another process holds the lock, and then
            // holds nothing but the lock file.
            spawn("hermes-queue", move || stand(&thread)).ok()?;
            self.0 = Some(shared);
        }
        self.0.clone()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            *shared.stage() = Stage::Over;
            shared.changed.notify_all();
        }
    }
}

/// The thread: waits for the lock whenever a caller wants it.
fn stand(shared: &Shared) {
    let mut stage = shared.stage();
    loop {
        match &*stage {
            Stage::Over => return,
            Stage::Wanted(file) => {
                let file = Arc::clone(file);
                *stage = Stage::Waiting;
                drop(stage);
                let locked = lock(&file);
                stage = shared.stage();
                let wanted = matches!(*stage, Stage::Waiting);
                // The caller has given up, so the lock is released.
                if locked
                    && !wanted
                    && let Err(error) = file.unlock()
                {
                    tracing::warn!(%error, "writers' queue not unlocked");
                }
                *stage = match *stage {
                    Stage::Over => return,
                    Stage::Waiting if locked => Stage::Granted,
                    Stage::Waiting => Stage::Failed,
                    _ => Stage::Idle,
                };
                shared.changed.notify_all();
            }
            _ => stage = shared.changed.wait(stage).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Blocks until the file is locked. Returns `false` if that fails.
fn lock(file: &File) -> bool {
    loop {
        match file.lock() {
            Ok(()) => return true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(20)
    }

    fn some_day() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// Opens a file twice, as two processes would.
    fn two() -> (tempfile::NamedTempFile, Arc<File>, Arc<File>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || Arc::new(File::options().write(true).open(file.path()).unwrap());
        let (one, two) = (open(), open());
        (file, one, two)
    }

    #[test]
    fn the_lock_comes_when_it_is_given_back() {
        let (_file, ours, theirs) = two();
        theirs.lock().unwrap();
        let mut waiting = Waiting::new();
        assert_eq!(waiting.wait(&ours, soon()), Waited::Late);
        assert!(waiting.is_waiting());
        theirs.unlock().unwrap();
        assert_eq!(waiting.wait(&ours, some_day()), Waited::Granted);
        assert!(theirs.try_lock().is_err());
        ours.unlock().unwrap();
        theirs.try_lock().unwrap();
    }

    #[test]
    fn a_lock_that_nobody_waits_for_any_more_is_given_back_at_once() {
        for dropped in [false, true] {
            let (_file, ours, theirs) = two();
            theirs.lock().unwrap();
            let mut waiting = Waiting::new();
            assert_eq!(waiting.wait(&ours, soon()), Waited::Late);
            let kept = (!dropped).then_some(waiting);
            theirs.unlock().unwrap();
            // Waits until the thread is done with it.
            while Arc::strong_count(&ours) > 1 {
                std::thread::yield_now();
            }
            theirs.try_lock().unwrap();
            drop(kept);
        }
    }
}
