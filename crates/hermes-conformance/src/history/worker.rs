//! A worker of a fight: takes the lease in every way, writes while it owns the conversation, and when it does not.

use super::{Event, Write};
use crate::fixture::live::{conversation, holder};
use crate::fixture::user;
use hermes_session::live::{Acquired, Fence, Grant, Lease, Renewed, Take, Terms};
use hermes_session::{Conflict, Request, SessionId, Store, StoreError, Timestamp};
use std::time::Duration;

/// The task of a worker.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The session that the workers fight for.
    pub session: SessionId,
    /// Number of the worker. It is its process id as a holder, and determines its decisions.
    pub worker: u32,
    /// Number of times that it asks for the lease.
    pub rounds: u32,
    /// Time to live of a lease.
    pub ttl: Duration,
}

/// Numbers that look random and are the same in each run.
struct Lot(u64);

impl Lot {
    /// Draws a number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

struct Worker<'a> {
    store: &'a dyn Store,
    plan: &'a Plan,
    clock: &'a (dyn Fn() -> Timestamp + Sync),
    record: &'a mut (dyn FnMut(Event) + Send),
    lot: Lot,
}

/// Fights for the lease of the plan's session. Each observation is recorded before the next call.
///
/// The clock has to be the same for all workers, as far as the store judges by the time of a request.
///
/// # Errors
/// If the store fails otherwise than by a conflict that a fight brings about.
pub async fn work(
    store: &dyn Store,
    plan: &Plan,
    clock: &(dyn Fn() -> Timestamp + Sync),
    record: &mut (dyn FnMut(Event) + Send),
) -> Result<(), StoreError> {
    let lot = Lot(u64::from(plan.worker) << 32);
    let mut worker = Worker { store, plan, clock, record, lot };
    let mut seen = None;
    for _ in 0..plan.rounds {
        seen = worker.round(seen).await?;
    }
    Ok(())
}

impl Worker<'_> {
    /// Asks for the lease, and owns the conversation for a while if it is granted. Returns the token of another owner.
    async fn round(&mut self, seen: Option<Fence>) -> Result<Option<Fence>, StoreError> {
        let take = match (self.lot.below(4), seen) {
            (0, Some(fence)) => Take::Force(fence),
            (1, Some(fence)) => Take::Dead(fence),
            (2, _) => Take::Idle,
            _ => Take::Free,
        };
        let (what, who) = (conversation(&self.plan.session), holder(self.plan.worker.into()));
        match self.store.acquire(&what, &who, Terms { ttl: self.plan.ttl, take }, &self.request()).await? {
            Acquired::Got(grant) => {
                self.own(&grant).await?;
                Ok(None)
            }
            Acquired::Held(lease) => {
                tokio::time::sleep(self.plan.ttl / 10).await;
                Ok(Some(lease.fence))
            }
        }
    }

    async fn own(&mut self, grant: &Grant) -> Result<(), StoreError> {
        let fence = grant.lease.fence;
        (self.record)(Event::Granted { fence: fence.0, newest: grant.newest.map_or(0, |message| message.0) });
        let mut number = 0;
        for _ in 0..1 + self.lot.below(4) {
            self.write(fence, &mut number).await?;
            match self.lot.below(8) {
                0 => self.renew(&grant.lease).await?,
                // Past the expiry, with a token that somebody else may have ended.
                1 => tokio::time::sleep(self.plan.ttl * 2).await,
                2 => tokio::task::yield_now().await,
                _ => {}
            }
        }
        if self.lot.below(2) == 0 && self.store.release(&grant.lease, &self.request()).await? {
            (self.record)(Event::Ended { fence: fence.0 });
        }
        if self.lot.below(2) == 0 {
            tokio::time::sleep(self.plan.ttl / 4).await;
            self.write(fence, &mut number).await?;
        }
        Ok(())
    }

    async fn write(&mut self, fence: Fence, number: &mut u32) -> Result<(), StoreError> {
        *number += 1;
        let write = Write { fence: fence.0, number: *number };
        (self.record)(Event::Trying(write));
        let message = [user(&write.to_string())];
        match self.store.append(&self.plan.session, &message, &self.request().fenced(fence)).await {
            Ok(_) => (self.record)(Event::Wrote(write)),
            Err(StoreError::Conflict(Conflict::Fenced(_))) => (self.record)(Event::Refused(write)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn renew(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let is_busy = self.lot.below(2) == 0;
        if let Renewed::Lost(_) = self.store.renew(lease, self.plan.ttl, is_busy, &self.request()).await? {
            (self.record)(Event::Ended { fence: lease.fence.0 });
        }
        Ok(())
    }

    fn request(&self) -> Request {
        Request::at((self.clock)())
    }
}
