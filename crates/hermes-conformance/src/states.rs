//! Message states, archived sessions and columns of newer agents: what is replayed and found, and that everything is
//! copied.

use crate::fixture::{assistant, at, id, made, request, row_ids, source, stored, texts, transcript, user};
use crate::search::{Moment, asked, question};
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::export::Exporter;
use hermes_session::extra::Table;
use hermes_session::import::{ImportOptions, ImportPiece, Imported, import};
use hermes_session::transfer::{Proving, TransferOptions, copy, prove};
use hermes_session::{
    DeleteExtent, Extent, Extra, HandoffColumns, ListRequest, Maintenance, Message, MessageBody, MessageId,
    MessageRequest, MessageState, NewChild, Relation, Role, Scalar, Session, SessionFilter, StateCounts, Store,
    StoreError, Usage, View, Window,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use MessageState::{Active, Compacted, Undone};

/// The messages of [`mixed`]: compacted ones first, then a summary, undone ones, and later ones.
const SAID: [(MessageState, &str); 7] = [
    (Compacted, "the first kangaroo 大别山"),
    (Compacted, "the answer about kangaroo"),
    (Active, "summary of what was said"),
    (Undone, "a mistaken wombat"),
    (Undone, "the answer to wombat"),
    (Active, "a question about wallaby"),
    (Active, "the answer about wallaby"),
];

fn said(session: &str, place: usize, state: MessageState, text: &str) -> Message {
    let role = if place.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let (number, time) = (place as i64 + 1, at(10.0 + place as f64));
    let message = Message::new(MessageId(number), id(session), time, MessageBody::new(role, text));
    Message { state, ..message }
}

/// Returns a session as a newer agent leaves it: compacted in place, rewound, and with columns that have no field here.
fn mixed(name: &str) -> ImportPiece {
    let mut messages: Vec<Message> =
        SAID.iter().enumerate().map(|(place, (state, text))| said(name, place, *state, text)).collect();
    let set = |message: &mut Message, column: &str, value: Scalar| message.extra.set(Table::Messages, column, value);
    set(&mut messages[0], "platform_message_id", Scalar::Text("m-1 大\0".into()));
    set(&mut messages[3], "observed", Scalar::Integer(1));
    set(&mut messages[6], "api_content", Scalar::Text(String::new()));
    // A rewind that was reverted may leave an active message marked as compacted.
    set(&mut messages[5], "compacted", Scalar::Integer(1));
    let mut extra = Extra::new();
    for (column, value) in [
        ("rewind_count", Scalar::Integer(2)),
        ("cwd", Scalar::Text("/tmp/é".into())),
        ("compression_failure_cooldown_until", Scalar::Real(0.1 + 0.2)),
        ("display_name", Scalar::Bytes(vec![0xff, 0])),
        ("expiry_finalized", Scalar::Null),
    ] {
        extra.set(Table::Sessions, column, value);
    }
    let session = Session {
        id: id(name),
        source: source("cli"),
        user_id: None,
        model: None,
        model_config: None,
        system_prompt: None,
        parent_session_id: None,
        relation: Relation::Root,
        started_at: at(1),
        ended_at: None,
        end_reason: None,
        message_count: 3,
        tool_call_count: 0,
        usage: Usage::default(),
        title: None,
        handoff: HandoffColumns::default(),
        archived: false,
        extra,
        faults: Vec::new(),
    };
    ImportPiece { session, start: 0, messages, is_last: true }
}

/// Imports a session, in as many steps as the store needs.
async fn put(store: &dyn Maintenance, mut piece: ImportPiece) -> Result<(), StoreError> {
    loop {
        match store.import(std::slice::from_ref(&piece)).await?.remove(0) {
            Imported::Partly(taken) => {
                piece.messages.drain(..taken as usize);
                piece.start += taken;
            }
            outcome => {
                assert!(matches!(outcome, Imported::Whole { .. }), "{outcome:?}");
                return Ok(());
            }
        }
    }
}

async fn every(store: &dyn Maintenance, name: &str) -> Result<Vec<Message>, StoreError> {
    store.messages(&id(name), &MessageRequest::first(1_000).every()).await
}

/// Returns the messages that a query finds.
async fn found(store: &dyn Store, text: &str) -> Result<Vec<MessageId>, StoreError> {
    Ok(asked(store, &question(text)).await?.iter().map(|hit| hit.message).collect())
}

fn words(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.body.plain_text().into_owned()).collect()
}

