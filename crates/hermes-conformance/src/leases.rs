//! Leases: who gets one, for how long, and what ends it.

mod after;
mod changes;
mod fence;
mod fights;
mod places;

pub use after::{a_newer_message_is_met_as_moved, an_old_answer_is_not_moved};
pub use changes::{every_change_checks_the_fence, no_fence_is_never_refused};
pub use fence::{
    a_fence_keeps_out_an_old_owner, a_fence_of_another_resource_is_none, a_stored_answer_passes_an_old_fence,
    an_expired_owner_writes_until_somebody_takes_it,
};
pub use fights::no_owner_writes_after_the_next_grant;
pub use places::{
    a_link_changes_the_owner, a_split_keeps_the_owner, an_unknown_session_has_no_lease,
    any_session_names_the_conversation, gone_with_the_conversation, listed_by_prefix,
};

use crate::fixture::live::{
    HOUR, MOMENT, ask, conversation, granted, held, holder, new_turn, taken, taken_over, taken_when_expired,
};
use crate::fixture::{assert_invalid, at, id, made, request, user};
use crate::{CaseResult, Setup};
use hermes_session::live::{Account, Acquired, Fence, Holder, Lease, Renewed, Resource, Take, Terms, TurnClose};
use hermes_session::{MessageId, NewChild, Store};
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

/// A lease has one holder, whichever process or handle asks, until it is released.
pub async fn one_holder_at_a_time(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let grant = taken(&*store, &session, 1).await;
    let lease = grant.lease.clone();
    assert_eq!((&lease.resource, &lease.holder, lease.busy), (&conversation(&session), &holder(1), false));
    assert!((lease.until.since(lease.taken_at) - HOUR.as_secs_f64()).abs() < 0.001, "{lease:?}");
    // Another process on the same host, the same process again, and a process of the same number elsewhere.
    let elsewhere = Holder { host: "another host".into(), ..holder(1) };
    for who in [holder(2), holder(1), elsewhere] {
        let answer = other.acquire(&conversation(&session), &who, Terms::free(HOUR), &request(2)).await?;
        assert_eq!(held(answer), lease);
    }
    assert_eq!(other.leases("").await?, from_ref(&lease));
    assert!(other.release(&lease, &request(3)).await?);
    let next = taken(&*other, &session, 2).await.lease;
    assert_ne!(next.fence, lease.fence);
    assert_eq!(held(ask(&*store, &session, 1, Take::Free).await?), next);
    // Other conversations and accounts are not concerned.
    taken(&*store, &made(&*store, "t", 0).await, 1).await;
    Ok(())
}

/// A lease whose time is over is free, also that of a busy holder.
pub async fn expired_leases_are_free(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let what = conversation(&session);
    let first = granted(store.acquire(&what, &holder(1), Terms::free(Duration::ZERO), &request(1)).await?).lease;
    let second = granted(store.acquire(&what, &holder(2), Terms::free(MOMENT), &request(1)).await?).lease;
    assert!(matches!(store.renew(&second, MOMENT, true, &request(1)).await?, Renewed::Kept(_)));
    let third = taken_when_expired(&*store, &what, 3).await.lease;
    assert!(first.fence != second.fence && second.fence != third.fence);
    assert_eq!((&third.holder, third.busy), (&holder(3), false));
    assert_eq!(held(ask(&*store, &session, 1, Take::Free).await?), third);
    assert_eq!(store.leases("").await?, [third]);
    Ok(())
}

/// The time by which a store judges leases is between the grant and the expiry of a lease that was just granted, whatever
/// the clock of the caller says. A file judges by that clock.
pub async fn the_store_says_by_which_time_it_judges(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    if setup.judges_by_own_clock() {
        for hours_off in [-3_600, 3_600] {
            let time = store.lease_time(lease.taken_at.plus(f64::from(hours_off))).await?;
            assert!(lease.taken_at <= time && time < lease.until, "{time:?} for {lease:?}");
        }
    } else {
        assert_eq!(store.lease_time(at(7)).await?, at(7));
    }
    Ok(())
}

