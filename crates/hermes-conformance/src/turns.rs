//! Turns: what a person said, until the answer is stored.

mod mail;
mod owners;

pub use mail::{
    inbox_rows_are_taken_once, replies_are_queued_with_the_answer, the_notice_of_a_route_is_delivered_once,
};
pub use owners::{
    a_fence_is_needed_to_stay_the_owner, a_foreign_message_is_met_as_moved, a_lost_owner_is_interrupted,
    a_turn_belongs_where_its_session_does, of_many_turns_one_is_opened, resumed_by_the_next_owner,
};

use crate::fixture::live::{new_turn, taken};
use crate::fixture::{
    assert_invalid, assert_not_found, assistant, at, conflict, id, keyed, made, request, stored, texts, user,
};
use crate::{CaseResult, Setup};
use hermes_session::live::{InboxId, NewTurn, RouteKey, Said, Turn, TurnClose, TurnId, TurnKind};
use hermes_session::{
    Conflict, DeleteExtent, EndReason, MessageBody, MessageId, NewChild, NewSession, Relation, Role, UsageUpdate,
};
use std::slice::from_ref;

fn answer(text: &str) -> TurnClose {
    TurnClose { messages: vec![assistant(text)], ..TurnClose::default() }
}

/// A turn stores what was said when it is opened, and the answer and the usage when it is closed; in between everybody
/// sees that it is open.
pub async fn opened_and_closed(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = |seconds: i32| request(seconds).fenced(lease.fence);
    let opened = store.open_turn(&new_turn(&session, &["one", "two"]), &owner(1)).await?;
    assert_eq!((opened.interrupted, &opened.notice), (None, &None));
    let expected = Turn {
        id: opened.turn.id,
        conversation: session.clone(),
        session: session.clone(),
        kind: TurnKind::Person,
        route: None,
        fence: Some(lease.fence),
        attempts: 1,
        opened_at: at(1),
        opened_by: "a case".into(),
    };
    assert_eq!(opened.turn, expected);
    assert_eq!(other.open_turns(None, 9).await?, [expected]);
    let said = crate::fixture::transcript(&*other, &session).await;
    assert_eq!(said.iter().map(|message| message.id).collect::<Vec<_>>(), opened.messages);
    assert_eq!(said[1].timestamp, at(1));
    // Work in between is appended as ever.
    store.append(&session, &[assistant("working")], &owner(2)).await?;
    let usage = UsageUpdate { input_tokens: Some(7), ..UsageUpdate::default() };
    let close = TurnClose { usage: Some(usage), ..answer("the answer") };
    let ids = store.close_turn(opened.turn.id, &close, &owner(3)).await?;
    assert_eq!(other.open_turns(None, 9).await?, []);
    assert_eq!(texts(&*other, &session).await, ["one", "two", "working", "the answer"]);
    assert_eq!(crate::fixture::transcript(&*other, &session).await.last().map(|last| last.id), Some(ids[0]));
    let row = stored(&*other, &session).await;
    assert_eq!((row.message_count, row.usage.input_tokens), (4, 7));
    // A turn needs neither messages nor an answer, and an ended session takes one too.
    store.end(&session, &EndReason::parse("cli_close")?, &owner(4)).await?;
    let hook = NewTurn { kind: TurnKind::Hook, ..new_turn(&session, &[]) };
    let second = store.open_turn(&hook, &owner(5)).await?;
    assert!(second.turn.id > opened.turn.id && second.messages.is_empty());
    assert_eq!(store.close_turn(second.turn.id, &TurnClose::default(), &owner(6)).await?, []);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// A conversation has one open turn; others have theirs, and they are listed in the order of their ids.
pub async fn one_turn_at_a_time(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = request(1).fenced(lease.fence);
    let first = store.open_turn(&new_turn(&session, &["one"]), &owner).await?.turn;
    // A delegate is part of the conversation, a branch is not.
    let kin =
        |name: &str, relation| NewSession { ..crate::fixture::new_session(name) }.child_of(session.clone(), relation);
    store.create(&kin("helper", Relation::Delegate), &request(1)).await?;
    store.create(&kin("branch", Relation::Branch), &request(1)).await?;
    for part in [&session, &id("helper")] {
        let refused = store.open_turn(&new_turn(part, &["two"]), &owner).await;
        assert_eq!(conflict(refused), Conflict::TurnOpen { session: part.clone(), turn: first.id });
        assert!(!texts(&*store, part).await.contains(&"two".to_owned()));
    }
    let other = store.open_turn(&new_turn(&id("branch"), &["three"]), &request(2)).await?.turn;
    let third = store.open_turn(&new_turn(&made(&*store, "t", 0).await, &[]), &request(3)).await?.turn;
    assert!(first.id < other.id && other.id < third.id);
    assert_eq!(store.open_turns(None, 2).await?, [first.clone(), other.clone()]);
    assert_eq!(store.open_turns(Some(first.id), 9).await?, [other.clone(), third]);
    assert_eq!(store.open_turns(Some(other.id), 0).await?, []);
    // A turn of a delegate belongs to the conversation.
    store.close_turn(first.id, &TurnClose::default(), &owner).await?;
    let helping = store.open_turn(&new_turn(&id("helper"), &[]), &owner).await?.turn;
    assert_eq!((&helping.conversation, &helping.session), (&session, &id("helper")));
    Ok(())
}

/// A turn is closed once, by its owner.
pub async fn closed_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = request(1).fenced(lease.fence);
    let turn = store.open_turn(&new_turn(&session, &["hello"]), &owner).await?.turn;
    let never = TurnId(turn.id.0 + 1_000);
    for id in [never, TurnId(0), TurnId(-1)] {
        assert_eq!(conflict(store.close_turn(id, &answer("x"), &owner).await), Conflict::TurnClosed(id));
    }
    store.close_turn(turn.id, &answer("the answer"), &owner).await?;
    for close in [answer("the answer"), TurnClose::default()] {
        assert_eq!(conflict(store.close_turn(turn.id, &close, &owner).await), Conflict::TurnClosed(turn.id));
    }
    assert_eq!(conflict(store.resume_turn(turn.id, &owner).await), Conflict::TurnClosed(turn.id));
    assert_eq!(texts(&*store, &session).await, ["hello", "the answer"]);
    // The id is not used again.
    assert!(store.open_turn(&new_turn(&session, &[]), &owner).await?.turn.id > turn.id);
    Ok(())
}

