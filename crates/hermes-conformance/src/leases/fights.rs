//! Many workers that fight for one conversation.

use crate::fixture::{at, made};
use crate::history::{Event, Plan, prove, work};
use crate::{CaseResult, Setup};
use std::time::{Duration, Instant};

/// However owners are replaced (by force, after an expiry, after a release), none of them writes after the next one was
/// granted the lease; the order of the messages proves it.
pub async fn no_owner_writes_after_the_next_grant(setup: Setup) -> CaseResult {
    const WORKERS: u32 = 4;
    const ROUNDS: u32 = 40;
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let start = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..WORKERS {
        let store = setup.store().await;
        let plan = Plan { session: session.clone(), worker, rounds: ROUNDS, ttl: Duration::from_millis(20) };
        workers.spawn(async move {
            let mut events: Vec<Event> = Vec::new();
            let clock = || at(start.elapsed().as_secs_f64());
            work(&*store, &plan, &clock, &mut |event| events.push(event)).await.map(|()| events)
        });
    }
    let histories = workers.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let proved = prove(&*store, &session, &histories).await?;
    assert!(proved.grants >= 2 && proved.writes >= proved.grants / 2 && proved.refused > 0, "no fight: {proved}");
    assert_eq!(proved.unacknowledged, 0);
    Ok(())
}
