//! Deletion, statistics, upkeep, verification and backup.

use crate::fixture::{
    assert_not_found, at, calls, conflict, id, ids, keyed, made, new_session, request, source, stored, texts, title,
    user,
};
use crate::{CaseResult, Setup};
use hermes_session::search::{Query, SearchRequest};
use hermes_session::{
    Conflict, ConversationStore, Counts, DeleteExtent, Deleted, IndexHealth, ListRequest, Maintenance, NewChild,
    NewSession, Optimizing, Relation, SessionFilter, SessionId, SourceStatistics, Statistics, StoreError, UsageUpdate,
    View,
};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// Creates root → c1 → c2, a delegate of each of the first two, one of them compressed; a branch of c1 with a
/// continuation and a delegate; an unrelated session. Every session has one message.
async fn family(store: &dyn Maintenance) -> Result<(), StoreError> {
    kin(store, true).await
}

/// Creates the same family, with or without the delegate that is compressed.
async fn kin(store: &dyn Maintenance, is_sent: bool) -> Result<(), StoreError> {
    made(store, "stranger", 0).await;
    made(store, "root", 0).await;
    store.append(&id("root"), &[user("root")], &request(1)).await?;
    store.set_title(&id("root"), Some(&title("plan")), &request(1)).await?;
    store.create(&new_session("d1").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.split(&id("root"), &NewChild::new(id("c1")), &[user("c1")], &request(3)).await?;
    if is_sent {
        store.create(&new_session("d2").child_of(id("c1"), Relation::Delegate), &request(4)).await?;
        store.split(&id("d2"), &NewChild::new(id("d2b")), &[user("d2b")], &request(5)).await?;
        store.append(&id("d2"), &[user("d2"), calls("[{}]")], &request(10)).await?;
    }
    store.branch(&id("c1"), &NewChild::new(id("b")), &request(6)).await?;
    store.split(&id("b"), &NewChild::new(id("b2")), &[user("b2")], &request(7)).await?;
    store.create(&new_session("bd").child_of(id("b"), Relation::Delegate), &request(8)).await?;
    store.split(&id("c1"), &NewChild::new(id("c2")), &[user("c2")], &request(9)).await?;
    for name in ["d1", "bd", "stranger"] {
        store.append(&id(name), &[user(name), calls("[{}]")], &request(10)).await?;
    }
    Ok(())
}

/// Naming any member deletes the whole conversation: chain, delegates, messages, titles.
pub async fn a_conversation_goes_as_a_whole(setup: Setup) -> CaseResult {
    for member in ["root", "c1", "c2", "d1", "d2", "d2b"] {
        let store = setup.store_named(member).await;
        family(&*store).await?;
        let deleted = store.delete(&id(member), DeleteExtent::Conversation, &request(20)).await?;
        assert_eq!(deleted, Deleted { sessions: 6, messages: 8 }, "{member}");
        for gone in ["root", "c1", "c2", "d1", "d2", "d2b"] {
            assert_eq!(store.session(&id(gone)).await?, None, "{gone}");
            assert_not_found(store.append(&id(gone), &[user("x")], &request(21)).await, &id(gone));
        }
        let counts = store.counts(&SessionFilter::default()).await?;
        assert_eq!(counts, Counts { conversations: 2, sessions: 4, messages: 6 });
        assert_eq!(texts(&*store, &id("stranger")).await, ["stranger", ""]);
        assert_not_found(store.delete(&id(member), DeleteExtent::Conversation, &request(22)).await, &id(member));
    }
    Ok(())
}

/// Branches of a deleted conversation stay, as conversations without a parent.
pub async fn branches_stay(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let before = stored(&*store, &id("b")).await;
    store.delete(&id("d1"), DeleteExtent::Conversation, &request(20)).await?;
    let branch = stored(&*store, &id("b")).await;
    assert_eq!(branch, hermes_session::Session { parent_session_id: None, relation: Relation::Root, ..before });
    assert_eq!(texts(&*store, &id("b")).await, ["c1"]);
    assert_eq!(stored(&*store, &id("b2")).await.relation, Relation::Continuation);
    assert_eq!(stored(&*store, &id("bd")).await.parent_session_id, Some(id("b")));
    let lineage = store.lineage(&id("bd")).await?;
    assert_eq!(lineage.conversation(&id("bd")), ids(&["b", "b2", "bd"]));
    let rows = store.list(&ListRequest::default()).await?.rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.id.as_str(), row.segments, row.last_active)).collect();
    assert_eq!(rows, [("stranger", 1, at(10)), ("b2", 3, at(10))]);
    Ok(())
}

