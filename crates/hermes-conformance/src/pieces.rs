//! Import in pieces: the handling of each piece.

use crate::fixture::{
    assert_invalid, assert_not_found, at, calls, conflict, id, ids, keyed, made, request, row_ids, source, stored,
    texts, title, transcript, user,
};
use crate::import::{exported, imported, told};
use crate::{CaseResult, Setup};
use hermes_session::import::{ImportPiece, Imported, MAX_KEPT_ID};
use hermes_session::{
    Conflict, Counts, Extra, HandoffColumns, ListRequest, Maintenance, Message, MessageBody, MessageId, MessageRequest,
    NewChild, NewMessage, Relation, Role, Session, SessionFilter, Usage,
};
use std::sync::Arc;

/// More messages than a provider should process in one step.
const MESSAGES: usize = 2_500;

/// Returns a whole session with messages of these ids.
fn piece(name: &str, numbers: &[i64]) -> ImportPiece {
    let session = id(name);
    let message = |number: &i64| {
        Message::new(MessageId(*number), id(name), at(1), MessageBody::new(Role::User, format!("{name} {number}")))
    };
    let session = Session {
        id: session,
        source: source("cli"),
        user_id: None,
        model: None,
        model_config: None,
        system_prompt: None,
        parent_session_id: None,
        relation: Relation::Root,
        started_at: at(0),
        ended_at: None,
        end_reason: None,
        message_count: numbers.len() as i64,
        tool_call_count: 0,
        usage: Usage::default(),
        title: None,
        handoff: HandoffColumns::default(),
        archived: false,
        extra: Extra::new(),
        faults: Vec::new(),
    };
    ImportPiece { session, start: 0, messages: numbers.iter().map(message).collect(), is_last: true }
}

/// Sends a piece until all of it is accepted, because a step may accept only a part. Returns the final outcome.
async fn sent(store: &dyn Maintenance, mut piece: ImportPiece) -> Imported {
    loop {
        match store.import(std::slice::from_ref(&piece)).await.unwrap().remove(0) {
            Imported::Partly(taken) => {
                piece.messages.drain(..taken as usize);
                piece.start += taken;
                if piece.messages.is_empty() && !piece.is_last {
                    return Imported::Partly(piece.start);
                }
            }
            outcome => return outcome,
        }
    }
}

/// A session without a parent gets one, once.
pub async fn a_link_is_made_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for name in ["a", "b", "c"] {
        made(&*store, name, 0).await;
    }
    store.append(&id("c"), &[user("c")], &request(9)).await?;
    store.split(&id("c"), &NewChild::new(id("c2")), &[], &request(10)).await?;
    assert!(store.link(&id("b"), &id("a"), Relation::Continuation).await?);
    assert!(store.link(&id("c"), &id("b"), Relation::Delegate).await?);
    assert!(!store.link(&id("c"), &id("a"), Relation::Branch).await?);
    assert_eq!(stored(&*store, &id("c")).await.parent_session_id, Some(id("b")));
    assert_invalid(store.link(&id("a"), &id("c2"), Relation::Branch).await, "parent session");
    assert_invalid(store.link(&id("a"), &id("a"), Relation::Branch).await, "parent session");
    assert_invalid(store.link(&id("a"), &id("b"), Relation::Root).await, "parent session");
    assert_not_found(store.link(&id("x"), &id("a"), Relation::Branch).await, &id("x"));
    assert_not_found(store.link(&id("a"), &id("x"), Relation::Branch).await, &id("x"));
    assert_eq!(store.lineage(&id("a")).await?.conversation(&id("c2")), ids(&["a", "b", "c", "c2"]));
    let listing = store.list(&ListRequest::default()).await?;
    assert_eq!((row_ids(&listing), listing.rows[0].last_active), (vec!["b"], at(10)));
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A session of many messages arrives in pieces and is visible when it is complete, while others write; an abandoned
/// import is started again.
pub async fn a_large_session_comes_as_a_whole(setup: Setup) -> CaseResult {
    let (from, to) = (setup.store().await, setup.store_named("copy").await);
    made(&*from, "large", 0).await;
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n}\0"))).collect();
    from.append(&id("large"), &batch, &request(1)).await?;
    from.set_title(&id("large"), Some(&title("large")), &request(1)).await?;
    let text = exported(&*from).await?;
    // The first part of an import that is never finished.
    let whole = ImportPiece {
        session: stored(&*from, &id("large")).await,
        start: 0,
        messages: transcript(&*from, &id("large")).await,
        is_last: true,
    };
    let first = ImportPiece { messages: whole.messages[..150].to_vec(), is_last: false, ..whole.clone() };
    assert!(matches!(to.import(&[first]).await?[..], [Imported::Partly(1..)]));
    for handle in [&to, &setup.store_named("copy").await] {
        assert_eq!(handle.session(&id("large")).await?, None);
        assert_not_found(handle.messages(&id("large"), &MessageRequest::first(9)).await, &id("large"));
        assert_eq!(handle.counts(&SessionFilter::default()).await?, Counts::default());
        assert!(handle.titled("large").await?.is_empty() && handle.ids_with_prefix("l", 9).await?.is_empty());
        assert!(handle.verify().await?.is_sound());
    }
    made(&*to, "other", 0).await;
    let (importer, lines) = (Arc::clone(&to), text.clone());
    let importing = tokio::spawn(async move { imported(&*importer, &lines).await });
    let mut written = 0;
    while !importing.is_finished() {
        to.append(&id("other"), &[user("meanwhile")], &request(2)).await?;
        written += 1;
        if let Some(session) = to.session(&id("large")).await? {
            assert_eq!(texts(&*to, &id("large")).await.len() as i64, session.message_count);
        }
    }
    assert_eq!(told(&importing.await.unwrap()), ([1, MESSAGES as u64, 0, 0, 0], vec![]));
    assert_eq!(texts(&*to, &id("large")).await, texts(&*from, &id("large")).await);
    assert_eq!(texts(&*to, &id("other")).await.len(), written);
    assert!(to.verify().await?.is_sound());
    // A piece that does not match the existing session changes nothing.
    let (before, stray) = (exported(&*to).await?, ImportPiece { start: 5, ..whole.clone() });
    assert_eq!(to.import(&[whole, stray]).await?, [Imported::Exists, Imported::Exists]);
    assert_eq!(exported(&*to).await?, before);
    Ok(())
}

