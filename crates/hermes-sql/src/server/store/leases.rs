//! Leases.

/// Implements `LeaseStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_leases {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use async_trait::async_trait;
            use hermes_session::live::lease::check_ttl;
            use hermes_session::live::{Acquired, Holder, Lease, Renewed, Resource, Terms};
            use hermes_session::{LeaseStore, Request, StoreError, Timestamp};
            use std::time::Duration;
            use $crate::job;
            use $crate::server::leases;

            #[async_trait]
            impl LeaseStore for $store {
                async fn acquire(
                    &self,
                    what: &Resource,
                    who: &Holder,
                    terms: Terms,
                    _: &Request,
                ) -> Result<Acquired, StoreError> {
                    what.check()?;
                    who.check()?;
                    terms.check()?;
                    job!(&self.database, Purpose::write(&[]), "take a lease", |transaction| leases::acquire(
                        transaction,
                        what,
                        who,
                        terms
                    ))
                }

                async fn renew(
                    &self,
                    lease: &Lease,
                    ttl: Duration,
                    busy: bool,
                    _: &Request,
                ) -> Result<Renewed, StoreError> {
                    check_ttl(ttl)?;
                    job!(&self.database, Purpose::write(&[]), "renew a lease", |transaction| leases::renew(
                        transaction,
                        lease,
                        ttl,
                        busy
                    ))
                }

                async fn release(&self, lease: &Lease, _: &Request) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "release a lease", |transaction| leases::release(
                        transaction,
                        &lease.resource,
                        lease.fence
                    ))
                }

                async fn leases(&self, prefix: &str) -> Result<Vec<Lease>, StoreError> {
                    if prefix.contains('\0') {
                        return Ok(Vec::new());
                    }
                    job!(&self.database, Purpose::Read, "list leases", |transaction| leases::list(transaction, prefix))
                }

                async fn lease_time(&self, _: Timestamp) -> Result<Timestamp, StoreError> {
                    job!(&self.database, Purpose::Read, "read the server's time", |transaction| leases::time(
                        transaction
                    ))
                }
            }
        };
    };
}
