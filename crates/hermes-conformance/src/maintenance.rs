//! What keeps a store in order.

use crate::fixture::{
    assert_not_found, at, calls, conflict, id, keyed, made, new_session, request, stored, texts, title, user,
};
use crate::{CaseResult, Setup};
use hermes_session::{
    Conflict, Counts, Deleted, ListRequest, Maintenance, NewChild, Relation, SessionFilter, StoreError, View,
};

/// root → c1 → c2, a delegate of each of the first two, one of them compressed; a branch of c1 with a continuation and
/// a delegate; a stranger. Every session has one message.
async fn family(store: &dyn Maintenance) -> Result<(), StoreError> {
    made(store, "stranger", 0).await;
    made(store, "root", 0).await;
    store.append(&id("root"), &[user("root")], &request(1)).await?;
    store.set_title(&id("root"), Some(&title("plan")), &request(1)).await?;
    store.create(&new_session("d1").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.split(&id("root"), &NewChild::new(id("c1")), &[user("c1")], &request(3)).await?;
    store.create(&new_session("d2").child_of(id("c1"), Relation::Delegate), &request(4)).await?;
    store.split(&id("d2"), &NewChild::new(id("d2b")), &[user("d2b")], &request(5)).await?;
    store.branch(&id("c1"), &NewChild::new(id("b")), &request(6)).await?;
    store.split(&id("b"), &NewChild::new(id("b2")), &[user("b2")], &request(7)).await?;
    store.create(&new_session("bd").child_of(id("b"), Relation::Delegate), &request(8)).await?;
    store.split(&id("c1"), &NewChild::new(id("c2")), &[user("c2")], &request(9)).await?;
    for name in ["d1", "d2", "bd", "stranger"] {
        store.append(&id(name), &[user(name), calls("[{}]")], &request(10)).await?;
    }
    Ok(())
}

/// From whichever member, the whole conversation goes: chain, delegates, messages, titles.
pub async fn a_conversation_goes_as_a_whole(setup: Setup) -> CaseResult {
    for member in ["root", "c1", "c2", "d1", "d2", "d2b"] {
        let store = setup.store_named(member).await;
        family(&*store).await?;
        let deleted = store.delete_conversation(&id(member), &request(20)).await?;
        assert_eq!(deleted, Deleted { sessions: 6, messages: 8 }, "{member}");
        for gone in ["root", "c1", "c2", "d1", "d2", "d2b"] {
            assert_eq!(store.session(&id(gone)).await?, None, "{gone}");
            assert_not_found(store.append(&id(gone), &[user("x")], &request(21)).await, &id(gone));
        }
        let counts = store.counts(&SessionFilter::default()).await?;
        assert_eq!(counts, Counts { conversations: 2, sessions: 4, messages: 6 });
        assert_eq!(texts(&*store, &id("stranger")).await, ["stranger", ""]);
        assert_not_found(store.delete_conversation(&id(member), &request(22)).await, &id(member));
    }
    Ok(())
}

/// Branches of what is deleted stay, as conversations without a parent.
pub async fn branches_stay(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let before = stored(&*store, &id("b")).await;
    store.delete_conversation(&id("d1"), &request(20)).await?;
    let branch = stored(&*store, &id("b")).await;
    assert_eq!(branch, hermes_session::Session { parent_session_id: None, relation: Relation::Root, ..before });
    assert_eq!(texts(&*store, &id("b")).await, ["c1"]);
    assert_eq!(stored(&*store, &id("b2")).await.relation, Relation::Continuation);
    assert_eq!(stored(&*store, &id("bd")).await.parent_session_id, Some(id("b")));
    let lineage = store.lineage(&id("bd")).await?;
    assert_eq!(lineage.conversation(&id("bd")), crate::fixture::ids(&["b", "b2", "bd"]));
    let rows = store.list(&ListRequest::default()).await?.rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.id.as_str(), row.segments, row.last_active)).collect();
    assert_eq!(rows, [("stranger", 1, at(10)), ("b2", 3, at(10))]);
    Ok(())
}

/// Deleting a branch leaves what it came from, which can still be carried on.
pub async fn a_branch_goes_alone(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let before = stored(&*store, &id("c1")).await;
    assert_eq!(store.delete_conversation(&id("b2"), &request(20)).await?, Deleted { sessions: 3, messages: 4 });
    assert_eq!(stored(&*store, &id("c1")).await, before);
    assert_eq!(store.lineage(&id("c2")).await?.links().count(), 6);
    let again = conflict(store.split(&id("c1"), &NewChild::new(id("x")), &[], &request(21)).await);
    assert_eq!(again, Conflict::AlreadySplit { parent: id("c1"), continuation: id("c2") });
    Ok(())
}

/// What was deleted leaves its ids, titles and keys to others.
pub async fn what_is_gone_can_be_made_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.set_title(&session, Some(&title("t")), &keyed(1, "title")).await?;
    store.append(&session, &[user("old")], &keyed(1, "append")).await?;
    store.delete_conversation(&session, &request(2)).await?;
    made(&*store, "s", 3).await;
    let fresh = stored(&*store, &session).await;
    assert_eq!((fresh.message_count, fresh.title.as_deref(), fresh.started_at), (0, None, at(3)));
    assert!(texts(&*store, &session).await.is_empty());
    store.set_title(&session, Some(&title("other")), &keyed(4, "title")).await?;
    store.append(&session, &[user("new")], &keyed(4, "append")).await?;
    assert_eq!(texts(&*store, &session).await, ["new"]);
    let rows = store.list(&ListRequest { view: View::Sessions, ..ListRequest::default() }).await?.rows;
    assert_eq!((rows.len(), rows[0].preview.as_str()), (1, "new"));
    Ok(())
}

/// A store names its provider, its version, its place and its schema.
pub async fn it_says_what_it_is(setup: Setup) -> CaseResult {
    let status = setup.store().await.status().await?;
    assert_eq!(status.provider, setup.provider());
    assert!(!status.version.is_empty() && !status.location.is_empty() && status.schema_version > 0, "{status:?}");
    assert_eq!(setup.store().await.status().await?, status);
    Ok(())
}

/// Upkeep changes nothing that can be seen, and comes to an end.
pub async fn upkeep_comes_to_an_end(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.append(&session, &[user("one")], &request(1)).await?;
    let before = store.list(&ListRequest::default()).await?;
    let mut steps = 0;
    while store.upkeep().await? {
        steps += 1;
        assert!(steps < 1_000, "upkeep does not end");
    }
    assert_eq!(store.list(&ListRequest::default()).await?, before);
    Ok(())
}