/// A caller that takes a lease from an idle holder gets it unless that holder has an open turn.
pub async fn an_idle_owner_yields(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let first = taken(&*store, &session, 1).await.lease;
    let owner = request(2).fenced(first.fence);
    let turn = store.open_turn(&new_turn(&session, &["hello"]), &owner).await?.turn;
    assert_eq!(held(ask(&*store, &session, 2, Take::Idle).await?), first);
    store.close_turn(turn.id, &TurnClose::default(), &owner).await?;
    let second = granted(ask(&*store, &session, 2, Take::Idle).await?).lease;
    assert_ne!(second.fence, first.fence);
    // A turn that another owner left does not make the present one busy.
    let left = store.open_turn(&new_turn(&session, &["again"]), &request(3).fenced(second.fence)).await?.turn;
    let third = taken_over(&*store, &session, 3, second.fence).await.lease;
    let fourth = granted(ask(&*store, &session, 4, Take::Idle).await?).lease;
    store.resume_turn(left.id, &request(4).fenced(fourth.fence)).await?;
    assert_eq!(held(ask(&*store, &session, 5, Take::Idle).await?), fourth);
    assert_ne!(third.fence, fourth.fence);
    Ok(())
}

/// A holder that said so is not disturbed by callers that take a lease from an idle holder.
pub async fn a_busy_owner_does_not_yield(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let first = taken(&*store, &session, 1).await.lease;
    let Renewed::Kept(busy) = store.renew(&first, HOUR, true, &request(1)).await? else { panic!("it was taken") };
    assert!(busy.busy && busy.fence == first.fence && busy.taken_at == first.taken_at);
    assert_eq!(held(ask(&*store, &session, 2, Take::Idle).await?), busy);
    assert_eq!(held(ask(&*store, &session, 2, Take::Free).await?), busy);
    assert!(matches!(store.renew(&busy, HOUR, false, &request(1)).await?, Renewed::Kept(lease) if !lease.busy));
    granted(ask(&*store, &session, 2, Take::Idle).await?);
    Ok(())
}

/// A caller that takes a lease from a dead holder, or by force, names the token that it saw.
pub async fn dead_and_forced_name_the_token(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (name, take) in [("dead", Take::Dead as fn(Fence) -> Take), ("forced", Take::Force)] {
        let session = made(&*store, name, 0).await;
        let first = taken(&*store, &session, 1).await.lease;
        store.renew(&first, HOUR, true, &request(1)).await?;
        store.open_turn(&new_turn(&session, &["hello"]), &request(1).fenced(first.fence)).await?;
        let other = Fence(first.fence.0 ^ 1);
        assert_eq!(held(ask(&*store, &session, 2, take(other)).await?).fence, first.fence);
        let second = granted(ask(&*store, &session, 2, take(first.fence)).await?).lease;
        assert_ne!(second.fence, first.fence);
        // The token is used up: a second caller that saw the dead holder does not take it from the first one.
        assert_eq!(held(ask(&*store, &session, 3, take(first.fence)).await?), second);
        // As with `Free`, a lease that nobody holds is granted whatever token is named.
        assert!(store.release(&second, &request(2)).await?);
        granted(ask(&*store, &session, 4, take(first.fence)).await?);
    }
    Ok(())
}

