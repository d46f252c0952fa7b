//! Live clients of a file, beside foreign writers and other processes.

use crate::child::{child, told};
use crate::fixture::{File, at, id, new, user};
use crate::processes::rounds;
use hermes_session::live::{
    Account, Acquired, ChangeMark, Fence, Grant, Holder, Inbound, InboxState, NewOutbound, NewPart, NewTurn, Resource,
    Said, Take, Terms, TurnClose, TurnKind,
};
use hermes_session::{
    ChangeStore as _, Conflict, LeaseStore as _, MailStore as _, MessageId, MessageRequest, RequestKey, Role,
    SessionStore as _, StoreError, TurnStore as _,
};
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const TTL: Duration = Duration::from_secs(15);

pub(crate) fn holder(label: &str) -> Holder {
    Holder { host: "here".into(), process: std::process::id().into(), born: "1".into(), label: label.into() }
}

async fn take(store: &SqliteStore, session: &str, take: Take, seconds: f64) -> Result<Grant, Fence> {
    let what = Resource::Conversation(id(session));
    match store.acquire(&what, &holder("chat"), Terms { ttl: TTL, take }, &at(seconds)).await.unwrap() {
        Acquired::Got(grant) => Ok(grant),
        Acquired::Held(lease) => Err(lease.fence),
    }
}

/// Appends a message as agent 0.14 does.
fn say(foreign: &Connection, session: &str, text: &str) -> i64 {
    foreign
        .execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, 9.5)",
            [session, text],
        )
        .unwrap();
    let said = foreign.last_insert_rowid();
    foreign.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = ?", [session]).unwrap();
    said
}

