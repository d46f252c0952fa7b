//! Undone messages: no longer part of the conversation, and kept.

use crate::fixture::{
    assert_invalid, assert_not_found, assistant, at, calls, conflict, id, keyed, made, request, row_ids, stored, texts,
    transcript, user,
};
use crate::search::{MOMENTS, asked, question};
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::export::Exporter;
use hermes_session::import::{ImportOptions, import};
use hermes_session::live::UndoneMessage;
use hermes_session::transfer::{Proving, TransferOptions, copy, prove};
use hermes_session::{
    Conflict, ListRequest, Message, MessageId, MessageRequest, MessageState, NewChild, SessionFilter, SessionId, Store,
    StoreError, View,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn words(undone: &[UndoneMessage]) -> Vec<String> {
    undone.iter().map(|one| one.message.body.plain_text().into_owned()).collect()
}

async fn every(store: &dyn Store, session: &SessionId) -> Result<Vec<Message>, StoreError> {
    store.messages(session, &MessageRequest::first(1_000).every()).await
}

/// Creates a session in which a person said these texts, and returns it with the ids of the messages.
async fn said(store: &dyn Store, name: &str, texts: &[&str]) -> Result<(SessionId, Vec<MessageId>), StoreError> {
    let session = made(store, name, 0).await;
    let batch: Vec<_> = texts.iter().map(|text| user(text)).collect();
    let ids = store.append(&session, &batch, &request(1)).await?;
    Ok((session, ids))
}

/// Undone messages are not replayed, and are returned with what is known about their undo; the conversation goes on
/// after the message before them.
pub async fn what_was_undone_is_kept(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let (session, ids) = said(&*store, "s", &["one", "two", "three", "four"]).await?;
    let before = transcript(&*store, &session).await;
    assert_eq!(store.undone(&session).await?, []);
    let first = store.undo(&session, ids[2], &request(5)).await?;
    assert_eq!(first.messages, 2);
    assert_eq!(texts(&*other, &session).await, ["one", "two"]);
    // The next message follows the last one that is left.
    let next = store.append(&session, &[user("instead")], &request(6).after(ids[1])).await?[0];
    assert!(next > ids[3]);
    let second = store.undo(&session, ids[1], &request(7)).await?;
    assert!(second.messages == 2 && second.batch > first.batch);
    assert_eq!(texts(&*other, &session).await, ["one"]);
    let undone = other.undone(&session).await?;
    assert_eq!(words(&undone), ["two", "three", "four", "instead"]);
    let batches = [&second, &first, &first, &second].map(|undone| Some(undone.batch));
    assert_eq!(undone.iter().map(|one| one.batch).collect::<Vec<_>>(), batches);
    let times = [at(7), at(5), at(5), at(7)].map(Some);
    assert_eq!(undone.iter().map(|one| one.undone_at).collect::<Vec<_>>(), times);
    assert_eq!(undone[1].message, Message { state: MessageState::Undone, ..before[2].clone() });
    // The widest request has them in their places.
    let all = every(&*store, &session).await?;
    assert_eq!(all.iter().map(|message| message.id).collect::<Vec<_>>(), [&ids[..], &[next]].concat());
    let as_said = store.messages(&session, &MessageRequest::first(9).as_said()).await?;
    assert_eq!(as_said, before[..1]);
    // Another session has none, and the last message can be undone too.
    let (t, _) = said(&*store, "t", &["x"]).await?;
    assert_eq!(store.undone(&t).await?, []);
    assert_not_found(store.undone(&id("nobody")).await, &id("nobody"));
    assert_eq!(store.undo(&session, ids[0], &request(8)).await?.messages, 1);
    assert_eq!(texts(&*store, &session).await, Vec::<String>::new());
    store.append(&session, &[user("anew")], &request(9).after(MessageId(0))).await?;
    assert!(store.verify().await?.is_sound(), "{:?}", store.verify().await?);
    Ok(())
}

/// Counters, preview, branches and replacements are those of the transcript that is left.
pub async fn counters_and_preview_follow(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let batch = [user("first words"), calls("[{}, {}]"), assistant("answer"), user("second"), calls("[{}]")];
    let ids = store.append(&session, &batch, &request(1)).await?;
    let counted = async || {
        let row = stored(&*store, &session).await;
        (row.message_count, row.tool_call_count)
    };
    assert_eq!(counted().await, (5, 3));
    store.undo(&session, ids[3], &request(2)).await?;
    assert_eq!(counted().await, (3, 2));
    let branch = NewChild::new(id("b"));
    store.branch(&session, &branch, &request(3)).await?;
    assert_eq!(texts(&*store, &id("b")).await.len(), 3);
    assert_eq!(store.undone(&id("b")).await?, []);
    store.undo(&session, ids[0], &request(4)).await?;
    assert_eq!(counted().await, (0, 0));
    let listed = async || -> Result<_, StoreError> {
        let list = ListRequest { view: View::Sessions, ..ListRequest::default() };
        let rows = store.list(&list).await?;
        assert!(row_ids(&rows).contains(&"s"));
        Ok(rows
            .rows
            .into_iter()
            .find(|row| row.id == session)
            .map(|row| (row.preview, row.messages, row.message_count)))
    };
    assert_eq!(listed().await?, Some((String::new(), 0, 0)));
    store.append(&session, &[user("other words")], &request(5)).await?;
    assert_eq!(listed().await?, Some(("other words".to_owned(), 1, 1)));
    store.replace(&session, &[user("replaced"), calls("[{}]")], &request(6)).await?;
    assert_eq!((counted().await, store.undone(&session).await?.len()), ((2, 1), 5));
    assert!(!store.recount(&session).await?, "the counters are right");
    assert_eq!(store.counts(&SessionFilter::default()).await?.sessions, 2);
    assert!(store.verify().await?.is_sound(), "{:?}", store.verify().await?);
    Ok(())
}

/// A search finds no undone message, and shows none beside another one, whether or not the messages are indexed.
pub async fn not_found_by_a_search(setup: Setup) -> CaseResult {
    for (number, moment) in MOMENTS.into_iter().enumerate() {
        let store = setup.idle_store(&number.to_string()).await;
        let (session, ids) = said(&*store, "s", &["about kangaroos", "about wombats 大别山", "more wombats"]).await?;
        // Indexed before they are undone, as well as only afterwards.
        moment.come(&*store).await?;
        store.undo(&session, ids[1], &request(2)).await?;
        let later = store.append(&session, &[user("about wallabies")], &request(3)).await?[0];
        for indexed in [false, true] {
            if indexed {
                moment.come(&*store).await?;
            }
            for query in ["wombats", "ombat", "大别", "more"] {
                assert_eq!(asked(&*store, &question(query)).await?, [], "{query} {moment:?}");
            }
            let hits = asked(&*store, &question("wallabies")).await?;
            assert_eq!(hits.iter().map(|hit| hit.message).collect::<Vec<_>>(), [later], "{moment:?}");
            assert_eq!(
                hits[0].before.as_ref().map(|before| before.text.as_str()),
                Some("about kangaroos"),
                "{moment:?}"
            );
            assert_eq!(asked(&*store, &question("kangaroos")).await?.len(), 1);
        }
        let around = store.around(&[(session, ids[1])]).await?.remove(0);
        assert_eq!(around.iter().map(|message| message.id).collect::<Vec<_>>(), [ids[0], later]);
    }
    Ok(())
}

/// Only a message of the session's own transcript can be undone, and nothing changes otherwise.
pub async fn only_the_transcript_can_be_undone(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, ids) = said(&*store, "s", &["one", "two", "three"]).await?;
    let (_, others) = said(&*store, "t", &["x"]).await?;
    store.undo(&session, ids[1], &request(2)).await?;
    let refused = [ids[1], ids[2], others[0], MessageId(0), MessageId(-1), MessageId(i64::MAX)];
    for from in refused {
        assert_invalid(store.undo(&session, from, &request(3)).await, "message");
        assert_invalid(store.undo(&session, from, &keyed(3, "k")).await, "message");
    }
    assert_not_found(store.undo(&id("nobody"), ids[0], &request(4)).await, &id("nobody"));
    assert_eq!(texts(&*store, &session).await, ["one"]);
    assert_eq!((texts(&*store, &id("t")).await.len(), store.undone(&session).await?.len()), (1, 2));
    // A refused undo left its key free.
    assert_eq!(store.undo(&session, ids[0], &keyed(5, "k")).await?.messages, 1);
    Ok(())
}

