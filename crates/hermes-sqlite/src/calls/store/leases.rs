//! Leases.

use super::SqliteStore;
use crate::calls::leases;
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::live::lease::check_ttl;
use hermes_session::live::{Acquired, Holder, Lease, Renewed, Resource, Terms};
use hermes_session::{LeaseStore, Request, StoreError, Timestamp};
use std::time::Duration;

#[async_trait]
impl LeaseStore for SqliteStore {
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
        let (what, who, now) = (what.clone(), who.clone(), request.at);
        let work = move |database: &Database| leases::acquire(database, &what, &who, terms, now);
        self.workers.write("take a lease", work).await
    }

    async fn renew(&self, lease: &Lease, ttl: Duration, busy: bool, request: &Request) -> Result<Renewed, StoreError> {
        check_ttl(ttl)?;
        let (lease, now) = (lease.clone(), request.at);
        let work = move |database: &Database| leases::renew(database, &lease, ttl, busy, now);
        // A renewal that is lost leaves the earlier expiry, and the token.
        self.workers.write_unsynced("renew a lease", work).await
    }

    async fn release(&self, lease: &Lease, _request: &Request) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.workers.write("release a lease", move |database| leases::release(database, &lease)).await
    }

    async fn leases(&self, prefix: &str) -> Result<Vec<Lease>, StoreError> {
        let prefix = prefix.to_owned();
        self.workers.read_short("read leases", move |database| leases::list(database, &prefix)).await
    }

    async fn lease_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        Ok(now)
    }
}
