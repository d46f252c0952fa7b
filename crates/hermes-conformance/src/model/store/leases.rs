//! Leases.

use super::super::ModelStore;
use async_trait::async_trait;
use hermes_session::live::lease::check_ttl;
use hermes_session::live::{Acquired, Holder, Lease, Renewed, Resource, Terms};
use hermes_session::{LeaseStore, Request, StoreError, Timestamp};
use std::time::Duration;

#[async_trait]
impl LeaseStore for ModelStore {
    async fn acquire(
        &self,
        what: &Resource,
        who: &Holder,
        terms: Terms,
        request: &Request,
    ) -> Result<Acquired, StoreError> {
        what.check()?;
        who.check()?;
        terms.check()?;
        self.state().acquire(what, who, terms, request.at)
    }

    async fn renew(&self, lease: &Lease, ttl: Duration, busy: bool, request: &Request) -> Result<Renewed, StoreError> {
        check_ttl(ttl)?;
        Ok(self.state().renew(lease, ttl, busy, request.at))
    }

    async fn release(&self, lease: &Lease, _: &Request) -> Result<bool, StoreError> {
        Ok(self.state().release(lease))
    }

    async fn leases(&self, prefix: &str) -> Result<Vec<Lease>, StoreError> {
        let state = self.state();
        let named = state.leases.iter().filter(|(key, _)| key.starts_with(prefix));
        Ok(named.map(|(_, lease)| lease.clone()).collect())
    }

    async fn lease_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        Ok(now)
    }
}