#[track_caller]
fn conflict<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> Conflict {
    match outcome {
        Err(StoreError::Conflict(conflict)) => conflict,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_foreign_writer_between_our_calls_is_met_as_moved() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let grant = take(&store, "a", Take::Free, 2.0).await.unwrap();
    let fenced = |newest: MessageId| at(3.0).fenced(grant.lease.fence).after(newest);
    let first = store.append(&id("a"), &[user("ours")], &fenced(MessageId(0))).await.unwrap()[0];
    let theirs = MessageId(say(&foreign, "a", "theirs"));
    let moved = Conflict::Moved { session: id("a"), newest: Some(theirs) };
    assert_eq!(conflict(store.append(&id("a"), &[user("stale")], &fenced(first)).await), moved);
    let turn = NewTurn {
        session: id("a"),
        kind: TurnKind::Person,
        route: None,
        opened_by: "test".into(),
        said: vec![user("stale").into()],
    };
    assert_eq!(conflict(store.open_turn(&turn, &fenced(first)).await), moved);
    store.append(&id("a"), &[user("after theirs")], &fenced(theirs)).await.unwrap();
    let texts: Vec<String> =
        store.messages(&id("a"), &MessageRequest::first(9)).await.unwrap().iter().map(text).collect();
    assert_eq!(texts, ["ours", "theirs", "after theirs"]);
    // The newest message is found behind any number of messages of other sessions.
    store.create(&new("b"), &at(1.0)).await.unwrap();
    let newest = store.messages(&id("a"), &MessageRequest::last(1)).await.unwrap()[0].id;
    let others: Vec<_> = (0..200).map(|number| user(&format!("other {number}"))).collect();
    store.append(&id("b"), &others, &at(4.0)).await.unwrap();
    assert_eq!(conflict(store.append(&id("a"), &[user("x")], &fenced(theirs)).await), {
        Conflict::Moved { session: id("a"), newest: Some(newest) }
    });
    store.append(&id("a"), &[user("at last")], &fenced(newest)).await.unwrap();
}

fn text(message: &hermes_session::Message) -> String {
    message.body.plain_text().into_owned()
}

#[tokio::test]
async fn a_parent_link_that_is_cut_fences_the_owner_once() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("root"), &at(1.0)).await.unwrap();
    let child = hermes_session::NewChild { id: id("next"), system_prompt: None, model: None, title: None };
    store.split(&id("root"), &child, &[user("summary")], &at(2.0)).await.unwrap();
    let grant = take(&store, "next", Take::Free, 3.0).await.unwrap();
    assert_eq!((grant.lease.resource.session(), grant.tip.as_ref()), (Some(&id("root")), Some(&id("next"))));
    let fenced = at(4.0).fenced(grant.lease.fence);
    store.append(&id("next"), &[user("one")], &fenced).await.unwrap();
    foreign.execute_batch("UPDATE sessions SET parent_session_id = NULL WHERE id = 'next'").unwrap();
    assert_eq!(conflict(store.append(&id("next"), &[user("two")], &fenced).await), Conflict::Fenced(id("next")));
    let grant = take(&store, "next", Take::Free, 5.0).await.unwrap();
    assert_eq!(grant.lease.resource, Resource::Conversation(id("next")));
    let newest = grant.newest.unwrap();
    store.append(&id("next"), &[user("two")], &at(6.0).fenced(grant.lease.fence).after(newest)).await.unwrap();
    // The first session is a conversation of its own again, whose lease is still there.
    assert_eq!(store.leases("c:").await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_belongs_to_a_session_goes_when_an_agent_deletes_it() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    for name in ["a", "a:b"] {
        store.create(&new(name), &at(1.0)).await.unwrap();
        let hold = Resource::Hold { session: id(name), name: "build".into() };
        store.acquire(&hold, &holder("x"), Terms::free(TTL), &at(2.0)).await.unwrap();
    }
    let grant = take(&store, "a", Take::Free, 2.0).await.unwrap();
    let inbox = receive(&store, &["1"]).await;
    let turn = NewTurn {
        session: id("a"),
        kind: TurnKind::Person,
        route: None,
        opened_by: "test".into(),
        said: vec![Said { message: user("hello"), inbox: Some(inbox[0]) }],
    };
    store.open_turn(&turn, &at(3.0).fenced(grant.lease.fence)).await.unwrap();
    let last = user("will be undone");
    let ids = store.append(&id("a"), &[last], &at(3.5)).await.unwrap();
    store.undo(&id("a"), ids[0], &at(3.6)).await.unwrap();
    foreign.execute_batch("DELETE FROM messages WHERE session_id = 'a'; DELETE FROM sessions WHERE id = 'a'").unwrap();
    let keys: Vec<String> = store.leases("").await.unwrap().iter().map(|lease| lease.resource.key()).collect();
    assert_eq!(keys, ["h:a:b:build"]);
    assert!(store.open_turns(None, 9).await.unwrap().is_empty());
    let row = store.inbox_item(inbox[0]).await.unwrap().unwrap();
    assert_eq!((row.state, row.inbound.payload.as_str()), (InboxState::Done, ""));
    let undone: i64 = foreign.query_row("SELECT count(*) FROM hx_undone", [], |row| row.get(0)).unwrap();
    assert_eq!(undone, 0);
    // Another session of that name can be owned.
    store.create(&new("a"), &at(4.0)).await.unwrap();
    let fenced = at(5.0).fenced(grant.lease.fence);
    assert_eq!(conflict(store.append(&id("a"), &[user("x")], &fenced).await), Conflict::Fenced(id("a")));
}

fn account() -> Account {
    Account::parse("telegram:1").unwrap()
}

async fn receive(store: &SqliteStore, ids: &[&str]) -> Vec<hermes_session::live::InboxId> {
    let inbound = |name: &&str| Inbound {
        chat: "7".into(),
        message_id: (*name).into(),
        route: None,
        session: None,
        payload: format!("question {name}"),
    };
    let batch: Vec<Inbound> = ids.iter().map(inbound).collect();
    let received = store.receive(&account(), &batch, ids.last().copied(), &at(2.0)).await.unwrap();
    let id = |received: &hermes_session::live::Received| match received {
        hermes_session::live::Received::New(id) | hermes_session::live::Received::Known(id) => *id,
    };
    received.iter().map(id).collect()
}