/// An incomplete import gives way to a session that is created with the same id.
pub async fn half_an_import_is_in_nobodys_way(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = Session { title: Some("t".into()), ..piece("s", &[1]).session };
    let first = ImportPiece { session: session.clone(), is_last: false, ..piece("s", &[1, 2]) };
    assert_eq!(sent(&*store, first).await, Imported::Partly(2));
    let gap = ImportPiece { session: session.clone(), start: 1, ..piece("s", &[3]) };
    assert_eq!(store.import(&[gap]).await?, [Imported::Exists], "it does not go on from there");
    made(&*store, "s", 5).await;
    store.set_title(&id("s"), Some(&title("t")), &keyed(6, "title")).await?;
    store.append(&id("s"), &[user("mine")], &request(7)).await?;
    let rest = ImportPiece { session, start: 2, ..piece("s", &[3]) };
    assert_eq!(store.import(&[rest]).await?, [Imported::Exists]);
    assert_eq!(texts(&*store, &id("s")).await, ["mine"]);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A session that is created while one with its id is imported contains nothing of the import, whichever was first.
pub async fn made_while_it_comes(setup: Setup) -> CaseResult {
    let (one, other) = (setup.store().await, setup.store().await);
    for round in 0..20_i64 {
        let name = format!("s{round}");
        let first = ImportPiece { is_last: false, ..piece(&name, &[round * 2 + 1, round * 2 + 2]) };
        let (import, create) = tokio::join!(async { one.import(std::slice::from_ref(&first)).await }, async {
            other.create(&crate::fixture::new_session(&name), &request(1)).await
        });
        create?;
        let outcome = import?.remove(0);
        assert!(matches!(outcome, Imported::Exists | Imported::Partly(_)), "{outcome:?}");
        assert_eq!(texts(&*one, &id(&name)).await, [""; 0], "{round}");
        let rest = ImportPiece { start: 2, ..piece(&name, &[1_000 + round]) };
        assert_eq!(one.import(&[rest]).await?, [Imported::Exists]);
    }
    assert!(one.verify().await?.is_sound());
    Ok(())
}

/// Message ids are kept if they are free and ascending; the order is always kept, and no id is assigned twice.
pub async fn ids_of_messages_are_kept_if_free(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let whole = Imported::Whole { title: None, parent: None };
    assert_eq!(sent(&*store, piece("free", &[10, 20, 30])).await, whole);
    assert_eq!(sent(&*store, piece("lower", &[1, 2])).await, whole);
    assert_eq!(sent(&*store, piece("taken", &[19, 20, 21])).await, whole);
    assert_eq!(sent(&*store, piece("falling", &[50, 45, 60])).await, whole);
    assert_eq!(sent(&*store, piece("absurd", &[0, -7, i64::MAX, MAX_KEPT_ID.0 + 1])).await, whole);
    let mut all = Vec::new();
    for (name, first) in
        [("free", &[10, 20, 30][..]), ("lower", &[1, 2]), ("taken", &[19]), ("falling", &[50]), ("absurd", &[])]
    {
        let messages = transcript(&*store, &id(name)).await;
        let numbers: Vec<i64> = messages.iter().map(|message| message.id.0).collect();
        assert!(numbers.is_sorted() && numbers.starts_with(first), "{name}: {numbers:?}");
        let said: Vec<_> = messages.iter().map(|message| message.body.plain_text().into_owned()).collect();
        let expected = match name {
            "falling" => vec!["falling 50", "falling 45", "falling 60"],
            "taken" => vec!["taken 19", "taken 20", "taken 21"],
            _ => said.iter().map(String::as_str).collect(),
        };
        assert_eq!(said, expected);
        all.extend(numbers);
    }
    let highest = all.iter().max().copied().unwrap();
    assert!(highest <= MAX_KEPT_ID.0);
    let next = store.append(&id("free"), &[user("next")], &request(9)).await?;
    assert!(next[0].0 > highest);
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
    Ok(())
}

/// A key whose messages were deleted stays free, even when their ids come back with an import.
pub async fn an_id_that_comes_back_revives_no_key(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let first = store.append(&session, &[user("one")], &keyed(1, "append")).await?;
    store.replace(&session, &[], &request(2)).await?;
    let whole = Imported::Whole { title: None, parent: None };
    assert_eq!(sent(&*store, piece("other", &[first[0].0])).await, whole);
    assert_eq!(transcript(&*store, &id("other")).await[0].id, first[0]);
    store.append(&session, &[user("one")], &keyed(3, "append")).await?;
    assert_eq!(texts(&*store, &session).await, ["one"]);
    Ok(())
}

/// Two continuations of a session, as a foreign writer may have left them, are both imported; the later one is the tip,
/// in any order.
pub async fn two_continuations_may_come(setup: Setup) -> CaseResult {
    for order in [["a", "z"], ["z", "a"]] {
        let store = setup.store_named(order[0]).await;
        let root = made(&*store, "root", 0).await;
        for name in order {
            let start = if name == "a" { 9 } else { 5 };
            let session = Session {
                parent_session_id: Some(root.clone()),
                relation: Relation::Continuation,
                started_at: at(start),
                ..piece(name, &[]).session
            };
            sent(&*store, ImportPiece { session, ..piece(name, &[]) }).await;
        }
        let again = conflict(store.split(&root, &NewChild::new(id("x")), &[], &request(10)).await);
        assert_eq!(again, Conflict::AlreadySplit { parent: root.clone(), continuation: id("a") });
        assert_eq!(row_ids(&store.list(&ListRequest::default()).await?), ["a"]);
        assert!(store.verify().await?.is_sound());
    }
    Ok(())
}

/// A session that was imported with wrong counters is recounted once; correct counters are not changed.
pub async fn wrong_counts_are_recounted(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let mut wrong = piece("wrong", &[1, 2, 3]);
    (wrong.session.message_count, wrong.session.tool_call_count) = (40, 7);
    sent(&*store, wrong).await;
    sent(&*store, piece("right", &[4])).await;
    store.append(&id("wrong"), &[calls(r#"[{"id": "1"}, {"id": "2"}]"#)], &request(1)).await?;
    assert!(!store.verify().await?.is_sound());
    assert!(!store.recount(&id("right")).await?);
    assert!(store.recount(&id("wrong")).await?);
    assert!(!store.recount(&id("wrong")).await?, "it is right by now");
    for (name, expected) in [("wrong", (4, 2)), ("right", (1, 0))] {
        let session = store.session(&id(name)).await?.unwrap();
        assert_eq!((session.message_count, session.tool_call_count), expected, "{name}");
    }
    assert!(store.verify().await?.is_sound());
    Ok(())
}
