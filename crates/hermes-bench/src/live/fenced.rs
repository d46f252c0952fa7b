//! The cost of a fence: appends without one, with one, and with one and the newest message, by turns.

use super::{create, holder, now};
use crate::Anything;
use crate::stopwatch::Stopwatch;
use crate::stores::{self, Throwaway};
use hermes_session::live::{Acquired, Resource, Terms};
use hermes_session::{MessageId, NewMessage, Request, Role};
use serde_json::{Value, json};
use std::time::Duration;

/// Appends in a row of one kind.
const BLOCK: usize = 50;

/// Reports the CPU time of this process for each kind of append, and the ratios to an append without a fence.
pub(crate) async fn run(engine: &str, count: usize) -> Result<Value, Anything> {
    let place = Throwaway::new(engine)?;
    let store = stores::open(&place.url, false).await?;
    let id = create(&*store).await?;
    let terms = Terms::free(Duration::from_secs(3_600));
    let resource = Resource::Conversation(id.clone());
    let granted = store.acquire(&resource, &holder("fenced"), terms, &Request::at(now()?)).await?;
    let Acquired::Got(grant) = granted else { return Err("the lease of a new store is taken".into()) };
    let mut newest = MessageId(0);
    let mut cpu = [0.0; 3];
    for block in 0..count.div_ceil(BLOCK) * 3 {
        let kind = block % 3;
        let watch = Stopwatch::start();
        for _ in 0..BLOCK {
            let mut request = Request::at(now()?);
            if kind > 0 {
                request = request.fenced(grant.lease.fence);
            }
            if kind > 1 {
                request = request.after(newest);
            }
            let ids = store.append(&id, &[NewMessage::new(Role::User, "a message of some words")], &request).await?;
            newest = ids.last().copied().ok_or("an append without an id")?;
        }
        cpu[kind] += watch.cpu_seconds();
    }
    let each = cpu.map(|seconds| seconds * 1e6 / (count.div_ceil(BLOCK) * BLOCK) as f64);
    Ok(json!({
        "engine": engine, "appends_of_each_kind": count.div_ceil(BLOCK) * BLOCK,
        "plain_us": each[0], "fenced_us": each[1], "fenced_after_us": each[2],
        "fenced_ratio": each[1] / each[0], "fenced_after_ratio": each[2] / each[0],
    }))
}