/// Answers what waits in the inbox, and continues the turn that another process left. Prints each step once it is
/// acknowledged.
pub(crate) async fn answer(store: &SqliteStore) {
    let start = Instant::now();
    let grant = loop {
        let held = match take(store, "chat", Take::Free, 10.0).await {
            Ok(grant) => break grant,
            Err(held) => held,
        };
        // The process that had it was killed.
        if let Ok(grant) = take(store, "chat", Take::Dead(held), 10.0).await {
            break grant;
        }
    };
    let fenced = |key: String| at(11.0).fenced(grant.lease.fence).keyed(RequestKey::parse(&key).unwrap());
    while start.elapsed() < Duration::from_secs(20) {
        let left = store.open_turns(None, 9).await.unwrap();
        let turn = match left.first() {
            Some(turn) => store.resume_turn(turn.id, &at(11.0).fenced(grant.lease.fence)).await.unwrap(),
            None => {
                let Some(row) = store.waiting(None, 1).await.unwrap().into_iter().next() else { return };
                let said = Said { message: user(&row.inbound.payload), inbox: Some(row.id) };
                let (kind, session) = (TurnKind::Person, id("chat"));
                let turn = NewTurn { session, kind, route: None, opened_by: "child".into(), said: vec![said] };
                let opened = store.open_turn(&turn, &at(11.0).fenced(grant.lease.fence)).await.unwrap();
                println!("\nopened {}", opened.turn.id);
                opened.turn
            }
        };
        let asked = store.messages(&id("chat"), &MessageRequest::last(1)).await.unwrap().remove(0);
        let answer = format!("answer to {}", text(&asked));
        let part = NewPart { body: answer.clone(), plain: None, nonce: format!("n{}", turn.id) };
        let outbound = vec![NewOutbound { account: account(), destination: "7".into(), parts: vec![part] }];
        let messages = vec![hermes_session::NewMessage::new(Role::Assistant, answer)];
        let close = TurnClose { messages, outbound, ..TurnClose::default() };
        store.close_turn(turn.id, &close, &fenced(format!("close-{}", turn.id))).await.unwrap();
        println!("\nclosed {}", turn.id);
    }
}

/// Whenever the process is killed, every question ends up with one answer and one reply.
#[tokio::test]
async fn a_killed_owner_loses_and_doubles_nothing() {
    let file = File::new();
    let store = file.open();
    store.create(&new("chat"), &at(1.0)).await.unwrap();
    let kills = rounds(8);
    let names: Vec<String> = (0..kills * 4 + 4).map(|number| number.to_string()).collect();
    receive(&store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for round in 0..kills {
        let mut owner = child("answer", "", &file.path()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(30_000 + round as u64 * 7_919 % 30_000));
        owner.kill().unwrap();
        owner.wait().unwrap();
    }
    let last = child("answer", "", &file.path()).output().unwrap();
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stdout));
    let said: Vec<String> =
        store.messages(&id("chat"), &MessageRequest::first(100_000)).await.unwrap().iter().map(text).collect();
    let expected: Vec<String> =
        names.iter().flat_map(|name| [format!("question {name}"), format!("answer to question {name}")]).collect();
    assert_eq!(said, expected);
    let replies = store.outbound(None, 100_000).await.unwrap();
    let bodies: Vec<&str> = replies.iter().map(|part| part.content.body.as_str()).collect();
    let answers: Vec<&str> = expected.iter().map(String::as_str).filter(|text| text.starts_with("answer")).collect();
    assert_eq!(bodies, answers);
    assert!(store.open_turns(None, 9).await.unwrap().is_empty() && store.waiting(None, 9).await.unwrap().is_empty());
    println!("killed {kills} times: {} questions, lost 0, doubled 0", names.len());
}

