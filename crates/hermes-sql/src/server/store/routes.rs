//! Routes.

/// Implements `RouteStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_routes {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use async_trait::async_trait;
            use hermes_session::live::{ResetCause, Route, RouteKey, RoutePatch, Switch, SwitchTo, Switched};
            use hermes_session::{Request, RouteStore, SessionId, StoreError};
            use $crate::job;
            use $crate::server::routes;

            #[async_trait]
            impl RouteStore for $store {
                async fn route(&self, key: &RouteKey) -> Result<Option<Route>, StoreError> {
                    key.check()?;
                    job!(&self.database, Purpose::Read, "read a route", |transaction| routes::read(transaction, key))
                }

                async fn routes_of(&self, session: &SessionId) -> Result<Vec<Route>, StoreError> {
                    job!(&self.database, Purpose::Read, "read routes", |transaction| routes::of(transaction, session))
                }

                async fn switch(&self, switch: &Switch, request: &Request) -> Result<Switched, StoreError> {
                    switch.check()?;
                    let mut switch = switch.clone();
                    if let SwitchTo::New(new) = &mut switch.to {
                        **new = new.as_ref().clone().checked()?;
                    }
                    job!(&self.database, Purpose::write(&[]), "switch a route", |transaction| routes::switch(
                        transaction,
                        &switch,
                        request
                    ))
                }

                async fn rekey(&self, from: &RouteKey, to: &RouteKey, request: &Request) -> Result<bool, StoreError> {
                    from.check()?;
                    to.check()?;
                    job!(&self.database, Purpose::write(&[]), "move a route", |transaction| routes::rekey(
                        transaction,
                        from,
                        to,
                        request
                    ))
                }

                async fn patch_route(
                    &self,
                    key: &RouteKey,
                    patch: &RoutePatch,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    key.check()?;
                    patch.check()?;
                    job!(&self.database, Purpose::write(&[]), "change a route", |transaction| routes::patch(
                        transaction,
                        key,
                        patch,
                        request
                    ))
                }

                async fn routes(&self, after: Option<&RouteKey>, limit: u32) -> Result<Vec<Route>, StoreError> {
                    after.map_or(Ok(()), RouteKey::check)?;
                    job!(&self.database, Purpose::Read, "list routes", |transaction| routes::list(
                        transaction,
                        after,
                        limit
                    ))
                }

                async fn reset_cause(&self, id: &SessionId) -> Result<Option<ResetCause>, StoreError> {
                    job!(&self.database, Purpose::Read, "read the cause of a reset", |transaction| routes::cause(
                        transaction,
                        id
                    ))
                }
            }
        };
    };
}
