//! Ctrl-C in work done in steps: the work ends between two steps, and the command reports where. A second Ctrl-C ends
//! the process at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The signal that asked the process to stop; 0 if none did. A signal reaches the whole process, so one value serves
/// every watcher.
static ASKED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Returns whether a signal asked the process to stop.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed) != 0
}

/// Notes that the process was asked to stop by SIGTERM, for commands that take signals themselves.
pub(crate) fn note_asked() {
    note(SIGTERM);
}

/// Notes that a person at the terminal interrupted, for commands that take signals themselves.
pub(crate) fn note_interrupted() {
    note(SIGINT);
}

fn note(signal: i32) {
    ASKED.store(signal.unsigned_abs() as usize, Ordering::Relaxed);
}

/// Returns whether [`note_interrupted`] was called.
pub(crate) fn is_interrupted() -> bool {
    ASKED.load(Ordering::Relaxed) == SIGINT.unsigned_abs() as usize
}

/// A request to stop, made by a signal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Makes signals ask to stop from now on. A command that never checks must not call this.
    pub(crate) fn watch() -> Self {
        let stop = Self { signal: Arc::clone(&ASKED) };
        let is_asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The first registration replaces the default, so it is the one that records the signal: a signal that
            // arrives before the others must not be lost.
            let registered = flag::register_usize(signal, Arc::clone(&stop.signal), signal.unsigned_abs() as usize)
                .and_then(|_| flag::register_conditional_default(signal, Arc::clone(&is_asked)))
                .and_then(|_| flag::register(signal, Arc::clone(&is_asked)));
            // Without a handler the signal ends the process at once, which is safe: every step is atomic.
            if let Err(error) = registered {
                tracing::warn!(signal, %error, "signal not handled; it ends the process at once");
            }
        }
        stop
    }

    /// Returns the signal that asked to stop, if one did.
    pub(crate) fn asked(&self) -> Option<u8> {
        u8::try_from(self.signal.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }
}