/// Takes the lease again and again, and appends under it. Prints the token and the message of each append.
pub(crate) async fn fight(store: &SqliteStore, takes: usize) {
    let mut count = 0;
    while count < takes {
        let grant = match take(store, "prize", Take::Free, 10.0).await {
            Ok(grant) => grant,
            Err(held) => match take(store, "prize", Take::Force(held), 10.0).await {
                Ok(grant) => grant,
                Err(_) => continue,
            },
        };
        count += 1;
        let token = grant.lease.fence.0;
        for _ in 0..2 {
            match store.append(&id("prize"), &[user(&token.to_string())], &at(10.0).fenced(grant.lease.fence)).await {
                Ok(_) => {}
                Err(StoreError::Conflict(Conflict::Fenced(_))) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    println!("\nfought {count}");
}

/// The messages of one owner are never interrupted by those of another who had the lease before.
#[tokio::test]
async fn sixteen_processes_fight_for_one_lease() {
    let file = File::new();
    let store = file.open();
    store.create(&new("prize"), &at(1.0)).await.unwrap();
    let each = rounds(5);
    let fighters: Vec<_> = (0..16).map(|_| child("fight", &each.to_string(), &file.path()).spawn().unwrap()).collect();
    for fighter in fighters {
        let output = fighter.wait_with_output().unwrap();
        assert_eq!(told(&output.stdout, "fought"), [each.to_string()], "{}", String::from_utf8_lossy(&output.stdout));
    }
    let messages = store.messages(&id("prize"), &MessageRequest::first(1_000_000)).await.unwrap();
    let (mut owners, mut current) = (BTreeSet::new(), String::new());
    for message in &messages {
        let token = text(message);
        if token != current {
            assert!(owners.insert(token.clone()), "an old owner wrote again: {token}");
            current = token;
        }
    }
    println!("{} takes, {} appends, fence violations 0", each * 16, messages.len());
    assert!(!owners.is_empty());
}

/// Each change of a foreign writer is reported within a second of its commit, and none is skipped.
#[tokio::test]
async fn changes_of_a_foreign_writer_are_reported() {
    let file = File::new();
    let store = file.open();
    for number in 0..10 {
        store.create(&new(&format!("s{number}")), &at(1.0)).await.unwrap();
    }
    let mut mark: ChangeMark = store.changes(None).await.unwrap().next;
    assert_eq!(store.changes(Some(&mark)).await.unwrap().changed, []);
    let count = rounds(100) * 100;
    let foreign = file.foreign();
    foreign.execute_batch("PRAGMA synchronous = OFF").unwrap();
    let writer = std::thread::spawn(move || {
        let mut committed: BTreeMap<String, Instant> = BTreeMap::new();
        for number in 0..count {
            let session = format!("s{}", number % 10);
            say(&foreign, &session, &format!("message {number}"));
            committed.insert(session, Instant::now());
        }
        committed
    });
    let (mut seen, mut longest) = (BTreeMap::new(), Duration::ZERO);
    let counted = |session: &str| {
        file.foreign()
            .query_row("SELECT count(*) FROM messages WHERE session_id = ?", [session], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let mut read: BTreeMap<String, i64> = BTreeMap::new();
    let mut is_over = false;
    loop {
        let asked = Instant::now();
        let changes = store.changes(Some(&mark)).await.unwrap();
        assert!(!changes.is_reset);
        for changed in &changes.changed {
            assert!(changed.kinds.messages, "{changed:?}");
            assert_eq!(changed.conversation.as_ref(), Some(&changed.session));
            let session = changed.session.as_str().to_owned();
            read.insert(session.clone(), counted(&session));
            seen.insert(session, asked);
        }
        mark = changes.next;
        if is_over {
            break;
        }
        is_over = writer.is_finished();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let committed = writer.join().unwrap();
    for (session, at) in &committed {
        longest = longest.max(seen[session].saturating_duration_since(*at));
    }
    assert_eq!(read.values().sum::<i64>(), count as i64, "a change was skipped");
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    println!("{count} foreign changes, skipped 0, longest wait {longest:?}");
    let foreign = file.foreign();
    foreign.execute_batch("UPDATE sessions SET title = 'named' WHERE id = 's1'; UPDATE messages SET content = 'x' WHERE id = 2; DELETE FROM messages WHERE session_id = 's3'; DELETE FROM sessions WHERE id = 's3'").unwrap();
    let changes = store.changes(Some(&mark)).await.unwrap();
    let kinds: Vec<_> = changes
        .changed
        .iter()
        .map(|changed| {
            (changed.session.as_str(), changed.kinds.session, changed.kinds.rewritten, changed.kinds.deleted)
        })
        .collect();
    assert_eq!(kinds, [("s1", true, true, false), ("s3", false, true, true)]);
}
