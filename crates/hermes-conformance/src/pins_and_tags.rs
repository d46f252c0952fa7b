//! Pins and tags: ownership, queries, retention, deletion and transfer.

use crate::fixture::{assert_invalid, assert_not_found, at, conflict, id, keyed, made, new_session, request, user};
use crate::import::{exported, imported};
use crate::ordering::ORDERS;
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::export::Exporter;
use hermes_session::pins_and_tags::{self, MAX_TAGS, PinAndTags};
use hermes_session::retention::{AutoPrune, Plan, RetentionPolicy, auto_prune, plan_all, prune_planned};
use hermes_session::transfer::{Proving, TransferOptions, copy, prove};
use hermes_session::{
    Conflict, ConversationStore, Counts, DeleteExtent, EndReason, ListRequest, Maintenance, NewChild, Order,
    PageRequest, Relation, SessionFilter, SessionId, Store, StoreError, Tag, View,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

fn tags(texts: &[&str]) -> Vec<Tag> {
    texts.iter().map(|text| Tag::parse(text).unwrap()).collect()
}

fn counted(texts: &[(&str, u64)]) -> Vec<(Tag, u64)> {
    texts.iter().map(|(text, count)| (Tag::parse(text).unwrap(), *count)).collect()
}

async fn tag(store: &dyn ConversationStore, name: &str, texts: &[&str]) -> Vec<Tag> {
    store.change_tags(&id(name), &tags(texts), &[], &request(50)).await.unwrap()
}

async fn pin(store: &dyn ConversationStore, name: &str, seconds: i32) -> bool {
    store.set_pinned(&id(name), true, &request(seconds)).await.unwrap()
}

/// Creates a chain of two with a delegate, and a branch of it.
async fn family(store: &dyn Maintenance) -> Result<(), StoreError> {
    made(store, "root", 0).await;
    store.append(&id("root"), &[user("hello")], &request(1)).await?;
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[user("summary")], &request(3)).await?;
    store.branch(&id("tip"), &NewChild::new(id("branch")), &request(4)).await?;
    Ok(())
}

/// Returns the pins and tags of each row of a list, by the id of the row.
async fn shown(store: &dyn Maintenance, view: View) -> Result<BTreeMap<String, PinAndTags>, StoreError> {
    let rows = store.list(&ListRequest { view, ..ListRequest::default() }).await?.rows;
    Ok(rows.into_iter().map(|row| (row.id.to_string(), PinAndTags::of_row(&row))).collect())
}

/// A conversation is pinned once, keeps the exact time, and is unpinned once.
pub async fn pinned_and_unpinned(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    assert!(!store.set_pinned(&id("s"), false, &request(1)).await?, "it was not pinned");
    assert_eq!(pins_and_tags::of(&*store, &id("s")).await?, PinAndTags::default());
    assert!(pin(&*store, "s", 7).await && !pin(&*store, "s", 8).await);
    let pinned = PinAndTags { pinned_at: Some(at(7)), tags: Vec::new() };
    assert_eq!(pins_and_tags::of(&*setup.store().await, &id("s")).await?, pinned);
    assert!(store.set_pinned(&id("s"), false, &request(9)).await?);
    assert!(!store.set_pinned(&id("s"), false, &request(9)).await?);
    assert_eq!(pins_and_tags::of(&*store, &id("s")).await?, PinAndTags::default());
    assert_not_found(store.set_pinned(&id("S"), true, &request(9)).await, &id("S"));
    assert_not_found(store.set_pinned(&id("S"), false, &request(9)).await, &id("S"));
    assert_not_found(store.change_tags(&id("S"), &tags(&["x"]), &[], &request(9)).await, &id("S"));
    assert_not_found(pins_and_tags::of(&*store, &id("S")).await, &id("S"));
    Ok(())
}

