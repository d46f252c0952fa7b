//! Received messages, replies and routes of a turn.

use super::answer;
use crate::fixture::live::{new_turn, taken, taken_over};
use crate::fixture::{conflict, keyed, made, request, texts, user};
use crate::{CaseResult, Setup};
use hermes_session::live::{
    Account, Inbound, InboxId, InboxState, NewOutbound, NewPart, NewTurn, OutboundState, Received, RouteKey,
    RoutePatch, Said, Switch, SwitchTo, TurnClose,
};
use hermes_session::{Conflict, SessionId, Store, StoreError};

fn account() -> Account {
    Account::from_stored("telegram:12ab")
}

fn place(chat: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: account().to_string(),
        chat_type: "dm".into(),
        chat: chat.into(),
        thread: None,
        participant: None,
    }
}

/// Stores messages that a platform delivered, and returns their ids.
async fn received(store: &dyn Store, texts: &[&str]) -> Result<Vec<InboxId>, StoreError> {
    let inbound = |text: &&str| Inbound {
        chat: "7".into(),
        message_id: format!("message {text}"),
        route: Some(place("7")),
        session: None,
        payload: format!("payload of {text}"),
    };
    let batch: Vec<Inbound> = texts.iter().map(inbound).collect();
    let received = store.receive(&account(), &batch, None, &request(1)).await?;
    Ok(received.into_iter().map(|(Received::New(id) | Received::Known(id))| id).collect())
}

fn from_inbox(session: &SessionId, rows: &[(InboxId, &str)]) -> NewTurn {
    let said = rows.iter().map(|(row, text)| Said { message: user(text), inbox: Some(*row) }).collect();
    NewTurn { said, ..new_turn(session, &[]) }
}

fn reply(destination: &str, parts: &[&str]) -> NewOutbound {
    let part = |text: &&str| NewPart { body: (*text).into(), plain: None, nonce: format!("nonce {text}") };
    NewOutbound { account: account(), destination: destination.into(), parts: parts.iter().map(part).collect() }
}

/// A received message is taken by one turn, and done when that is closed, or interrupted.
pub async fn inbox_rows_are_taken_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    let rows = received(&*store, &["one", "two", "three"]).await?;
    let first = taken(&*store, &session, 1).await.lease;
    let owner = request(2).fenced(first.fence);
    let new = from_inbox(&session, &[(rows[0], "one"), (rows[1], "two")]);
    let opened = store.open_turn(&new, &owner).await?;
    let waiting: Vec<InboxId> = store.waiting(None, 9).await?.iter().map(|item| item.id).collect();
    assert_eq!(waiting, rows[2..]);
    for (row, message) in rows.iter().zip(&opened.messages) {
        let item = store.inbox_item(*row).await?.unwrap();
        assert_eq!(
            (item.state, item.turn, item.stored_message),
            (InboxState::Taken, Some(opened.turn.id), Some(*message))
        );
        assert_eq!((item.attempts, item.settled_at), (1, None));
        assert!(item.inbound.payload.starts_with("payload of"));
    }
    // Another conversation does not get them, not even together with one that waits, and nor does an unknown row.
    for row in [rows[1], InboxId(1_000_000)] {
        let new = from_inbox(&other, &[(rows[2], "three"), (row, "x")]);
        assert_eq!(conflict(store.open_turn(&new, &request(3)).await), Conflict::InboxSettled(row));
    }
    assert_eq!((texts(&*store, &other).await, store.open_turns(None, 9).await?.len()), (vec![], 1));
    store.close_turn(opened.turn.id, &answer("answered"), &owner).await?;
    for row in &rows[..2] {
        let item = store.inbox_item(*row).await?.unwrap();
        assert_eq!((item.state, item.inbound.payload.as_str()), (InboxState::Done, ""));
        assert_eq!((item.turn, item.settled_at.is_some()), (Some(opened.turn.id), true));
    }
    let again = from_inbox(&session, &[(rows[0], "one")]);
    assert_eq!(conflict(store.open_turn(&again, &owner).await), Conflict::InboxSettled(rows[0]));
    // The messages of an interrupted turn were said, and are not said again.
    let left = store.open_turn(&from_inbox(&session, &[(rows[2], "three")]), &owner).await?.turn;
    let second = taken_over(&*store, &session, 2, first.fence).await.lease;
    let opened = store.open_turn(&new_turn(&session, &["four"]), &request(4).fenced(second.fence)).await?;
    assert_eq!(opened.interrupted, Some(left.id));
    assert_eq!(store.inbox_item(rows[2]).await?.unwrap().state, InboxState::Done);
    assert_eq!(texts(&*store, &session).await, ["one", "two", "answered", "three", "four"]);
    Ok(())
}

