//! The trash: deleted conversations that can be restored.

mod family;

use crate::fixture::{
    assert_not_found, at, conflict, id, ids, keyed, made, request, row_ids, source, stored, texts, title, transcript,
    user,
};
use crate::{CaseResult, Setup};
use family::{MEMBERS, family, found, picture, topic};
use hermes_session::export::Exporter;
use hermes_session::versions::versions;
use hermes_session::{
    Conflict, Counts, DeleteExtent, Deleted, Emptying, InsightsRequest, ListRequest, MessageRequest, NewChild,
    NewMessage, NewSession, Relation, Restored, Retitled, SessionFilter, Trashed, View,
};
use std::future::Future as _;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// More messages than a provider should move in one step.
const MESSAGES: usize = 3_000;

/// After deleting and restoring a conversation everything is unchanged: fields, bytes, times, counters, relations,
/// search results.
pub async fn everything_comes_back(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let before = picture(&*store).await?;
    let deleted = store.trash_chain(&id("root"), at(100), &request(5)).await?;
    assert_eq!(deleted, Deleted { sessions: 4, messages: 7 });
    let restored = store.restore(&id("tip"), &request(6)).await?;
    assert_eq!(restored, Restored { id: id("tip"), sessions: 4, messages: 7, retitled: vec![] });
    while store.upkeep().await? {}
    let after = picture(&*store).await?;
    for (before, after) in std::iter::zip(before, after) {
        assert_eq!(before, after);
    }
    assert_eq!(store.trash(None, 9).await?, []);
    assert_not_found(store.restore(&id("tip"), &request(7)).await, &id("tip"));
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// No other call returns anything that is in the trash.
pub async fn nobody_sees_what_is_in_it(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    store.change_topics(&topic("tip"), at(4)).await?;
    store.trash_chain(&id("tip"), at(100), &request(5)).await?;
    for name in MEMBERS {
        assert_eq!(store.session(&id(name)).await?, None);
        assert_not_found(store.messages(&id(name), &MessageRequest::first(9)).await, &id(name));
        assert_not_found(store.lineage(&id(name)).await, &id(name));
        assert_not_found(store.append(&id(name), &[user("x")], &request(6)).await, &id(name));
        assert_not_found(store.delete(&id(name), DeleteExtent::Chain, &request(6)).await, &id(name));
        assert_eq!(store.ids_with_prefix(name, 9).await?, []);
        assert_eq!(store.topic_of(&id(name)).await?, None);
    }
    assert_eq!(store.sessions(&MEMBERS.map(id)).await?, []);
    for view in [View::Conversations, View::Sessions] {
        let listing = store.list(&ListRequest { view, ..ListRequest::default() }).await?;
        let mut rows = row_ids(&listing);
        rows.sort_unstable();
        assert_eq!(rows, ["branch", "stranger"]);
    }
    let counts = store.counts(&SessionFilter::default()).await?;
    assert_eq!(counts, Counts { conversations: 2, sessions: 2, messages: 2 });
    assert_eq!(store.titled("plan").await?, []);
    assert_eq!(found(&*store, "kilimanjaro").await?.len(), 1, "that of the branch");
    assert_eq!(found(&*store, "hello").await?, []);
    let insights = store.insights(&InsightsRequest::since(at(-1e6))).await?;
    assert!(!format!("{insights:?}").contains("model-x"), "{insights:?}");
    let mut exporter = Exporter::new(&*store, SessionFilter::default());
    while let Some(chunk) = exporter.next_chunk().await? {
        assert!(!chunk.contains("be brief") && !chunk.contains("hello"), "{chunk}");
    }
    assert_eq!(exporter.sessions(), 2);
    assert_eq!(store.foreign().await?, []);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// The title of a conversation in the trash can be given to another session, even while its rows are still being moved.
pub async fn a_title_is_free_at_once(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    family(&*store).await?;
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n}"))).collect();
    store.append(&id("root"), &batch, &request(4)).await?;
    let going = tokio::spawn(async move { store.trash_chain(&id("tip"), at(100), &request(5)).await });
    while other.session(&id("tip")).await?.is_some() {
        tokio::task::yield_now().await;
    }
    other.set_title(&id("stranger"), Some(&title("plan")), &request(6)).await?;
    assert_eq!(other.allocate_title(&id("branch"), &title("plan"), &request(6)).await?, title("plan #2"));
    assert_eq!(going.await.unwrap()?.sessions, 4);
    Ok(())
}

/// Titles that were given to other sessions meanwhile stay theirs; the answer contains the new titles of the restored
/// sessions.
pub async fn a_title_gives_way(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    assert_eq!(stored(&*store, &id("tip")).await.title.as_deref(), Some("plan #2"));
    store.trash_chain(&id("tip"), at(100), &request(5)).await?;
    store.set_title(&id("stranger"), Some(&title("plan")), &request(6)).await?;
    let restored = store.restore(&id("root"), &request(7)).await?;
    let now = stored(&*store, &id("root")).await.title;
    assert_eq!(restored.retitled[0], Retitled { id: id("root"), had: "plan".into(), has: now.clone() }, "{restored:?}");
    assert!(now.is_some_and(|now| now.starts_with("plan #")));
    assert_eq!(stored(&*store, &id("stranger")).await.title.as_deref(), Some("plan"));
    for retitled in &restored.retitled {
        assert_eq!(stored(&*store, &retitled.id).await.title, retitled.has);
    }
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A new session keeps an id that is in the trash too; the entry stays in the trash, and can be restored once the id is
/// free.
pub async fn an_id_that_was_used_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    store.trash_chain(&id("tip"), at(100), &request(5)).await?;
    made(&*store, "helper", 6).await;
    store.append(&id("helper"), &[user("another")], &request(6)).await?;
    let refused = store.restore(&id("tip"), &request(7)).await;
    assert_eq!(conflict(refused), Conflict::Exists(id("helper")));
    assert_eq!(store.session(&id("root")).await?, None, "nothing of it is there");
    assert_eq!(texts(&*store, &id("helper")).await, ["another"]);
    // Now two entries hold a session of that id: the newest is meant.
    store.trash_chain(&id("helper"), at(100), &request(8)).await?;
    let (entry, members) = store.trashed(&id("helper")).await?.unwrap();
    assert_eq!((entry.sessions, members), (1, ids(&["helper"])));
    store.restore(&id("helper"), &request(9)).await?;
    assert_eq!(texts(&*store, &id("helper")).await, ["another"]);
    store.delete(&id("helper"), DeleteExtent::Chain, &request(10)).await?;
    assert_eq!(store.restore(&id("helper"), &request(11)).await?.sessions, 4);
    assert_eq!(texts(&*store, &id("helper")).await, ["kilimanjaro, helper"]);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Any id of a conversation leads to all its versions: the live session of that id, and all entries in the trash.
pub async fn every_version_is_found(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    made(&*store, "other", 4).await;
    let there = versions(&*store, &id("helper")).await?;
    assert_eq!((there.live, there.trashed.len()), (ids(&["helper"]), 0));
    store.trash_chain(&id("tip"), at(100), &request(5)).await?;
    made(&*store, "helper", 6).await;
    for name in MEMBERS {
        let found = versions(&*store, &id(name)).await?;
        assert_eq!((found.live, found.trashed.len()), (ids(&["helper"]), 1), "{name}");
        assert_eq!(found.members, MEMBERS.iter().map(|name| id(name)).collect());
    }
    store.trash_chain(&id("helper"), at(100), &request(7)).await?;
    let twice = versions(&*store, &id("helper")).await?;
    assert_eq!((twice.live, twice.trashed.len(), twice.members.len()), (vec![], 2, MEMBERS.len()));
    assert_eq!(versions(&*store, &id("other")).await?.live, ids(&["other"]));
    assert!(versions(&*store, &id("none")).await?.is_empty());
    Ok(())
}

/// Any session of an entry names it.
pub async fn any_session_names_it(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    assert_eq!(store.trashed(&id("tip")).await?, None);
    for name in MEMBERS {
        store.trash_chain(&id("root"), at(100), &request(5)).await?;
        let (entry, members) = store.trashed(&id(name)).await?.unwrap();
        assert_eq!((entry.id, entry.title.as_deref(), entry.source.as_str()), (id("tip"), Some("plan #2"), "cli"));
        assert_eq!((entry.deleted_at, entry.until, entry.sessions, entry.messages), (at(5), at(100), 4, 7));
        assert_eq!(members, ids(&["root", "tip", "helper", "deep"]));
        assert_eq!(store.restore(&id(name), &request(6)).await?.id, id("tip"));
    }
    for gone in ["stranger", "branch", "nobody"] {
        assert_not_found(store.restore(&id(gone), &request(7)).await, &id(gone));
    }
    Ok(())
}

/// Branches stay when their origin is deleted, and when it is restored.
pub async fn branches_stay(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let said = texts(&*store, &id("branch")).await;
    store.trash_chain(&id("tip"), at(100), &request(5)).await?;
    for _ in 0..2 {
        let branch = stored(&*store, &id("branch")).await;
        assert_eq!((branch.parent_session_id, branch.relation), (None, Relation::Root));
        assert_eq!(texts(&*store, &id("branch")).await, said);
        if store.trashed(&id("tip")).await?.is_some() {
            store.restore(&id("tip"), &request(6)).await?;
        }
    }
    // A branch that is deleted itself is restored with its parent.
    store.branch(&id("tip"), &NewChild::new(id("second")), &request(7)).await?;
    store.trash_chain(&id("second"), at(100), &request(8)).await?;
    store.restore(&id("second"), &request(9)).await?;
    let second = stored(&*store, &id("second")).await;
    assert_eq!((second.parent_session_id, second.relation), (Some(id("tip")), Relation::Branch));
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A delegate is deleted without the conversation that sent it, and restored to it.
pub async fn a_delegate_goes_and_comes_alone(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    store.append(&id("deep"), &[user("the last word")], &request(9)).await?;
    let before = picture(&*store).await?;
    let deleted = store.trash_chain(&id("helper"), at(100), &request(10)).await?;
    assert_eq!(deleted, Deleted { sessions: 2, messages: 2 });
    let row = &store.list(&ListRequest::default()).await?.rows[0];
    assert_eq!((row.id.as_str(), row.last_active), ("tip", at(4)), "as active as what stays");
    store.restore(&id("deep"), &request(11)).await?;
    while store.upkeep().await? {}
    let after = picture(&*store).await?;
    assert_eq!(before, after);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A session whose parent was deleted permanently is a root when it is restored.
pub async fn a_parent_that_is_gone(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    store.trash_chain(&id("helper"), at(100), &request(5)).await?;
    store.delete(&id("tip"), DeleteExtent::Chain, &request(6)).await?;
    assert_eq!(store.restore(&id("deep"), &request(7)).await?.sessions, 2);
    let helper = stored(&*store, &id("helper")).await;
    assert_eq!((helper.parent_session_id, helper.relation), (None, Relation::Root));
    let deep = stored(&*store, &id("deep")).await;
    assert_eq!((deep.parent_session_id, deep.relation), (Some(id("helper")), Relation::Delegate));
    assert_eq!(store.list(&ListRequest::default()).await?.rows.len(), 3);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Messages are restored with their ids; messages written meanwhile have others.
pub async fn ids_of_messages_are_kept(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let before = transcript(&*store, &id("root")).await;
    store.trash_chain(&id("tip"), at(100), &request(5)).await?;
    store.append(&id("stranger"), &[user("meanwhile")], &request(6)).await?;
    store.restore(&id("tip"), &request(7)).await?;
    assert_eq!(transcript(&*store, &id("root")).await, before);
    let newest = store.append(&id("root"), &[user("after")], &request(8)).await?;
    let all = [transcript(&*store, &id("root")).await, transcript(&*store, &id("stranger")).await].concat();
    assert_eq!(all.iter().filter(|message| message.id >= newest[0]).count(), 1, "ids are not given twice");
    Ok(())
}

/// A large conversation is deleted and restored while others write, and no reader ever sees a part of it.
pub async fn much_goes_and_comes_while_others_write(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "stranger", 0).await;
    made(&*store, "large", 0).await;
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n} with words 大别山"))).collect();
    store.append(&id("large"), &batch, &request(1)).await?;
    store.split(&id("large"), &NewChild::new(id("tip")), &[user("tip")], &request(2)).await?;
    let other = setup.store().await;
    let mut written = 0;
    for goes in [true, false] {
        let worker = Arc::clone(&store);
        let work = tokio::spawn(async move {
            match goes {
                true => worker.trash_chain(&id("tip"), at(100), &request(5)).await.map(|deleted| deleted.messages),
                false => worker.restore(&id("tip"), &request(6)).await.map(|restored| restored.messages),
            }
        });
        loop {
            let was_over = work.is_finished();
            other.append(&id("stranger"), &[user("meanwhile")], &request(6)).await?;
            written += 1;
            let counts = other.counts(&SessionFilter::default()).await?;
            let whole = counts.sessions == 3;
            let expected = if whole { MESSAGES as u64 + 1 + written } else { written };
            assert_eq!((counts.messages, counts.sessions), (expected, if whole { 3 } else { 1 }));
            if was_over {
                break;
            }
        }
        assert_eq!(work.await.unwrap()?, MESSAGES as u64 + 1);
    }
    assert_eq!(transcript(&*store, &id("large")).await.len(), MESSAGES);
    while store.upkeep().await? {}
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A call whose future is dropped has happened or not; repeating the request returns its result.
pub async fn a_dropped_future_is_whole_or_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "large", 0).await;
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n}"))).collect();
    store.append(&id("large"), &batch, &request(1)).await?;
    let (large, go, come) = (id("large"), keyed(5, "go"), keyed(6, "come"));
    {
        let mut going = std::pin::pin!(store.trash_chain(&large, at(100), &go));
        let _: Poll<_> = going.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    let deleted = store.trash_chain(&large, at(100), &go).await?;
    assert_eq!(deleted, Deleted { sessions: 1, messages: MESSAGES as u64 });
    {
        let mut coming = std::pin::pin!(store.restore(&large, &come));
        let _: Poll<_> = coming.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    while store.upkeep().await? {}
    assert!(matches!(store.counts(&SessionFilter::default()).await?.messages, 0 | 3_000));
    assert_eq!(store.restore(&large, &come).await?.messages, MESSAGES as u64);
    assert_eq!(transcript(&*store, &large).await.len(), MESSAGES);
    while store.upkeep().await? {}
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A request with a key is applied once and returns the same answer, even after the conversation was restored or
/// deleted again.
pub async fn requests_are_applied_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let deleted = store.trash_chain(&id("tip"), at(100), &keyed(5, "go")).await?;
    assert_eq!(store.trash_chain(&id("tip"), at(200), &keyed(6, "go")).await?, deleted);
    assert_eq!(store.trash(None, 9).await?.len(), 1);
    store.set_title(&id("stranger"), Some(&title("plan")), &request(6)).await?;
    let restored = store.restore(&id("tip"), &keyed(7, "come")).await?;
    assert!(!restored.retitled.is_empty());
    assert_eq!(store.restore(&id("tip"), &keyed(8, "come")).await?, restored);
    assert_eq!(store.trash_chain(&id("tip"), at(300), &keyed(9, "go")).await?, deleted, "it stays where it is");
    assert!(store.session(&id("tip")).await?.is_some());
    let reused = store.restore(&id("stranger"), &keyed(9, "come")).await;
    assert!(matches!(conflict(reused), Conflict::KeyReused(_)));
    let reused = store.trash_chain(&id("stranger"), at(9), &keyed(9, "come")).await;
    assert!(matches!(conflict(reused), Conflict::KeyReused(_)));
    assert_not_found(store.trash_chain(&id("nobody"), at(9), &keyed(9, "new")).await, &id("nobody"));
    Ok(())
}

/// A restored conversation is like any other: it accepts messages, and can be deleted and restored again.
pub async fn what_came_back_can_go_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    for round in 0..3_u32 {
        store.trash_chain(&id("tip"), at(100), &request(10 + round)).await?;
        assert_eq!(store.restore(&id("tip"), &request(11 + round)).await?.messages, 7 + u64::from(round));
        store.append(&id("tip"), &[user(&format!("round {round}"))], &request(12 + round)).await?;
    }
    assert_eq!(texts(&*store, &id("tip")).await, ["tip", "round 0", "round 1", "round 2"]);
    assert_eq!(found(&*store, "round").await?.len(), 3);
    store.delete(&id("tip"), DeleteExtent::Chain, &request(20)).await?;
    assert_not_found(store.restore(&id("tip"), &request(21)).await, &id("tip"));
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// The trash is listed newest first, in pages.
pub async fn the_newest_comes_first(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.trash(None, 9).await?, []);
    for n in 0..5_u32 {
        let name = format!("s{n}");
        store.create(&NewSession::new(id(&name), source("cron")), &request(n)).await?;
        // A clock that was set back changes nothing.
        store.trash_chain(&id(&name), at(100), &request(50 - n)).await?;
    }
    let all = store.trash(None, 9).await?;
    let names: Vec<&str> = all.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(names, ["s4", "s3", "s2", "s1", "s0"]);
    assert!(all.iter().all(|entry| entry.source == "cron" && entry.title.is_none()));
    let (mut paged, mut last): (Vec<Trashed>, Option<Trashed>) = (Vec::new(), None);
    loop {
        let page = store.trash(last.as_ref(), 2).await?;
        let Some(end) = page.last() else { break };
        last = Some(end.clone());
        paged.extend(page);
    }
    assert_eq!(paged, all);
    Ok(())
}

/// Expired entries are deleted permanently, and nothing else.
pub async fn what_is_over_goes_for_good(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (name, until) in [("early", 10), ("late", 20), ("other", 30)] {
        made(&*store, name, 0).await;
        store.append(&id(name), &[user(name)], &request(1)).await?;
        store.trash_chain(&id(name), at(until), &request(2)).await?;
    }
    assert_eq!(store.empty_trash(&Emptying::Over(at(9.5))).await?, []);
    let gone = store.empty_trash(&Emptying::Over(at(20))).await?;
    let names: Vec<&str> = gone.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(names, ["late", "early"]);
    assert_not_found(store.restore(&id("late"), &request(3)).await, &id("late"));
    assert_eq!(store.restore(&id("other"), &request(3)).await?.messages, 1);
    store.trash_chain(&id("other"), at(30), &request(4)).await?;
    assert_eq!(store.empty_trash(&Emptying::All).await?.len(), 1);
    assert_eq!((store.trash(None, 9).await?, store.empty_trash(&Emptying::All).await?), (vec![], vec![]));
    while store.upkeep().await? {}
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// If another process deletes, restores and deletes again between listing and emptying the trash, entries that were not
/// listed in this form stay.
pub async fn nothing_goes_but_what_was_seen(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for name in ["goes", "comes back", "later"] {
        made(&*store, name, 0).await;
        store.append(&id(name), &[user(name)], &request(1)).await?;
    }
    for name in ["goes", "comes back"] {
        store.trash_chain(&id(name), at(100), &request(2)).await?;
    }
    let seen = store.trash(None, 9).await?;
    store.restore(&id("comes back"), &request(3)).await?;
    store.trash_chain(&id("later"), at(100), &request(4)).await?;
    store.trash_chain(&id("comes back"), at(100), &request(5)).await?;
    let gone = store.empty_trash(&Emptying::These(seen.clone())).await?;
    assert_eq!(gone, [seen[1].clone()]);
    for name in ["comes back", "later"] {
        assert_eq!(store.restore(&id(name), &request(6)).await?.messages, 1, "{name}");
    }
    assert_eq!(store.empty_trash(&Emptying::These(seen)).await?, []);
    Ok(())
}

/// A single entry can be deleted permanently, whatever else is there.
pub async fn one_can_be_taken_out(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    store.trash_chain(&id("stranger"), at(100), &request(5)).await?;
    store.trash_chain(&id("tip"), at(100), &request(5)).await?;
    let gone = store.empty_trash(&Emptying::One(id("deep"))).await?;
    assert_eq!((gone.len(), &gone[0].id, gone[0].messages), (1, &id("tip"), 7));
    let again = store.empty_trash(&Emptying::One(id("deep"))).await;
    assert_not_found(again, &id("deep"));
    made(&*store, "tip", 6).await;
    assert_eq!(store.restore(&id("stranger"), &request(7)).await?.sessions, 1);
    assert!(store.verify().await?.is_sound());
    Ok(())
}
