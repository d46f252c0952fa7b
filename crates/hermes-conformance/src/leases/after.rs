//! The newest message that a request relies on.

use crate::fixture::live::{taken, taken_over};
use crate::fixture::{assert_not_found, conflict, id, keyed, made, request, texts, user};
use crate::{CaseResult, Setup};
use hermes_session::{Conflict, EndReason, MessageId, NewChild, SessionId};

fn moved(session: &SessionId, newest: Option<MessageId>) -> Conflict {
    Conflict::Moved { session: session.clone(), newest }
}

/// A change that relies on the newest message is refused after somebody else spoke, and names the newest message.
pub async fn a_newer_message_is_met_as_moved(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = |seconds: i32| request(seconds).fenced(lease.fence);
    let nothing = MessageId(0);
    let one = store.append(&session, &[user("one")], &owner(1).after(nothing)).await?[0];
    assert_eq!(
        conflict(store.append(&session, &[user("x")], &owner(2).after(nothing)).await),
        moved(&session, Some(one))
    );
    let two = store.append(&session, &[user("two")], &owner(3).after(one)).await?[0];
    // A foreign writer sees no lease, and the owner notices it.
    let foreign = other.append(&session, &[user("foreign")], &request(4)).await?[0];
    assert_eq!(
        conflict(store.append(&session, &[user("x")], &owner(5).after(two)).await),
        moved(&session, Some(foreign))
    );
    // It holds for every change, of messages or not, and by itself.
    let reason = EndReason::parse("cli_close")?;
    for after in [nothing, one, two, MessageId(i64::MAX)] {
        let old = request(6).after(after);
        assert_eq!(conflict(store.end(&session, &reason, &old).await), moved(&session, Some(foreign)));
        let split = store.split(&session, &NewChild::new(id("c")), &[], &old).await;
        assert_eq!(conflict(split), moved(&session, Some(foreign)));
        assert_eq!(conflict(store.undo(&session, one, &old).await), moved(&session, Some(foreign)));
    }
    assert!(store.end(&session, &reason, &owner(7).after(foreign)).await?);
    // An owner that was shut out learns that first.
    taken_over(&*store, &session, 2, lease.fence).await;
    let refused = store.append(&session, &[user("x")], &owner(8).after(nothing)).await;
    assert_eq!(conflict(refused), Conflict::Fenced(session.clone()));
    // The transcript counts, not what was removed from it.
    store.replace(&session, &[], &request(9)).await?;
    assert_eq!(
        conflict(store.append(&session, &[user("x")], &request(10).after(foreign)).await),
        moved(&session, None)
    );
    store.append(&session, &[user("again")], &request(11).after(nothing)).await?;
    assert_eq!(texts(&*store, &session).await, ["again"]);
    assert_not_found(store.append(&id("nobody"), &[], &request(12).after(one)).await, &id("nobody"));
    Ok(())
}

/// A repetition is answered although the transcript went on; a refused change leaves its key free.
pub async fn an_old_answer_is_not_moved(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let batch = [user("one")];
    let ids = store.append(&session, &batch, &keyed(1, "k").after(MessageId(0))).await?;
    assert_eq!(store.append(&session, &batch, &keyed(2, "k").after(MessageId(0))).await?, ids);
    // What a request relies on is no part of the change.
    assert_eq!(store.append(&session, &batch, &keyed(3, "k").after(ids[0])).await?, ids);
    let more = [user("two")];
    let refused = store.append(&session, &more, &keyed(4, "l").after(MessageId(0))).await;
    assert_eq!(conflict(refused), moved(&session, Some(ids[0])));
    store.append(&session, &more, &keyed(5, "l").after(ids[0])).await?;
    assert_eq!(texts(&*store, &session).await, ["one", "two"]);
    Ok(())
}