/// Tags are a set, in the order of their bytes; removals are applied first. All tags in use are returned with their
/// counts.
pub async fn tags_come_and_go(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "a", 0).await;
    made(&*store, "b", 1).await;
    assert_eq!(store.tags().await?, []);
    assert_eq!(store.change_tags(&id("a"), &[], &tags(&["none"]), &request(2)).await?, []);
    assert_eq!(tag(&*store, "a", &["work", "Ärger", "work", "大别山", "to-do"]).await.len(), 4);
    let (add, remove) = (tags(&["home", "both"]), tags(&["TO-DO", "both", "absent"]));
    let expect = tags(&["both", "home", "work", "ärger", "大别山"]);
    assert_eq!(store.change_tags(&id("a"), &add, &remove, &request(3)).await?, expect);
    assert_eq!(pins_and_tags::of(&*store, &id("a")).await?.tags, expect);
    assert_eq!(tag(&*store, "b", &["work"]).await, tags(&["work"]));
    let all = [("both", 1), ("home", 1), ("work", 2), ("ärger", 1), ("大别山", 1)];
    assert_eq!(store.tags().await?, counted(&all));
    assert_eq!(store.change_tags(&id("a"), &[], &expect, &request(4)).await?, []);
    assert_eq!(store.tags().await?, counted(&[("work", 1)]));
    assert_eq!(shown(&*store, View::Sessions).await?["a"], PinAndTags::default());
    Ok(())
}

/// The number of tags is limited, and a change that would exceed the limit changes nothing.
pub async fn too_many_tags_are_refused(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    let many: Vec<Tag> = (0..=MAX_TAGS).map(|number| Tag::parse(&format!("t{number:02}")).unwrap()).collect();
    assert_invalid(store.change_tags(&id("s"), &many, &[], &keyed(1, "k")).await, "tags");
    assert_eq!(store.tags().await?, []);
    let full = store.change_tags(&id("s"), &many[..MAX_TAGS], &[], &keyed(1, "k")).await?;
    assert_eq!(full, many[..MAX_TAGS]);
    assert_invalid(store.change_tags(&id("s"), &many[MAX_TAGS..], &[], &request(2)).await, "tags");
    let next = store.change_tags(&id("s"), &many[MAX_TAGS..], &many[..1], &request(2)).await?;
    assert_eq!(next, many[1..]);
    let longest = Tag::parse(&"𝕏".repeat(50)).unwrap();
    made(&*store, "long", 1).await;
    assert_eq!(store.change_tags(&id("long"), std::slice::from_ref(&longest), &[], &request(3)).await?, [longest]);
    Ok(())
}

/// Naming any session of a conversation gives the same pins and tags; every row of it shows them.
pub async fn found_from_any_session(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    assert!(pin(&*store, "helper", 5).await && !pin(&*store, "root", 6).await && !pin(&*store, "tip", 7).await);
    tag(&*store, "tip", &["one"]).await;
    tag(&*store, "helper", &["two"]).await;
    assert_eq!(tag(&*store, "root", &["three"]).await, tags(&["one", "three", "two"]));
    let expect = PinAndTags { pinned_at: Some(at(5)), tags: tags(&["one", "three", "two"]) };
    for name in ["root", "helper", "tip"] {
        assert_eq!(pins_and_tags::of(&*store, &id(name)).await?, expect, "{name}");
        assert_eq!(shown(&*store, View::Sessions).await?[name], expect, "{name}");
    }
    assert_eq!(shown(&*store, View::Conversations).await?["tip"], expect);
    assert_eq!(pins_and_tags::kept_with(&*store, &id("root")).await?, expect);
    assert_eq!(pins_and_tags::kept_with(&*store, &id("tip")).await?, PinAndTags::default());
    assert!(store.set_pinned(&id("tip"), false, &request(8)).await?);
    assert_eq!(pins_and_tags::of(&*store, &id("helper")).await?.pinned_at, None);
    Ok(())
}