/// Deleting a branch leaves its origin, which can still be continued.
pub async fn a_branch_goes_alone(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let before = stored(&*store, &id("c1")).await;
    assert_eq!(
        store.delete(&id("b2"), DeleteExtent::Conversation, &request(20)).await?,
        Deleted { sessions: 3, messages: 4 }
    );
    assert_eq!(stored(&*store, &id("c1")).await, before);
    assert_eq!(store.lineage(&id("c2")).await?.links().count(), 6);
    let again = conflict(store.split(&id("c1"), &NewChild::new(id("x")), &[], &request(21)).await);
    assert_eq!(again, Conflict::AlreadySplit { parent: id("c1"), continuation: id("c2") });
    Ok(())
}

/// A delegate is deleted with its continuations and its own delegates; the conversation that sent it looks as if it had
/// never existed.
pub async fn a_delegate_goes_alone(setup: Setup) -> CaseResult {
    let never = setup.store_named("never").await;
    kin(&*never, false).await?;
    for member in ["d2", "d2b"] {
        let store = setup.store_named(member).await;
        kin(&*store, true).await?;
        // Later than anything else, so that it is the last activity of the conversation.
        store.append(&id("d2b"), &[user("needle")], &request(15)).await?;
        store.set_title(&id("d2b"), Some(&title("free")), &request(15)).await?;
        store.create(&new_session("deep").child_of(id("d2b"), Relation::Delegate), &request(16)).await?;
        store.append(&id("deep"), &[user("needle")], &request(17)).await?;
        store.branch(&id("deep"), &NewChild::new(id("twig")), &request(18)).await?;
        assert_eq!(found(&*store, "needle").await?, ids(&["d2b", "deep", "twig"]));
        assert_eq!(
            store.delete(&id(member), DeleteExtent::Chain, &request(20)).await?,
            Deleted { sessions: 3, messages: 5 }
        );
        for gone in ["d2", "d2b", "deep"] {
            assert_eq!(store.session(&id(gone)).await?, None, "{gone}");
            assert_not_found(store.append(&id(gone), &[user("x")], &request(21)).await, &id(gone));
            assert_not_found(store.delete(&id(gone), DeleteExtent::Chain, &request(21)).await, &id(gone));
        }
        assert_eq!(found(&*store, "needle").await?, ids(&["twig"]));
        let twig = stored(&*store, &id("twig")).await;
        assert_eq!((twig.parent_session_id, twig.relation), (None, Relation::Root), "a branch stays, without a parent");
        store.set_title(&id("twig"), Some(&title("free")), &request(22)).await?;
        store.delete(&id("twig"), DeleteExtent::Chain, &request(23)).await?;
        let listing = store.list(&ListRequest::default()).await?;
        let rows: Vec<_> = listing.rows.iter().map(|row| (row.id.as_str(), row.segments, row.last_active)).collect();
        assert_eq!(rows, [("stranger", 1, at(10)), ("c2", 4, at(10)), ("b2", 3, at(10))]);
        assert_eq!(listing, never.list(&ListRequest::default()).await?);
        assert_eq!(store.lineage(&id("d1")).await?, never.lineage(&id("d1")).await?);
        assert_eq!(store.statistics().await?, never.statistics().await?);
        assert_eq!(
            store.counts(&SessionFilter::default()).await?,
            Counts { conversations: 3, sessions: 8, messages: 11 }
        );
        for stays in ["root", "c1", "c2", "d1", "b", "b2", "bd", "stranger"] {
            assert_eq!(stored(&*store, &id(stays)).await, stored(&*never, &id(stays)).await, "{stays}");
            assert_eq!(texts(&*store, &id(stays)).await, texts(&*never, &id(stays)).await, "{stays}");
        }
        assert!(store.verify().await?.is_sound());
    }
    Ok(())
}

