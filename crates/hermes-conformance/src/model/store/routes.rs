//! Routes.

use super::super::{Life, ModelStore, State};
use async_trait::async_trait;
use hermes_session::live::{ResetCause, Route, RouteKey, RoutePatch, Switch, Switched};
use hermes_session::{Request, RouteStore, SessionId, StoreError, change};

impl ModelStore {
    /// Makes a change to a route, once for each key. A change of nothing uses no key.
    fn once_for_route(
        &self,
        request: &Request,
        fingerprint: String,
        key: &RouteKey,
        change: impl FnOnce(&mut State) -> bool,
    ) -> Result<bool, StoreError> {
        let leads_to = |state: &State| state.session_of_route(key);
        self.once_if(
            request,
            fingerprint,
            |state| Ok(leads_to(state)),
            |state| Ok(change(state)),
            |state, changed| leads_to(state).filter(|_| *changed).map(Life::Session),
        )
    }
}

#[async_trait]
impl RouteStore for ModelStore {
    async fn route(&self, key: &RouteKey) -> Result<Option<Route>, StoreError> {
        Ok(self.state().route(key).cloned())
    }

    async fn routes_of(&self, session: &SessionId) -> Result<Vec<Route>, StoreError> {
        Ok(self.state().routes.values().filter(|route| route.session == *session).cloned().collect())
    }

    async fn switch(&self, switch: &Switch, request: &Request) -> Result<Switched, StoreError> {
        let switch = switch.clone().checked()?;
        self.once_if(
            request,
            change::switch(&switch),
            |state| Ok(state.session_of_route(&switch.key)),
            |state| state.switch(&switch, request.at),
            |_, answer| match answer {
                Switched::Done { route, .. } => Some(Life::Session(route.session.clone())),
                Switched::Moved(_) => None,
            },
        )
    }

    async fn rekey(&self, from: &RouteKey, to: &RouteKey, request: &Request) -> Result<bool, StoreError> {
        to.check()?;
        self.once_for_route(request, change::rekey(from, to), from, |state| state.rekey(from, to))
    }

    async fn patch_route(&self, key: &RouteKey, patch: &RoutePatch, request: &Request) -> Result<bool, StoreError> {
        patch.check()?;
        self.once_for_route(request, change::patch_route(key, patch), key, |state| state.patch_route(key, patch))
    }

    async fn routes(&self, after: Option<&RouteKey>, limit: u32) -> Result<Vec<Route>, StoreError> {
        let (state, after) = (self.state(), after.map(RouteKey::to_stored));
        let later = state.routes.iter().filter(|(key, _)| after.as_ref().is_none_or(|after| *key > after));
        Ok(later.take(limit as usize).map(|(_, route)| route.clone()).collect())
    }

    async fn reset_cause(&self, id: &SessionId) -> Result<Option<ResetCause>, StoreError> {
        let state = self.state();
        state.existing(id)?;
        Ok(state.causes.get(id).copied())
    }
}