/// A conversation that is continued keeps its pins and tags.
pub async fn a_continuation_keeps_them(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "root", 0).await;
    pin(&*store, "root", 1).await;
    tag(&*store, "root", &["work"]).await;
    let expect = pins_and_tags::of(&*store, &id("root")).await?;
    for (parent, child) in [("root", "second"), ("second", "third")] {
        store.split(&id(parent), &NewChild::new(id(child)), &[user("summary")], &request(2)).await?;
        assert_eq!(pins_and_tags::of(&*store, &id(child)).await?, expect);
        assert_eq!(shown(&*store, View::Conversations).await?, BTreeMap::from([(child.to_owned(), expect.clone())]));
    }
    assert_eq!(store.tags().await?, counted(&[("work", 1)]));
    Ok(())
}

/// A branch is a separate conversation: it starts without pins and tags, and its own do not affect others.
pub async fn a_branch_starts_without(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "root", 0).await;
    pin(&*store, "root", 1).await;
    tag(&*store, "root", &["work"]).await;
    store.branch(&id("root"), &NewChild::new(id("branch")), &request(2)).await?;
    assert_eq!(pins_and_tags::of(&*store, &id("branch")).await?, PinAndTags::default());
    tag(&*store, "branch", &["home"]).await;
    assert_eq!(pins_and_tags::of(&*store, &id("root")).await?.tags, tags(&["work"]));
    assert_eq!(pins_and_tags::of(&*store, &id("branch")).await?, PinAndTags { pinned_at: None, tags: tags(&["home"]) });
    Ok(())
}

/// A repeated request returns the same answer and does nothing; with other content its key is refused.
pub async fn keys_repeat(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    assert!(store.set_pinned(&id("s"), true, &keyed(1, "pin")).await?);
    assert!(store.set_pinned(&id("s"), false, &request(2)).await?);
    assert!(store.set_pinned(&id("s"), true, &keyed(3, "pin")).await?, "it is the same request");
    assert_eq!(pins_and_tags::of(&*store, &id("s")).await?.pinned_at, None);
    let reused = conflict(store.set_pinned(&id("s"), false, &keyed(3, "pin")).await);
    assert_eq!(reused, Conflict::KeyReused(crate::fixture::key("pin")));
    let (work, home) = (tags(&["work", "home"]), tags(&["home"]));
    let first = store.change_tags(&id("s"), &work, &[], &keyed(4, "tag")).await?;
    assert_eq!(store.change_tags(&id("s"), &[], &work, &keyed(5, "untag")).await?, []);
    assert_eq!(store.change_tags(&id("s"), &work, &[], &keyed(6, "tag")).await?, first);
    assert_eq!(store.change_tags(&id("s"), &[], &work, &keyed(6, "untag")).await?, []);
    assert_eq!(store.tags().await?, []);
    conflict(store.change_tags(&id("s"), &[], &home, &keyed(7, "tag")).await);
    conflict(store.change_tags(&id("s"), &home, &work, &keyed(7, "untag")).await);
    Ok(())
}