/// Returns the sessions in which a word is found.
async fn found(store: &(impl ConversationStore + ?Sized), word: &str) -> Result<Vec<SessionId>, StoreError> {
    let answer = store.search(&SearchRequest::new(Query::parse(word))).await?;
    let mut sessions: Vec<SessionId> = answer.hits.into_iter().map(|hit| hit.session).collect();
    sessions.sort_unstable();
    Ok(sessions)
}

/// Naming a session of a chain means the chain: first, middle and tip delete the whole conversation, or the whole
/// branch.
pub async fn a_chain_is_never_cut(setup: Setup) -> CaseResult {
    for (member, expected) in [
        ("root", Deleted { sessions: 6, messages: 8 }),
        ("c1", Deleted { sessions: 6, messages: 8 }),
        ("c2", Deleted { sessions: 6, messages: 8 }),
        ("b", Deleted { sessions: 3, messages: 4 }),
        ("b2", Deleted { sessions: 3, messages: 4 }),
        ("stranger", Deleted { sessions: 1, messages: 2 }),
    ] {
        let store = setup.store_named(member).await;
        family(&*store).await?;
        assert_eq!(store.delete(&id(member), DeleteExtent::Chain, &request(20)).await?, expected, "{member}");
        assert_not_found(store.delete(&id(member), DeleteExtent::Chain, &request(21)).await, &id(member));
        let counts = store.counts(&SessionFilter::default()).await?;
        assert_eq!((counts.conversations, counts.sessions), (2, 10 - expected.sessions), "{member}");
        assert!(store.verify().await?.is_sound(), "{member}");
    }
    Ok(())
}

