//! Owners of one conversation on a server: many who want it, and one whose connections are cut.

use crate::fixture::live::{conversation, holder, new_turn};
use crate::fixture::{assistant, at, id, new_session, request, texts, user};
use crate::history::{Event, Plan, prove, work};
use hermes_session::live::{
    Account, Acquired, Inbound, InboxState, NewOutbound, NewPart, NewTurn, Outbound, Received, Said, Settled, Terms,
    TurnClose,
};
use hermes_session::{Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Each of these handles wants to own the same conversation, with clocks that are hours apart.
///
/// # Panics
///
/// If an owner wrote after the next one was granted the lease, or a message is missing or doubled.
pub async fn one_writes_at_a_time(stores: Vec<Arc<dyn Store>>) {
    let session = id("contested");
    stores[0].create(&new_session("contested"), &request(0)).await.expect("made");
    let mut workers = tokio::task::JoinSet::new();
    for (worker, store) in (0..).zip(stores.iter().cloned()) {
        let plan = Plan { session: session.clone(), worker, rounds: 20, ttl: Duration::from_millis(100) };
        workers.spawn(async move {
            let mut events = Vec::new();
            let clock = || at(3_600.0 * (f64::from(worker % 3) - 1.0));
            work(&*store, &plan, &clock, &mut |event| events.push(event)).await.map(|()| events)
        });
    }
    let histories: Vec<Vec<Event>> =
        workers.join_all().await.into_iter().collect::<Result<_, _>>().expect("no call fails");
    let proved = prove(&*stores[0], &session, &histories).await.expect("read");
    assert!(proved.grants >= 16 && proved.writes > 0 && proved.unacknowledged == 0, "no fight: {proved}");
    #[expect(clippy::print_stdout, reason = "the figures are what the test is run for")]
    {
        println!("{} handles: {proved}", stores.len());
    }
}

/// Connections are cut one after the other, in any phase of a turn: receiving, taking the lease, opening, closing,
/// delivering, releasing. Nothing has a request key.
///
/// # Panics
///
/// If a call fails, or anything is missing, doubled or left over.
pub async fn cut_in_every_phase_of_a_turn(store: Arc<dyn Store>, mut cut: impl FnMut()) {
    store.create(&new_session("talk"), &request(0)).await.expect("made");
    let stop = Arc::new(AtomicBool::new(false));
    let (owner, is_over) = (Arc::clone(&store), Arc::clone(&stop));
    let owner = tokio::spawn(async move {
        let mut number = 0_i64;
        while !is_over.load(Ordering::Relaxed) {
            talk(&*owner, number).await.unwrap_or_else(|error| panic!("turn {number}: {error:?}"));
            number += 1;
        }
        number
    });
    for _ in 0..60 {
        tokio::task::block_in_place(&mut cut);
    }
    stop.store(true, Ordering::Relaxed);
    let number = owner.await.expect("no panic");
    let said: Vec<String> = (0..number).flat_map(|number| [format!("q{number}"), format!("a{number}")]).collect();
    assert_eq!(texts(&*store, &id("talk")).await, said, "each once, in order");
    assert_eq!(store.open_turns(None, 9).await.expect("read"), []);
    assert_eq!(store.leases("").await.expect("read"), []);
    assert_eq!(store.waiting(None, 9).await.expect("read"), []);
    let sent: Vec<Outbound> = store.outbound(None, u32::MAX).await.expect("read");
    let bodies: Vec<String> = sent.iter().map(|part| part.content.body.clone()).collect();
    assert_eq!(bodies, (0..number).map(|number| format!("a{number}")).collect::<Vec<_>>());
    assert!(sent.iter().all(|part| part.state.is_settled() && part.attempts == 1 && !part.doubtful), "{sent:?}");
    let report = store.verify().await.expect("looked through");
    assert!(report.is_sound(), "{report:?}");
}

async fn talk(store: &dyn Store, number: i64) -> Result<(), StoreError> {
    let (session, now, who) = (id("talk"), request(number as f64), holder(number));
    let account = Account::parse("telegram:1")?;
    let inbound = Inbound {
        chat: "7".into(),
        message_id: number.to_string(),
        route: None,
        session: Some(session.clone()),
        payload: "{}".into(),
    };
    let received = store.receive(&account, &[inbound], Some(&number.to_string()), &now).await?;
    let [Received::New(row)] = received[..] else { panic!("it is new: {received:?}") };
    let asked = store.acquire(&conversation(&session), &who, Terms::free(Duration::from_secs(60)), &now).await?;
    let Acquired::Got(grant) = asked else { panic!("nobody else has it: {asked:?}") };
    let owner = now.clone().fenced(grant.lease.fence);
    let said = vec![Said { message: user(&format!("q{number}")), inbox: Some(row) }];
    let opened = store.open_turn(&NewTurn { said, ..new_turn(&session, &[]) }, &owner).await?;
    assert_eq!(opened.interrupted, None);
    let answer = format!("a{number}");
    let part = NewPart { body: answer.clone(), plain: None, nonce: answer.clone() };
    let reply = NewOutbound { account: account.clone(), destination: "7".into(), parts: vec![part] };
    let close = TurnClose { messages: vec![assistant(&answer)], outbound: vec![reply], ..TurnClose::default() };
    store.close_turn(opened.turn.id, &close, &owner).await?;
    let item = store.inbox_item(row).await?.expect("it is there");
    assert_eq!((item.state, item.attempts), (InboxState::Done, 1));
    let taken = store.take_outbound(&account, &who, 9, &now).await?;
    let [part] = &taken[..] else { panic!("one part is due: {taken:?}") };
    let sent = Settled::Sent { platform_id: None };
    assert!(store.settle_outbound(part.id, part.attempts, &sent, &now).await?);
    assert!(store.release(&grant.lease, &now).await?);
    Ok(())
}