/// Lists and counts apply filters alike, in every view and order, page by page.
pub async fn filters_agree(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    for number in 0..6 {
        let name = format!("s{number}");
        made(&*store, &name, 10 + number).await;
        store.append(&id(&name), &[user("hi")], &request(20 + number)).await?;
        store.set_title(&id(&name), Some(&crate::fixture::title(&format!("Talk {number}"))), &request(21)).await?;
    }
    for name in ["tip", "s1", "s4"] {
        pin(&*store, name, 30).await;
    }
    for (name, texts) in [("helper", &["a", "b"][..]), ("s1", &["a"]), ("s2", &["b"]), ("s3", &["b", "a", "c"])] {
        tag(&*store, name, texts).await;
    }
    let plain = SessionFilter::default;
    let tagged = |texts: &[&str]| SessionFilter { tags: tags(texts), ..plain() };
    let pinned = |pinned: bool| SessionFilter { pinned: Some(pinned), ..plain() };
    let table: [(SessionFilter, &[&str], u64, u64); 8] = [
        (pinned(true), &["root", "s1", "s4"], 5, 4),
        (pinned(false), &["branch", "s0", "s2", "s3", "s5"], 5, 5),
        (tagged(&["a"]), &["root", "s1", "s3"], 5, 4),
        (tagged(&["b", "a"]), &["root", "s3"], 4, 3),
        (tagged(&["a", "absent"]), &[], 0, 0),
        (SessionFilter { pinned: Some(false), ..tagged(&["a"]) }, &["s3"], 1, 1),
        (SessionFilter { title: Some("talk".into()), ..pinned(true) }, &["s1", "s4"], 2, 2),
        (SessionFilter { title: Some("talk".into()), ..tagged(&["b"]) }, &["s2", "s3"], 2, 2),
    ];
    for (filter, expect, sessions, messages) in table {
        let counts = Counts { conversations: expect.len() as u64, sessions, messages };
        assert_eq!(store.counts(&filter).await?, counts, "{filter:?}");
        for order in ORDERS {
            for (view, count) in [(View::Conversations, counts.conversations), (View::Sessions, sessions)] {
                let rows = paged(&*store, view, order, &filter).await?;
                assert_eq!(rows.len() as u64, count, "{view:?} {order:?} {filter:?}");
                let roots: BTreeSet<&str> = rows.iter().map(|(_, root)| root.as_str()).collect();
                assert_eq!(roots, expect.iter().copied().collect(), "{view:?} {order:?} {filter:?}");
            }
        }
    }
    Ok(())
}

/// Returns the rows of a list, read in small pages, each with its conversation.
async fn paged(
    store: &dyn Store,
    view: View,
    order: Order,
    filter: &SessionFilter,
) -> Result<BTreeSet<(SessionId, SessionId)>, StoreError> {
    let page = PageRequest::first(2);
    let mut request = ListRequest { view, order, page, filter: filter.clone(), after: None };
    let mut rows = BTreeSet::new();
    loop {
        let listing = store.list(&request).await?;
        for row in listing.rows {
            assert!(filter.admits(&row), "{row:?}");
            assert!(rows.insert((row.id, row.conversation)), "no row comes twice");
        }
        match listing.next {
            Some(next) => request.after = Some(next),
            None => return Ok(rows),
        }
    }
}

/// A pinned conversation is in no plan and is never pruned, whether it was pinned before or after planning.
pub async fn pruning_keeps_what_is_pinned(setup: Setup) -> CaseResult {
    const LATER: f64 = 100.0 * 86_400.0;
    let store = setup.store().await;
    let reason = EndReason::parse("cli_close").unwrap();
    family(&*store).await?;
    for name in ["old", "planned", "unpinned"] {
        made(&*store, name, 0).await;
    }
    for name in ["root", "helper", "tip", "branch", "old", "planned", "unpinned"] {
        store.end(&id(name), &reason, &request(5)).await?;
    }
    pin(&*store, "tip", 6).await;
    pin(&*store, "unpinned", 6).await;
    let policy = RetentionPolicy::new(90.0, None).unwrap();
    let Plan { candidates, pinned, .. } = plan_all(&*store, &policy, at(LATER)).await?;
    let planned: Vec<SessionId> = candidates.into_iter().map(|candidate| candidate.conversation).collect();
    assert_eq!((planned.clone(), pinned), (["old", "planned", "branch"].map(id).to_vec(), 2));
    pin(&*store, "planned", 7).await;
    store.set_pinned(&id("unpinned"), false, &request(8)).await?;
    let asked: Vec<SessionId> = planned.into_iter().chain([id("root"), id("unpinned")]).collect();
    let mut goes_on = |_: &_| ControlFlow::Continue(());
    let pruned = prune_planned(&*store, &asked, &policy, at(LATER), &mut goes_on).await?;
    assert_eq!((pruned.looked_at, pruned.conversations, pruned.kept), (5, 3, 2), "{pruned:?}");
    auto_prune(&*store, &AutoPrune::new(policy.clone(), 24.0), at(LATER), &mut goes_on).await?;
    let left = shown(&*store, View::Sessions).await?;
    assert_eq!(left.into_keys().collect::<Vec<_>>(), ["helper", "planned", "root", "tip"]);
    store.set_pinned(&id("planned"), false, &request(9)).await?;
    let last = prune_planned(&*store, &[id("planned")], &policy, at(LATER), &mut goes_on).await?;
    assert_eq!((last.conversations, last.kept), (1, 0));
    Ok(())
}

