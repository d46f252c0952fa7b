//! Two handles, many writers, dropped futures.

use crate::fixture::{at, calls, id, keyed, made, request, stored, texts, title, transcript, user};
use crate::{CaseResult, Setup};
use hermes_session::{DeleteExtent, EndReason, ListRequest, Message, NewChild, NewMessage, SessionFilter, UsageUpdate};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// A write through one handle is visible through the other at once.
pub async fn two_handles_one_store(setup: Setup) -> CaseResult {
    let (one, two) = (setup.store().await, setup.store().await);
    let session = made(&*one, "s", 0).await;
    assert_eq!(two.session(&session).await?, one.session(&session).await?);
    two.append(&session, &[user("from two")], &request(1)).await?;
    assert_eq!(texts(&*one, &session).await, ["from two"]);
    one.set_title(&session, Some(&title("t")), &request(2)).await?;
    assert_eq!(two.titled("t").await?[0].id, session);
    two.record_usage(&session, &UsageUpdate { input_tokens: Some(3), ..UsageUpdate::default() }, &request(3)).await?;
    assert_eq!(one.list(&ListRequest::default()).await?.rows[0].usage.input_tokens, 3);
    one.split(&session, &NewChild::new(id("c")), &[user("summary")], &request(4)).await?;
    assert_eq!(two.lineage(&id("c")).await?, one.lineage(&session).await?);
    two.replace(&id("c"), &[user("other")], &request(5)).await?;
    assert_eq!(texts(&*one, &id("c")).await, ["other"]);
    one.delete(&session, DeleteExtent::Conversation, &request(6)).await?;
    assert_eq!(two.counts(&SessionFilter::default()).await?, Default::default());
    // A handle that is opened after the first ones are closed sees the same.
    made(&*two, "kept", 7).await;
    drop((one, two));
    assert_eq!(stored(&*setup.store().await, &id("kept")).await.started_at, at(7));
    Ok(())
}

/// Many writers over two handles: no message is lost or duplicated, counters are exact, the order of each writer is
/// kept.
pub async fn many_writers(setup: Setup) -> CaseResult {
    const WRITERS: usize = 8;
    const APPENDS: usize = 50;
    let handles = [setup.store().await, setup.store().await];
    let session = made(&*handles[0], "shared", 0).await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (store, session) = (handles[writer % 2].clone(), session.clone());
        let own = made(&*handles[0], &format!("own{writer}"), 0).await;
        writers.spawn(async move {
            let mut given = Vec::new();
            for n in 0..APPENDS {
                let message = user(&format!("{writer} {n}"));
                // Every fifth append is a batch, with a tool call in it.
                let batch = if n % 5 == 0 { vec![message, calls("[{}]")] } else { vec![message] };
                given.extend(store.append(&session, &batch, &request(n as f64)).await?);
                store.append(&own, &[user(&n.to_string())], &request(n as f64)).await?;
            }
            Ok::<_, hermes_session::StoreError>(given)
        });
    }
    let mut given = Vec::new();
    for answer in writers.join_all().await {
        let ids = answer?;
        assert!(ids.is_sorted_by(|a, b| a < b), "the ids of one writer ascend");
        given.extend(ids);
    }
    given.sort_unstable();
    let messages = transcript(&*handles[1], &session).await;
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), given);

    let mut by_writer: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for message in &messages {
        if let Some((writer, n)) = message.body.plain_text().split_once(' ') {
            by_writer.entry(writer.to_owned()).or_default().push(n.parse().unwrap());
        }
    }
    assert_eq!(by_writer.len(), WRITERS);
    assert!(by_writer.values().all(|order| *order == (0..APPENDS).collect::<Vec<_>>()), "{by_writer:?}");
    assert!(batches_are_together(&messages));
    let counters = stored(&*handles[1], &session).await;
    let batches = (WRITERS * APPENDS / 5) as i64;
    assert_eq!(counters.message_count, (WRITERS * APPENDS) as i64 + batches);
    assert_eq!(counters.tool_call_count, batches);
    for writer in 0..WRITERS {
        let own = id(&format!("own{writer}"));
        assert_eq!(texts(&*handles[0], &own).await, (0..APPENDS).map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(stored(&*handles[0], &own).await.message_count, APPENDS as i64);
    }
    Ok(())
}

/// Returns whether the tool call that ends a batch directly follows the message that starts it.
fn batches_are_together(messages: &[Message]) -> bool {
    messages.windows(2).all(|pair| {
        pair[1].body.tool_calls.is_none()
            || pair[0].body.plain_text().split_once(' ').is_some_and(|(_, n)| n.parse::<usize>().unwrap() % 5 == 0)
    })
}

/// Readers see whole batches and matching counters while others write.
pub async fn readers_see_whole_steps(setup: Setup) -> CaseResult {
    let (store, reader) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let writing = {
        let session = session.clone();
        tokio::spawn(async move {
            for n in 0..60 {
                let batch: Vec<NewMessage> = (0..3).map(|_| user(&n.to_string())).collect();
                if n % 10 == 9 {
                    store.replace(&session, &batch, &request(n)).await?;
                } else {
                    store.append(&session, &batch, &request(n)).await?;
                }
            }
            Ok::<_, hermes_session::StoreError>(())
        })
    };
    while !writing.is_finished() {
        assert_eq!(texts(&*reader, &session).await.len() % 3, 0, "half a batch was seen");
        assert_eq!(stored(&*reader, &session).await.message_count % 3, 0);
        assert_eq!(reader.list(&ListRequest::default()).await?.rows[0].message_count % 3, 0);
        tokio::task::yield_now().await;
    }
    writing.await.unwrap()?;
    assert_eq!(texts(&*reader, &session).await.len(), 3);
    Ok(())
}

