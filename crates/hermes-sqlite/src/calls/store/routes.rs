//! Routes.

use super::{SHORT, SqliteStore};
use crate::calls::routes;
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::live::{ResetCause, Route, RouteKey, RoutePatch, Switch, SwitchTo, Switched};
use hermes_session::{Request, RouteStore, SessionId, StoreError};

#[async_trait]
impl RouteStore for SqliteStore {
    async fn route(&self, key: &RouteKey) -> Result<Option<Route>, StoreError> {
        let key = key.clone();
        self.workers.read_short("read a route", move |database| routes::find(database, &key)).await
    }

    async fn routes_of(&self, session: &SessionId) -> Result<Vec<Route>, StoreError> {
        let session = session.clone();
        self.workers.read_short("read routes", move |database| routes::of_session(database, &session)).await
    }

    async fn switch(&self, switch: &Switch, request: &Request) -> Result<Switched, StoreError> {
        const OP: &str = "switch a route";
        let (switch, request) = (switch.clone().checked()?, request.clone());
        match &switch.to {
            SwitchTo::New(new) => {
                let id = new.id.clone();
                self.make(OP, id, move |database| routes::switch(database, &switch, &request)).await
            }
            SwitchTo::Existing(_) => {
                self.workers.write(OP, move |database| routes::switch(database, &switch, &request)).await
            }
        }
    }

    async fn rekey(&self, from: &RouteKey, to: &RouteKey, request: &Request) -> Result<bool, StoreError> {
        to.check()?;
        let (from, to, request) = (from.clone(), to.clone(), request.clone());
        self.workers.write("rename a route", move |database| routes::rekey(database, &from, &to, &request)).await
    }

    async fn patch_route(&self, key: &RouteKey, patch: &RoutePatch, request: &Request) -> Result<bool, StoreError> {
        patch.check()?;
        let (key, patch, request) = (key.clone(), patch.clone(), request.clone());
        self.workers.write("change a route", move |database| routes::patch(database, &key, &patch, &request)).await
    }

    async fn routes(&self, after: Option<&RouteKey>, limit: u32) -> Result<Vec<Route>, StoreError> {
        let after = after.cloned();
        let work = move |database: &Database| routes::list(database, after.as_ref(), limit);
        if limit <= SHORT {
            self.workers.read_short("read routes", work).await
        } else {
            self.workers.read("read routes", work).await
        }
    }

    async fn reset_cause(&self, id: &SessionId) -> Result<Option<ResetCause>, StoreError> {
        let id = id.clone();
        self.workers.read_short("read the cause of a reset", move |database| routes::reset_cause(database, &id)).await
    }
}