/// A repeated undo takes nothing more back. The keys of undone messages are free, those of others are not.
pub async fn repeats_under_its_key(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let one = store.append(&session, &[user("one")], &keyed(1, "one")).await?;
    let batch = [user("two"), user("three")];
    let two = store.append(&session, &batch, &keyed(2, "two")).await?;
    let undone = store.undo(&session, two[1], &keyed(3, "undo")).await?;
    assert_eq!(store.undo(&session, two[1], &keyed(4, "undo")).await?, undone);
    let other = store.undo(&session, two[0], &keyed(5, "undo")).await;
    assert!(matches!(conflict(other), Conflict::KeyReused(_)));
    // The first message of this key is still there.
    assert_eq!(store.append(&session, &batch, &keyed(6, "two")).await?, two);
    store.undo(&session, two[0], &request(7)).await?;
    // Now it is not, and the same request is a new one.
    let again = store.append(&session, &batch, &keyed(8, "two")).await?;
    assert!(again[0] > two[1]);
    assert_eq!(store.append(&session, &batch, &keyed(9, "two")).await?, again);
    assert_eq!(store.append(&session, &[user("one")], &keyed(10, "one")).await?, one);
    assert_eq!(store.undo(&session, two[1], &keyed(11, "undo")).await?, undone, "the undo itself stays known");
    assert_eq!(texts(&*store, &session).await, ["one", "two", "three"]);
    assert_eq!(words(&store.undone(&session).await?), ["two", "three"]);
    Ok(())
}

