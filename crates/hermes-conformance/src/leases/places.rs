//! The conversations, accounts and holds that leases are about.

use crate::fixture::live::{HOUR, ask, conversation, granted, held, holder, taken};
use crate::fixture::{assert_not_found, at, conflict, id, made, request, user};
use crate::{CaseResult, Setup};
use hermes_session::live::{Account, Acquired, Lease, Resource, Take, Terms};
use hermes_session::{Conflict, DeleteExtent, NewChild, NewSession, Relation, SessionId, Store};
use std::slice::from_ref;
use std::time::Duration;

fn hold(session: &SessionId, name: &str) -> Resource {
    Resource::Hold { session: session.clone(), name: name.into() }
}

fn account(text: &str) -> Resource {
    Resource::Account(Account::from_stored(text))
}

/// Creates a child of this relation.
async fn child(store: &dyn Store, name: &str, parent: &SessionId, relation: Relation) -> SessionId {
    let new = NewSession::new(id(name), crate::fixture::source("cli")).child_of(parent.clone(), relation);
    store.create(&new, &request(2)).await.unwrap();
    id(name)
}

/// A continuation and a delegate share the owner of their conversation; a branch has one of its own.
pub async fn any_session_names_the_conversation(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    store.split(&root, &NewChild::new(id("next")), &[], &request(1)).await?;
    let helper = child(&*store, "helper", &id("next"), Relation::Delegate).await;
    store.split(&helper, &NewChild::new(id("helper 2")), &[], &request(3)).await?;
    let branch = child(&*store, "branch", &root, Relation::Branch).await;
    let lease = taken(&*store, &id("helper 2"), 1).await.lease;
    assert_eq!(lease.resource, conversation(&root));
    for session in [&root, &id("next"), &helper, &id("helper 2")] {
        assert_eq!(held(ask(&*store, session, 2, Take::Free).await?), lease);
        store.append(session, &[user("by the owner")], &request(4).fenced(lease.fence)).await?;
    }
    let other = taken(&*store, &branch, 2).await.lease;
    assert_eq!(other.resource, conversation(&branch));
    let refused = store.append(&branch, &[user("x")], &request(5).fenced(lease.fence)).await;
    assert_eq!(conflict(refused), Conflict::Fenced(branch));
    // Holds belong to the conversation too.
    let terms = Terms::free(HOUR);
    let held_off = granted(store.acquire(&hold(&helper, "build"), &holder(3), terms, &request(6)).await?).lease;
    assert_eq!(held_off.resource, hold(&root, "build"));
    assert_eq!(held(store.acquire(&hold(&root, "build"), &holder(4), terms, &request(7)).await?), held_off);
    granted(store.acquire(&hold(&root, "test"), &holder(4), terms, &request(8)).await?);
    Ok(())
}

/// The owner of a conversation owns what it becomes.
pub async fn a_split_keeps_the_owner(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = request(2).fenced(lease.fence);
    store.split(&session, &NewChild::new(id("c")), &[user("summary")], &owner).await?;
    assert_eq!(store.leases("").await?, from_ref(&lease));
    for id in [&session, &id("c")] {
        store.append(id, &[user("more")], &owner).await?;
        assert_eq!(held(ask(&*store, id, 2, Take::Free).await?), lease);
    }
    // A branch is another conversation, which nobody owns yet.
    store.branch(&id("c"), &NewChild::new(id("b")), &owner).await?;
    assert_eq!(conflict(store.append(&id("b"), &[user("x")], &owner).await), Conflict::Fenced(id("b")));
    taken(&*store, &id("b"), 1).await;
    Ok(())
}

/// A session that gets a parent joins the parent's conversation, and its former owner is shut out.
pub async fn a_link_changes_the_owner(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (parent, session) = (made(&*store, "p", 0).await, made(&*store, "s", 1).await);
    let (first, second) = (taken(&*store, &session, 1).await.lease, taken(&*store, &parent, 2).await.lease);
    assert!(store.link(&session, &parent, Relation::Continuation).await?);
    let refused = store.append(&session, &[user("x")], &request(2).fenced(first.fence)).await;
    assert_eq!(conflict(refused), Conflict::Fenced(session.clone()));
    store.append(&session, &[user("y")], &request(2).fenced(second.fence)).await?;
    assert_eq!(held(ask(&*store, &session, 1, Take::Free).await?), second);
    Ok(())
}