/// The widest request reads messages of every state; the transcript has the active ones, the messages as said include
/// compacted ones.
pub async fn a_request_says_which_states(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let piece = mixed("s");
    put(&*store, piece.clone()).await?;
    assert_eq!(every(&*store, "s").await?, piece.messages);
    assert_eq!(stored(&*store, &id("s")).await, piece.session);
    for extent in [Extent::Transcript, Extent::Said, Extent::Every] {
        let meant: Vec<Message> = piece.messages.iter().filter(|message| extent.has(message.state)).cloned().collect();
        let of = |window, limit| MessageRequest { extent, ..MessageRequest::new(window, limit) };
        assert_eq!(store.messages(&id("s"), &of(Window::After(None), 100)).await?, meant, "{extent:?}");
        let last = store.messages(&id("s"), &of(Window::Before(None), 2)).await?;
        assert_eq!(last, meant[meant.len() - 2..], "{extent:?}");
        let behind = store.messages(&id("s"), &of(Window::After(Some(MessageId(3))), 1)).await?;
        let next = meant.iter().find(|message| message.id > MessageId(3)).cloned();
        assert_eq!(behind, Vec::from_iter(next), "{extent:?}");
    }
    let around = store.around(&[(id("s"), MessageId(4))]).await?.remove(0);
    assert_eq!(words(&around), [SAID[2].1, SAID[5].1, SAID[6].1]);
    let counts = store.counts(&SessionFilter::default()).await?;
    assert_eq!((counts.sessions, counts.messages), (1, 7));
    assert!(store.verify().await?.is_sound(), "{:?}", store.verify().await?);
    Ok(())
}

/// Search finds compacted messages, never undone ones, and shows neither undone neighbours nor undone previews.
pub async fn search_finds_what_was_compacted(setup: Setup) -> CaseResult {
    for (moment, name) in [(Moment::Unindexed, "u"), (Moment::Indexed, "i"), (Moment::Anew, "a")] {
        let store = setup.idle_store(name).await;
        let mut piece = mixed("s");
        piece.messages.rotate_left(3);
        piece.messages.iter_mut().zip(1..).for_each(|(message, number)| message.id = MessageId(number));
        put(&*store, piece.clone()).await?;
        moment.come(&*store).await?;
        let place = |text: &str| piece.messages.iter().find(|message| message.body.plain_text() == text).map(|m| m.id);
        for (query, expected) in [
            ("kangaroo", vec![place(SAID[0].1), place(SAID[1].1)]),
            ("大别", vec![place(SAID[0].1)]),
            ("angaro", vec![place(SAID[0].1), place(SAID[1].1)]),
            ("wombat", vec![]),
            ("omba", vec![]),
            ("wallaby", vec![place(SAID[5].1), place(SAID[6].1)]),
        ] {
            let hits: BTreeSet<MessageId> = found(&*store, query).await?.into_iter().collect();
            assert_eq!(hits, expected.into_iter().flatten().collect(), "{query} {moment:?}");
        }
        let hit = asked(&*store, &question("wallaby question")).await?.remove(0);
        assert_eq!(hit.before, None, "what was undone is no neighbour ({moment:?})");
        let row = store.list(&ListRequest::default()).await?.rows.remove(0);
        assert_eq!(row.preview, SAID[6].1, "the first words of the person that were not undone");
        assert_eq!(row.message_count, 3);
    }
    Ok(())
}

/// Replacing and branching concern the transcript: messages that are not active stay where they are.
pub async fn replacing_and_branching_leave_the_others(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    put(&*store, mixed("s")).await?;
    store.branch(&id("s"), &NewChild::new(id("b")), &request(30)).await?;
    assert_eq!(texts(&*store, &id("b")).await, [SAID[2].1, SAID[5].1, SAID[6].1]);
    assert_eq!(every(&*store, "b").await?.len(), 3);
    assert_eq!(stored(&*store, &id("b")).await.message_count, 3);
    store.replace(&id("s"), &[user("anew"), assistant("all")], &request(31)).await?;
    assert_eq!(texts(&*store, &id("s")).await, ["anew", "all"]);
    let all = words(&every(&*store, "s").await?);
    assert_eq!(all, [SAID[0].1, SAID[1].1, SAID[3].1, SAID[4].1, "anew", "all"]);
    assert_eq!(found(&*store, "kangaroo").await?.len(), 2);
    assert_eq!(stored(&*store, &id("s")).await.message_count, 2);
    assert!(!store.recount(&id("s")).await?, "what is counted is right");
    store.append(&id("s"), &[user("more")], &request(32)).await?;
    assert_eq!(stored(&*store, &id("s")).await.message_count, 3);
    assert!(store.verify().await?.is_sound(), "{:?}", store.verify().await?);
    let deleted = store.delete(&id("s"), DeleteExtent::Conversation, &request(33)).await?;
    assert_eq!((deleted.sessions, deleted.messages), (1, 7));
    assert!(found(&*store, "kangaroo").await?.is_empty());
    Ok(())
}