/// A single session is deleted; each of its children stays, as a conversation without a parent, with its own
/// descendants.
pub async fn a_session_goes_alone(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let before = stored(&*store, &id("c1")).await;
    assert_eq!(
        store.delete(&id("root"), DeleteExtent::Session, &request(20)).await?,
        Deleted { sessions: 1, messages: 1 }
    );
    assert_eq!(store.session(&id("root")).await?, None);
    assert_not_found(store.append(&id("root"), &[user("x")], &request(21)).await, &id("root"));
    assert_not_found(store.delete(&id("root"), DeleteExtent::Session, &request(21)).await, &id("root"));
    assert_eq!(
        stored(&*store, &id("c1")).await,
        hermes_session::Session { parent_session_id: None, relation: Relation::Root, ..before }
    );
    assert_eq!(stored(&*store, &id("d1")).await.parent_session_id, None);
    assert_eq!(stored(&*store, &id("c2")).await.relation, Relation::Continuation);
    let listing = store.list(&ListRequest::default()).await?;
    let rows: Vec<_> = listing.rows.iter().map(|row| (row.id.as_str(), row.segments, row.last_active)).collect();
    let expected = [("stranger", 1, at(10)), ("d1", 1, at(10)), ("c2", 4, at(10)), ("b2", 3, at(10))];
    assert_eq!(rows, expected, "c1, c2, d2 and d2b are one conversation");
    assert_eq!(store.counts(&SessionFilter::default()).await?, Counts { conversations: 4, sessions: 9, messages: 13 });
    store.set_title(&id("stranger"), Some(&title("plan")), &request(22)).await?;
    made(&*store, "root", 30).await;
    assert_eq!(store.lineage(&id("root")).await?.links().count(), 1, "the id comes back without its family");
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// After deleting a session in the middle of a chain, at its end, or a delegate, the rest is still one conversation,
/// with its own tip and activity.
pub async fn what_is_left_of_a_conversation_stays_one(setup: Setup) -> CaseResult {
    for (gone, expected) in [
        (
            "c1",
            vec![("d2b", 2, at(12)), ("stranger", 1, at(10)), ("root", 2, at(10)), ("b2", 3, at(10)), ("c2", 1, at(9))],
        ),
        ("c2", vec![("c1", 5, at(12)), ("stranger", 1, at(10)), ("b2", 3, at(10))]),
        ("d2", vec![("d2b", 1, at(12)), ("stranger", 1, at(10)), ("c2", 4, at(10)), ("b2", 3, at(10))]),
        ("d2b", vec![("stranger", 1, at(10)), ("c2", 5, at(10)), ("b2", 3, at(10))]),
    ] {
        let store = setup.store_named(gone).await;
        family(&*store).await?;
        store.append(&id("d2b"), &[user("late")], &request(12)).await?;
        store.delete(&id(gone), DeleteExtent::Session, &request(20)).await?;
        let listing = store.list(&ListRequest::default()).await?;
        let mut rows: Vec<_> =
            listing.rows.iter().map(|row| (row.id.as_str(), row.segments, row.last_active)).collect();
        let mut expected = expected;
        rows.sort_unstable();
        expected.sort_unstable();
        assert_eq!(rows, expected, "{gone}");
        assert_eq!(store.counts(&SessionFilter::default()).await?.conversations, expected.len() as u64, "{gone}");
        assert!(store.verify().await?.is_sound(), "{gone}");
    }
    let store = setup.store_named("c2").await;
    // The new end of the chain can be continued again.
    store.split(&id("c1"), &NewChild::new(id("c3")), &[user("c3")], &request(30)).await?;
    let rows = store.list(&ListRequest::default()).await?.rows;
    assert_eq!(rows.first().map(|row| (row.id.as_str(), row.segments)), Some(("c3", 6)));
    Ok(())
}

/// Ids, titles and keys of deleted sessions are free.
pub async fn what_is_gone_can_be_made_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.set_title(&session, Some(&title("t")), &keyed(1, "title")).await?;
    store.append(&session, &[user("old")], &keyed(1, "append")).await?;
    store.delete(&session, DeleteExtent::Conversation, &request(2)).await?;
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

/// Each notice is one line of text, and reading does not remove it.
pub async fn notices_are_sentences(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let notices = store.notices();
    assert!(notices.iter().all(|notice| !notice.trim().is_empty() && notice.lines().count() == 1), "{notices:?}");
    assert_eq!(store.notices(), notices);
    Ok(())
}

/// A store reports its provider, version, location and schema.
pub async fn it_says_what_it_is(setup: Setup) -> CaseResult {
    let status = setup.store().await.status().await?;
    assert_eq!(status.indexes, IndexHealth::Whole);
    assert_eq!(status.provider, setup.provider());
    assert!(!status.version.is_empty() && !status.location.is_empty() && status.schema_version > 0, "{status:?}");
    assert_eq!(setup.store().await.status().await?, status);
    Ok(())
}

/// Every session counts by its source and its model, ended or not, listed or not.
pub async fn statistics_tell_of_every_session(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.statistics().await?, Statistics::default());
    family(&*store).await?;
    let cron = NewSession { model: Some("big".into()), ..NewSession::new(id("cron"), source("cron")) };
    store.create(&cron, &request(-50)).await?;
    store.append(&id("cron"), &[user("x").said_at(at(400))], &request(0)).await?;
    let used = |input, estimate: Option<f64>, billed| UsageUpdate {
        input_tokens: Some(input),
        estimated_cost_usd: estimate,
        actual_cost_usd: billed,
        ..UsageUpdate::default()
    };
    store.record_usage(&id("cron"), &used(5, Some(0.5), None), &request(1)).await?;
    store.record_usage(&id("stranger"), &used(i64::MAX, Some(4.0), Some(0.25)), &request(1)).await?;
    store.record_usage(&id("root"), &used(7, Some(0.5), None), &request(1)).await?;
    store.create(&NewSession { model: Some("big".into()), ..new_session("gone") }, &request(1_000)).await?;
    store.delete(&id("gone"), DeleteExtent::Conversation, &request(1_000)).await?;
    let told = store.statistics().await?;
    let source_of = |tag: &str| told.sources.get(&source(tag)).copied();
    assert_eq!(source_of("cron"), Some(SourceStatistics { conversations: 1, sessions: 1, messages: 1 }));
    assert_eq!(source_of("cli"), Some(SourceStatistics { conversations: 3, sessions: 10, messages: 14 }));
    assert_eq!(told.sources.len(), 2);
    let counts = store.counts(&SessionFilter::default()).await?;
    let total = told.total();
    assert_eq!(
        Counts { conversations: total.conversations, sessions: total.sessions, messages: total.messages },
        counts
    );
    let model = |name: Option<&str>| {
        let model = told.models.get(&name.map(str::to_owned)).unwrap();
        (model.sessions, model.usage.input_tokens, model.cost_usd)
    };
    assert_eq!((model(Some("big")), model(None)), ((1, 5, Some(0.5)), (10, i64::MAX, Some(0.75))));
    assert_eq!((told.models.len(), told.ended, told.oldest, told.newest), (2, 4, Some(at(-50)), Some(at(400))));
    Ok(())
}