/// Of callers at the same time exactly one gets a lease, and the others see that one.
pub async fn of_many_callers_one_gets_it(setup: Setup) -> CaseResult {
    const ROUNDS: i64 = 10;
    const CALLERS: i64 = 6;
    let handles = [setup.store().await, setup.store().await, setup.store().await];
    let session = made(&*handles[0], "s", 0).await;
    let mut take = Take::Free;
    for round in 0..ROUNDS {
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..CALLERS {
            let (store, session): (Arc<dyn Store>, _) = (handles[caller as usize % 3].clone(), session.clone());
            callers.spawn(async move { ask(&*store, &session, round * CALLERS + caller, take).await.unwrap() });
        }
        let answers = callers.join_all().await;
        let (got, rest): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| matches!(answer, Acquired::Got(_)));
        assert_eq!((got.len(), rest.len()), (1, CALLERS as usize - 1));
        let winner = granted(got[0].clone()).lease;
        assert_eq!(handles[1].leases("").await?, from_ref(&winner));
        // A caller that came first saw the earlier holder's lease at most once, when it was the winner itself.
        assert!(rest.into_iter().all(|answer| held(answer) == winner));
        take = Take::Dead(winner.fence);
    }
    Ok(())
}

/// A grant names the last session of the conversation and its newest message, for the first call that relies on them.
pub async fn a_grant_names_the_end_of_the_conversation(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let empty = taken(&*store, &session, 1).await;
    assert_eq!((&empty.tip, empty.newest), (&Some(session.clone()), None));
    store.append(&session, &[user("one")], &request(1).fenced(empty.lease.fence).after(MessageId(0))).await?;
    store.split(&session, &NewChild::new(id("c")), &[user("summary"), user("two")], &request(2)).await?;
    let newest = crate::fixture::transcript(&*store, &id("c")).await[1].id;
    let grant = taken_over(&*store, &session, 2, empty.lease.fence).await;
    assert_eq!((&grant.tip, grant.newest), (&Some(id("c")), Some(newest)));
    store.append(&id("c"), &[user("three")], &request(3).fenced(grant.lease.fence).after(newest)).await?;
    // A hold names it too; an account has no conversation.
    let hold = Resource::Hold { session, name: "build".into() };
    assert_eq!(granted(store.acquire(&hold, &holder(3), Terms::free(HOUR), &request(4)).await?).tip, Some(id("c")));
    let account = Resource::Account(Account::parse("telegram:12ab")?);
    let grant = granted(store.acquire(&account, &holder(3), Terms::free(HOUR), &request(4)).await?);
    assert_eq!((&grant.lease.resource, grant.tip, grant.newest), (&account, None, None));
    Ok(())
}

/// A lease that expired is renewed as long as nobody took it; afterwards its holder learns who has it.
pub async fn renewed_until_somebody_takes_it(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let what = conversation(&session);
    let first = granted(store.acquire(&what, &holder(1), Terms::free(Duration::ZERO), &request(1)).await?).lease;
    let kept = |answer| match answer {
        Renewed::Kept(lease) => lease,
        Renewed::Lost(other) => panic!("it was lost to {other:?}"),
    };
    let renewed = kept(store.renew(&first, HOUR, false, &request(20)).await?);
    assert!(renewed.until > first.until && renewed.fence == first.fence && renewed.taken_at == first.taken_at);
    assert_eq!(held(ask(&*store, &session, 2, Take::Free).await?), renewed);
    // A renewal may also shorten the time.
    assert!(kept(store.renew(&first, MOMENT, false, &request(20)).await?).until < renewed.until);
    let second = taken_when_expired(&*store, &what, 2).await.lease;
    let lost = |answer| match answer {
        Renewed::Lost(other) => other,
        Renewed::Kept(lease) => panic!("it was kept: {lease:?}"),
    };
    assert_eq!(lost(store.renew(&renewed, HOUR, false, &request(21)).await?), Some(second.clone()));
    assert!(store.release(&second, &request(22)).await?);
    assert_eq!(lost(store.renew(&renewed, HOUR, false, &request(23)).await?), None);
    assert_eq!(lost(store.renew(&second, HOUR, false, &request(23)).await?), None);
    assert_eq!(store.leases("").await?, []);
    Ok(())
}

