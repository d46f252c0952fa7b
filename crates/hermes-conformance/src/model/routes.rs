//! Routes.

use super::State;
use hermes_session::live::{Route, RouteKey, RoutePatch, Switch, SwitchTo, Switched};
use hermes_session::{SessionId, StoreError, Timestamp};
use std::collections::BTreeSet;

impl State {
    /// Returns the route of a place, found by its key or by an alias of it.
    pub(super) fn route(&self, key: &RouteKey) -> Option<&Route> {
        let key = key.to_stored();
        self.routes.get(self.aliases.get(&key).unwrap_or(&key))
    }

    fn route_mut(&mut self, key: &RouteKey) -> Option<&mut Route> {
        let key = key.to_stored();
        self.routes.get_mut(self.aliases.get(&key).unwrap_or(&key))
    }

    /// Records that a turn was opened by a route. Returns the notice that the turn delivers.
    pub(super) fn touch_route(&mut self, key: &RouteKey, at: Timestamp) -> Option<String> {
        let route = self.route_mut(key)?;
        route.touched_at = at;
        route.notice.take()
    }

    /// Records the prompt tokens of the last call to the model.
    pub(super) fn note_prompt_tokens(&mut self, key: &RouteKey, tokens: i64) {
        if let Some(route) = self.route_mut(key) {
            route.last_prompt_tokens = Some(tokens);
        }
    }

    /// Moves the routes and the topic of a session that was split to its continuation.
    pub(super) fn carry_routes(&mut self, parent: &SessionId, child: &SessionId, at: Timestamp) {
        for route in self.routes.values_mut().filter(|route| route.session == *parent) {
            route.session = child.clone();
        }
        for binding in self.bindings.values_mut().filter(|binding| binding.session_id == *parent) {
            binding.session_id = child.clone();
            binding.updated_at = at;
        }
    }

    pub(super) fn switch(&mut self, switch: &Switch, at: Timestamp) -> Result<Switched, StoreError> {
        let before = self.route(&switch.key).cloned();
        if before.as_ref().map(|route| route.generation) != switch.expected {
            return Ok(Switched::Moved(before.map(Box::new)));
        }
        let (route, ended) = self.lead_to(switch, at)?;
        Ok(Switched::Done { route: Box::new(route), ended })
    }

    /// Switches a route, whatever its generation. Returns the session that this ended.
    pub(super) fn lead_to(&mut self, switch: &Switch, at: Timestamp) -> Result<(Route, Option<SessionId>), StoreError> {
        match &switch.to {
            SwitchTo::New(new) => self.create(new, at)?,
            SwitchTo::Existing(id) => _ = self.reopen(id)?,
        }
        let before = self.route(&switch.key).cloned();
        let route = Route::switched(before.clone(), switch, at);
        let left = before.map(|route| route.session).filter(|left| *left != route.session);
        let mut ended = None;
        if let (Some(left), Some(end)) = (left, &switch.end)
            && self.end(&left, &end.reason, at)?
        {
            if let Some(cause) = end.cause {
                self.causes.insert(left.clone(), cause);
            }
            ended = Some(left);
        }
        self.routes.insert(route.key.to_stored(), route.clone());
        Ok((route, ended))
    }

    pub(super) fn rekey(&mut self, from: &RouteKey, to: &RouteKey) -> bool {
        let Some(route) = self.route(from).cloned().filter(|_| self.route(to).is_none()) else { return false };
        let (old, new) = (route.key.to_stored(), to.to_stored());
        self.routes.remove(&old);
        self.routes.insert(new.clone(), Route { key: to.clone(), ..route });
        self.aliases.values_mut().filter(|key| **key == old).for_each(|key| key.clone_from(&new));
        self.aliases.insert(old, new);
        true
    }

    pub(super) fn patch_route(&mut self, key: &RouteKey, patch: &RoutePatch) -> bool {
        let patched = self.route_mut(key).map(|route| *route = route.clone().patched(patch));
        patched.is_some()
    }

    /// Returns the session that a place leads to.
    pub(super) fn session_of_route(&self, key: &RouteKey) -> Option<SessionId> {
        self.route(key).map(|route| route.session.clone())
    }

    pub(super) fn forget_routes(&mut self, gone: &BTreeSet<SessionId>) {
        self.routes.retain(|_, route| !gone.contains(&route.session));
        self.aliases.retain(|_, key| self.routes.contains_key(key));
        self.causes.retain(|session, _| !gone.contains(session));
    }
}
