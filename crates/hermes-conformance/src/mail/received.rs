//! Messages received from platforms.

use super::{account, bodies, inbound, new_ids, reply, sent, stored_item, waiting};
use crate::fixture::live::{holder, new_turn};
use crate::fixture::{assert_invalid, assert_not_found, at, id, made, request, user};
use crate::{CaseResult, Setup};
use hermes_session::live::{
    Account, Holder, Inbound, InboxId, InboxItem, InboxState, MAX_PAYLOAD, NewOutbound, NewPart, NewTurn, Received,
    RouteKey, Said, Settled, TurnClose,
};
use hermes_session::{DeleteExtent, NewChild, StoreError};

fn place(chat: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: "12ab".into(),
        chat_type: "dm".into(),
        chat: chat.into(),
        thread: None,
        participant: None,
    }
}

/// A message is stored once for its account, chat and id, whatever it says when it is delivered again.
pub async fn received_once(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let full =
        Inbound { route: Some(place("大")), session: Some(session.clone()), ..inbound("大", "1", "{\"é\": 1}\n") };
    let batch = [inbound("c", "1", "one"), full.clone(), inbound("c", "1", "the same again"), inbound("c", "2", "two")];
    let answers = store.receive(&account(), &batch, None, &request(1)).await?;
    let [Received::New(one), Received::New(second), Received::Known(again), Received::New(two)] = answers[..] else {
        panic!("{answers:?}");
    };
    assert!(one == again && one < second && second < two, "{answers:?}");
    let item = stored_item(&*other, second).await?;
    let expected = InboxItem {
        id: second,
        account: account(),
        inbound: full,
        state: InboxState::Waiting,
        turn: None,
        stored_message: None,
        attempts: 0,
        received_at: at(1),
        settled_at: None,
    };
    assert_eq!(item, expected);
    // Delivered again, by another process and with another text.
    let changed = Inbound { session: None, ..inbound("c", "2", "edited") };
    let answers = other.receive(&account(), &[changed, inbound("c", "3", "three")], None, &request(2)).await?;
    let [Received::Known(known), Received::New(three)] = answers[..] else { panic!("{answers:?}") };
    assert_eq!(known, two);
    assert_eq!(waiting(&*store).await?, ["one", "{\"é\": 1}\n", "two", "three"]);
    let page = store.waiting(Some(one), 2).await?;
    assert_eq!(page.iter().map(|item| item.id).collect::<Vec<_>>(), [second, two]);
    assert_eq!(store.waiting(Some(three), 2).await?, []);
    assert_eq!(store.inbox_item(InboxId(three.0 + 1_000)).await?, None);
    // Another account, chat or id is another message; ids are compared byte by byte.
    let others = [inbound("d", "1", "x"), inbound("c", "1 ", "x"), inbound("C", "1", "x"), inbound("c", "１", "x")];
    new_ids(&store.receive(&account(), &others, None, &request(3)).await?);
    let discord = Account::parse("discord:12ab")?;
    new_ids(&store.receive(&discord, &[inbound("c", "1", "x")], None, &request(3)).await?);
    let missing = Inbound { session: Some(id("nobody")), ..inbound("c", "9", "x") };
    let refused = store.receive(&account(), &[inbound("c", "8", "x"), missing], None, &request(4)).await;
    assert_not_found(refused, &id("nobody"));
    assert_eq!(waiting(&*store).await?.len(), 9, "nothing of a refused batch is stored");
    Ok(())
}

/// The cursor is stored together with its batch, for each account, and a batch without one leaves it.
pub async fn the_cursor_moves_with_the_batch(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    assert_eq!(store.cursor(&account()).await?, None);
    store.receive(&account(), &[inbound("c", "1", "one")], None, &request(1)).await?;
    assert_eq!(store.cursor(&account()).await?, None);
    store.receive(&account(), &[inbound("c", "2", "two")], Some("大 7"), &request(2)).await?;
    assert_eq!(other.cursor(&account()).await?.as_deref(), Some("大 7"));
    // A batch of messages that are all known, or none, moves it too: the platform goes on after them.
    store.receive(&account(), &[inbound("c", "2", "two")], Some("8"), &request(3)).await?;
    assert_eq!(other.cursor(&account()).await?.as_deref(), Some("8"));
    assert_eq!(store.receive(&account(), &[], Some("9"), &request(4)).await?, []);
    store.receive(&account(), &[inbound("c", "3", "three")], None, &request(5)).await?;
    assert_eq!(other.cursor(&account()).await?.as_deref(), Some("9"));
    assert_eq!(store.cursor(&Account::parse("telegram:34cd")?).await?, None);
    // A batch that is refused moves nothing.
    let batch = [inbound("c", "4", "four"), inbound("c", "", "no id")];
    assert_invalid(store.receive(&account(), &batch, Some("10"), &request(6)).await, "message id");
    assert_eq!(other.cursor(&account()).await?.as_deref(), Some("9"));
    assert_eq!(waiting(&*other).await?, ["one", "two", "three"]);
    Ok(())
}

