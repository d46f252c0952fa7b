//! Time and chance, which a caller may replace.

use async_trait::async_trait;
use std::time::Duration;
use tokio::time::Instant;

/// A clock, and a source of chance.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the time since some fixed moment. It never goes back.
    fn now(&self) -> Duration;

    /// Waits.
    async fn sleep(&self, wait: Duration);

    /// Returns a random number between 0 and 1.
    fn random(&self) -> f64;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Returns a clock that starts now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, wait: Duration) {
        tokio::time::sleep(wait).await;
    }

    fn random(&self) -> f64 {
        uuid::Uuid::new_v4().as_u128() as f64 / u128::MAX as f64
    }
}