/// Undone messages are exported and transferred with their state, and a second import changes nothing.
pub async fn exported_and_transferred(setup: Setup) -> CaseResult {
    let (store, other, last) = (setup.store().await, setup.store_named("other").await, ModelStore::new());
    let (session, ids) = said(&*store, "s", &["one", "two", "three"]).await?;
    store.undo(&session, ids[1], &request(2)).await?;
    store.append(&session, &[user("instead")], &request(3)).await?;
    let (mut exporter, mut text) = (Exporter::new(&*store, SessionFilter::default()), String::new());
    while let Some(chunk) = exporter.next_chunk().await? {
        text.push_str(&chunk);
    }
    assert_eq!(exporter.states().undone, 2);
    let report = import(&*other, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap();
    assert_eq!((report.sessions, report.messages, report.states.undone), (1, 4, 2), "{report:?}");
    let again = import(&*other, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap();
    assert_eq!((again.skipped, again.conflicts), (1, 0), "{again:?}");
    let mut go_on = |_| ControlFlow::Continue(());
    let report = copy(&*store, &last, &TransferOptions::default(), &mut go_on).await.unwrap();
    assert_eq!((report.messages, report.states.undone), (4, 2), "{report:?}");
    let proof = prove(&*store, &last, Proving::but(&BTreeSet::new()), &mut go_on).await.unwrap();
    assert_eq!((proof.equal, proof.mismatches, proof.missing), (1, 0, 0), "{proof:?}");
    let stores: [&dyn Store; 2] = [&*other, &last];
    for store in stores {
        assert_eq!(texts(store, &session).await, ["one", "instead"]);
        assert_eq!(words(&store.undone(&session).await?), ["two", "three"]);
        assert_eq!(stored(store, &session).await.message_count, 2);
        // What came can be undone here too.
        let from = transcript(store, &session).await[1].id;
        store.undo(&session, from, &request(4)).await?;
        assert_eq!(words(&store.undone(&session).await?), ["two", "three", "instead"]);
    }
    Ok(())
}

/// The trash keeps undone messages, and they come back undone.
pub async fn it_survives_the_trash(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, ids) = said(&*store, "s", &["one", "wombat", "three"]).await?;
    store.undo(&session, ids[1], &request(2)).await?;
    let before = (stored(&*store, &session).await, every(&*store, &session).await?);
    assert_eq!(store.trash_chain(&session, at(99), &request(3)).await?.messages, 3);
    assert_eq!(store.restore(&session, &request(4)).await?.messages, 3);
    assert_eq!((stored(&*store, &session).await, every(&*store, &session).await?), before);
    assert_eq!(words(&store.undone(&session).await?), ["wombat", "three"]);
    assert_eq!(asked(&*store, &question("wombat")).await?, []);
    // A later undo still has the greater number.
    store.append(&session, &[user("four")], &request(5)).await?;
    let known: Option<i64> = store.undone(&session).await?.iter().filter_map(|one| one.batch).max();
    let later = store.undo(&session, ids[0], &request(6)).await?;
    assert!(later.messages == 2 && known.is_none_or(|known| later.batch > known));
    // A deletion takes them along, and another session of that id has none.
    let deleted = store.delete(&session, hermes_session::DeleteExtent::Conversation, &request(7)).await?;
    assert_eq!(deleted.messages, 4);
    made(&*store, "s", 8).await;
    assert_eq!(store.undone(&session).await?, []);
    assert!(store.verify().await?.is_sound(), "{:?}", store.verify().await?);
    Ok(())
}