/// A message of a megabyte is stored as it came.
pub async fn a_large_message_is_received(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let large = "大\\\"'\u{1}\u{10FFFF} ".repeat(1_000_000 / 12);
    assert!(large.len() > 999_000);
    let batch = [inbound("c", "1", &large), inbound("c", "2", "small")];
    let ids = new_ids(&store.receive(&account(), &batch, Some("3"), &request(1)).await?);
    assert!(stored_item(&*store, ids[0]).await?.inbound.payload == large, "the payload changed");
    assert_eq!(store.waiting(None, 10).await?.len(), 2);
    let reply = reply("d", &[&large]);
    store.post(&ids, std::slice::from_ref(&reply), &request(2)).await?;
    let taken = store.take_outbound(&account(), &holder(1), 1, &request(3)).await?;
    assert!(taken[0].content == reply.parts[0], "the part changed");
    Ok(())
}

/// Ids that are empty, over-long or contain a NUL are refused, and so are over-long texts; nothing is stored then.
pub async fn unusable_values_are_refused(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let long = "x".repeat(256);
    let no_chat = RouteKey { chat: String::new(), ..place("c") };
    let refused = [
        (inbound("", "1", "x"), "chat"),
        (inbound("c\0", "1", "x"), "chat"),
        (inbound("c", &long, "x"), "message id"),
        (inbound("c", "1", "a\0b"), "payload"),
        (inbound("c", "1", &"x".repeat(MAX_PAYLOAD + 1)), "payload"),
        (Inbound { route: Some(no_chat), ..inbound("c", "1", "x") }, "route"),
    ];
    for (odd, what) in refused {
        let batch = [inbound("c", "good", "x"), odd];
        assert_invalid(store.receive(&account(), &batch, Some("1"), &request(1)).await, what);
    }
    let good = [inbound("c", "good", "x")];
    assert_invalid(store.receive(&account(), &good, Some("a\0b"), &request(1)).await, "cursor");
    assert_eq!((waiting(&*store).await?, store.cursor(&account()).await?), (Vec::new(), None));
    let message = new_ids(&store.receive(&account(), &good, None, &request(1)).await?)[0];
    let part = |part: NewPart| NewOutbound { parts: vec![part], ..reply("d", &[]) };
    let text = NewPart { body: "b".into(), plain: None, nonce: "n".into() };
    let refused = [
        (reply("", &["x"]), "destination"),
        (reply(&long, &["x"]), "destination"),
        (part(NewPart { nonce: String::new(), ..text.clone() }), "nonce"),
        (part(NewPart { body: "a\0b".into(), ..text.clone() }), "reply"),
        (part(NewPart { plain: Some("\0".into()), ..text }), "reply"),
    ];
    for (odd, what) in refused {
        assert_invalid(store.post(&[message], &[reply("d", &["good"]), odd], &request(2)).await, what);
    }
    assert_eq!(stored_item(&*store, message).await?.state, InboxState::Waiting);
    assert_eq!(store.outbound(None, 10).await?, []);
    store.post(&[], &[reply("d", &["good"])], &request(3)).await?;
    let nobody = Holder { host: "a\0b".into(), ..holder(1) };
    assert_invalid(store.take_outbound(&account(), &nobody, 1, &request(4)).await, "holder");
    let taken = store.take_outbound(&account(), &holder(1), 1, &request(4)).await?.remove(0);
    for how in [sent("a\0b"), Settled::Refused { error: "\0".into() }] {
        let refused = store.settle_outbound(taken.id, 1, &how, &request(5)).await;
        assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
    }
    assert_eq!(store.outbound(None, 10).await?, [taken]);
    Ok(())
}

