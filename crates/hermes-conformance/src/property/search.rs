//! Random messages and random queries: a store finds the same as [`oracle`].
//!
//! Queries are cut out of the messages at random positions, so that most of them match something and almost match more.
//! They are run while no message is indexed, when some are, when all are, and when indexed messages have been deleted.

mod strategy;

use crate::fixture::{at, id, new_session, request};
use crate::{Harness, ModelStore, oracle};
use hermes_session::search::matching::Tier;
use hermes_session::search::{Hit, Query, SearchFilter, SearchOrder, SearchRequest};
use hermes_session::{
    ConversationStore as _, DeleteExtent, Message, MessageId, MessageRequest, PageRequest, SessionId,
    SessionStore as _, Store, StoreError, Tag, search_text,
};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
pub use strategy::{Said, Scene, scene};
use tokio::runtime::Handle;

/// Number of scenes that are tried, unless `HERMES_PROPERTY_CASES` is set.
const RUNS: u32 = 24;
/// Long enough that no search stops early, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(600);
/// The sessions of the messages.
const SESSIONS: [&str; 3] = ["a", "b", "c"];
/// The session that has a tag.
const TAGGED: &str = SESSIONS[1];
/// The tag.
const TAG: &str = "t";

/// Compares the answers of a store with the expected ones.
///
/// # Errors
/// The first difference, with the messages and the query.
pub fn random_searches(harness: &Arc<dyn Harness>, runtime: &Handle) -> Result<(), String> {
    let runs = super::runs(RUNS)?;
    let config = Config {
        cases: runs,
        failure_persistence: None,
        max_shrink_iters: 3_000,
        max_shrink_time: 30_000,
        ..Config::default()
    };
    let (stores, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let outcome = TestRunner::new(config).run(&scene(), |scene| {
        let name = format!("search-{}", stores.fetch_add(1, Ordering::Relaxed));
        runtime.block_on(play(harness, &name, &scene, &asked)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {
            let asked = asked.into_inner();
            super::report(&format!("property::random_searches: {runs} scenes, {asked} questions compared"));
            Ok(())
        }
        Err(TestError::Fail(reason, scene)) => Err(format!("{reason}\nin this scene:\n{scene}")),
        Err(TestError::Abort(reason)) => Err(format!("no scene could be made: {reason}")),
    }
}

/// Appends all messages to a store and to the model, and runs the queries in each state of the indexes.
async fn play(harness: &Arc<dyn Harness>, name: &str, scene: &Scene, asked: &AtomicUsize) -> Result<(), String> {
    let store = harness.open_idle(name).await;
    let model = ModelStore::new();
    let fail = |error: StoreError| format!("{error:?}");
    for session in SESSIONS {
        store.create(&new_session(session), &request(0)).await.map_err(fail)?;
        model.create(&new_session(session), &request(0)).await.map_err(fail)?;
    }
    let tag = [Tag::from_stored(TAG)];
    store.change_tags(&id(TAGGED), &tag, &[], &request(0)).await.map_err(fail)?;
    model.change_tags(&id(TAGGED), &tag, &[], &request(0)).await.map_err(fail)?;
    let half = scene.said.len() / 2;
    let say = async |said: &[Said]| -> Result<(), String> {
        for (place, session) in SESSIONS.iter().enumerate() {
            let said = said.iter().filter(|said| said.place % SESSIONS.len() == place);
            let batch: Vec<_> = said.map(|said| said.message().said_at(at(said.place as i32 % 5))).collect();
            store.append(&id(session), &batch, &request(1)).await.map_err(fail)?;
            model.append(&id(session), &batch, &request(1)).await.map_err(fail)?;
        }
        Ok(())
    };
    let ask = async |moment: &str| -> Result<(), String> {
        let said = everything(&*store).await.map_err(fail)?;
        let names = [names(&said), names(&everything(&model).await.map_err(fail)?)];
        for question in scene.questions() {
            asked.fetch_add(1, Ordering::Relaxed);
            check(&*store, &said, &model, &names, &question, scene.limit)
                .await
                .map_err(|difference| format!("{moment}, asked {question:?}: {difference}"))?;
        }
        Ok(())
    };
    let settle = async || -> Result<(), String> {
        while store.upkeep().await.map_err(fail)? {}
        Ok(())
    };
    say(&scene.said[..half]).await?;
    ask("unindexed").await?;
    settle().await?;
    say(&scene.said[half..]).await?;
    ask("half indexed").await?;
    settle().await?;
    ask("indexed").await?;
    for store in [&*store as &dyn Store, &model] {
        store.delete(&id(SESSIONS[0]), DeleteExtent::Conversation, &request(2)).await.map_err(fail)?;
        let instead: Vec<_> = scene.said.iter().take(2).map(Said::message).collect();
        store.replace(&id(SESSIONS[1]), &instead, &request(3)).await.map_err(fail)?;
    }
    ask("with some gone").await
}

/// Returns every message, by id.
async fn everything(store: &dyn Store) -> Result<BTreeMap<MessageId, Message>, StoreError> {
    let mut all = BTreeMap::new();
    for session in SESSIONS.map(id) {
        match store.messages(&session, &MessageRequest::first(u32::MAX)).await {
            Ok(messages) => all.extend(messages.into_iter().map(|message| (message.id, message))),
            Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// Messages by session and index, because ids differ between stores.
type Names = BTreeMap<MessageId, (SessionId, usize)>;

fn names(said: &BTreeMap<MessageId, Message>) -> Names {
    let mut places: BTreeMap<&SessionId, usize> = BTreeMap::new();
    let mut name = |message: &Message| {
        let place = places.entry(&said[&message.id].session_id).or_default();
        *place += 1;
        (message.session_id.clone(), *place)
    };
    said.values().map(|message| (message.id, name(message))).collect()
}

/// Returns a hit as text, without the numbers that differ between stores.
fn shown(hit: &Hit, names: &Names) -> String {
    let name = &names[&hit.message];
    format!("{name:?} {:?} {:?} {:?} {:?} {:?}", hit.role, hit.said_at, hit.snippet, hit.before, hit.after)
}

async fn check(
    store: &dyn Store,
    said: &BTreeMap<MessageId, Message>,
    model: &ModelStore,
    [ours, models]: &[Names; 2],
    question: &str,
    limit: u32,
) -> Result<(), String> {
    let fail = |error: StoreError| format!("{error:?}");
    let query = Query::parse(question);
    let expect: BTreeMap<MessageId, Tier> = said
        .iter()
        .filter_map(|(id, message)| Some((*id, oracle::tier(&query, &search_text::of_body(&message.body))?)))
        .collect();
    let is_negative = query.is_negative();
    let ask =
        SearchRequest { page: PageRequest::first(limit), relax: false, timeout: PATIENCE, ..SearchRequest::new(query) };
    let hits = oracle::every_page(store, &ask).await.map_err(fail)?;
    let found: Vec<(MessageId, Tier)> = hits.iter().map(|hit| (hit.message, hit.tier)).collect();
    if is_negative {
        let ids: Vec<MessageId> = expect.keys().rev().copied().collect();
        same("newest first, of absences", &ids, &found.iter().map(|(id, _)| *id).collect::<Vec<_>>())?;
    } else {
        let mut sorted = found.clone();
        sorted.sort_unstable();
        same("found", &expect.into_iter().collect::<Vec<_>>(), &sorted)?;
    }
    for pair in hits.windows(2).filter(|_| !is_negative) {
        let order = pair[0].tier.cmp(&pair[1].tier).then(pair[1].score.total_cmp(&pair[0].score));
        if order.then(pair[1].message.cmp(&pair[0].message)).is_ge() {
            return Err(format!("out of order: {pair:?}"));
        }
    }
    let some = SearchRequest { page: PageRequest::new(2, 1).unwrap_or_default(), ..ask.clone() };
    let passed: Vec<MessageId> = store.search(&some).await.map_err(fail)?.hits.iter().map(|hit| hit.message).collect();
    same("behind the first", &found.iter().skip(1).take(2).map(|(id, _)| *id).collect::<Vec<_>>(), &passed)?;
    let newest = SearchRequest { order: SearchOrder::Newest, ..ask.clone() };
    let hits = oracle::every_page(store, &newest).await.map_err(fail)?;
    let mut ids: Vec<MessageId> = found.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable_by(|left, right| right.cmp(left));
    same("newest first", &ids, &hits.iter().map(|hit| hit.message).collect::<Vec<_>>())?;
    let tagged = SearchFilter { tags: vec![Tag::from_stored(TAG)], ..SearchFilter::default() };
    let tagged = oracle::every_page(store, &SearchRequest { filter: tagged, ..newest.clone() }).await.map_err(fail)?;
    ids.retain(|message| said[message].session_id.as_str() == TAGGED);
    same("with the tag", &ids, &tagged.iter().map(|hit| hit.message).collect::<Vec<_>>())?;
    let show = |hits: &[Hit], names: &Names| hits.iter().map(|hit| shown(hit, names)).collect::<Vec<_>>();
    let expect = show(&oracle::every_page(model, &newest).await.map_err(fail)?, models);
    same("shown", &expect, &show(&hits, ours))?;
    if found.is_empty() {
        let relaxed = SearchRequest { relax: true, ..ask };
        let mut sets = Vec::new();
        for (store, names) in [(model as &dyn Store, models), (store, ours)] {
            let mut hits = show(&oracle::every_page(store, &relaxed).await.map_err(fail)?, names);
            hits.sort_unstable();
            sets.push(hits);
        }
        same("relaxed", &sets[0], &sets[1])?;
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what} should be\n  {expected:?}\nbut is\n  {found:?}"))
}
