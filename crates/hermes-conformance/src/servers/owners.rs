//! Owners of one conversation on a server: many who want it, and one whose connections are cut.

use crate::fixture::live::{conversation, holder, new_turn};
use crate::fixture::{assistant, id, new_session, request, texts, user};
use hermes_session::live::{
    Account, Acquired, Fence, Grant, Inbound, InboxState, NewOutbound, NewPart, NewTurn, Outbound, Received, Said,
    Settled, Take, Terms, TurnClose,
};
use hermes_session::{Conflict, MessageId, MessageRequest, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the owners fight for the conversation.
const TIME: Duration = Duration::from_secs(5);

/// An owner's view: its grant, and the messages that the store acknowledged under it.
struct Reign {
    grant: Grant,
    written: Vec<MessageId>,
}

/// Each of these handles wants to own the same conversation: takes it where it may, writes, and is taken from.
///
/// # Panics
///
/// If two owners wrote by turns, an owner did not see what the one before it wrote, or a message is missing or doubled.
pub async fn one_writes_at_a_time(stores: Vec<Arc<dyn Store>>) {
    let session = id("contested");
    stores[0].create(&new_session("contested"), &request(0)).await.expect("made");
    let stop = Arc::new(AtomicBool::new(false));
    let mut owners = tokio::task::JoinSet::new();
    for (number, store) in stores.iter().enumerate() {
        owners.spawn(reign(Arc::clone(store), number as i64, Arc::clone(&stop)));
    }
    tokio::time::sleep(TIME).await;
    stop.store(true, Ordering::Relaxed);
    let mut reigns: Vec<Reign> = owners.join_all().await.into_iter().flatten().collect();
    let all = stores[0].messages(&session, &MessageRequest::first(u32::MAX)).await.expect("read");
    let fences: Vec<i64> = all.iter().map(|message| message.body.plain_text().parse().expect("a token")).collect();
    // The messages of each owner follow each other, and begin where its grant says.
    let mut known = 0;
    let mut blocks: Vec<(Fence, usize)> = Vec::new();
    for (place, fence) in fences.iter().enumerate() {
        if blocks.last().is_none_or(|(last, _)| last.0 != *fence) {
            assert!(blocks.iter().all(|(earlier, _)| earlier.0 != *fence), "an owner wrote after it was replaced");
            blocks.push((Fence(*fence), place));
        }
    }
    reigns.retain(|reign| !reign.written.is_empty());
    for Reign { grant, written } in &reigns {
        let (_, start) = blocks.iter().find(|(fence, _)| *fence == grant.lease.fence).expect("its messages are there");
        let before = start.checked_sub(1).map(|place| all[place].id);
        assert_eq!(grant.newest, before, "the owner knew what was written before it");
        let there: Vec<MessageId> = all[*start..].iter().take(written.len()).map(|message| message.id).collect();
        assert_eq!(&there, written);
        known += written.len();
    }
    assert_eq!(known, all.len(), "what was refused is not there");
    #[expect(clippy::print_stdout, reason = "the figures are what the test is run for")]
    {
        println!("{} handles: {} owners wrote {known} messages", stores.len(), reigns.len());
    }
}

async fn reign(store: Arc<dyn Store>, number: i64, stop: Arc<AtomicBool>) -> Vec<Reign> {
    let session = id("contested");
    // The clocks of the callers differ by hours, which must not matter.
    let now = request(3_600.0 * (number % 3 - 1) as f64);
    let mut reigns = Vec::new();
    let mut take = Take::Free;
    while !stop.load(Ordering::Relaxed) {
        let terms = Terms { ttl: Duration::from_millis(100 * (number % 4) as u64), take };
        let asked = store.acquire(&conversation(&session), &holder(number), terms, &now).await.expect("an answer");
        let grant = match asked {
            Acquired::Got(grant) => grant,
            Acquired::Held(lease) => {
                // A few take it from its owner the next time.
                let (next, pause) = match number % 8 {
                    0 => (Take::Force(lease.fence), 200),
                    4 => (Take::Idle, 200),
                    _ => (Take::Free, 20),
                };
                take = next;
                tokio::time::sleep(Duration::from_millis(pause)).await;
                continue;
            }
        };
        let fence = grant.lease.fence;
        let mut written = Vec::new();
        let mut newest = grant.newest.unwrap_or(MessageId(0));
        loop {
            let owner = now.clone().fenced(fence).after(newest);
            match store.append(&session, &[user(&fence.0.to_string())], &owner).await {
                Ok(ids) => {
                    newest = ids[0];
                    written.extend(ids);
                }
                Err(StoreError::Conflict(Conflict::Fenced(_))) => break,
                Err(error) => panic!("nobody else writes to it: {error:?}"),
            }
            if stop.load(Ordering::Relaxed) || written.len() == 8 {
                store.release(&grant.lease, &now).await.expect("an answer");
                break;
            }
        }
        reigns.push(Reign { grant, written });
    }
    reigns
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
