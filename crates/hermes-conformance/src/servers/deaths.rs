//! A server that crashes, or loses its connections, under writers: no acknowledged write is lost, and none is
//! duplicated.

use crate::fixture::{id, new_session, request, user};
use hermes_session::search::{Query, SearchRequest};
use hermes_session::{MessageRequest, Request, RequestKey, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const WRITERS: usize = 8;

/// Returns how often the server is killed: the value of `HERMES_TORTURE`, or 5.
fn kills() -> u64 {
    std::env::var("HERMES_TORTURE").ok().and_then(|number| number.parse().ok()).unwrap_or(5)
}

/// The server crashes and is restarted, as often as `HERMES_TORTURE` says, under writers that wait for it.
///
/// # Panics
///
/// If a message is lost, duplicated, or not found afterwards.
pub async fn killed_under_writers(store: Arc<dyn Store>, mut crash: impl FnMut()) {
    for writer in 0..WRITERS {
        store.create(&new_session(&format!("w{writer}")), &request(0)).await.expect("made");
    }
    let (stop, acknowledged, doubtful) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        let (acknowledged, doubtful) = (Arc::clone(&acknowledged), Arc::clone(&doubtful));
        writers.spawn(async move {
            let (mut told, mut number) = (Vec::new(), 0_u64);
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                let text = format!("zeta{writer}x{number}q");
                // Every other one has an idempotency key, with which it can be repeated if the outcome is unknown.
                let keyed = number % 2 == 0;
                let request = match keyed {
                    true => request(0).keyed(RequestKey::parse(&text).expect("a key")),
                    false => request(0),
                };
                match append(&*store, writer, &text, &request).await {
                    Ok(()) => {
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                        told.push(text);
                    }
                    Err(StoreError::InDoubt { .. }) if !keyed => _ = doubtful.fetch_add(1, Ordering::Relaxed),
                    Err(StoreError::InDoubt { .. }) => {
                        append(&*store, writer, &text, &request).await.expect("the same again tells");
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                        told.push(text);
                    }
                    Err(error) => panic!("{text}: {error:?}"),
                }
            }
            (writer, told)
        });
    }
    for _ in 0..kills() {
        let before = acknowledged.load(Ordering::Relaxed);
        // Wait until the writers have continued.
        while acknowledged.load(Ordering::Relaxed) < before + WRITERS as u64 {
            if let Some(ended) = writers.try_join_next() {
                panic!("no writer ends before it is told to: {ended:?}");
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::task::block_in_place(&mut crash);
    }
    stop.store(true, Ordering::Relaxed);
    let (mut lost, mut doubled) = (0, 0);
    while let Some(writer) = writers.join_next().await {
        let (writer, told) = writer.expect("no panic");
        let there = store.messages(&id(&format!("w{writer}")), &MessageRequest::first(u32::MAX)).await.expect("read");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for message in &there {
            *counts.entry(message.body.plain_text().into_owned()).or_default() += 1;
        }
        lost += told.iter().filter(|text| !counts.contains_key(*text)).count();
        doubled += counts.values().filter(|count| **count > 1).count();
        // Its words are in the index and in the vocabulary, whatever the server lost: each is found, also by a part of
        // it.
        for text in &told {
            assert_eq!(found_by_a_piece(&*store, text).await, 1, "{text}");
        }
        let session = store.session(&id(&format!("w{writer}"))).await.expect("read").expect("it is there");
        assert_eq!(session.message_count, there.len() as i64);
    }
    let (acknowledged, doubtful) = (acknowledged.load(Ordering::Relaxed), doubtful.load(Ordering::Relaxed));
    #[expect(clippy::print_stdout, reason = "the figures are what the test is run for")]
    {
        let kills = kills();
        println!(
            "killed {kills} times under {WRITERS} writers: {acknowledged} acknowledged, {doubtful} with unknown outcome, {lost} lost, {doubled} doubled"
        );
    }
    assert_eq!((lost, doubled), (0, 0));
    let report = store.verify().await.expect("looked through");
    assert!(report.is_sound(), "{report:?}");
}

/// The server crashes after it refused a message, and a read comes before the next write. The words of the refused
/// message may be lost from the vocabulary.
///
/// # Panics
///
/// If the same words are not found when they are written afterwards.
pub async fn killed_after_a_refusal(store: &dyn Store, crash: impl FnOnce()) {
    store.create(&new_session("w0"), &request(0)).await.expect("made");
    let refused = append(store, 1, "zetaqx", &request(0)).await;
    assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    tokio::task::block_in_place(crash);
    store.session(&id("w0")).await.expect("read").expect("it is there");
    append(store, 0, "zetaqx", &request(0)).await.expect("said");
    assert_eq!(found_by_a_piece(store, "zetaqx").await, 1);
}

/// The server is replaced by an earlier state in which `zetaqx` is not in the vocabulary, and a read comes before the
/// next write.
///
/// # Panics
///
/// If the same word is not found when it is written afterwards.
pub async fn replaced_by_one_that_knows_less(store: &dyn Store, replace: impl FnOnce()) {
    store.create(&new_session("w0"), &request(0)).await.expect("made");
    append(store, 0, "zetaqx", &request(0)).await.expect("said");
    append(store, 0, "others", &request(0)).await.expect("said");
    tokio::task::block_in_place(replace);
    store.session(&id("w0")).await.expect("read").expect("it is there");
    append(store, 0, "zetaqx", &request(0)).await.expect("said");
    assert_eq!(found_by_a_piece(store, "zetaqx").await, 2);
}

/// The word `zetaqx` is removed from the vocabulary.
///
/// # Panics
///
/// If that is not reported, or not repaired by rebuilding the indexes.
pub async fn deprived_of_a_word(store: &dyn Store, deprive: impl FnOnce()) {
    store.create(&new_session("w0"), &request(0)).await.expect("made");
    append(store, 0, "zetaqx", &request(0)).await.expect("said");
    tokio::task::block_in_place(deprive);
    let report = store.verify().await.expect("looked through");
    let indexes = report.check("indexes").expect("it is looked at");
    let told: Vec<&str> = indexes.findings.iter().map(|finding| finding.object.as_str()).collect();
    assert_eq!((told, report.problems()), (vec!["hx_term zetaqx"], 1));
    store.rebuild_indexes().await.expect("begun");
    while store.upkeep().await.expect("a step") {}
    assert_eq!(found_by_a_piece(store, "zetaqx").await, 1);
    let report = store.verify().await.expect("looked through");
    assert!(report.is_sound(), "{report:?}");
}

/// Returns the number of messages that a word finds, and checks that a part of it finds as many. The timeout is long,
/// so that a slow server leaves none out.
async fn found_by_a_piece(store: &dyn Store, word: &str) -> usize {
    let mut found = Vec::new();
    for asked in [word, &word[1..]] {
        let timeout = Duration::from_secs(30);
        let request = SearchRequest { relax: false, timeout, ..SearchRequest::new(Query::parse(asked)) };
        found.push(store.search(&request).await.expect("searched").hits.len());
    }
    assert_eq!(found[0], found[1], "{word}, and a piece of it");
    found[0]
}

async fn append(store: &dyn Store, writer: usize, text: &str, request: &Request) -> Result<(), StoreError> {
    store.append(&id(&format!("w{writer}")), &[user(text)], request).await.map(drop)
}

/// Connections are cut one after the other, in any phase of a call.
///
/// # Panics
///
/// If a call fails, or a message is missing, duplicated or out of order.
pub async fn cut_under_a_writer(store: Arc<dyn Store>, mut cut: impl FnMut()) {
    store.create(&new_session("w0"), &request(0)).await.expect("made");
    let stop = Arc::new(AtomicBool::new(false));
    let (writer, is_over) = (Arc::clone(&store), Arc::clone(&stop));
    let writer = tokio::spawn(async move {
        let mut number = 0_u64;
        while !is_over.load(Ordering::Relaxed) {
            append(&*writer, 0, &format!("{number}"), &request(0))
                .await
                .unwrap_or_else(|error| panic!("{number}: {error:?}"));
            number += 1;
        }
        number
    });
    for _ in 0..60 {
        tokio::task::block_in_place(&mut cut);
    }
    stop.store(true, Ordering::Relaxed);
    let number = writer.await.expect("no panic");
    let there = store.messages(&id("w0"), &MessageRequest::first(u32::MAX)).await.expect("read");
    let said: Vec<String> = there.iter().map(|message| message.body.plain_text().into_owned()).collect();
    assert_eq!(said, (0..number).map(|number| number.to_string()).collect::<Vec<_>>(), "each once, in order");
}
