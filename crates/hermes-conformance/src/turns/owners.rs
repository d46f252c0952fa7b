//! Turns and the owner of their conversation.

use super::answer;
use crate::fixture::live::{new_turn, taken, taken_over};
use crate::fixture::{assistant, conflict, id, keyed, made, request, texts, user};
use crate::{CaseResult, Setup};
use hermes_session::live::{Turn, TurnClose};
use hermes_session::{Conflict, DeleteExtent, MessageId, NewChild, Relation, SessionId, Store};
use std::slice::from_ref;
use std::sync::Arc;

/// The next owner closes the turn that a lost one left by opening its own; what was said stays.
pub async fn a_lost_owner_is_interrupted(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let first = taken(&*store, &session, 1).await.lease;
    let left = store.open_turn(&new_turn(&session, &["one"]), &request(1).fenced(first.fence)).await?.turn;
    store.append(&session, &[assistant("half an ans")], &request(1).fenced(first.fence)).await?;
    let second = taken_over(&*store, &session, 2, first.fence).await.lease;
    let owner = request(2).fenced(second.fence);
    let opened = store.open_turn(&new_turn(&session, &["two"]), &owner).await?;
    assert_eq!(opened.interrupted, Some(left.id));
    assert_eq!(store.open_turns(None, 9).await?, from_ref(&opened.turn));
    assert_eq!(texts(&*store, &session).await, ["one", "half an ans", "two"]);
    // The lost owner comes back, and can neither close its turn nor the other one.
    let old = request(3).fenced(first.fence);
    assert_eq!(conflict(store.close_turn(left.id, &answer("x"), &old).await), Conflict::TurnClosed(left.id));
    let fenced = Conflict::Fenced(session.clone());
    assert_eq!(conflict(store.close_turn(opened.turn.id, &answer("x"), &old).await), fenced);
    assert_eq!(conflict(store.resume_turn(opened.turn.id, &old).await), fenced);
    assert_eq!(conflict(store.open_turn(&new_turn(&session, &["x"]), &old).await), fenced);
    store.close_turn(opened.turn.id, &answer("the answer"), &owner).await?;
    assert_eq!(texts(&*store, &session).await, ["one", "half an ans", "two", "the answer"]);
    Ok(())
}

/// The next owner resumes the turn that a lost one left: the turn is its own, and the attempts are counted.
pub async fn resumed_by_the_next_owner(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let mut lease = taken(&*store, &session, 1).await.lease;
    let turn = store.open_turn(&new_turn(&session, &["hello"]), &request(1).fenced(lease.fence)).await?.turn;
    for attempts in 2..5 {
        let old = lease.fence;
        lease = taken_over(&*store, &session, attempts.into(), old).await.lease;
        assert_eq!(
            conflict(store.resume_turn(turn.id, &request(2).fenced(old)).await),
            Conflict::Fenced(session.clone())
        );
        let key = format!("resume {attempts}");
        let resumed = store.resume_turn(turn.id, &keyed(attempts as i32, &key).fenced(lease.fence)).await?;
        assert_eq!(resumed, Turn { attempts, fence: Some(lease.fence), ..turn.clone() });
        // The repetition of a lost answer counts no attempt.
        assert_eq!(store.resume_turn(turn.id, &keyed(9, &key).fenced(lease.fence)).await?, resumed);
        assert_eq!(store.open_turns(None, 9).await?, [resumed]);
    }
    // It is the owner's own turn now, and not interrupted by another one.
    let owner = request(10).fenced(lease.fence);
    let refused = store.open_turn(&new_turn(&session, &["x"]), &owner).await;
    assert_eq!(conflict(refused), Conflict::TurnOpen { session: session.clone(), turn: turn.id });
    store.close_turn(turn.id, &answer("the answer"), &owner).await?;
    assert_eq!(texts(&*store, &session).await, ["hello", "the answer"]);
    Ok(())
}

/// A turn that was opened without a fence is interrupted by the next owner; without a fence nobody interrupts a turn.
pub async fn a_fence_is_needed_to_stay_the_owner(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let loose = store.open_turn(&new_turn(&session, &["one"]), &request(1)).await?.turn;
    assert_eq!(loose.fence, None);
    let open = |turn: &Turn| Conflict::TurnOpen { session: session.clone(), turn: turn.id };
    assert_eq!(conflict(store.open_turn(&new_turn(&session, &["x"]), &request(2)).await), open(&loose));
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = request(3).fenced(lease.fence);
    let opened = store.open_turn(&new_turn(&session, &["two"]), &owner).await?;
    assert_eq!((opened.interrupted, opened.turn.fence), (Some(loose.id), Some(lease.fence)));
    // A caller without a fence waits, even if the owner is gone.
    assert_eq!(conflict(store.open_turn(&new_turn(&session, &["x"]), &request(4)).await), open(&opened.turn));
    assert!(store.release(&lease, &request(5)).await?);
    assert_eq!(conflict(store.open_turn(&new_turn(&session, &["x"]), &request(6)).await), open(&opened.turn));
    // It may resume and close it.
    let resumed = store.resume_turn(opened.turn.id, &request(7)).await?;
    assert_eq!((resumed.fence, resumed.attempts), (None, 2));
    store.close_turn(opened.turn.id, &answer("the answer"), &request(8)).await?;
    assert_eq!(texts(&*store, &session).await, ["one", "two", "the answer"]);
    Ok(())
}

