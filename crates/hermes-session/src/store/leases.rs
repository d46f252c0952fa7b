//! Leases: who owns a conversation, an account, or a hold.

use crate::live::{Acquired, Holder, Lease, Renewed, Resource, Terms};
use crate::{ConversationStore, Request, StoreError, Timestamp};
use async_trait::async_trait;
use std::time::Duration;

/// Leases: exclusive, expiring ownership with a fencing token.
///
/// * At most one unexpired lease exists for a resource. Of concurrent callers exactly one gets it.
/// * A change with [`Request::fence`] happens only if that token belongs to the current lease of the conversation;
///   otherwise it is [`Conflict::Fenced`](crate::Conflict::Fenced) and writes nothing. An expired lease stays valid
///   until somebody takes it. A change whose key was applied before gets the stored answer under any token.
/// * A change without a fence is never refused because of a lease.
/// * A new session is judged by the parent that it names, a switch of a route by the session that the route leads to
///   before. A session that does not exist has no owner: the check passes, and the change itself fails or creates it.
///   The calls of [`MailStore`](crate::MailStore) and of this trait change no conversation, and check nothing.
/// * Servers judge expiry by their own clock, a file by [`Request::at`].
///
/// The calls of this trait take no request key: a repetition is answered by the state that the first one left.
//  Cases: leases::a_fence_keeps_out_an_old_owner, leases::every_change_checks_the_fence,
//         leases::a_stored_answer_passes_an_old_fence, leases::no_fence_is_never_refused,
//         leases::a_fence_of_another_resource_is_none, leases::an_expired_owner_writes_until_somebody_takes_it,
//         leases::clocks_an_hour_apart, leases::a_newer_message_is_met_as_moved, leases::an_old_answer_is_not_moved,
//         leases::a_split_keeps_the_owner, leases::a_link_changes_the_owner,
//         leases::no_owner_writes_after_the_next_grant
#[async_trait]
pub trait LeaseStore: ConversationStore {
    /// Takes the lease of a resource if `terms` permit it.
    ///
    /// # Errors
    /// `NotFound` if there is no session of that id; `Invalid` for an unusable name, holder or time to live.
    //  Cases: leases::one_holder_at_a_time, leases::expired_leases_are_free, leases::an_idle_owner_yields,
    //         leases::dead_and_forced_name_the_token, leases::any_session_names_the_conversation,
    //         leases::of_many_callers_one_gets_it, leases::a_grant_names_the_end_of_the_conversation,
    //         leases::unusable_values_are_refused, leases::an_unknown_session_has_no_lease
    async fn acquire(
        &self,
        what: &Resource,
        who: &Holder,
        terms: Terms,
        request: &Request,
    ) -> Result<Acquired, StoreError>;

    /// Renews a lease for `ttl` from now, and sets whether its holder must not be disturbed. An expired lease is renewed
    /// unless somebody took it.
    //  Cases: leases::renewed_until_somebody_takes_it, leases::a_busy_owner_does_not_yield
    async fn renew(&self, lease: &Lease, ttl: Duration, busy: bool, request: &Request) -> Result<Renewed, StoreError>;

    /// Releases a lease. Returns `false` if somebody else has it or nobody does.
    //  Cases: leases::released_once
    async fn release(&self, lease: &Lease, request: &Request) -> Result<bool, StoreError>;

    /// Returns the leases whose [key](Resource::key) starts with `prefix`, expired ones too, in the order of their keys.
    //  Cases: leases::listed_by_prefix, leases::gone_with_the_conversation
    async fn leases(&self, prefix: &str) -> Result<Vec<Lease>, StoreError>;

    /// Returns the time by which the store judges leases: a server's own, or `now` in a file. The times of a lease are
    /// to be compared with it.
    //  Cases: leases::the_store_says_by_which_time_it_judges
    async fn lease_time(&self, now: Timestamp) -> Result<Timestamp, StoreError>;
}
