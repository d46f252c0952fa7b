//! Undone messages of a file whose agent has no column for them, and what `detach` saves of live data.

use crate::fixture::{File, at, id, new, user};
use crate::verify::told;
use hermes_session::import::{ImportOptions, import};
use hermes_session::live::{Account, ResetCause, RouteKey, Switch, SwitchTo, Termination};
use hermes_session::{
    ConversationStore as _, EndReason, MailStore as _, Maintenance as _, MessageId, MessageRequest, MessageState,
    RouteStore as _, SessionStore as _, TurnStore as _,
};
use hermes_sqlite::{Detaching, SqliteOptions, SqliteStore, detach};

/// Makes a session of four messages, the last three of which are undone in two batches.
async fn undone(store: &SqliteStore) -> Vec<MessageId> {
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let said: Vec<_> = ["one", "two", "three", "four"].into_iter().map(user).collect();
    let ids = store.append(&id("a"), &said, &at(2.0)).await.unwrap();
    store.undo(&id("a"), ids[3], &at(3.0)).await.unwrap();
    store.undo(&id("a"), ids[1], &at(4.0)).await.unwrap();
    ids
}

async fn batches(store: &SqliteStore) -> Vec<(MessageId, Option<i64>)> {
    let undone = store.undone(&id("a")).await.unwrap();
    undone.iter().map(|undone| (undone.message.id, undone.batch)).collect()
}

fn number(file: &File, sql: &str) -> i64 {
    file.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn the_agent_does_not_replay_undone_messages() {
    let file = File::new();
    let store = file.open();
    let ids = undone(&store).await;
    while store.upkeep().await.unwrap() {}
    assert_eq!(number(&file, "SELECT count(*) FROM messages"), 1);
    assert_eq!(number(&file, "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'three'"), 0);
    assert_eq!(batches(&store).await, [(ids[1], Some(2)), (ids[2], Some(2)), (ids[3], Some(1))]);
    assert_eq!(told(&store.verify().await.unwrap()), Vec::<String>::new());
    assert_eq!(store.counts(&Default::default()).await.unwrap().messages, 4);
    // Pages of every message join both tables.
    let first = store.messages(&id("a"), &MessageRequest::first(2).every()).await.unwrap();
    let rest = store.messages(&id("a"), &MessageRequest::after(first[1].id, 2).every()).await.unwrap();
    let last = store.messages(&id("a"), &MessageRequest::last(3).every()).await.unwrap();
    let of = |page: &[hermes_session::Message]| page.iter().map(|message| message.id).collect::<Vec<_>>();
    assert_eq!((of(&first), of(&rest), of(&last)), (ids[..2].to_vec(), ids[2..].to_vec(), ids[1..].to_vec()));
    // No later message gets one of their ids.
    let next = store.append(&id("a"), &[user("five")], &at(5.0)).await.unwrap()[0];
    assert!(next > ids[3]);
}

#[tokio::test]
async fn undone_messages_come_back_from_the_trash_and_go_with_their_session() {
    let file = File::new();
    let store = file.open();
    let ids = undone(&store).await;
    let before = batches(&store).await;
    let deleted = store.trash_chain(&id("a"), at(1e6).at, &at(5.0)).await.unwrap();
    assert_eq!(deleted.messages, 4);
    assert_eq!(store.restore(&id("a"), &at(6.0)).await.unwrap().messages, 4);
    assert_eq!(batches(&store).await, before);
    assert_eq!(store.messages(&id("a"), &MessageRequest::first(9)).await.unwrap()[0].id, ids[0]);
    store.trash_chain(&id("a"), at(1e6).at, &at(7.0)).await.unwrap();
    store.empty_trash(&hermes_session::Emptying::All).await.unwrap();
    while store.upkeep().await.unwrap() {}
    assert_eq!(number(&file, "SELECT count(*) FROM hx_undone"), 0);
}

/// An import of them adds no column to the agent's table, which would make an old agent replay them.
#[tokio::test]
async fn undone_messages_are_imported_beside_the_agents_table() {
    let (from, to) = (File::new(), File::new());
    let (source, target) = (from.open(), to.open());
    let ids = undone(&source).await;
    let options = hermes_session::transfer::TransferOptions::default();
    hermes_session::transfer::copy(&source, &target, &options, &mut |_| std::ops::ControlFlow::Continue(()))
        .await
        .unwrap();
    let every = target.messages(&id("a"), &MessageRequest::first(9).every()).await.unwrap();
    let states: Vec<_> = every.iter().map(|message| (message.body.plain_text().into_owned(), message.state)).collect();
    let expected = ["one", "two", "three", "four"].map(str::to_owned);
    assert_eq!(states.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>(), expected);
    assert!(states[1..].iter().all(|(_, state)| *state == MessageState::Undone), "{states:?}");
    let columns = "SELECT count(*) FROM pragma_table_info('messages') WHERE name IN ('active', 'compacted')";
    assert_eq!((number(&to, columns), number(&to, "SELECT count(*) FROM hx_undone")), (0, 3));
    let next = target.append(&id("a"), &[user("five")], &at(5.0)).await.unwrap()[0];
    assert!(every.iter().all(|message| message.id < next) && ids.len() == 4);
    assert_eq!(told(&target.verify().await.unwrap()), Vec::<String>::new());
}

#[tokio::test]
async fn detach_saves_what_only_our_tables_hold() {
    let file = File::new();
    let store = file.open();
    undone(&store).await;
    let key = RouteKey {
        platform: "telegram".into(),
        account: "telegram:1".into(),
        chat_type: "dm".into(),
        chat: "7".into(),
        thread: None,
        participant: None,
    };
    let end = Termination { reason: EndReason::parse("session_reset").unwrap(), cause: Some(ResetCause::Daily) };
    let to = |session: &str| SwitchTo::New(Box::new(new(session)));
    for (session, expected) in [("b", None), ("c", Some(1))] {
        let (key, end) = (key.clone(), Some(end.clone()));
        let switch = Switch { key, expected, to: to(session), end, origin: None, notice: None };
        store.switch(&switch, &at(5.0)).await.unwrap();
    }
    let account = Account::parse("telegram:1").unwrap();
    store.receive(&account, &[], Some("41"), &at(6.0)).await.unwrap();
    let route = store.route(&key).await.unwrap();
    drop(store);
    let keep = file.path().with_file_name("kept.jsonl");
    let outcome = detach(&file.path(), &SqliteOptions::default(), Some(&keep), &mut |_| true).await.unwrap();
    let Detaching::Done(detached) = outcome else { panic!("{outcome:?}") };
    assert_eq!((detached.holdings.routes, detached.holdings.cursors, detached.holdings.undone), (1, 1, 3));
    assert_eq!(number(&file, "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_*'"), 0);
    let lines = std::fs::read_to_string(&keep).unwrap();
    assert!(["two", "three", "four"].iter().all(|text| lines.contains(&format!("\"content\": \"{text}\""))), "{lines}");
    let store = file.open();
    let mut kept = std::io::BufReader::new(std::fs::File::open(&keep).unwrap());
    let report = import(&store, &mut kept, ImportOptions::default(), &mut |_| {}).await.unwrap();
    assert_eq!((report.bad, report.findings.len()), (0, 3), "{:?}", report.findings);
    assert_eq!(store.route(&key).await.unwrap(), route);
    assert_eq!(store.cursor(&account).await.unwrap().as_deref(), Some("41"));
    assert_eq!(store.reset_cause(&id("b")).await.unwrap(), Some(ResetCause::Daily));
}