/// An opened turn is returned again under its key, even after it was closed; its key lives as long as its messages.
pub async fn an_open_turn_repeats_under_its_key(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let new = new_turn(&session, &["hello"]);
    let first = store.open_turn(&new, &keyed(1, "k")).await?;
    assert_eq!(store.open_turn(&new, &keyed(2, "k")).await?, first);
    let others = [
        new_turn(&session, &["hello", "again"]),
        NewTurn { kind: TurnKind::Memory, ..new.clone() },
        NewTurn { said: vec![Said { inbox: Some(InboxId(7)), ..user("hello").into() }], ..new.clone() },
    ];
    for other in others {
        assert!(matches!(conflict(store.open_turn(&other, &keyed(3, "k")).await), Conflict::KeyReused(_)));
    }
    store.close_turn(first.turn.id, &TurnClose::default(), &request(4)).await?;
    assert_eq!(store.open_turn(&new, &keyed(5, "k")).await?, first);
    assert_eq!(store.open_turns(None, 9).await?, []);
    store.undo(&session, first.messages[0], &request(6)).await?;
    let second = store.open_turn(&new, &keyed(7, "k")).await?;
    assert!(second.turn.id > first.turn.id && second.messages != first.messages);
    Ok(())
}

/// A closed turn is answered again under its key, and appends nothing twice.
pub async fn closing_repeats_under_its_key(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let turn = store.open_turn(&new_turn(&session, &["hello"]), &request(1)).await?.turn;
    let usage = UsageUpdate { input_tokens: Some(5), ..UsageUpdate::default() };
    let close = TurnClose { usage: Some(usage), ..answer("the answer") };
    let ids = store.close_turn(turn.id, &close, &keyed(2, "k")).await?;
    assert_eq!(store.close_turn(turn.id, &close, &keyed(3, "k")).await?, ids);
    let other = store.close_turn(turn.id, &answer("the answer"), &keyed(4, "k")).await;
    assert!(matches!(conflict(other), Conflict::KeyReused(_)));
    assert_eq!(texts(&*store, &session).await, ["hello", "the answer"]);
    assert_eq!(stored(&*store, &session).await.usage.input_tokens, 5);
    // A close without messages is remembered as long as the session.
    let empty = store.open_turn(&new_turn(&session, &[]), &request(5)).await?.turn;
    for seconds in [6, 7] {
        assert_eq!(store.close_turn(empty.id, &TurnClose::default(), &keyed(seconds, "l")).await?, []);
    }
    // A refused close leaves its key free.
    let next = store.open_turn(&new_turn(&session, &[]), &request(8)).await?.turn;
    let moved = store.close_turn(next.id, &answer("x"), &keyed(9, "m").after(MessageId(0))).await;
    assert!(matches!(conflict(moved), Conflict::Moved { .. }));
    store.close_turn(next.id, &answer("x"), &keyed(10, "m")).await?;
    Ok(())
}

