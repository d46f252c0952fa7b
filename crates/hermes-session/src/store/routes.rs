//! Routes: which session the messages of a chat belong to.

use crate::live::{ResetCause, Route, RouteKey, RoutePatch, Switch, Switched};
use crate::{ConversationStore, Request, SessionId, StoreError};
use async_trait::async_trait;

/// Routes: which session the messages of a chat belong to.
///
/// A call finds a route by its key or by an alias of it. Request keys live as long as the session that the route leads
/// to after the call; a call that changes nothing ([`Switched::Moved`], `false`) uses no key.
///
/// A route and its aliases are deleted with the session that it leads to. A split moves the routes and the topic of the
/// session to the continuation, which is not a switch: the generation stays.
//  Cases: routes::gone_with_the_conversation, routes::a_split_carries_the_route, routes::an_old_owner_switches_nothing
#[async_trait]
pub trait RouteStore: ConversationStore {
    /// Returns the route of a place.
    //  Cases: routes::switched_in_one_step, routes::an_alias_leads_there
    async fn route(&self, key: &RouteKey) -> Result<Option<Route>, StoreError>;

    /// Returns the routes that lead to a session, in the order of their stored keys.
    //  Cases: routes::switched_in_one_step, routes::a_split_carries_the_route
    async fn routes_of(&self, session: &SessionId) -> Result<Vec<Route>, StoreError>;

    /// Switches a route to another session if it is at the expected generation: ends the old session unless it had
    /// ended, creates or reopens the new one, and stores the route ([`Route::switched`]), in one step.
    ///
    /// # Errors
    /// `NotFound` if an existing session does not exist; [`Conflict::Exists`](crate::Conflict::Exists) if the id of a new
    /// one is taken.
    //  Cases: routes::switched_in_one_step, routes::of_two_switches_one_wins, routes::a_switch_ends_the_old_session,
    //         routes::a_cause_is_kept, routes::switching_repeats_under_its_key, routes::a_switch_is_all_or_nothing
    async fn switch(&self, switch: &Switch, request: &Request) -> Result<Switched, StoreError>;

    /// Moves a route to another key and keeps the old key as an alias, with the aliases that it had. Returns `false` if
    /// the old key has no route, or the new one has.
    //  Cases: routes::an_alias_leads_there
    async fn rekey(&self, from: &RouteKey, to: &RouteKey, request: &Request) -> Result<bool, StoreError>;

    /// Changes attributes of a route. Returns `false` if there is none.
    //  Cases: routes::attributes_change
    async fn patch_route(&self, key: &RouteKey, patch: &RoutePatch, request: &Request) -> Result<bool, StoreError>;

    /// Returns up to `limit` routes after a key, in the order of their stored keys.
    //  Cases: routes::listed_in_order, routes::gone_with_the_conversation
    async fn routes(&self, after: Option<&RouteKey>, limit: u32) -> Result<Vec<Route>, StoreError>;

    /// Returns the cause of the reset that ended a session; `None` if there was none, or the session was reopened.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: routes::a_cause_is_kept
    async fn reset_cause(&self, id: &SessionId) -> Result<Option<ResetCause>, StoreError>;
}
