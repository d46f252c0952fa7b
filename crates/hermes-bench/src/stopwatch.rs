//! Wall time, CPU time and percentiles, reported in the same way by every measurement.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::time::Instant;

/// Measures from its creation on.
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: f64,
    user: f64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_seconds(), user: user_seconds() }
    }

    /// Returns the wall time so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Returns the CPU time so far, of all threads of this process including finished ones; the same clock as Python's
    /// `process_time`.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        cpu_seconds() - self.cpu
    }

    /// Returns the part of it outside the kernel, with a resolution of 10 ms. The kernel's part is mostly syncing
    /// commits to disk.
    pub(crate) fn user_seconds(&self) -> f64 {
        user_seconds() - self.user
    }
}

fn user_seconds() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The time is the twelfth field after the name of the program, which may contain any character.
    let ticks = status.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(11)?.parse::<f64>().ok());
    ticks.unwrap_or(f64::NAN) / 100.0
}

fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Returns median and tail of times in milliseconds.
pub(crate) fn percentiles(mut samples: Vec<f64>) -> Value {
    samples.sort_by(f64::total_cmp);
    let at = |share: f64| samples.get(((samples.len() as f64 * share) as usize).min(samples.len().saturating_sub(1)));
    json!({"n": samples.len(), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": samples.last()})
}
