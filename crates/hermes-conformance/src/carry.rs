//! Live data on its way to another store.

use crate::fixture::{at, id, made, request};
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::live::{
    Account, Carried, Inbound, InboxId, InboxItem, InboxState, LiveKind, LiveRecord, NewPart, Origin, Outbound,
    OutboundId, OutboundState, ResetCause, Route, RouteKey, Turn, TurnId, TurnKind,
};
use hermes_session::transfer::{Proving, TransferOptions, copy, prove};
use hermes_session::{EndReason, MessageId, Store, StoreError};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn key(chat: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: "1".into(),
        chat_type: "dm".into(),
        chat: chat.into(),
        thread: None,
        participant: Some("大:1".into()),
    }
}

fn account() -> Account {
    Account::parse("telegram:1").unwrap()
}

fn route(chat: &str) -> Route {
    Route {
        key: key(chat),
        session: id("s"),
        generation: 3,
        origin: Origin {
            session_key: format!("agent:main:telegram:dm:{chat}"),
            source: Some("{\"chat_id\": \"大\"}".into()),
            display_name: Some("Ada 🦀".into()),
        },
        created_at: at(1),
        touched_at: at(2.5),
        suspended: true,
        notice: Some("reset".into()),
        last_prompt_tokens: Some(7),
    }
}

fn turn(number: i64) -> Turn {
    Turn {
        id: TurnId(number),
        conversation: id("s"),
        session: id("s"),
        kind: TurnKind::Hook,
        route: Some(key("7")),
        fence: None,
        attempts: 2,
        opened_at: at(3),
        opened_by: "gateway".into(),
    }
}

fn received(number: i64, state: InboxState, turn: Option<i64>) -> InboxItem {
    let is_done = state == InboxState::Done;
    InboxItem {
        id: InboxId(number),
        account: account(),
        inbound: Inbound {
            chat: "7".into(),
            message_id: number.to_string(),
            route: Some(key("7")),
            session: Some(id("s")),
            payload: if is_done { String::new() } else { format!("text {number} 🦀") },
        },
        state,
        turn: turn.map(TurnId),
        stored_message: None,
        attempts: 1,
        received_at: at(4),
        settled_at: is_done.then(|| at(5)),
    }
}

fn part(number: i64, state: OutboundState) -> Outbound {
    Outbound {
        id: OutboundId(number),
        turn: None,
        session: Some(id("s")),
        account: account(),
        destination: "chat 7".into(),
        part: 0,
        parts: 2,
        content: NewPart { body: "*大*".into(), plain: Some("大".into()), nonce: number.to_string() },
        state,
        attempts: 1,
        doubtful: false,
        not_before: Some(at(9.25)),
        holder: Some("h/1/b".into()),
        platform_id: Some("99".into()),
        last_error: Some("429".into()),
        created_at: at(6),
        settled_at: None,
    }
}

/// Returns one or more records of every kind, in their order.
fn all() -> Vec<LiveRecord> {
    vec![
        LiveRecord::Route(Box::new(route("7"))),
        LiveRecord::Route(Box::new(route("8"))),
        LiveRecord::Alias { old: key("old"), key: Box::new(key("7")) },
        LiveRecord::Cursor { account: account(), value: "17".into() },
        LiveRecord::Turn(Box::new(turn(5))),
        LiveRecord::Inbox(Box::new(received(1, InboxState::Waiting, None))),
        LiveRecord::Inbox(Box::new(received(2, InboxState::Taken, Some(5)))),
        LiveRecord::Inbox(Box::new(received(3, InboxState::Done, None))),
        LiveRecord::Outbound(Box::new(part(1, OutboundState::Waiting))),
        LiveRecord::Outbound(Box::new(part(2, OutboundState::Sent))),
        LiveRecord::Cause { session: id("s"), cause: ResetCause::Daily },
    ]
}

/// Creates the session of the records. One that goes on would have no cause of a reset.
async fn with_session(store: &dyn Store) -> Result<(), StoreError> {
    made(store, "s", 0).await;
    store.end(&id("s"), &EndReason::parse("session_reset")?, &request(1)).await?;
    Ok(())
}

async fn with_all(store: &dyn Store) -> Result<(), StoreError> {
    with_session(store).await?;
    let carried = store.import_live(&all()).await?;
    assert!(carried.iter().all(|carried| *carried == Carried::Stored), "{carried:?}");
    Ok(())
}

async fn records(store: &dyn Store) -> Vec<LiveRecord> {
    store.live_records(None, 1_000).await.unwrap()
}

fn portable(records: Vec<LiveRecord>) -> Vec<LiveRecord> {
    records.into_iter().map(LiveRecord::portable).collect()
}