/// A future that is dropped at any point leaves its whole change or none of it, and a working store.
pub async fn a_dropped_future_is_whole_or_nothing(setup: Setup) -> CaseResult {
    const ROUNDS: u64 = 60;
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let batch = |round: u64| -> Vec<NewMessage> {
        let mut batch: Vec<NewMessage> = (0..4).map(|_| user(&round.to_string())).collect();
        batch.push(calls(r#"[{"id": "x"}]"#));
        batch
    };
    for round in 0..ROUNDS {
        let (messages, at) = (batch(round), request(round as f64));
        let append = store.append(&session, &messages, &at);
        match round % 3 {
            // Never polled.
            0 if round % 6 == 0 => drop(append),
            // Polled a few times.
            0 | 1 => {
                let mut append = pin!(append);
                let mut left = round / 3 % 4;
                poll_fn(|context| {
                    let answered = append.as_mut().poll(context).is_ready();
                    left = left.saturating_sub(1);
                    if answered || left == 0 { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            }
            // Dropped after a timeout.
            _ => _ = tokio::time::timeout(Duration::from_micros(round * 40), append).await,
        }
    }
    // A dropped change may still be running; one that is answered comes after it.
    store.append(&session, &[user("last")], &request(1_000)).await?;
    let messages = transcript(&*store, &session).await;
    let mut whole: BTreeMap<String, usize> = BTreeMap::new();
    let mut current = String::new();
    for message in &messages {
        if message.body.tool_calls.is_none() {
            current = message.body.plain_text().into_owned();
        }
        *whole.entry(current.clone()).or_default() += 1;
    }
    assert_eq!(whole.remove("last"), Some(1));
    assert!(whole.values().all(|count| *count == 5), "{whole:?}");
    let counters = stored(&*store, &session).await;
    assert_eq!(counters.message_count, messages.len() as i64);
    assert_eq!(counters.tool_call_count, whole.len() as i64);
    Ok(())
}

/// A change whose future was dropped can be repeated with its idempotency key.
pub async fn a_dropped_future_can_be_repeated(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    for round in 0..30_u64 {
        let key = format!("key {round}");
        let (messages, at) = ([user(&key), user("second")], keyed(round as f64, &key));
        let impatient = tokio::time::timeout(Duration::from_micros(round * 30), store.append(&session, &messages, &at));
        _ = impatient.await;
        let ids = store.append(&session, &messages, &at).await?;
        assert_eq!(store.append(&session, &messages, &at).await?, ids);
    }
    let expected: Vec<String> = (0..30).flat_map(|round| [format!("key {round}"), "second".to_owned()]).collect();
    assert_eq!(texts(&*store, &session).await, expected);
    Ok(())
}

/// Concurrent ends, titles and creations have one winner each.
pub async fn races_have_one_winner(setup: Setup) -> CaseResult {
    let handles = [setup.store().await, setup.store().await];
    for round in 0..5 {
        let shared = made(&*handles[0], &format!("shared{round}"), 0).await;
        let mut calls = tokio::task::JoinSet::new();
        for n in 0..6_usize {
            let (store, shared) = (handles[n % 2].clone(), shared.clone());
            let own = made(&*handles[0], &format!("own{round}-{n}"), 0).await;
            calls.spawn(async move {
                let ended = store.end(&shared, &EndReason::parse(format!("reason {n}")).unwrap(), &request(1)).await;
                let titled = store.set_title(&own, Some(&title(&format!("title {round}"))), &request(1)).await;
                let new = crate::fixture::new_session(&format!("new{round}"));
                let created = store.create(&new, &request(n as f64)).await;
                (n, ended.unwrap(), titled.is_ok(), created.is_ok())
            });
        }
        let answers = calls.join_all().await;
        let winners = |won: fn(&(usize, bool, bool, bool)) -> bool| -> Vec<usize> {
            answers.iter().filter(|answer| won(answer)).map(|answer| answer.0).collect()
        };
        let (ended, titled, created) = (winners(|a| a.1), winners(|a| a.2), winners(|a| a.3));
        assert_eq!((ended.len(), titled.len(), created.len()), (1, 1, 1), "{answers:?}");
        let reason = stored(&*handles[1], &shared).await.end_reason.unwrap();
        assert_eq!(reason.as_str(), format!("reason {}", ended[0]));
        let holders = handles[1].titled(&format!("title {round}")).await?;
        assert_eq!(
            holders.iter().map(|one| one.id.to_string()).collect::<Vec<_>>(),
            [format!("own{round}-{}", titled[0])]
        );
        assert_eq!(stored(&*handles[0], &id(&format!("new{round}"))).await.started_at, at(created[0] as f64));
    }
    Ok(())
}