/// Only the present holder releases a lease, and only once.
pub async fn released_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let first = taken(&*store, &session, 1).await.lease;
    let second = taken_over(&*store, &session, 2, first.fence).await.lease;
    assert!(!store.release(&first, &request(1)).await?);
    assert_eq!(store.leases("").await?, from_ref(&second));
    assert!(store.release(&second, &request(2)).await?);
    assert!(!store.release(&second, &request(3)).await?);
    assert_eq!(store.leases("").await?, []);
    // An expired lease can be released while nobody took it.
    let terms = Terms::free(Duration::ZERO);
    let third = granted(store.acquire(&conversation(&session), &holder(3), terms, &request(4)).await?).lease;
    assert!(store.release(&third, &request(99)).await?);
    Ok(())
}

/// Unusable names, holders and times to live are refused, and nothing is stored.
pub async fn unusable_values_are_refused(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    for name in ["", "a:b", "a\0b", &"x".repeat(65)] {
        let hold = Resource::Hold { session: session.clone(), name: name.into() };
        assert_invalid(store.acquire(&hold, &holder(1), Terms::free(HOUR), &request(1)).await, "hold");
    }
    let long = "x".repeat(256);
    for who in [
        Holder { host: "\0".into(), ..holder(1) },
        Holder { born: long.clone(), ..holder(1) },
        Holder { label: long, ..holder(1) },
    ] {
        assert_invalid(store.acquire(&conversation(&session), &who, Terms::free(HOUR), &request(1)).await, "holder");
    }
    let two_days = Duration::from_secs(2 * 86_400);
    let answer = store.acquire(&conversation(&session), &holder(1), Terms::free(two_days), &request(1)).await;
    assert_invalid(answer, "lease");
    assert_eq!(store.leases("").await?, []);
    // The largest values are stored as they are.
    let who = Holder { host: "大".repeat(85), process: i64::MAX, born: String::new(), label: "é".repeat(127) };
    let terms = Terms::free(Terms::MAX_TTL);
    let lease = granted(store.acquire(&conversation(&session), &who, terms, &request(1)).await?).lease;
    assert_eq!(lease.holder, who);
    assert_invalid(store.renew(&lease, two_days, false, &request(2)).await, "lease");
    let hold = Resource::Hold { session, name: "é".repeat(32) };
    granted(store.acquire(&hold, &who, Terms::free(HOUR), &request(3)).await?);
    let resources: Vec<Resource> = store.leases("").await?.into_iter().map(|lease: Lease| lease.resource).collect();
    assert_eq!(resources, [lease.resource, hold]);
    Ok(())
}

/// A store with a clock judges by it, whatever time a request has; another one judges by the request's time.
pub async fn clocks_an_hour_apart(setup: Setup) -> CaseResult {
    const MINUTE: Duration = Duration::from_secs(60);
    let store = setup.store().await;
    let (fast, slow) = (made(&*store, "fast", 0).await, made(&*store, "slow", 0).await);
    let ask = async |session, process, seconds: i32| {
        store.acquire(&conversation(session), &holder(process), Terms::free(MINUTE), &request(seconds)).await
    };
    // The lease of a caller whose clock is fast, and another caller whose clock is right.
    let lease = granted(ask(&fast, 1, 3_600).await?).lease;
    assert_eq!(held(ask(&fast, 2, 1).await?), lease);
    // A caller whose clock is fast takes the lease of one whose clock is right only where its clock is what counts.
    let lease = granted(ask(&slow, 1, 0).await?).lease;
    let answer = ask(&slow, 2, 3_600).await?;
    match setup.judges_by_own_clock() {
        true => assert_eq!(held(answer), lease),
        false => assert_ne!(granted(answer).lease.fence, lease.fence),
    }
    // Renewing and releasing do not depend on clocks.
    let lease = store.leases("c:slow").await?.remove(0);
    assert!(matches!(store.renew(&lease, MINUTE, false, &request(-3_600)).await?, Renewed::Kept(_)));
    assert!(store.release(&lease, &request(7_200)).await?);
    Ok(())
}
