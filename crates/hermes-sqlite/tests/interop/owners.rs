//! We own a conversation, and the agent, which knows nothing of leases, writes to it all the same.

use crate::fixture::{File, id, new, now, texts, user};
use crate::on_their_file::say;
use crate::peer::{Peer, Release};
use crate::views::same_transcripts;
use hermes_session::live::{Acquired, Fence, Holder, NewTurn, Resource, Terms, TurnClose, TurnKind};
use hermes_session::{
    Conflict, LeaseStore as _, MessageId, MessageRequest, NewMessage, Request, Role, SessionStore as _, StoreError,
    TurnStore as _, Window,
};
use hermes_sqlite::SqliteStore;
use serde_json::json;
use std::time::Duration;

async fn own(store: &SqliteStore) -> (Fence, Option<MessageId>) {
    let holder = Holder { host: "here".into(), process: 1, born: "1".into(), label: "chat".into() };
    let what = Resource::Conversation(id("talk"));
    match store.acquire(&what, &holder, Terms::free(Duration::from_secs(15)), &now()).await.unwrap() {
        Acquired::Got(grant) => (grant.lease.fence, grant.newest),
        Acquired::Held(lease) => panic!("{lease:?}"),
    }
}

async fn newest(store: &SqliteStore) -> MessageId {
    let last = store.messages(&id("talk"), &MessageRequest::new(Window::Before(None), 1)).await.unwrap();
    last.last().map_or(MessageId(0), |message| message.id)
}

/// Makes the change until nothing came in between. Returns how often something did.
async fn until_it_fits<T>(
    store: &SqliteStore,
    known: &mut MessageId,
    change: impl AsyncFn(Request) -> Result<T, StoreError>,
) -> (T, u32) {
    let mut moved = 0;
    loop {
        match change(now().after(*known)).await {
            Ok(done) => {
                *known = newest(store).await;
                return (done, moved);
            }
            Err(StoreError::Conflict(Conflict::Moved { session, newest })) => {
                assert_eq!(session, id("talk"));
                assert!(newest.is_some_and(|newest| newest > *known), "{newest:?} after {known:?}");
                *known = newest.unwrap();
                moved += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Every message of the agent between two of ours is met as a conflict, whatever it did, and nothing is lost.
async fn the_agent_speaks_in_between(release: &Release) {
    let file = File::new();
    let (mut peer, store);
    if release.is_host() {
        peer = release.open(&file);
        store = file.open();
    } else {
        store = file.open();
        peer = release.open(&file);
    }
    store.create(&new("talk"), &now()).await.unwrap();
    let (fence, start) = own(&store).await;
    assert_eq!(start, None);
    let (mut known, mut expected, mut met) = (MessageId(0), Vec::new(), 0);
    for round in 0..20 {
        let (question, answer) = (format!("question {round}"), format!("answer {round}"));
        let turn = NewTurn {
            session: id("talk"),
            kind: TurnKind::Person,
            route: None,
            opened_by: "test".into(),
            said: vec![user(&question).into()],
        };
        let interrupts = |expected: &mut Vec<String>, peer: &mut Peer, place: &str| {
            let text = format!("agent {round} {place}");
            say(peer, "talk", &text);
            expected.push(text);
        };
        if round % 3 != 0 {
            interrupts(&mut expected, &mut peer, "before");
        }
        let change = async |request: Request| store.open_turn(&turn, &request.fenced(fence)).await;
        let (opened, moved) = until_it_fits(&store, &mut known, change).await;
        assert_eq!(moved, u32::from(round % 3 != 0), "round {round}");
        expected.push(question.clone());
        met += moved;
        if round % 2 == 0 {
            interrupts(&mut expected, &mut peer, "within");
        }
        let close =
            TurnClose { messages: vec![NewMessage::new(Role::Assistant, answer.as_str())], ..TurnClose::default() };
        let change = async |request: Request| store.close_turn(opened.turn.id, &close, &request.fenced(fence)).await;
        let (_, moved) = until_it_fits(&store, &mut known, change).await;
        assert_eq!(moved, u32::from(round % 2 == 0), "round {round}");
        expected.push(answer.clone());
        met += moved;
        assert_eq!(texts(&store, "talk").await, expected, "round {round}");
    }
    assert_eq!(met, 23);
    same_transcripts(&store, &mut peer, &["talk"]).await;
    // The agent ends the session, too: the owner is not shut out by it.
    peer.call("end_session", json!({"session_id": "talk", "end_reason": "cli_close"}));
    store.append(&id("talk"), &[user("and on")], &now().fenced(fence).after(known)).await.unwrap();
    peer.close();
}
scenario!(the_agent_speaks_in_between);
