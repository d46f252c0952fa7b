//! The fence of a request: an owner that lost its lease writes nothing.

use crate::fixture::live::{HOUR, ask, conversation, granted, held, holder, taken, taken_over, taken_when_expired};
use crate::fixture::{conflict, keyed, made, request, texts, transcript, user};
use crate::{CaseResult, Setup};
use hermes_session::Conflict;
use hermes_session::live::{Account, Fence, Renewed, Resource, Take, Terms};
use std::time::Duration;

/// The token of a lease that was taken over, released or never granted changes nothing.
pub async fn a_fence_keeps_out_an_old_owner(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let first = taken(&*store, &session, 1).await.lease;
    store.append(&session, &[user("first")], &request(1).fenced(first.fence)).await?;
    let second = taken_over(&*other, &session, 2, first.fence).await.lease;
    let fenced = Conflict::Fenced(session.clone());
    assert_eq!(conflict(store.append(&session, &[user("x")], &request(2).fenced(first.fence)).await), fenced);
    other.append(&session, &[user("second")], &request(3).fenced(second.fence)).await?;
    // Nobody has it now, and the tokens are worth nothing.
    assert!(other.release(&second, &request(4)).await?);
    for fence in [first.fence, second.fence, Fence(0), Fence(-1), Fence(i64::MAX)] {
        assert_eq!(conflict(store.append(&session, &[user("x")], &request(5).fenced(fence)).await), fenced);
    }
    let third = taken(&*store, &session, 1).await.lease;
    assert!(third.fence != first.fence && third.fence != second.fence);
    assert_eq!(conflict(other.append(&session, &[], &request(6).fenced(second.fence)).await), fenced);
    assert_eq!(texts(&*store, &session).await, ["first", "second"]);
    Ok(())
}

/// The token of another conversation, an account or a hold gives no right to write.
pub async fn a_fence_of_another_resource_is_none(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    let own = taken(&*store, &session, 1).await.lease;
    let mut foreign = vec![taken(&*store, &other, 1).await.lease];
    let hold = Resource::Hold { session: session.clone(), name: "build".into() };
    for what in [hold, Resource::Account(Account::parse("telegram:1")?)] {
        foreign.push(granted(store.acquire(&what, &holder(1), Terms::free(HOUR), &request(1)).await?).lease);
    }
    for lease in foreign {
        let refused = store.append(&session, &[user("x")], &request(2).fenced(lease.fence)).await;
        assert_eq!(conflict(refused), Conflict::Fenced(session.clone()), "{lease:?}");
        // A lease with the token of another one is not renewed or released either.
        let mixed = hermes_session::live::Lease { fence: lease.fence, ..own.clone() };
        assert_eq!(store.renew(&mixed, HOUR, false, &request(3)).await?, Renewed::Lost(Some(own.clone())));
        assert!(!store.release(&mixed, &request(3)).await?);
    }
    store.append(&session, &[user("own")], &request(4).fenced(own.fence)).await?;
    assert_eq!(texts(&*store, &session).await, ["own"]);
    Ok(())
}

/// A change whose key was applied gets its stored answer under a token that is no longer valid; another one does not
/// happen, and its key stays free.
pub async fn a_stored_answer_passes_an_old_fence(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let first = taken(&*store, &session, 1).await.lease;
    let ids = store.append(&session, &[user("one")], &keyed(1, "k").fenced(first.fence)).await?;
    let second = taken_over(&*store, &session, 2, first.fence).await.lease;
    assert_eq!(store.append(&session, &[user("one")], &keyed(2, "k").fenced(first.fence)).await?, ids);
    assert_eq!(store.append(&session, &[user("one")], &keyed(2, "k")).await?, ids);
    let other = store.append(&session, &[user("two")], &keyed(3, "k").fenced(first.fence)).await;
    assert!(matches!(conflict(other), Conflict::KeyReused(_)));
    let late = store.append(&session, &[user("late")], &keyed(4, "l").fenced(first.fence)).await;
    assert_eq!(conflict(late), Conflict::Fenced(session.clone()));
    store.append(&session, &[user("by the owner")], &keyed(5, "l").fenced(second.fence)).await?;
    assert_eq!(texts(&*store, &session).await, ["one", "by the owner"]);
    Ok(())
}

/// An owner whose time is over still owns the conversation until somebody takes it, and not a write longer.
pub async fn an_expired_owner_writes_until_somebody_takes_it(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let terms = Terms::free(Duration::ZERO);
    let first = granted(store.acquire(&conversation(&session), &holder(1), terms, &request(1)).await?).lease;
    store.append(&session, &[user("late")], &request(90).fenced(first.fence)).await?;
    let grant = taken_when_expired(&*store, &conversation(&session), 2).await;
    assert_eq!(grant.newest, transcript(&*store, &session).await.last().map(|message| message.id));
    let refused = store.append(&session, &[user("x")], &request(91).fenced(first.fence)).await;
    assert_eq!(conflict(refused), Conflict::Fenced(session.clone()));
    assert_eq!(held(ask(&*store, &session, 1, Take::Dead(first.fence)).await?), grant.lease);
    assert_eq!(texts(&*store, &session).await, ["late"]);
    Ok(())
}
