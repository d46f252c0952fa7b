//! Routes.

use super::State;
use hermes_session::live::{Route, RouteKey};
use hermes_session::{SessionId, Timestamp};
use std::collections::BTreeSet;

impl State {
    /// Returns the route of a place, found by its key or by an alias of it.
    pub(super) fn route_mut(&mut self, key: &RouteKey) -> Option<&mut Route> {
        let key = key.to_stored();
        let key = self.aliases.get(&key).unwrap_or(&key);
        self.routes.get_mut(key)
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

    /// Moves the routes of a session that was split to its continuation.
    pub(super) fn carry_routes(&mut self, parent: &SessionId, child: &SessionId) {
        for route in self.routes.values_mut().filter(|route| route.session == *parent) {
            route.session = child.clone();
        }
    }

    pub(super) fn forget_routes(&mut self, gone: &BTreeSet<SessionId>) {
        self.routes.retain(|_, route| !gone.contains(&route.session));
        self.aliases.retain(|_, key| self.routes.contains_key(key));
        self.causes.retain(|session, _| !gone.contains(session));
    }
}