/// The replies of a turn are queued when its answer is stored, once.
pub async fn replies_are_queued_with_the_answer(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let turn = store.open_turn(&new_turn(&session, &["hello"]), &request(1)).await?.turn;
    let outbound = vec![reply("chat 7", &["part one", "part two"]), reply("chat 8", &["copy"])];
    let close = TurnClose { outbound, ..answer("the answer") };
    let bad = TurnClose { outbound: vec![reply("", &["x"])], ..answer("x") };
    assert!(matches!(store.close_turn(turn.id, &bad, &request(2)).await, Err(StoreError::Invalid(_))));
    assert_eq!(store.outbound(None, 9).await?, []);
    for seconds in [3, 4] {
        store.close_turn(turn.id, &close, &keyed(seconds, "k")).await?;
    }
    let queued = store.outbound(None, 9).await?;
    let shown: Vec<_> = queued
        .iter()
        .map(|part| (part.destination.as_str(), part.part, part.parts, part.content.body.as_str()))
        .collect();
    assert_eq!(shown, [("chat 7", 0, 2, "part one"), ("chat 7", 1, 2, "part two"), ("chat 8", 0, 1, "copy")]);
    for part in &queued {
        assert_eq!((part.turn, part.session.as_ref()), (Some(turn.id), Some(&session)));
        assert_eq!((part.state, part.attempts, part.doubtful), (OutboundState::Waiting, 0, false));
    }
    // A turn that moved queues them for the continuation.
    let turn = store.open_turn(&new_turn(&session, &["again"]), &request(5)).await?.turn;
    store.split(&session, &hermes_session::NewChild::new(crate::fixture::id("c")), &[], &request(6)).await?;
    store.close_turn(turn.id, &close, &request(7)).await?;
    let later = store.outbound(queued.last().map(|part| part.id), 9).await?;
    assert!(later.len() == 3 && later.iter().all(|part| part.session == Some(crate::fixture::id("c"))));
    Ok(())
}

/// The next turn of a route delivers its notice, and later ones do not; the route keeps when it was used and how many
/// tokens the last call had.
pub async fn the_notice_of_a_route_is_delivered_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let to = SwitchTo::Existing(session.clone());
    let notice = Some("reset \"yesterday\": 大\n-".to_owned());
    let switch = Switch { key: place("7"), expected: None, to, end: None, origin: None, notice: notice.clone() };
    store.switch(&switch, &request(1)).await?;
    let new = NewTurn { route: Some(place("7")), ..new_turn(&session, &["hello"]) };
    let first = store.open_turn(&new, &keyed(5, "k")).await?;
    assert_eq!((&first.notice, &first.turn.route), (&notice, &Some(place("7"))));
    assert_eq!(store.open_turn(&new, &keyed(6, "k")).await?, first);
    let route = store.route(&place("7")).await?.unwrap();
    assert_eq!((route.notice, route.touched_at), (None, crate::fixture::at(5)));
    let close = TurnClose { prompt_tokens: Some(1_234), ..TurnClose::default() };
    store.close_turn(first.turn.id, &close, &request(7)).await?;
    assert_eq!(store.route(&place("7")).await?.unwrap().last_prompt_tokens, Some(1_234));
    let second = store.open_turn(&new, &request(8)).await?;
    assert_eq!(second.notice, None);
    store.close_turn(second.turn.id, &TurnClose::default(), &request(9)).await?;
    assert_eq!(store.route(&place("7")).await?.unwrap().last_prompt_tokens, Some(1_234));
    // A notice by an alias of the route, and a turn by a route that is not there.
    assert!(store.rekey(&place("7"), &place("8"), &request(10)).await?);
    let patch = RoutePatch { notice: Some(Some("again".into())), ..RoutePatch::default() };
    assert!(store.patch_route(&place("8"), &patch, &request(11)).await?);
    let third = store.open_turn(&new, &request(12)).await?;
    assert_eq!((third.notice.as_deref(), third.turn.route), (Some("again"), Some(place("7"))));
    store
        .close_turn(third.turn.id, &TurnClose { prompt_tokens: Some(9), ..TurnClose::default() }, &request(13))
        .await?;
    assert_eq!(store.route(&place("8")).await?.unwrap().last_prompt_tokens, Some(9));
    let unknown = NewTurn { route: Some(place("9")), ..new_turn(&session, &[]) };
    assert_eq!(store.open_turn(&unknown, &request(14)).await?.notice, None);
    Ok(())
}