/// The parts of the size add up to the total.
pub async fn room_adds_up(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    // Words that no server can compress much.
    let words: String = (1..20_000_u32).map(|number| format!("{:08x} ", number.wrapping_mul(0x9e37_79b1))).collect();
    store.append(&session, &[user(&words)], &request(1)).await?;
    let room = store.room().await?;
    assert_eq!(room.text() + room.indexes + room.free, room.bytes, "{room:?}");
    // A store that keeps nothing on disk reports 0.
    assert!(room.bytes == 0 || room.text() > 100_000, "{room:?}");
    Ok(())
}

/// Upkeep changes nothing visible, and ends.
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

/// Optimizing ends, and changes nothing visible.
pub async fn optimizing_changes_nothing_that_can_be_seen(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.append(&session, &[user("one"), user("大别山项目")], &request(1)).await?;
    let before = picture(&*store).await?;
    optimized(&*store).await?;
    assert_eq!(picture(&*store).await?, before);
    store.append(&session, &[user("and on it goes")], &request(2)).await?;
    assert!(store.verify().await?.is_sound());
    assert_eq!(store.optimize().await?, Optimizing::Done);
    Ok(())
}

/// Rebuilt indexes are complete, including messages that were written and deleted meanwhile.
pub async fn indexes_are_rebuilt(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (kept, deleted) = (made(&*store, "kept", 0).await, made(&*store, "deleted", 0).await);
    for session in [&kept, &deleted] {
        store.append(session, &[user("one"), user("大别山项目")], &request(1)).await?;
    }
    while store.upkeep().await? {}
    store.rebuild_indexes().await?;
    store.append(&kept, &[user("while it is on")], &request(2)).await?;
    store.delete(&deleted, DeleteExtent::Conversation, &request(3)).await?;
    optimized(&*store).await?;
    while store.upkeep().await? {}
    assert_eq!(store.status().await?.indexes, IndexHealth::Whole);
    assert!(store.verify().await?.is_sound());
    assert_eq!(texts(&*store, &kept).await, ["one", "大别山项目", "while it is on"]);
    Ok(())
}

/// Optimizes until it is done.
async fn optimized(store: &dyn Maintenance) -> Result<(), StoreError> {
    for _ in 0..1_000 {
        if store.optimize().await? == Optimizing::Done {
            return Ok(());
        }
    }
    panic!("optimizing does not end");
}

