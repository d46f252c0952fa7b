//! Copies from one store to another of any kind, and back.

use crate::fixture::{at, id, keyed, made, new_session, request, stored, texts, title, transcript, user};
use crate::import::{exported, ugly};
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::transfer::{
    FindingKind, Phase, Progress, Proof, Proving, TransferError, TransferOptions, TransferReport, copy, prove,
};
use hermes_session::{
    ConversationStore as _, DeleteExtent, EndReason, GatewayStore as _, NewChild, Relation, SessionFilter,
    SessionStore as _, Store, StoreError, TopicBinding, TopicMode, Topics, UsageUpdate,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::Poll;

/// Copies everything; it must not fail.
async fn copied(from: &dyn Store, to: &dyn Store, options: TransferOptions) -> TransferReport {
    copy(from, to, &options, &mut |_| ControlFlow::Continue(())).await.unwrap()
}

async fn proven(from: &dyn Store, to: &dyn Store) -> Proof {
    prove(from, to, Proving::but(&BTreeSet::new()), &mut |_| ControlFlow::Continue(())).await.unwrap()
}

fn plain() -> TransferOptions {
    TransferOptions::default()
}

fn merged() -> TransferOptions {
    TransferOptions { is_merge: true, ..plain() }
}

fn kinds(report: &TransferReport) -> Vec<(FindingKind, Option<&str>)> {
    report.findings.iter().map(|finding| (finding.kind, finding.session.as_ref().map(|id| id.as_str()))).collect()
}

/// Creates a store with all kinds of data, including values beside the sessions.
async fn rich(store: &dyn Store) -> Result<(), StoreError> {
    ugly(store).await?;
    made(store, "titled", 9).await;
    store.set_title(&id("titled"), Some(&title(&"题".repeat(100))), &request(9)).await?;
    store.append(&id("titled"), &[user("周末想去大别山徒步"), user(&"long ".repeat(100_000))], &request(9)).await?;
    store.set_meta("goal:titled", Some("{\"a\": \"大\"}")).await?;
    store.set_meta("last_auto_prune", Some("1.5")).await?;
    let mode = TopicMode {
        chat_id: "7".into(),
        user_id: "u".into(),
        enabled: false,
        activated_at: at(1),
        updated_at: at(2),
        has_topics_enabled: None,
        allows_users_to_create_topics: Some(true),
        capability_checked_at: Some(at(3)),
        intro_message_id: None,
        pinned_message_id: Some("9".into()),
    };
    let binding = TopicBinding {
        chat_id: "7".into(),
        thread_id: "1".into(),
        user_id: "u".into(),
        session_key: "key".into(),
        session_id: id("titled"),
        managed_mode: "auto".into(),
        linked_at: at(1),
        updated_at: at(2),
    };
    store.import_topics(&Topics { modes: vec![mode], bindings: vec![binding], unreadable: Vec::new() }).await?;
    Ok(())
}

/// A copy to the provider and back keeps bytes, times, relations, ids, values and topics; a second one has nothing to
/// do.
pub async fn everything_goes_and_comes_back(setup: Setup) -> CaseResult {
    let (first, store, last) = (ModelStore::new(), setup.store().await, ModelStore::new());
    rich(&first).await?;
    let text = exported(&first).await?;
    let mut hashes = BTreeSet::new();
    for (from, to) in [(&first as &dyn Store, &*store), (&*store, &last)] {
        let report = copied(from, to, plain()).await;
        assert_eq!((report.sessions, report.messages, report.skipped, report.found), (6, 14, 0, 0), "{report:?}");
        assert_eq!((report.values, report.topics), (2, 2));
        assert!(exported(to).await? == text, "it comes as it was");
        assert_eq!(to.topics().await?, first.topics().await?);
        assert_eq!(to.meta("goal:titled").await?.as_deref(), Some("{\"a\": \"大\"}"));
        assert_eq!(to.meta("hx_transfer").await?, None);
        assert!(to.verify().await?.is_sound());
        let proof = proven(from, to).await;
        assert!(proof.holds() && proof.hashes.0 == proof.hashes.1, "{proof:?}");
        assert_eq!((proof.sessions, proof.messages, proof.equal), (6, 14, 6));
        assert_eq!((proof.renumbered, proof.renamed, proof.unlinked, proof.left_out), (0, 0, 0, 0));
        assert!(proof.queries.len() >= 5 && proof.queries.iter().all(|query| query.hits > 0), "{:?}", proof.queries);
        hashes.insert(proof.hashes.0);
        let again = copied(from, to, plain()).await;
        assert_eq!((again.sessions, again.skipped, again.found, again.values, again.topics), (0, 6, 0, 0, 0));
        assert!(exported(to).await? == text);
    }
    assert_eq!(hashes.len(), 1, "the hash is the same on every store");
    Ok(())
}

/// Creates sessions of all sizes in lineages of every kind, with parents after their children.
async fn forest(store: &dyn Store) -> Result<(), StoreError> {
    for number in 0..12_u32 {
        let (root, tip) = (format!("z{number:02}"), format!("a{number:02}"));
        made(store, &root, number).await;
        let many: Vec<_> = (0..number * 3).map(|place| user(&format!("{root} says word{place}"))).collect();
        store.append(&id(&root), &many, &request(number)).await?;
        let helper = new_session(&format!("m{number:02}")).child_of(id(&root), Relation::Delegate);
        store.create(&helper, &request(number)).await?;
        store.split(&id(&root), &NewChild::new(id(&tip)), &[user("summary")], &request(number + 50)).await?;
        store.set_meta(&format!("value {number}"), Some("x")).await?;
    }
    Ok(())
}

/// Polls a future `times` times, then drops it. Returns its result, if it finished.
async fn polled<T>(future: impl Future<Output = T>, mut times: u32) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        if times == 0 {
            return Poll::Ready(None);
        }
        times -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// Stopped between two steps or dropped anywhere, a transfer can be continued, and the result is the same.
pub async fn interrupted_anywhere(setup: Setup) -> CaseResult {
    let (from, to) = (ModelStore::new(), setup.store().await);
    forest(&from).await?;
    let text = exported(&from).await?;
    let (mut finished, mut resumed) = (0, 0);
    for round in 0..120_u32 {
        let options = TransferOptions { batch: 2, is_resumed: round % 3 > 0, ..plain() };
        let mut steps = 0;
        let mut watch = |_: Progress| {
            steps += 1;
            if steps > round / 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match polled(copy(&from, &*to, &options, &mut watch), 3 + round * 3).await {
            None | Some(Err(TransferError::Stopped)) => {}
            Some(Ok(_)) => finished += 1,
            Some(Err(error)) => panic!("round {round}: {error}"),
        }
        resumed += u32::from(to.meta("hx_transfer").await?.is_some());
    }
    assert!(finished > 0 && resumed > 0, "{finished} of 120 came to their end, {resumed} left a mark");
    let report = copied(&from, &*to, TransferOptions { is_resumed: true, ..plain() }).await;
    assert_eq!((report.sessions, report.skipped, report.found), (0, 36, 0), "{report:?}");
    assert_eq!(exported(&*to).await?, text);
    let counts = to.counts(&SessionFilter::default()).await?;
    assert_eq!((counts.sessions, counts.messages), (36, 12 + 3 * 66));
    assert!(proven(&from, &*to).await.holds());
    assert!(to.verify().await?.is_sound());
    Ok(())
}

/// A transfer continues after its checkpoint, and ignores the checkpoint of an unfinished transfer of another store.
pub async fn a_place_is_noted(setup: Setup) -> CaseResult {
    let (from, to) = (ModelStore::new(), setup.store().await);
    for number in 0..450 {
        made(&from, &format!("s{number:03}"), number).await;
    }
    let mut steps = 0;
    let mut stop_at_the_place = |progress: Progress| {
        steps += u32::from(progress.phase == Phase::Copying);
        if steps == 200 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = copy(&from, &*to, &plain(), &mut stop_at_the_place).await;
    assert!(matches!(stopped, Err(TransferError::Stopped)), "{stopped:?}");
    assert!(to.meta("hx_transfer").await?.is_some_and(|mark| mark.contains("s199")));
    assert_eq!(to.counts(&SessionFilter::default()).await?.sessions, 200, "all before the place is there");
    let mut stop_late = |progress: Progress| match progress.phase {
        Phase::Linking => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let stopped = copy(&from, &*to, &plain(), &mut stop_late).await;
    assert!(matches!(stopped, Err(TransferError::Stopped)), "{stopped:?}");
    let resumed = TransferOptions { is_resumed: true, ..plain() };
    let report = copied(&from, &*to, resumed).await;
    assert_eq!((report.resumed_after, report.skipped, report.sessions), (Some(id("s399")), 50, 0));
    to.set_meta("hx_transfer", Some(r#"{"from": "elsewhere", "is_merge": false, "after": null}"#)).await?;
    let refused = copy(&from, &*to, &resumed, &mut |_| ControlFlow::Continue(())).await;
    assert!(matches!(refused, Err(TransferError::OtherSource { from }) if from == "elsewhere"));
    assert_eq!(copied(&from, &*to, plain()).await.skipped, 450, "asked for from the start, it does not matter");
    Ok(())
}

/// An existing session with other content stays and is reported; the proof reports differences that a quick look does
/// not show.
pub async fn other_content_is_a_conflict(setup: Setup) -> CaseResult {
    let (from, to) = (ModelStore::new(), setup.store().await);
    for name in ["edited", "glance", "longer", "same", "titled"] {
        made(&from, name, 0).await;
        from.append(&id(name), &[user("one word"), user("two words")], &request(1)).await?;
    }
    copied(&from, &*to, plain()).await;
    to.replace(&id("edited"), &[user("one word"), user("other")], &request(2)).await?;
    to.replace(&id("glance"), &[user("one word"), user("six words")], &request(1)).await?;
    to.append(&id("longer"), &[user("three")], &request(2)).await?;
    to.set_title(&id("titled"), Some(&title("mine")), &request(2)).await?;
    let before = exported(&*to).await?;
    let report = copied(&from, &*to, plain()).await;
    assert_eq!(exported(&*to).await?, before);
    let found: Vec<(&str, &str)> = report
        .findings
        .iter()
        .map(|finding| (finding.session.as_ref().unwrap().as_str(), finding.what.as_str()))
        .collect();
    assert_eq!(
        found,
        [("edited", "message 1 differs"), ("longer", "message_count differs"), ("titled", "title differs")]
    );
    assert_eq!((report.skipped, report.conflicts.len(), report.sessions), (2, 3, 0));
    let proof = prove(&from, &*to, Proving::but(&report.conflicts), &mut |_| ControlFlow::Continue(())).await.unwrap();
    assert!(!proof.holds() && proof.hashes.0 != proof.hashes.1);
    let told: Vec<_> = proof.found.iter().map(|mismatch| (mismatch.session.as_str(), mismatch.what.as_str())).collect();
    assert_eq!(told, [("glance", "message 2 differs")]);
    assert_eq!((proof.left_out, proof.equal, proof.mismatches), (3, 1, 1));
    Ok(())
}

/// A target with other sessions is refused, unless merging is requested; then titles and message ids are changed where
/// they conflict.
pub async fn other_data_is_refused_unless_it_is_meant(setup: Setup) -> CaseResult {
    let (from, to) = (ModelStore::new(), setup.store().await);
    for (store, name) in [(&from as &dyn Store, "theirs"), (&*to, "mine"), (&*to, "mine too")] {
        made(store, name, 0).await;
        store.append(&id(name), &[user("a shared word"), user("another shared word")], &request(1)).await?;
    }
    from.set_title(&id("theirs"), Some(&title("plan")), &request(1)).await?;
    to.set_title(&id("mine"), Some(&title("plan")), &request(1)).await?;
    from.set_meta("key", Some("theirs")).await?;
    to.set_meta("key", Some("mine")).await?;
    let before = exported(&*to).await?;
    match copy(&from, &*to, &plain(), &mut |_| ControlFlow::Continue(())).await {
        Err(TransferError::OtherData { count: 2, example }) => assert_eq!(example, id("mine")),
        other => panic!("it should be refused, not {other:?}"),
    }
    assert_eq!((exported(&*to).await?, to.meta("hx_transfer").await?), (before, None));
    for round in ["first", "again"] {
        let report = copied(&from, &*to, merged()).await;
        let title = (FindingKind::Title, Some("theirs"));
        let value = (FindingKind::Value, None);
        assert_eq!(kinds(&report), if round == "first" { vec![title, value] } else { vec![value] });
        assert_eq!(stored(&*to, &id("theirs")).await.title.as_deref(), Some("plan #2"));
        assert_eq!(to.meta("key").await?.as_deref(), Some("mine"));
        let proof = proven(&from, &*to).await;
        assert!(proof.holds(), "{round}: {proof:?}");
        assert_eq!((proof.renumbered, proof.renamed, proof.equal), (1, 1, 1));
        let hits: Vec<(&str, u64)> = proof.queries.iter().map(|query| (query.word.as_str(), query.hits)).collect();
        assert!(hits.contains(&("shared", 2)), "{hits:?}");
    }
    Ok(())
}

/// A dry run reports what would happen, and writes nothing.
pub async fn a_rehearsal_writes_nothing(setup: Setup) -> CaseResult {
    let (from, to) = (ModelStore::new(), setup.store().await);
    rich(&from).await?;
    let rehearsal = TransferOptions { is_rehearsal: true, ..plain() };
    let told = copied(&from, &*to, rehearsal).await;
    assert_eq!(to.counts(&SessionFilter::default()).await?.sessions, 0);
    assert_eq!((to.meta_page(None, 9).await?, to.topics().await?), (vec![], Topics::default()));
    assert_eq!(told, copied(&from, &*to, plain()).await);
    let before = exported(&*to).await?;
    from.append(&id("a-empty"), &[user("since")], &request(99)).await?;
    let told = copied(&from, &*to, rehearsal).await;
    assert_eq!((told.caught_up, told.skipped), (1, 5));
    assert_eq!(exported(&*to).await?, before);
    Ok(())
}

/// New messages of the source come with the next transfer, and the proof distinguishes them from a difference.
pub async fn what_came_since_is_brought(setup: Setup) -> CaseResult {
    let (from, to) = (ModelStore::new(), setup.store().await);
    for name in ["ended", "grown", "quiet", "used"] {
        made(&from, name, 0).await;
        from.append(&id(name), &[user("one word")], &request(1)).await?;
    }
    copied(&from, &*to, plain()).await;
    let many: Vec<_> = (0..40).map(|place| user(&format!("word{place} since"))).collect();
    from.append(&id("grown"), &many, &request(2)).await?;
    from.set_title(&id("grown"), Some(&title("since")), &request(2)).await?;
    from.end(&id("ended"), &EndReason::parse("cli_close")?, &request(3)).await?;
    let update = UsageUpdate {
        input_tokens: Some(7),
        actual_cost_usd: Some(0.1),
        model: Some("m".into()),
        ..Default::default()
    };
    from.record_usage(&id("used"), &update, &request(3)).await?;
    made(&from, "new", 4).await;
    let proof = proven(&from, &*to).await;
    let behind: Vec<_> = proof.found.iter().map(|mismatch| (mismatch.session.as_str(), mismatch.is_behind)).collect();
    assert_eq!(behind, [("ended", true), ("grown", true), ("new", true), ("used", true)]);
    let small = TransferOptions { batch: 7, ..plain() };
    let report = copied(&from, &*to, small).await;
    assert_eq!((report.sessions, report.caught_up, report.skipped, report.found), (1, 3, 1, 0), "{report:?}");
    let proof = proven(&from, &*to).await;
    assert!(proof.holds() && proof.equal == 5, "{proof:?}");
    assert_eq!(texts(&*to, &id("grown")).await, texts(&from, &id("grown")).await);
    assert!(to.verify().await?.is_sound());
    Ok(())
}

/// Deleted parents, and branches that outlive them. Idempotency keys are not copied, so they are free.
pub async fn what_is_gone_stays_gone(setup: Setup) -> CaseResult {
    let (from, to) = (setup.store().await, setup.store_named("copy").await);
    made(&*from, "root", 0).await;
    from.append(&id("root"), &[user("said")], &keyed(1, "key")).await?;
    from.branch(&id("root"), &NewChild::new(id("branch")), &request(2)).await?;
    from.split(&id("branch"), &NewChild::new(id("a tip")), &[], &request(3)).await?;
    from.delete(&id("root"), DeleteExtent::Conversation, &request(4)).await?;
    let report = copied(&*from, &*to, plain()).await;
    assert_eq!((report.sessions, report.found), (2, 0), "{report:?}");
    assert_eq!(exported(&*to).await?, exported(&*from).await?);
    assert_eq!(stored(&*to, &id("branch")).await.relation, Relation::Root);
    assert_eq!(to.lineage(&id("branch")).await?, from.lineage(&id("branch")).await?);
    to.append(&id("branch"), &[user("under the same key")], &keyed(5, "key")).await?;
    assert_eq!(transcript(&*to, &id("branch")).await.len(), 2);
    Ok(())
}

/// A long session, and messages of megabytes, in pieces of any size.
pub async fn large_ones_go_in_pieces(setup: Setup) -> CaseResult {
    let (from, to) = (ModelStore::new(), setup.store().await);
    made(&from, "long", 0).await;
    let many: Vec<_> = (0..3_000).map(|place| user(&format!("message {place}"))).collect();
    from.append(&id("long"), &many, &request(1)).await?;
    made(&from, "wide", 0).await;
    for place in 0..3 {
        from.append(&id("wide"), &[user(&format!("{place} {}", "大x ".repeat(400_000)))], &request(1)).await?;
    }
    let mut steps = 0;
    let mut watch = |_: Progress| {
        steps += 1;
        ControlFlow::Continue(())
    };
    let report = copy(&from, &*to, &TransferOptions { batch: 100, ..plain() }, &mut watch).await.unwrap();
    assert_eq!((report.sessions, report.messages), (2, 3_003));
    assert!(steps > 30, "{steps} steps");
    assert!(exported(&*to).await? == exported(&from).await?);
    Ok(())
}