/// Deleting a conversation dismisses the messages that wait for it and drops its replies. A message that is delivered
/// again is still known, and other mail stays.
pub async fn gone_with_the_conversation(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (gone, kept) = (made(&*store, "gone", 0).await, made(&*store, "kept", 0).await);
    store.split(&gone, &NewChild::new(id("tip")), &[user("so far")], &request(1)).await?;
    let to = |session: &str, message_id: &str| Inbound {
        session: Some(id(session)),
        ..inbound("c", message_id, &format!("for {session}"))
    };
    let batch =
        [to("gone", "1"), to("tip", "2"), to("kept", "3"), inbound("c", "4", "for anybody"), inbound("c", "5", "")];
    let ids = new_ids(&store.receive(&account(), &batch, None, &request(2)).await?);
    let turn = |session: &str, row: InboxId| NewTurn {
        said: vec![Said { message: user("asked"), inbox: Some(row) }],
        ..new_turn(&id(session), &[])
    };
    for (session, row) in [("tip", ids[1]), ("kept", ids[2])] {
        let opened = store.open_turn(&turn(session, row), &request(3)).await?;
        let close = TurnClose { outbound: vec![reply(session, &[session, "second"])], ..TurnClose::default() };
        store.close_turn(opened.turn.id, &close, &request(4)).await?;
    }
    store.open_turn(&turn("tip", ids[4]), &request(5)).await?;
    let being_sent = store.take_outbound(&account(), &holder(1), 1, &request(6)).await?.remove(0);
    assert_eq!((being_sent.session.clone(), being_sent.content.body.as_str()), (Some(id("tip")), "tip"));
    store.delete(&id("tip"), DeleteExtent::Conversation, &request(7)).await?;
    assert_eq!(waiting(&*store).await?, ["for anybody"]);
    for row in [ids[0], ids[4]] {
        let item = stored_item(&*store, row).await?;
        assert_eq!((item.state, item.inbound.payload.as_str()), (InboxState::Done, ""));
        assert_eq!((item.inbound.session, item.settled_at), (None, Some(at(7))));
    }
    let again = store.receive(&account(), &[inbound("c", "1", "again")], None, &request(8)).await?;
    assert_eq!(again, [Received::Known(ids[0])]);
    let left = store.outbound(None, 10).await?;
    assert_eq!((bodies(&left), left[0].session.clone()), (vec!["kept", "second"], Some(kept)));
    assert!(!store.settle_outbound(being_sent.id, 1, &sent("7"), &request(9)).await?);
    Ok(())
}

/// Mail that was done before a time is deleted, a limited number at once. Mail that is not done stays.
pub async fn old_mail_is_forgotten(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let batch: Vec<Inbound> = (1..=5).map(|n| inbound("c", &n.to_string(), "x")).collect();
    let ids = new_ids(&store.receive(&account(), &batch, Some("9"), &request(0)).await?);
    let replies = ["a", "b", "c", "d", "e"].map(|name| reply(name, &[name]));
    store.post(&ids[..3], &replies, &request(1)).await?;
    store.post(&ids[3..4], &[], &request(10)).await?;
    for (n, part) in store.take_outbound(&account(), &holder(1), 4, &request(2)).await?.iter().enumerate() {
        let how = if n == 1 { Settled::Refused { error: "x".into() } } else { sent("7") };
        let time = if n == 3 { 10 } else { 3 };
        assert!(store.settle_outbound(part.id, 1, &how, &request(time)).await?);
    }
    assert_eq!(store.forget_mail(at(1), 100).await?, 0, "the time itself is not before it");
    assert_eq!(store.forget_mail(at(10), 2).await?, 4);
    assert_eq!(store.forget_mail(at(10), 2).await?, 2);
    assert_eq!(store.forget_mail(at(10), 2).await?, 0);
    assert_eq!(bodies(&store.outbound(None, 10).await?), ["d", "e"]);
    let mut left = Vec::new();
    for message in ids {
        left.push(store.inbox_item(message).await?.map(|item| item.state));
    }
    assert_eq!(left, [None, None, None, Some(InboxState::Done), Some(InboxState::Waiting)]);
    // A message that was forgotten is received again. The cursor is not forgotten.
    let again = store.receive(&account(), &batch[..1], None, &request(20)).await?;
    assert!(!again.iter().any(|answer| matches!(answer, Received::Known(_))), "{again:?}");
    assert_eq!(store.cursor(&account()).await?.as_deref(), Some("9"));
    assert_eq!(store.forget_mail(at(1_000), 0).await?, 0);
    Ok(())
}