/// A session whose counter matches neither its transcript nor all of its messages is recounted: the transcript counts.
pub async fn the_transcript_counts(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (name, told, right) in [("live", 3, 3), ("all", 7, 7), ("none", 5, 3)] {
        let mut piece = mixed(name);
        piece.session.message_count = told;
        put(&*store, piece).await?;
        assert_eq!(store.recount(&id(name)).await?, told != right, "{name}");
        assert_eq!(stored(&*store, &id(name)).await.message_count, right, "{name}");
    }
    Ok(())
}

/// Lists of conversations leave out archived ones; they can be read, found, and listed session by session.
pub async fn archived_conversations_are_not_listed(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "open", 1).await;
    let mut piece = mixed("away");
    piece.session.archived = true;
    put(&*store, piece.clone()).await?;
    assert_eq!(stored(&*store, &id("away")).await, piece.session);
    assert_eq!(row_ids(&store.list(&ListRequest::default()).await?), ["open"]);
    let sessions = ListRequest { view: View::Sessions, ..ListRequest::default() };
    let listed: BTreeSet<String> =
        store.list(&sessions).await?.rows.into_iter().map(|row| row.id.as_str().to_owned()).collect();
    assert_eq!(listed, BTreeSet::from(["away".to_owned(), "open".to_owned()]));
    let counts = store.counts(&SessionFilter::default()).await?;
    assert_eq!((counts.conversations, counts.sessions, counts.messages), (1, 2, 7));
    assert_eq!(store.statistics().await?.sources[&source("cli")].conversations, 1);
    assert_eq!(found(&*store, "kangaroo").await?.len(), 2);
    assert_eq!(transcript(&*store, &id("away")).await.len(), 3);
    Ok(())
}

/// Columns of newer agents come back with the same bits, even in a store that never had them; a store reports
/// beforehand what it can't keep.
pub async fn further_columns_come_back(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let piece = mixed("s");
    put(&*store, piece.clone()).await?;
    let there = stored(&*store, &id("s")).await;
    assert_eq!(there.extra, piece.session.extra);
    let extras =
        |messages: &[Message]| -> Vec<Extra> { messages.iter().map(|message| message.extra.clone()).collect() };
    assert_eq!(extras(&every(&*store, "s").await?), extras(&piece.messages));
    let known = [(Table::Sessions, "cwd".to_owned()), (Table::Messages, "api_content".to_owned())];
    assert_eq!(store.lacking(&known).await?, []);
    let unknown = [(Table::Messages, "unheard_of".to_owned())];
    let lacking = store.lacking(&unknown).await?;
    let mut odd = mixed("odd");
    odd.messages[2].extra.set(Table::Messages, "unheard_of", Scalar::Integer(7));
    put(&*store, odd).await?;
    let kept = every(&*store, "odd").await?[2].extra.get("unheard_of").cloned();
    assert_eq!(kept, lacking.is_empty().then_some(Scalar::Integer(7)));
    assert_eq!(store.foreign().await?, [], "nothing of it is left behind");
    Ok(())
}

/// The trash keeps every state and every column, and restores them.
pub async fn the_trash_keeps_every_state(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let mut piece = mixed("s");
    piece.session.archived = true;
    put(&*store, piece.clone()).await?;
    let gone = store.trash_chain(&id("s"), at(99), &request(40)).await?;
    assert_eq!(gone.messages, 7);
    assert!(found(&*store, "kangaroo").await?.is_empty());
    let back = store.restore(&id("s"), &request(41)).await?;
    assert_eq!(back.messages, 7);
    assert_eq!(every(&*store, "s").await?, piece.messages);
    assert_eq!(stored(&*store, &id("s")).await, piece.session);
    assert_eq!((found(&*store, "kangaroo").await?.len(), found(&*store, "wombat").await?.len()), (2, 0));
    assert!(store.verify().await?.is_sound(), "{:?}", store.verify().await?);
    Ok(())
}