/// Returns everything that a store shows of itself.
async fn picture(store: &dyn Maintenance) -> Result<String, StoreError> {
    let mut shown = Vec::new();
    for view in [View::Conversations, View::Sessions] {
        let listing = store.list(&ListRequest { view, ..ListRequest::default() }).await?;
        for row in &listing.rows {
            shown.push(format!("{:?} {:?}", stored(store, &row.id).await, texts(store, &row.id).await));
        }
        shown.push(format!("{listing:?}"));
    }
    shown.push(format!("{:?}", store.counts(&SessionFilter::default()).await?));
    Ok(shown.join("\n"))
}

/// In a store that was written only through the contract, `foreign` reports nothing.
pub async fn nothing_foreign_is_in_a_store_of_ours(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    store.set_meta("key", Some("value")).await?;
    store.delete(&id("stranger"), DeleteExtent::Conversation, &keyed(100, "gone")).await?;
    while store.upkeep().await? {}
    assert_eq!(store.foreign().await?, []);
    Ok(())
}

/// A store that was written through the contract verifies as sound, and verifying changes nothing.
pub async fn what_was_written_verifies_as_sound(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert!(store.verify().await?.is_sound(), "nothing is in it");
    family(&*store).await?;
    store
        .append(&id("c2"), &[user("大别山"), user("later"), calls(r#"[{"id": "1"}, {"id": "2"}]"#)], &request(9))
        .await?;
    store.append(&id("b2"), &[user("taken back"), user("  ")], &request(99)).await?;
    store.replace(&id("b2"), &[user(" "), user("instead"), calls("{}")], &request(98)).await?;
    store.delete(&id("stranger"), DeleteExtent::Conversation, &keyed(100, "gone")).await?;
    for step in ["as it is", "after upkeep"] {
        let before = picture(&*store).await?;
        let report = store.verify().await?;
        assert!(report.is_sound(), "{step}: {report:?}");
        assert_eq!(report.check("counters").map(|check| check.looked_at), Some(9), "{report:?}");
        assert_eq!(store.verify().await?, report);
        assert_eq!(picture(&*store).await?, before, "{step}");
        while store.upkeep().await? {}
    }
    Ok(())
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// A backup holds every session and message, is readable by its owner only, and leaves no other file.
pub async fn a_backup_holds_everything(setup: Setup) -> CaseResult {
    let (store, folder) = (setup.store().await, tempfile::tempdir().unwrap());
    family(&*store).await?;
    let before = picture(&*store).await?;
    let target = folder.path().canonicalize().unwrap().join("copy 大.backup");
    let report = store.backup(&target).await?;
    assert_eq!((report.sessions, report.messages), (10, 14));
    assert_eq!((report.path.as_path(), report.bytes), (target.as_path(), target.metadata().unwrap().len()));
    assert_eq!(mode(&target), 0o600);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    assert_eq!(picture(&*store).await?, before);
    Ok(())
}

/// A backup overwrites nothing: not a file, a folder or a link; and it does not create a missing folder.
pub async fn a_backup_overwrites_nothing(setup: Setup) -> CaseResult {
    let (store, folder) = (setup.store().await, tempfile::tempdir().unwrap());
    family(&*store).await?;
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("file"), "mine").unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    symlink(at("file"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    for name in ["file", "folder", "link", "dangling", "missing/file"] {
        match store.backup(&at(name)).await {
            Err(StoreError::Refused { .. }) => {}
            other => panic!("{name} should be refused, not {other:?}"),
        }
    }
    assert_eq!(std::fs::read_to_string(at("link")).unwrap(), "mine");
    assert_eq!(at("folder").read_dir().unwrap().count(), 0);
    assert_eq!(folder.path().read_dir().unwrap().count(), 4);
    Ok(())
}
