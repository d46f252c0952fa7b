//! Routes.

use super::super::ModelStore;
use async_trait::async_trait;
use hermes_session::live::{ResetCause, Route, RouteKey, RoutePatch, Switch, Switched};
use hermes_session::{Request, RouteStore, SessionId, StoreError};

#[async_trait]
impl RouteStore for ModelStore {
    async fn route(&self, _key: &RouteKey) -> Result<Option<Route>, StoreError> {
        todo!()
    }

    async fn routes_of(&self, _session: &SessionId) -> Result<Vec<Route>, StoreError> {
        todo!()
    }

    async fn switch(&self, _switch: &Switch, _request: &Request) -> Result<Switched, StoreError> {
        todo!()
    }

    async fn rekey(&self, _from: &RouteKey, _to: &RouteKey, _request: &Request) -> Result<bool, StoreError> {
        todo!()
    }

    async fn patch_route(&self, _key: &RouteKey, _patch: &RoutePatch, _request: &Request) -> Result<bool, StoreError> {
        todo!()
    }

    async fn routes(&self, _after: Option<&RouteKey>, _limit: u32) -> Result<Vec<Route>, StoreError> {
        todo!()
    }

    async fn reset_cause(&self, _id: &SessionId) -> Result<Option<ResetCause>, StoreError> {
        todo!()
    }
}
