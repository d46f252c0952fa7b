//! Deleting large conversations, and pruning.

use crate::fixture::{assert_not_found, at, id, keyed, made, new_session, request, source, stored, texts, title, user};
use crate::{CaseResult, Setup};
use hermes_session::retention::{Pruned, RetentionPolicy, plan, prune, prune_planned};
use hermes_session::{
    Counts, DeleteExtent, Deleted, EndReason, ListRequest, Maintenance, NewChild, NewMessage, NewSession, Relation,
    SessionFilter, SessionId, StoreError,
};
use std::future::Future as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

const DAY: f64 = 86_400.0;
/// More messages than a provider should process in one step.
const MESSAGES: usize = 3_000;

/// Creates a chain of two, titled, with many messages in the first; a delegate; a branch; an unrelated session.
async fn large(store: &dyn Maintenance) -> Result<(), StoreError> {
    made(store, "stranger", 0).await;
    made(store, "root", 0).await;
    store.set_title(&id("root"), Some(&title("plan")), &request(1)).await?;
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n} with words 大别山"))).collect();
    store.append(&id("root"), &batch, &keyed(1, "append")).await?;
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.branch(&id("helper"), &NewChild::new(id("branch")), &request(3)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[user("tip")], &request(4)).await?;
    Ok(())
}

async fn end(store: &dyn Maintenance, name: &str, seconds: f64) -> Result<(), StoreError> {
    store.end(&id(name), &EndReason::parse("cli_close")?, &request(seconds)).await.map(drop)
}

