//! Archived conversations: what is archived, what shows it, and what keeps it.

use crate::fixture::{
    assert_not_found, at, conflict, id, key, keyed, made, new_session, request, row_ids, stored, user,
};
use crate::import::{exported, imported};
use crate::search::{asked, question};
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::transfer::{Proving, TransferOptions, copy, prove};
use hermes_session::{
    Archived, Conflict, ConversationStore as _, ListRequest, Maintenance, NewChild, Order, Relation, SessionFilter,
    SessionId, Store, StoreError, View,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Creates a chain of two with a delegate, a branch of it, and another conversation.
async fn family(store: &dyn Maintenance) -> Result<(), StoreError> {
    made(store, "root", 0).await;
    store.append(&id("root"), &[user("hello kangaroo")], &request(1)).await?;
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[user("summary kangaroo")], &request(3)).await?;
    store.branch(&id("tip"), &NewChild::new(id("branch")), &request(4)).await?;
    made(store, "other", 5).await;
    Ok(())
}

async fn archive(store: &dyn Maintenance, name: &str) -> Result<bool, StoreError> {
    store.set_archived(&id(name), true, &request(50)).await
}

/// Returns the ids of the rows of a list.
async fn listed(store: &dyn Maintenance, view: View, archived: Archived) -> Result<BTreeSet<String>, StoreError> {
    let filter = SessionFilter { archived, ..SessionFilter::default() };
    let listing = store.list(&ListRequest { view, filter, ..ListRequest::default() }).await?;
    Ok(row_ids(&listing).into_iter().map(ToString::to_string).collect())
}

fn ids(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Returns the sessions that are archived.
async fn archived(store: &dyn Maintenance, names: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in names {
        if stored(store, &id(name)).await.archived {
            found.insert((*name).to_owned());
        }
    }
    found
}

/// A conversation is archived once and unarchived once; it stays so for other handles, and nothing else of it changes.
pub async fn archived_and_unarchived(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    let before = stored(&*store, &id("s")).await;
    assert!(!store.set_archived(&id("s"), false, &request(1)).await?, "it was not archived");
    assert!(archive(&*store, "s").await? && !archive(&*store, "s").await?);
    let there = stored(&*setup.store().await, &id("s")).await;
    assert!(there.archived);
    assert!(store.set_archived(&id("s"), false, &request(2)).await?);
    assert!(!store.set_archived(&id("s"), false, &request(2)).await?);
    assert_eq!(stored(&*store, &id("s")).await, before);
    assert_not_found(archive(&*store, "S").await, &id("S"));
    assert_not_found(store.set_archived(&id("S"), false, &request(3)).await, &id("S"));
    assert!(store.verify().await?.is_sound(), "{:?}", store.verify().await?);
    Ok(())
}

/// Naming any session archives all sessions of the conversation, and naming any other one unarchives them.
pub async fn the_whole_chain_is_archived(setup: Setup) -> CaseResult {
    let all = ["root", "helper", "tip", "branch", "other"];
    let store = setup.store().await;
    family(&*store).await?;
    for (one, another) in [("root", "tip"), ("tip", "helper"), ("helper", "root")] {
        assert!(archive(&*store, one).await?, "{one}");
        assert_eq!(archived(&*store, &all).await, ids(&["root", "helper", "tip"]), "{one}");
        assert!(!archive(&*store, another).await?);
        assert!(store.set_archived(&id(another), false, &request(51)).await?, "{another}");
        assert_eq!(archived(&*store, &all).await, ids(&[]), "{another}");
    }
    Ok(())
}

/// A branch is a conversation of its own: it is neither archived with the one it comes from, nor the other way round.
pub async fn a_branch_is_not_archived(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    archive(&*store, "root").await?;
    assert_eq!(listed(&*store, View::Conversations, Archived::Unlisted).await?, ids(&["branch", "other"]));
    store.branch(&id("tip"), &NewChild::new(id("late")), &request(52)).await?;
    assert!(!stored(&*store, &id("late")).await.archived);
    archive(&*store, "branch").await?;
    assert!(store.set_archived(&id("tip"), false, &request(53)).await?);
    assert_eq!(listed(&*store, View::Conversations, Archived::Only).await?, ids(&["branch"]));
    Ok(())
}

/// A conversation that is continued after it was archived stays archived, with its new session.
pub async fn a_continuation_stays_archived(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "root", 0).await;
    archive(&*store, "root").await?;
    store.split(&id("root"), &NewChild::new(id("next")), &[user("summary")], &request(2)).await?;
    assert!(stored(&*store, &id("next")).await.archived);
    assert_eq!(listed(&*store, View::Conversations, Archived::Only).await?, ids(&["next"]));
    assert!(store.set_archived(&id("next"), false, &request(3)).await?);
    assert_eq!(archived(&*store, &["root", "next"]).await, ids(&[]));
    Ok(())
}