async fn lines(store: &dyn Store) -> Result<(String, StateCounts), StoreError> {
    let (mut exporter, mut out) = (Exporter::new(store, SessionFilter::default()), String::new());
    while let Some(chunk) = exporter.next_chunk().await? {
        out.push_str(&chunk);
    }
    Ok((out, exporter.states()))
}

/// An export has messages of every state, and an import restores them; a second import changes nothing.
pub async fn an_export_has_every_state(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store_named("other").await);
    let mut away = mixed("away");
    away.session.archived = true;
    put(&*store, mixed("s")).await?;
    put(&*store, away).await?;
    let (text, states) = lines(&*store).await?;
    assert_eq!(states, StateCounts { active: 6, compacted: 4, undone: 4 });
    for is_rehearsal in [true, false] {
        let options = ImportOptions { is_rehearsal, ..ImportOptions::default() };
        let report = import(&*other, &mut text.as_bytes(), options, &mut |_| {}).await.unwrap();
        assert_eq!((report.sessions, report.messages, report.states), (2, 14, states), "{report:?}");
        assert!(report.findings.is_empty(), "{report:?}");
    }
    let (again, _) = lines(&*other).await?;
    let anonymous = |text: &str| text.replace("\"id\": ", "");
    assert_eq!(anonymous(&again).len(), anonymous(&text).len());
    let report = import(&*other, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap();
    assert_eq!((report.skipped, report.conflicts), (2, 0), "{report:?}");
    // Another state of one message, another archived flag or another column makes the session a different one.
    for (before, after) in [
        ("\"state\": \"undone\"", "\"state\": \"compacted\""),
        ("\"archived\": 1", "\"archived\": 0"),
        ("\"rewind_count\": 2", "\"rewind_count\": 3"),
        ("\"observed\": 1", "\"observed\": 0"),
    ] {
        let changed = text.replacen(before, after, 1);
        assert_ne!(changed, text, "{before}");
        let report = import(&*other, &mut changed.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap();
        assert_eq!(report.conflicts, 1, "{before}: {report:?}");
    }
    Ok(())
}

/// A transfer copies every state and column there and back, and the proof counts them and detects a missing row.
pub async fn a_transfer_carries_every_state(setup: Setup) -> CaseResult {
    let (first, store, last) = (ModelStore::new(), setup.store().await, ModelStore::new());
    let mut away = mixed("away");
    away.session.archived = true;
    put(&first, mixed("s")).await?;
    put(&first, away).await?;
    let mut go_on = |_| ControlFlow::Continue(());
    let none = BTreeSet::new();
    let states = StateCounts { active: 6, compacted: 4, undone: 4 };
    let ways: [(&dyn Store, &dyn Store); 2] = [(&first, &*store), (&*store, &last)];
    for (from, to) in ways {
        let report = copy(from, to, &TransferOptions::default(), &mut go_on).await.unwrap();
        assert_eq!((report.sessions, report.messages, report.states), (2, 14, states), "{report:?}");
        assert_eq!(report.findings, []);
        let proof = prove(from, to, Proving::but(&none), &mut go_on).await.unwrap();
        assert_eq!((proof.equal, proof.mismatches, proof.missing), (2, 0, 0), "{proof:?}");
        assert_eq!(proof.states, (states, states));
    }
    let (short, mut piece) = (ModelStore::new(), mixed("s"));
    piece.messages.retain(|message| message.state.is_active());
    put(&short, piece).await?;
    let proof = prove(&*store, &short, Proving::but(&none), &mut go_on).await.unwrap();
    assert_eq!((proof.equal, proof.mismatches, proof.missing), (0, 2, 4 + 7), "{proof:?}");
    assert_eq!((proof.states.0, proof.states.1.total()), (states, 3));
    Ok(())
}

/// A list counts the messages of the transcript, whatever the agent's counter is.
pub async fn lists_count_the_transcript(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (name, counted) in [("a", 3), ("b", SAID.len() as i64)] {
        let mut piece = mixed(name);
        piece.session.message_count = counted;
        put(&*store, piece).await?;
    }
    for view in [View::Conversations, View::Sessions] {
        let listing = store.list(&ListRequest { view, ..ListRequest::default() }).await?;
        let counts: Vec<i64> = listing.rows.iter().map(|row| row.messages).collect();
        assert_eq!(counts, [3, 3], "{view:?}");
    }
    Ok(())
}
