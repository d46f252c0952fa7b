//! Prunes conversations that were inactive for some days.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_session::Timestamp;
use hermes_session::retention::{RetentionPolicy, prune};
use serde_json::{Value, json};

/// Prunes, then does the deferred work; the CPU time covers both.
pub(crate) async fn run(file: &str, now: f64, days: f64) -> Result<Value, Anything> {
    let store = crate::open(file)?;
    let watch = Stopwatch::start();
    let policy = RetentionPolicy::new(days, None)?;
    let pruned = prune(&store, &policy, Timestamp::from_seconds(now)?, &mut |_, _| {}).await?;
    let seconds = watch.seconds();
    crate::settle(store).await?;
    Ok(json!({
        "sessions": pruned.sessions, "messages": pruned.messages, "seconds": seconds,
        "seconds_settled": watch.seconds(), "cpu_seconds": watch.cpu_seconds(),
    }))
}