/// Lists leave archived conversations out unless they are asked for; rows and hits say which they are, and counts
/// match the lists. In every order.
pub async fn a_filter_selects_by_it(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    archive(&*store, "tip").await?;
    let (own, others) = (["root", "helper", "tip"], ["branch", "other"]);
    let every: Vec<&str> = own.iter().chain(&others).copied().collect();
    for (view, asked, expected) in [
        (View::Conversations, Archived::Unlisted, &others[..]),
        (View::Conversations, Archived::Only, &["tip"][..]),
        (View::Conversations, Archived::Included, &["tip", "branch", "other"][..]),
        (View::Sessions, Archived::Unlisted, &every[..]),
        (View::Sessions, Archived::Only, &own[..]),
        (View::Sessions, Archived::Included, &every[..]),
    ] {
        let filter = SessionFilter { archived: asked, ..SessionFilter::default() };
        for order in [Order::Active, Order::Started, Order::Messages, Order::Cost, Order::Id, Order::PinnedFirst] {
            let request = ListRequest { view, order, filter: filter.clone(), ..ListRequest::default() };
            let listing = store.list(&request).await?;
            let names: BTreeSet<String> = row_ids(&listing).into_iter().map(ToString::to_string).collect();
            assert_eq!(names, ids(expected), "{view:?} {asked:?} {order:?}");
            for row in &listing.rows {
                assert_eq!(row.is_archived, own.contains(&row.id.as_str()), "{view:?} {asked:?} {order:?} {}", row.id);
            }
        }
        let counts = store.counts(&filter).await?;
        match view {
            View::Conversations => assert_eq!(counts.conversations, expected.len() as u64, "{asked:?}"),
            View::Sessions => assert_eq!(counts.sessions, expected.len() as u64, "{asked:?}"),
        }
    }
    let filter = SessionFilter { archived: Archived::Only, ..SessionFilter::default() };
    assert_eq!(store.counts(&filter).await?.messages, 2);
    let statistics = store.statistics().await?;
    assert_eq!(statistics.sources.values().map(|source| source.conversations).sum::<u64>(), 2);
    let hits = asked(&*store, &question("kangaroo")).await?;
    let told: BTreeSet<(String, bool)> =
        hits.iter().map(|hit| (hit.session.as_str().to_owned(), hit.is_archived)).collect();
    let expected = [("root", true), ("tip", true), ("branch", false)].map(|(name, is)| (name.to_owned(), is));
    assert_eq!(told, BTreeSet::from(expected));
    Ok(())
}

/// A repeated request returns the same answer and does nothing; with other content its key is refused.
pub async fn keys_repeat(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    assert!(store.set_archived(&id("s"), true, &keyed(1, "archive")).await?);
    assert!(store.set_archived(&id("s"), false, &request(2)).await?);
    assert!(store.set_archived(&id("s"), true, &keyed(3, "archive")).await?, "it is the same request");
    assert!(!stored(&*store, &id("s")).await.archived);
    let reused = conflict(store.set_archived(&id("s"), false, &keyed(3, "archive")).await);
    assert_eq!(reused, Conflict::KeyReused(key("archive")));
    Ok(())
}

/// An archived conversation that is restored from the trash is archived. A new session with the id of a deleted one is
/// not.
pub async fn it_survives_the_trash(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    archive(&*store, "root").await?;
    store.trash_chain(&id("root"), at(100), &request(60)).await?;
    assert_eq!(listed(&*store, View::Conversations, Archived::Only).await?, ids(&[]));
    store.restore(&id("root"), &request(61)).await?;
    assert_eq!(archived(&*store, &["root", "helper", "tip", "branch"]).await, ids(&["root", "helper", "tip"]));
    store.trash_chain(&id("root"), at(100), &request(62)).await?;
    store.upkeep().await?;
    made(&*store, "root", 63).await;
    assert!(!stored(&*store, &id("root")).await.archived);
    Ok(())
}

async fn all_archived(store: &dyn Store) -> Result<BTreeSet<SessionId>, StoreError> {
    let filter = SessionFilter { archived: Archived::Only, ..SessionFilter::default() };
    let request = ListRequest { view: View::Sessions, filter, ..ListRequest::default() };
    Ok(store.list(&request).await?.rows.into_iter().map(|row| row.id).collect())
}

/// An export, an import and a transfer carry it, also to a store that never had it.
pub async fn it_survives_an_export(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store_named("other").await);
    family(&*store).await?;
    archive(&*store, "root").await?;
    let text = exported(&*store).await?;
    let report = imported(&*other, &text).await;
    assert_eq!((report.sessions, report.findings.len()), (5, 0), "{report:?}");
    let expected: BTreeSet<SessionId> = ["root", "helper", "tip"].into_iter().map(id).collect();
    assert_eq!(all_archived(&*other).await?, expected);
    assert!(exported(&*other).await? == text);
    let third = ModelStore::new();
    let mut watch = |_| ControlFlow::Continue(());
    copy(&*store, &third, &TransferOptions::default(), &mut watch).await.unwrap();
    assert_eq!(all_archived(&third).await?, expected);
    let proof = prove(&*store, &third, Proving::but(&BTreeSet::new()), &mut watch).await.unwrap();
    assert!(proof.holds(), "{proof:?}");
    third.set_archived(&id("root"), false, &request(70)).await?;
    let proof = prove(&*store, &third, Proving::but(&BTreeSet::new()), &mut watch).await.unwrap();
    assert!(!proof.holds(), "{proof:?}");
    Ok(())
}