/// Nothing of a large conversation is left after deletion, and its ids, titles and keys are free.
pub async fn a_large_conversation_goes_as_a_whole(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    large(&*store).await?;
    let deleted = store.delete(&id("tip"), DeleteExtent::Conversation, &keyed(5, "delete")).await?;
    assert_eq!(deleted, Deleted { sessions: 3, messages: MESSAGES as u64 + 1 });
    let counts = store.counts(&SessionFilter::default()).await?;
    assert_eq!(counts, Counts { conversations: 2, sessions: 2, messages: 0 });
    assert_eq!(stored(&*store, &id("branch")).await.parent_session_id, None);
    assert_eq!(
        store.delete(&id("tip"), DeleteExtent::Conversation, &keyed(6, "delete")).await?,
        deleted,
        "it is the same request"
    );
    store.set_title(&id("stranger"), Some(&title("plan")), &request(7)).await?;
    store.append(&id("stranger"), &[user("hello")], &keyed(7, "append")).await?;
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// While a large conversation is deleted, readers no longer see it, and others can write and take its ids and titles.
pub async fn others_write_while_much_goes(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    large(&*store).await?;
    let (other, is_over) = (setup.store().await, Arc::new(AtomicBool::new(false)));
    let (deleter, done) = (Arc::clone(&store), Arc::clone(&is_over));
    let deletion = tokio::spawn(async move {
        let deleted = deleter.delete(&id("helper"), DeleteExtent::Conversation, &request(5)).await;
        done.store(true, Ordering::SeqCst);
        deleted
    });
    while other.session(&id("tip")).await?.is_some() {
        tokio::task::yield_now().await;
    }
    let (mut written, mut rounds) = (0, 0);
    loop {
        // The flag is read first, so that the checks below also hold for the end.
        let was_over = is_over.load(Ordering::SeqCst);
        other.append(&id("stranger"), &[user("meanwhile")], &request(6)).await?;
        written += 1;
        for gone in ["tip", "helper"] {
            assert_eq!(other.session(&id(gone)).await?, None);
            assert_not_found(other.lineage(&id(gone)).await, &id(gone));
            assert_not_found(other.append(&id(gone), &[user("x")], &request(6)).await, &id(gone));
        }
        assert_eq!(other.ids_with_prefix("t", 9).await?, []);
        let counts = other.counts(&SessionFilter::default()).await?;
        assert_eq!((counts.sessions - u64::from(rounds > 0), counts.messages), (2, written));
        if rounds == 0 {
            made(&*other, "root", 7).await;
            let fresh = stored(&*other, &id("root")).await;
            assert_eq!((fresh.started_at, fresh.message_count, fresh.title), (at(7), 0, None));
            assert!(texts(&*other, &id("root")).await.is_empty());
            other.set_title(&id("stranger"), Some(&title("plan")), &request(7)).await?;
        }
        rounds += 1;
        if was_over {
            break;
        }
    }
    assert_eq!(deletion.await.unwrap()?, Deleted { sessions: 3, messages: MESSAGES as u64 + 1 });
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A deletion whose future is dropped has happened or not. Upkeep finishes a deletion that was started, and a repeated
/// request returns its result.
pub async fn a_dropped_deletion_is_whole_or_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    large(&*store).await?;
    {
        let (tip, delete) = (id("tip"), keyed(5, "delete"));
        let mut deletion = std::pin::pin!(store.delete(&tip, DeleteExtent::Conversation, &delete));
        // It is polled once, and its result is never read.
        let _: Poll<_> = deletion.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    let deleted = store.delete(&id("tip"), DeleteExtent::Conversation, &keyed(6, "delete")).await?;
    assert_eq!(deleted, Deleted { sessions: 3, messages: MESSAGES as u64 + 1 });
    while store.upkeep().await? {}
    assert_eq!(store.counts(&SessionFilter::default()).await?.sessions, 2);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// While a large delegate is deleted, the conversation that sent it accepts messages, and its last activity follows
/// them.
pub async fn a_large_delegate_goes_while_others_write(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    large_delegate(&*store).await?;
    let (other, deleter) = (setup.store().await, Arc::clone(&store));
    let deletion = tokio::spawn(async move { deleter.delete(&id("helper"), DeleteExtent::Chain, &request(5)).await });
    while other.session(&id("helper")).await?.is_some() {
        tokio::task::yield_now().await;
    }
    let mut second = 0_u32;
    loop {
        // The end is checked first, so that the checks below also hold for it.
        let was_over = deletion.is_finished();
        let row = &other.list(&ListRequest::default()).await?.rows[0];
        let expected = if second == 0 { at(4) } else { at(10 + second) };
        assert_eq!((row.id.as_str(), row.segments, row.last_active), ("tip", 2, expected));
        second += 1;
        other.append(&id(["root", "tip"][second as usize % 2]), &[user("meanwhile")], &request(10 + second)).await?;
        assert_not_found(other.append(&id("helper"), &[user("x")], &request(6)).await, &id("helper"));
        let counts = other.counts(&SessionFilter::default()).await?;
        assert_eq!(counts, Counts { conversations: 2, sessions: 3, messages: 2 + u64::from(second) });
        if was_over {
            break;
        }
    }
    assert_eq!(deletion.await.unwrap()?, Deleted { sessions: 1, messages: MESSAGES as u64 });
    assert_eq!(other.list(&ListRequest::default()).await?.rows[0].last_active, at(10 + second));
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Creates a chain of two with a delegate of many messages, which has the newest message; and an unrelated session as
/// old as the chain.
async fn large_delegate(store: &dyn Maintenance) -> Result<(), StoreError> {
    made(store, "stranger", 0).await;
    made(store, "root", 0).await;
    store.append(&id("root"), &[user("root")], &request(1)).await?;
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[user("tip")], &request(4)).await?;
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n} with words 大别山"))).collect();
    store.append(&id("helper"), &batch, &request(9)).await.map(drop)
}

/// A deletion of a delegate whose future is dropped has happened or not, and the rest is reported accordingly.
pub async fn a_dropped_deletion_of_a_delegate_is_whole_or_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    large_delegate(&*store).await?;
    {
        let (helper, delete) = (id("helper"), keyed(5, "delete"));
        let mut deletion = std::pin::pin!(store.delete(&helper, DeleteExtent::Chain, &delete));
        let _: Poll<_> = deletion.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    // One list shows both whether it happened and what is left.
    let row = store.list(&ListRequest::default()).await?.rows.swap_remove(0);
    assert!(
        matches!((row.segments, row.last_active), (3, time) if time == at(9))
            || (row.segments, row.last_active) == (2, at(4))
    );
    let deleted = store.delete(&id("helper"), DeleteExtent::Chain, &keyed(6, "delete")).await?;
    assert_eq!(deleted, Deleted { sessions: 1, messages: MESSAGES as u64 });
    while store.upkeep().await? {}
    let row = store.list(&ListRequest::default()).await?.rows.swap_remove(0);
    assert_eq!((row.id.as_str(), row.segments, row.last_active), ("tip", 2, at(4)));
    assert_eq!(store.counts(&SessionFilter::default()).await?.sessions, 3);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Pruning deletes the planned conversations, reports progress, and leaves nothing for a second run.
pub async fn prune_takes_what_was_planned(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (name, day) in [("old", 1.0), ("recent", 99.0), ("active", 1.0), ("from-cron", 1.0)] {
        let tag = if name == "from-cron" { "cron" } else { "cli" };
        let new = NewSession { source: source(tag), ..new_session(name) };
        store.create(&new, &request(0)).await?;
        store.append(&id(name), &[user(name), user("more")], &request(day * DAY)).await?;
    }
    made(&*store, "root", 0).await;
    store.append(&id("root"), &[user("root")], &request(1)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[user("summary")], &request(2.0 * DAY)).await?;
    store.branch(&id("tip"), &NewChild::new(id("branch")), &request(2.0 * DAY)).await?;
    for name in ["old", "recent", "from-cron"] {
        end(&*store, name, 99.0 * DAY).await?;
    }
    let (now, policy) = (at(100.0 * DAY), RetentionPolicy::new(90.0, Some(source("cli")))?);
    let planned: Vec<SessionId> =
        plan(&*store, &policy, now).await?.into_iter().map(|found| found.conversation).collect();
    assert_eq!(planned, crate::fixture::ids(&["old", "root"]));
    let mut told = Vec::new();
    let pruned = prune(&*store, &policy, now, &mut |done, total| told.push((done, total))).await?;
    assert_eq!(pruned, Pruned { looked_at: 2, conversations: 2, sessions: 3, messages: 4, kept: 0 });
    assert_eq!(told.last(), Some(&(2, 2)));
    assert!(told.is_sorted(), "{told:?}");
    let listing = store.list(&ListRequest::default()).await?;
    let mut left = crate::fixture::row_ids(&listing);
    left.sort_unstable();
    assert_eq!(left, ["active", "branch", "from-cron", "recent"]);
    assert_eq!(prune(&*store, &policy, now, &mut |_, _| {}).await?, Pruned::default());
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Pruning that is stopped after a step leaves everything else unchanged, and can be continued.
pub async fn prune_stops_where_it_is_told(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    // More than fit into one step.
    for number in 0..600 {
        made(&*store, &format!("s{number:03}"), 0).await;
        end(&*store, &format!("s{number:03}"), 1.0).await?;
    }
    let (now, policy) = (at(100.0 * DAY), RetentionPolicy::new(90.0, None)?);
    let planned = plan(&*store, &policy, now).await?;
    let planned: Vec<SessionId> = planned.into_iter().map(|found| found.conversation).collect();
    let mut told = Vec::new();
    let mut enough = |pruned: &Pruned| {
        told.push(*pruned);
        ControlFlow::Break(())
    };
    let pruned = prune_planned(&*store, &planned, &policy, now, &mut enough).await?;
    assert_eq!((told, pruned.looked_at), (vec![pruned], pruned.conversations));
    assert!((1..600).contains(&pruned.looked_at), "{pruned:?}");
    let left: Vec<SessionId> = plan(&*store, &policy, now).await?.into_iter().map(|found| found.conversation).collect();
    assert_eq!(left[..], planned[pruned.looked_at as usize..]);
    assert!(store.verify().await?.is_sound());
    assert_eq!(prune(&*store, &policy, now, &mut |_, _| {}).await?.conversations, left.len() as u64);
    Ok(())
}

/// A planned conversation that became active before its turn is kept as a whole; one that no longer exists is ignored.
pub async fn prune_keeps_what_came_alive(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let names = ["reopened", "said", "delegated", "carried", "joined", "gone", "idle"];
    for name in names {
        made(&*store, name, 0).await;
        store.append(&id(name), &[user(name)], &request(1)).await?;
        end(&*store, name, 2.0).await?;
    }
    let (now, policy) = (at(100.0 * DAY), RetentionPolicy::new(90.0, None)?);
    assert_eq!(plan(&*store, &policy, now).await?.len(), names.len());
    let late = 99.0 * DAY;
    store.reopen(&id("reopened"), &request(late)).await?;
    store.append(&id("said"), &[user("again")], &request(late)).await?;
    store.create(&new_session("worker").child_of(id("delegated"), Relation::Delegate), &request(3)).await?;
    store.split(&id("carried"), &NewChild::new(id("on")), &[user("on")], &request(late)).await?;
    end(&*store, "on", late).await?;
    store.delete(&id("gone"), DeleteExtent::Conversation, &request(late)).await?;
    // Named by a session that is no longer the first of its conversation: the whole was not asked for.
    store.delete(&id("joined"), DeleteExtent::Conversation, &request(late)).await?;
    store.create(&new_session("joined").child_of(id("idle"), Relation::Delegate), &request(1)).await?;
    end(&*store, "joined", 2.0).await?;
    let list = names.map(id);
    let (mut left, mut sum) = (&list[..], Pruned::default());
    while !left.is_empty() {
        let step = store.prune(left, &policy, now).await?;
        assert!((1..=left.len() as u64).contains(&step.looked_at), "{step:?}");
        left = &left[step.looked_at as usize..];
        sum.conversations += step.conversations;
        sum.sessions += step.sessions;
        sum.kept += step.kept;
    }
    assert_eq!((sum.conversations, sum.sessions, sum.kept), (1, 2, 5));
    for name in ["reopened", "said", "delegated", "worker", "carried", "on"] {
        assert!(store.session(&id(name)).await?.is_some(), "{name}");
    }
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Pruning as the agent does: in a chain and its delegates the old sessions are deleted, the later ones stay and lose
/// their parent.
pub async fn prune_may_take_each_session_by_itself(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let now = at(200.0 * DAY);
    let start = |name: &str, days: f64| NewSession { started_at: Some(at(days * DAY)), ..new_session(name) };
    store.create(&start("a", 1.0), &request(0)).await?;
    store.create(&start("b", 2.0).child_of(id("a"), Relation::Continuation), &request(0)).await?;
    store.create(&start("c", 190.0).child_of(id("b"), Relation::Continuation), &request(0)).await?;
    store.create(&start("d", 191.0).child_of(id("c"), Relation::Delegate), &request(0)).await?;
    store.create(&start("active", 1.0).child_of(id("a"), Relation::Delegate), &request(0)).await?;
    store.create(&start("used", 1.0).child_of(id("a"), Relation::Branch), &request(0)).await?;
    store.append(&id("used"), &[user("x").said_at(at(190.0 * DAY))], &request(0)).await?;
    store.create(&start("pinned", 1.0), &request(0)).await?;
    store.create(&start("helper", 1.0).child_of(id("pinned"), Relation::Delegate), &request(0)).await?;
    store.set_pinned(&id("pinned"), true, &request(0)).await?;
    for name in ["a", "b", "c", "d", "used", "pinned", "helper"] {
        end(&*store, name, 1.0).await?;
    }
    let policy = RetentionPolicy::new(90.0, None)?.each_session();
    let planned = plan(&*store, &policy, now).await?;
    let planned: Vec<_> =
        planned.iter().map(|candidate| (candidate.conversation.as_str(), candidate.members.len())).collect();
    assert_eq!(planned, [("a", 1), ("b", 1)]);
    let pruned = prune(&*store, &policy, now, &mut |_, _| {}).await?;
    assert_eq!((pruned.sessions, pruned.kept), (2, 0));
    for gone in ["a", "b"] {
        assert_eq!(store.session(&id(gone)).await?, None, "{gone}");
    }
    for orphan in ["c", "active", "used"] {
        assert_eq!(stored(&*store, &id(orphan)).await.parent_session_id, None, "{orphan}");
    }
    assert_eq!(stored(&*store, &id("d")).await.parent_session_id, Some(id("c")));
    // Named sessions that may not be pruned stay.
    let again = store.prune(&[id("c"), id("active"), id("used"), id("helper")], &policy, now).await?;
    assert_eq!((again.sessions, again.kept, again.looked_at), (0, 4, 4));
    let only = RetentionPolicy::new(90.0, Some(source("telegram")))?.each_session();
    assert_eq!(plan(&*store, &only, now).await?.len(), 0);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A thousand small conversations and a large one are pruned in one run, while another process writes.
pub async fn prune_of_many(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    large(&*store).await?;
    end(&*store, "tip", 5.0).await?;
    end(&*store, "helper", 5.0).await?;
    for n in 0..1_000 {
        let name = format!("small-{n:04}");
        made(&*store, &name, 0).await;
        end(&*store, &name, 1.0).await?;
    }
    let (now, policy) = (at(100.0 * DAY), RetentionPolicy::new(90.0, None)?);
    let pruner = Arc::clone(&store);
    let pruning = tokio::spawn(async move { prune(&*pruner, &policy, now, &mut |_, _| {}).await });
    while !pruning.is_finished() {
        store.append(&id("stranger"), &[user("x")], &request(6)).await?;
    }
    let pruned = pruning.await.unwrap()?;
    assert_eq!((pruned.conversations, pruned.sessions, pruned.messages), (1_001, 1_003, MESSAGES as u64 + 1));
    assert_eq!((pruned.looked_at, pruned.kept), (1_001, 0));
    assert_eq!(store.counts(&SessionFilter::default()).await?.sessions, 2);
    Ok(())
}