/// Records of every kind are stored with all of their values; a transfer carries them there and back, and proves it.
pub async fn every_kind_is_carried(setup: Setup) -> CaseResult {
    let (first, store, last) = (ModelStore::new(), setup.store().await, ModelStore::new());
    assert_eq!(records(&*store).await, []);
    with_all(&first).await?;
    for (from, to) in [(&first as &dyn Store, &*store), (&*store, &last)] {
        let mut watch = |_| ControlFlow::Continue(());
        let report = copy(from, to, &TransferOptions::default(), &mut watch).await.unwrap();
        assert_eq!((report.live, report.found), (11, 0), "{report:?}");
        assert_eq!(portable(records(to).await), portable(all()));
        let proof = prove(from, to, Proving::but(&BTreeSet::new()), &mut watch).await.unwrap();
        assert_eq!((proof.live, proof.live_missing, proof.holds()), (11, 0, true));
        assert!(to.verify().await?.is_sound());
    }
    // The turn keeps its id, its message and its place in the sequence.
    let LiveRecord::Turn(open) = &records(&*store).await[4] else { panic!("a turn") };
    assert_eq!(**open, turn(5));
    let LiveRecord::Inbox(taken) = &records(&*store).await[6] else { panic!("a received message") };
    assert_eq!(taken.turn, Some(TurnId(5)));
    // What the target lacks is seen.
    let empty = setup.store_named("empty").await;
    with_session(&*empty).await?;
    let nothing = BTreeSet::new();
    let proof = prove(&*store, &*empty, Proving::but(&nothing), &mut |_| ControlFlow::Continue(())).await.unwrap();
    assert_eq!((proof.live, proof.live_missing, proof.holds()), (11, 11, false));
    Ok(())
}

/// Pages follow each other without gaps and repetitions, whatever their size.
pub async fn pages_follow_each_other(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    with_all(&*store).await?;
    let whole = records(&*store).await;
    assert!(whole.iter().map(LiveRecord::kind).is_sorted());
    assert_eq!(whole.iter().map(LiveRecord::kind).collect::<BTreeSet<_>>(), BTreeSet::from(LiveKind::ALL));
    for size in [1, 2, 3, 10, 11] {
        let mut paged: Vec<LiveRecord> = Vec::new();
        loop {
            let page = store.live_records(paged.last(), size).await?;
            assert!(page.len() <= size as usize);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole, "pages of {size}");
    }
    Ok(())
}

/// A second import changes nothing, also where the store has gone on meanwhile.
pub async fn a_repetition_changes_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    with_all(&*store).await?;
    let before = records(&*store).await;
    let again = store.import_live(&all()).await?;
    assert!(again.iter().all(|carried| *carried == Carried::Known), "{again:?}");
    let other = [
        LiveRecord::Route(Box::new(Route { notice: None, ..route("7") })),
        // A place that is an alias here has a route already.
        LiveRecord::Route(Box::new(route("old"))),
        LiveRecord::Cursor { account: account(), value: "3".into() },
        LiveRecord::Cause { session: id("s"), cause: ResetCause::Idle },
    ];
    assert_eq!(store.import_live(&other).await?, [Carried::Known; 4]);
    assert_eq!(records(&*store).await, before);
    Ok(())
}

/// A record whose session or route is missing, and a turn that has no place, are left out with the reason.
pub async fn records_without_a_place_are_left_out(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let is_left = |carried: &Carried| matches!(carried, Carried::Left(_));
    let orphans = [
        LiveRecord::Route(Box::new(route("7"))),
        LiveRecord::Alias { old: key("old"), key: Box::new(key("7")) },
        LiveRecord::Turn(Box::new(turn(5))),
        LiveRecord::Cause { session: id("s"), cause: ResetCause::Daily },
    ];
    let carried = store.import_live(&orphans).await?;
    assert!(carried.iter().all(is_left), "{carried:?}");
    assert_eq!(records(&*store).await, []);
    with_all(&*store).await?;
    made(&*store, "t", 1).await;
    let turns = [
        // The conversation has an open turn.
        LiveRecord::Turn(Box::new(turn(6))),
        // The id was used.
        LiveRecord::Turn(Box::new(Turn { conversation: id("t"), session: id("t"), ..turn(4) })),
    ];
    let carried = store.import_live(&turns).await?;
    assert!(carried.iter().all(is_left), "{carried:?}");
    assert_eq!(records(&*store).await.len(), 11);
    Ok(())
}

/// A received message whose turn did not come along counts as answered: its text is in the transcript. A part that was
/// being sent may have been delivered. References to what is not there are dropped.
pub async fn a_received_message_of_a_lost_turn_is_done(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let taken = InboxItem { stored_message: Some(MessageId(77)), ..received(2, InboxState::Taken, Some(5)) };
    let records_in =
        [LiveRecord::Inbox(Box::new(taken)), LiveRecord::Outbound(Box::new(part(1, OutboundState::Sending)))];
    assert_eq!(store.import_live(&records_in).await?, [Carried::Stored; 2]);
    let found = records(&*store).await;
    let [LiveRecord::Inbox(item), LiveRecord::Outbound(sent)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((item.state, item.turn, item.inbound.payload.as_str()), (InboxState::Done, None, ""));
    assert_eq!((item.stored_message, item.settled_at), (None, Some(at(4))));
    assert_eq!((sent.state, sent.doubtful, sent.session.as_ref()), (OutboundState::Waiting, true, None));
    Ok(())
}