/// There is no lease of a session that does not exist.
pub async fn an_unknown_session_has_no_lease(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    // Ids are exact.
    for nobody in ["nobody", "S", "s "] {
        for what in [conversation(&id(nobody)), hold(&id(nobody), "build")] {
            let answer = store.acquire(&what, &holder(1), Terms::free(HOUR), &request(1)).await;
            assert_not_found(answer, &id(nobody));
        }
    }
    assert_eq!(store.leases("").await?, []);
    granted(store.acquire(&account("telegram:1"), &holder(1), Terms::free(HOUR), &request(1)).await?);
    Ok(())
}

/// Leases are listed by the start of their keys, byte by byte, and in the order of these.
pub async fn listed_by_prefix(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let mut all = Vec::new();
    for name in ["a", "a_b", "axb", "A", "é", "a%"] {
        let session = made(&*store, name, 0).await;
        all.extend([conversation(&session), hold(&session, "build")]);
    }
    all.extend([account("telegram:1"), account("telegram:10"), account("Telegram:1")]);
    for (what, process) in all.iter().zip(0..) {
        // Expired leases are listed too.
        let ttl = if process % 2 == 0 { HOUR } else { Duration::ZERO };
        granted(store.acquire(what, &holder(process), Terms::free(ttl), &request(1)).await?);
    }
    let mut keys: Vec<String> = all.iter().map(Resource::key).collect();
    keys.sort();
    for prefix in ["", "c:", "p:", "h:", "c:a", "c:a_", "c:a%", "c:A", "p:telegram:1", "p:Telegram", "h:a:", "c:é", "x"]
    {
        let listed: Vec<String> = store.leases(prefix).await?.iter().map(|lease| lease.resource.key()).collect();
        let expected: Vec<&String> = keys.iter().filter(|key| key.starts_with(prefix)).collect();
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected, "{prefix:?}");
    }
    Ok(())
}

/// A deletion ends the leases of its conversations and shuts out their owners, also when another session of that id
/// is created or the conversation is restored.
pub async fn gone_with_the_conversation(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    let terms = Terms::free(HOUR);
    let bot = granted(store.acquire(&account("telegram:1"), &holder(9), terms, &request(1)).await?).lease;
    let listed = async || store.leases("").await;
    let grant = async |name: &str| -> Result<Lease, hermes_session::StoreError> {
        granted(store.acquire(&hold(&id(name), "build"), &holder(1), terms, &request(1)).await?);
        Ok(taken(&*store, &id(name), 1).await.lease)
    };
    // A delegate goes alone: the conversation keeps its owner.
    let lease = grant("root").await?;
    let helper = child(&*store, "helper", &root, Relation::Delegate).await;
    let owner = request(3).fenced(lease.fence);
    store.delete(&helper, DeleteExtent::Chain, &owner).await?;
    store.append(&root, &[user("still there")], &owner).await?;
    // The conversation goes, into the trash and out of it.
    store.trash_chain(&root, at(100), &owner).await?;
    assert_eq!(listed().await?, from_ref(&bot));
    assert_not_found(store.append(&root, &[user("x")], &owner).await, &root);
    store.restore(&root, &request(4)).await?;
    assert_eq!(conflict(store.append(&root, &[user("x")], &owner).await), Conflict::Fenced(root.clone()));
    for extent in [DeleteExtent::Conversation, DeleteExtent::Chain, DeleteExtent::Session] {
        let lease = grant("root").await?;
        let owner = request(5).fenced(lease.fence);
        store.delete(&root, extent, &owner).await?;
        assert_eq!(listed().await?, from_ref(&bot), "{extent:?}");
        made(&*store, "root", 6).await;
        assert_eq!(conflict(store.append(&root, &[user("x")], &owner).await), Conflict::Fenced(root.clone()));
        assert!(!store.release(&lease, &request(7)).await?);
    }
    // The rest of a conversation whose first session was deleted has no owner until somebody takes it.
    let lease = grant("root").await?;
    store.split(&root, &NewChild::new(id("next")), &[], &request(8)).await?;
    store.delete(&root, DeleteExtent::Session, &request(9)).await?;
    let refused = store.append(&id("next"), &[user("x")], &request(10).fenced(lease.fence)).await;
    assert_eq!(conflict(refused), Conflict::Fenced(id("next")));
    assert!(matches!(ask(&*store, &id("next"), 2, Take::Free).await?, Acquired::Got(_)));
    assert!(store.verify().await?.is_sound());
    Ok(())
}