/// Pins and tags are deleted with their conversation: neither a reused id nor a branch has them.
pub async fn what_is_gone_has_none(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    pin(&*store, "tip", 5).await;
    tag(&*store, "tip", &["work"]).await;
    store.delete(&id("tip"), DeleteExtent::Conversation, &request(6)).await?;
    assert_eq!(store.tags().await?, []);
    made(&*store, "root", 7).await;
    for name in ["root", "branch"] {
        assert_eq!(pins_and_tags::of(&*store, &id(name)).await?, PinAndTags::default(), "{name}");
    }
    assert_eq!(pins_and_tags::all(&*store).await?, BTreeMap::new());
    // Deleting a delegate alone keeps the pins and tags of its conversation.
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(8)).await?;
    tag(&*store, "helper", &["home"]).await;
    store.delete(&id("helper"), DeleteExtent::Chain, &request(9)).await?;
    assert_eq!(pins_and_tags::of(&*store, &id("root")).await?.tags, tags(&["home"]));
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A conversation restored from the trash has its pins and tags, although its ids had none meanwhile.
pub async fn come_back_from_the_trash(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    pin(&*store, "tip", 5).await;
    tag(&*store, "tip", &["work", "大别山"]).await;
    let had = pins_and_tags::of(&*store, &id("root")).await?;
    store.trash_chain(&id("root"), at(100), &request(6)).await?;
    assert_eq!((store.tags().await?, pins_and_tags::all(&*store).await?), (vec![], BTreeMap::new()));
    store.restore(&id("root"), &request(7)).await?;
    for name in ["root", "tip", "helper"] {
        assert_eq!(pins_and_tags::of(&*store, &id(name)).await?, had, "{name}");
    }
    assert_eq!(store.tags().await?, counted(&[("work", 1), ("大别山", 1)]));
    // A delegate has none of its own.
    store.trash_chain(&id("helper"), at(100), &request(8)).await?;
    store.restore(&id("helper"), &request(9)).await?;
    assert_eq!(pins_and_tags::all(&*store).await?.len(), 1);
    // A conversation without any is restored without any.
    store.set_pinned(&id("root"), false, &request(10)).await?;
    store.change_tags(&id("root"), &[], &had.tags, &request(11)).await?;
    store.trash_chain(&id("root"), at(100), &request(12)).await?;
    store.restore(&id("root"), &request(13)).await?;
    assert_eq!(pins_and_tags::all(&*store).await?, BTreeMap::new());
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Imported pins and tags are added to existing ones, once; existing ones stay.
pub async fn come_from_outside(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for name in ["a", "b", "c"] {
        made(&*store, name, 0).await;
    }
    pin(&*store, "a", 1).await;
    tag(&*store, "a", &["work"]).await;
    let pins_and_tags =
        |seconds: Option<i32>, texts: &[&str]| PinAndTags { pinned_at: seconds.map(at), tags: tags(texts) };
    let outside = [
        (id("a"), pins_and_tags(Some(9), &["home", "work"])),
        (id("absent"), pins_and_tags(Some(9), &["lost"])),
        (id("b"), pins_and_tags(Some(9), &[])),
        (id("c"), PinAndTags::default()),
    ];
    assert_eq!(store.import_pins_and_tags(&outside).await?, 2);
    assert_eq!(store.import_pins_and_tags(&outside).await?, 0);
    let expect =
        BTreeMap::from([(id("a"), pins_and_tags(Some(1), &["home", "work"])), (id("b"), pins_and_tags(Some(9), &[]))]);
    assert_eq!(pins_and_tags::all(&*store).await?, expect);
    made(&*store, "absent", 1).await;
    assert_eq!(pins_and_tags::of(&*store, &id("absent")).await?, PinAndTags::default());
    Ok(())
}

/// An export holds the pins and tags of each conversation once, on the line of its first session, and an import
/// restores them.
pub async fn an_export_carries_them(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    made(&*store, "plain", 9).await;
    pin(&*store, "tip", 5).await;
    tag(&*store, "tip", &["work", "大"]).await;
    tag(&*store, "branch", &["home"]).await;
    let (text, all) = (exported(&*store).await?, pins_and_tags::all(&*store).await?);
    let pinned_at = format!("\"pinned_at\": {}, \"tags\": [\"work\", \"大\"]", at(5).seconds());
    assert_eq!(text.matches(&pinned_at).count(), 1, "{text}");
    assert_eq!((text.matches("\"pinned_at\"").count(), text.matches("\"tags\"").count()), (1, 2), "{text}");
    let mut by_id = Exporter::of(&*store, [id("root")]);
    let line = by_id.next_chunk().await?.unwrap();
    assert!(line.contains(&pinned_at) && text.contains(&line), "{line}");
    let other = setup.store_named("other").await;
    let report = imported(&*other, &text).await;
    assert_eq!((report.sessions, report.findings.len()), (5, 0), "{report:?}");
    assert_eq!(pins_and_tags::all(&*other).await?, all);
    assert!(exported(&*other).await? == text);
    // Missing ones are restored when the import is repeated.
    other.set_pinned(&id("root"), false, &request(6)).await?;
    assert_eq!(imported(&*other, &text).await.skipped, 5);
    assert_eq!(pins_and_tags::all(&*other).await?, all);
    Ok(())
}

/// A transfer copies pins and tags, a second one nothing, and its proof reports missing ones.
pub async fn a_transfer_carries_them(setup: Setup) -> CaseResult {
    let (first, store, last) = (ModelStore::new(), setup.store().await, ModelStore::new());
    family(&first).await?;
    pin(&first, "tip", 5).await;
    tag(&first, "tip", &["work", "大"]).await;
    tag(&first, "branch", &["home"]).await;
    let all = pins_and_tags::all(&first).await?;
    let mut watch = |_| ControlFlow::Continue(());
    for (from, to) in [(&first as &dyn Store, &*store), (&*store, &last)] {
        let rehearsal = TransferOptions { is_rehearsal: true, ..TransferOptions::default() };
        assert_eq!(copy(from, to, &rehearsal, &mut watch).await.unwrap().pins_and_tags, 2);
        assert_eq!(pins_and_tags::all(to).await?, BTreeMap::new());
        let report = copy(from, to, &TransferOptions::default(), &mut watch).await.unwrap();
        assert_eq!((report.pins_and_tags, report.found), (2, 0), "{report:?}");
        assert_eq!(pins_and_tags::all(to).await?, all);
        let proof = prove(from, to, Proving::but(&BTreeSet::new()), &mut watch).await.unwrap();
        assert!(proof.holds() && proof.pins_and_tags == 2, "{proof:?}");
        assert_eq!(copy(from, to, &TransferOptions::default(), &mut watch).await.unwrap().pins_and_tags, 0);
    }
    last.change_tags(&id("branch"), &[], &tags(&["home"]), &request(9)).await?;
    last.change_tags(&id("root"), &tags(&["more"]), &[], &request(9)).await?;
    let proof = prove(&*store, &last, Proving::but(&BTreeSet::new()), &mut watch).await.unwrap();
    assert!(!proof.holds() && proof.mismatches == 1 && proof.found[0].session == id("branch"), "{proof:?}");
    Ok(())
}