/// A turn belongs to the conversation that its session is part of at the moment: another session may be deleted, or the
/// session joined to another one.
pub async fn a_turn_belongs_where_its_session_does(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (root, tip) = (made(&*store, "root", 0).await, id("tip"));
    store.split(&root, &NewChild::new(tip.clone()), &[], &request(1)).await?;
    let lease = taken(&*store, &tip, 1).await.lease;
    let turn = store.open_turn(&new_turn(&tip, &["hello"]), &request(2).fenced(lease.fence)).await?.turn;
    assert_eq!((&turn.conversation, &turn.session), (&root, &tip));
    store.delete(&root, DeleteExtent::Session, &request(3)).await?;
    let alone = Turn { conversation: tip.clone(), ..turn.clone() };
    assert_eq!(store.open_turns(None, 9).await?, [alone]);
    // Its owner is gone with the first session; the next one meets the turn.
    let lease = taken(&*store, &tip, 2).await.lease;
    let open = |turn: &Turn, session: &SessionId| Conflict::TurnOpen { session: session.clone(), turn: turn.id };
    assert_eq!(conflict(store.open_turn(&new_turn(&tip, &["x"]), &request(4)).await), open(&turn, &tip));
    let resumed = store.resume_turn(turn.id, &request(5).fenced(lease.fence)).await?;
    assert_eq!((&resumed.conversation, resumed.attempts), (&tip, 2));
    // It joins another conversation, which is in a turn too: the older one counts.
    let other = made(&*store, "other", 6).await;
    let second = store.open_turn(&new_turn(&other, &[]), &request(7)).await?.turn;
    assert!(store.link(&tip, &other, Relation::Continuation).await?);
    let joined: Vec<SessionId> = store.open_turns(None, 9).await?.into_iter().map(|turn| turn.conversation).collect();
    assert_eq!(joined, [other.clone(), other.clone()]);
    assert_eq!(conflict(store.open_turn(&new_turn(&other, &["x"]), &request(8)).await), open(&turn, &other));
    store.close_turn(turn.id, &answer("the answer"), &request(9)).await?;
    assert_eq!(conflict(store.open_turn(&new_turn(&tip, &["x"]), &request(10)).await), open(&second, &tip));
    store.close_turn(second.id, &TurnClose::default(), &request(11)).await?;
    assert_eq!(texts(&*store, &tip).await, ["hello", "the answer"]);
    Ok(())
}

/// An owner that relies on the newest message learns of one that a foreign writer added, at each step of a turn.
pub async fn a_foreign_message_is_met_as_moved(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = |after| request(1).fenced(lease.fence).after(after);
    let moved = |newest| Conflict::Moved { session: session.clone(), newest: Some(newest) };
    let foreign = store.append(&session, &[user("foreign")], &request(1)).await?[0];
    let refused = store.open_turn(&new_turn(&session, &["hello"]), &owner(MessageId(0))).await;
    assert_eq!(conflict(refused), moved(foreign));
    assert_eq!(store.open_turns(None, 9).await?, []);
    let opened = store.open_turn(&new_turn(&session, &["hello"]), &owner(foreign)).await?;
    let said = opened.messages[0];
    let later = store.append(&session, &[user("later")], &request(2)).await?[0];
    assert_eq!(conflict(store.resume_turn(opened.turn.id, &owner(said)).await), moved(later));
    assert_eq!(conflict(store.close_turn(opened.turn.id, &answer("x"), &owner(said)).await), moved(later));
    assert_eq!(store.open_turns(None, 9).await?, from_ref(&opened.turn));
    store.close_turn(opened.turn.id, &answer("the answer"), &owner(later)).await?;
    assert_eq!(texts(&*store, &session).await, ["foreign", "hello", "later", "the answer"]);
    Ok(())
}

/// Of turns that are opened, or closed, at the same time one is.
pub async fn of_many_turns_one_is_opened(setup: Setup) -> CaseResult {
    const ROUNDS: usize = 6;
    const CALLERS: usize = 6;
    let handles = [setup.store().await, setup.store().await, setup.store().await];
    let session = made(&*handles[0], "s", 0).await;
    for round in 0..ROUNDS {
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..CALLERS {
            let (store, session): (Arc<dyn Store>, _) = (handles[caller % 3].clone(), session.clone());
            callers.spawn(async move {
                let turn = match store.open_turn(&new_turn(&session, &["asked"]), &request(1)).await {
                    Ok(opened) => opened.turn,
                    Err(hermes_session::StoreError::Conflict(Conflict::TurnOpen { turn, .. })) => {
                        return (turn, false);
                    }
                    Err(error) => panic!("{error:?}"),
                };
                (turn.id, true)
            });
        }
        let answers = callers.join_all().await;
        assert_eq!(answers.iter().filter(|(_, is_opened)| *is_opened).count(), 1, "{answers:?}");
        let turn = answers[0].0;
        assert!(answers.iter().all(|(seen, _)| *seen == turn), "{answers:?}");
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..CALLERS {
            let store: Arc<dyn Store> = handles[caller % 3].clone();
            callers.spawn(async move { store.close_turn(turn, &answer("answered"), &request(2)).await });
        }
        let (closed, refused): (Vec<_>, Vec<_>) = callers.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!(closed.len(), 1);
        assert!(refused.into_iter().all(|answer| conflict(answer) == Conflict::TurnClosed(turn)));
        assert_eq!(texts(&*handles[0], &session).await.len(), 2 * (round + 1));
    }
    assert_eq!(handles[0].open_turns(None, 9).await?, []);
    let empty = TurnClose::default();
    let answer = handles[1].close_turn(hermes_session::live::TurnId(1_000_000), &empty, &request(3)).await;
    assert!(matches!(conflict(answer), Conflict::TurnClosed(_)));
    Ok(())
}