/// A split in the middle of a turn takes the turn along: its answer belongs to the continuation.
pub async fn a_split_carries_the_turn(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let lease = taken(&*store, &session, 1).await.lease;
    let owner = request(1).fenced(lease.fence);
    let turn = store.open_turn(&new_turn(&session, &["hello"]), &owner).await?.turn;
    store.split(&session, &NewChild::new(id("c")), &[user("summary")], &owner).await?;
    let carried = Turn { session: id("c"), ..turn.clone() };
    assert_eq!(store.open_turns(None, 9).await?, [carried]);
    let refused = store.open_turn(&new_turn(&id("c"), &[]), &owner).await;
    assert_eq!(conflict(refused), Conflict::TurnOpen { session: id("c"), turn: turn.id });
    store.close_turn(turn.id, &answer("the answer"), &owner).await?;
    assert_eq!(texts(&*store, &session).await, ["hello"]);
    assert_eq!(texts(&*store, &id("c")).await, ["summary", "the answer"]);
    // The turn of a delegate is not that of the session that is split.
    let kin = crate::fixture::new_session("helper").child_of(id("c"), Relation::Delegate);
    store.create(&kin, &owner).await?;
    let helping = store.open_turn(&new_turn(&id("helper"), &[]), &owner).await?.turn;
    store.split(&id("c"), &NewChild::new(id("d")), &[], &owner).await?;
    assert_eq!(store.open_turns(None, 9).await?, [helping]);
    Ok(())
}

/// A deleted conversation has no open turn, and neither has a restored one or another one of that id.
pub async fn gone_with_the_conversation(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let other = store.open_turn(&new_turn(&made(&*store, "t", 0).await, &[]), &request(1)).await?.turn;
    let session = made(&*store, "s", 0).await;
    for extent in [DeleteExtent::Conversation, DeleteExtent::Chain, DeleteExtent::Session] {
        let turn = store.open_turn(&new_turn(&session, &["hello"]), &request(1)).await?.turn;
        store.delete(&session, extent, &request(2)).await?;
        assert_eq!(store.open_turns(None, 9).await?, from_ref(&other), "{extent:?}");
        let closed = store.close_turn(turn.id, &answer("x"), &request(3)).await;
        assert_eq!(conflict(closed), Conflict::TurnClosed(turn.id));
        made(&*store, "s", 4).await;
    }
    store.open_turn(&new_turn(&session, &["hello"]), &request(5)).await?;
    store.trash_chain(&session, at(99), &request(6)).await?;
    store.restore(&session, &request(7)).await?;
    assert_eq!(store.open_turns(None, 9).await?, from_ref(&other));
    // A delegate takes its own turn along, not that of its conversation.
    let kin = |name| crate::fixture::new_session(name).child_of(session.clone(), Relation::Delegate);
    store.create(&kin("helper"), &request(8)).await?;
    let mine = store.open_turn(&new_turn(&session, &[]), &request(9)).await?.turn;
    store.delete(&id("helper"), DeleteExtent::Chain, &request(10)).await?;
    assert_eq!(store.open_turns(None, 9).await?, [other.clone(), mine.clone()]);
    store.close_turn(mine.id, &TurnClose::default(), &request(11)).await?;
    store.create(&kin("helper"), &request(12)).await?;
    store.open_turn(&new_turn(&id("helper"), &[]), &request(13)).await?;
    store.delete(&id("helper"), DeleteExtent::Chain, &request(14)).await?;
    assert_eq!(store.open_turns(None, 9).await?, [other]);
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// Unusable turns are refused before anything is stored, and unknown sessions are named.
pub async fn unusable_turns_are_refused(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let new = new_turn(&session, &["hello"]);
    for opened_by in ["a\0b".to_owned(), "x".repeat(256)] {
        assert_invalid(store.open_turn(&NewTurn { opened_by, ..new.clone() }, &request(1)).await, "turn");
    }
    let row = Said { message: user("x"), inbox: Some(InboxId(1)) };
    let twice = NewTurn { said: vec![row.clone(), row], ..new.clone() };
    assert_invalid(store.open_turn(&twice, &request(1)).await, "turn");
    let nowhere = RouteKey {
        platform: String::new(),
        account: "a".into(),
        chat_type: "dm".into(),
        chat: "c".into(),
        thread: None,
        participant: None,
    };
    assert_invalid(store.open_turn(&NewTurn { route: Some(nowhere), ..new.clone() }, &request(1)).await, "route");
    let odd = MessageBody { tool_name: Some("\0".into()), ..MessageBody::new(Role::User, "x") };
    let said = vec![user("x").into(), hermes_session::NewMessage::from(odd.clone()).into()];
    assert!(store.open_turn(&NewTurn { said, ..new.clone() }, &request(1)).await.is_err());
    assert_not_found(store.open_turn(&new_turn(&id("nobody"), &[]), &request(1)).await, &id("nobody"));
    assert_eq!((store.open_turns(None, 9).await?, texts(&*store, &session).await), (vec![], vec![]));
    // A description of the full length is stored as it is.
    let opened_by = "é".repeat(127);
    let turn = store.open_turn(&NewTurn { opened_by: opened_by.clone(), ..new }, &request(2)).await?.turn;
    let close = TurnClose { messages: vec![odd.into()], ..TurnClose::default() };
    assert!(store.close_turn(turn.id, &close, &request(3)).await.is_err());
    assert_eq!(store.open_turns(None, 9).await?[0].opened_by, opened_by);
    Ok(())
}
