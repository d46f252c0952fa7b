//! Replies to deliver.

use super::{account, bodies, inbound, later, new_ids, reply, sent, stored_item, waiting};
use crate::fixture::live::{holder, new_turn};
use crate::fixture::{at, conflict, made, request, user};
use crate::{CaseResult, Setup};
use hermes_session::live::{
    Account, Inbound, InboxId, InboxState, NewOutbound, NewPart, NewTurn, Outbound, OutboundId, OutboundState, Said,
    Settled,
};
use hermes_session::{Conflict, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// Replies can be queued without a turn, in one step with the end of the messages that they answer.
pub async fn posted_without_a_turn(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let batch = [inbound("c", "1", "/status"), inbound("c", "2", "noise"), inbound("c", "3", "later")];
    let ids = new_ids(&store.receive(&account(), &batch, None, &request(1)).await?);
    let marked = NewPart { body: "<b>ok</b> 大".into(), plain: Some("ok 大".into()), nonce: "n2".into() };
    let replies = [reply("c", &["one", "two"]), NewOutbound { parts: vec![marked.clone()], ..reply("d", &[]) }];
    let queued = store.post(&ids[..1], &replies, &request(2)).await?;
    assert!(queued.len() == 3 && queued.is_sorted_by(|a, b| a < b), "{queued:?}");
    let parts = other.outbound(None, 10).await?;
    let expected = Outbound {
        id: queued[2],
        turn: None,
        session: None,
        account: account(),
        destination: "d".into(),
        part: 0,
        parts: 1,
        content: marked,
        state: OutboundState::Waiting,
        attempts: 0,
        doubtful: false,
        not_before: None,
        holder: None,
        platform_id: None,
        last_error: None,
        created_at: at(2),
        settled_at: None,
    };
    assert_eq!(parts[2], expected);
    let of_reply: Vec<_> = parts.iter().map(|part| (part.id, part.part, part.parts)).collect();
    assert_eq!(of_reply, [(queued[0], 0, 2), (queued[1], 1, 2), (queued[2], 0, 1)]);
    let done = stored_item(&*other, ids[0]).await?;
    assert_eq!((done.state, done.settled_at, done.inbound.payload.as_str()), (InboxState::Done, Some(at(2)), ""));
    assert_eq!((done.inbound.message_id.as_str(), done.turn), ("1", None));
    // A message is dismissed without a reply, and a message is sent that answers nothing.
    assert_eq!(store.post(&ids[1..2], &[], &request(3)).await?, []);
    assert_eq!(store.post(&[], &[reply("e", &["news"])], &request(4)).await?.len(), 1);
    assert_eq!(waiting(&*other).await?, ["later"]);
    assert_eq!(other.outbound(Some(queued[1]), 1).await?, parts[2..]);
    Ok(())
}

/// Of two that answer the same message, one does.
pub async fn posting_answers_a_message_once(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let batch: Vec<Inbound> = (0..12).map(|n| inbound("c", &n.to_string(), "x")).collect();
    let ids = new_ids(&store.receive(&account(), &batch, None, &request(1)).await?);
    for message in &ids[..10] {
        let (answered, replies) = (std::slice::from_ref(message), [reply("c", &["answer"])]);
        let request = request(2);
        let (one, two) =
            tokio::join!(store.post(answered, &replies, &request), other.post(answered, &replies, &request));
        let lost = if one.is_ok() { two } else { one };
        assert_eq!(conflict(lost), Conflict::InboxSettled(*message));
    }
    assert_eq!(store.outbound(None, 100).await?.len(), 10, "every message has one answer");
    // One that is answered keeps the others from being answered with it.
    let mixed = store.post(&[ids[10], ids[3]], &[reply("c", &["lost"])], &request(3)).await;
    assert_eq!(conflict(mixed), Conflict::InboxSettled(ids[3]));
    assert_eq!(stored_item(&*store, ids[10]).await?.state, InboxState::Waiting);
    let twice = store.post(&[ids[10], ids[10]], &[], &request(3)).await;
    assert_eq!(conflict(twice), Conflict::InboxSettled(ids[10]));
    let unknown = InboxId(ids[11].0 + 1_000);
    assert_eq!(conflict(store.post(&[unknown], &[], &request(3)).await), Conflict::InboxSettled(unknown));
    // A turn has it, so nobody else answers it.
    let said = vec![Said { message: user("asked"), inbox: Some(ids[11]) }];
    let turn = NewTurn { said, ..new_turn(&session, &[]) };
    store.open_turn(&turn, &request(4)).await?;
    assert_eq!(conflict(store.post(&ids[11..], &[], &request(5)).await), Conflict::InboxSettled(ids[11]));
    assert_eq!((waiting(&*store).await?.len(), store.outbound(None, 100).await?.len()), (1, 10));
    Ok(())
}

/// The parts for one destination are delivered in order, one at a time; those for another do not wait for them.
pub async fn parts_go_in_order(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let discord = NewOutbound { account: Account::parse("discord:1")?, ..reply("a", &["elsewhere"]) };
    let replies = [reply("a", &["a1", "a2"]), reply("b", &["b1"]), discord, reply("a", &["a3"]), reply("A", &["A1"])];
    store.post(&[], &replies, &request(1)).await?;
    let us = holder(1);
    let first = store.take_outbound(&account(), &us, 10, &request(2)).await?;
    assert_eq!(bodies(&first), ["a1", "b1", "A1"]);
    assert!(first.iter().all(|part| part.state == OutboundState::Sending && part.attempts == 1 && !part.doubtful));
    assert_eq!(first[0].holder, Some(us.key()));
    assert_eq!(other.take_outbound(&account(), &us, 10, &request(3)).await?, [], "each has one attempt at a time");
    assert!(store.settle_outbound(first[0].id, 1, &sent("id 大"), &request(4)).await?);
    let second = other.take_outbound(&account(), &us, 10, &request(5)).await?;
    assert_eq!(bodies(&second), ["a2"]);
    // A part that waits keeps the next one back, as its turn has not come.
    assert!(store.settle_outbound(second[0].id, 1, &later(100, true), &request(6)).await?);
    assert_eq!(store.take_outbound(&account(), &us, 10, &request(7)).await?, []);
    // One that is given up does not.
    let again = store.take_outbound(&account(), &us, 10, &request(100)).await?;
    assert_eq!((bodies(&again), again[0].attempts), (vec!["a2"], 2));
    let given_up = Settled::GivenUp { error: "a day has passed".into() };
    assert!(store.settle_outbound(again[0].id, 2, &given_up, &request(101)).await?);
    assert_eq!(bodies(&store.take_outbound(&account(), &us, 10, &request(102)).await?), ["a3"]);
    let all = other.outbound(None, 100).await?;
    assert_eq!(bodies(&all), ["a1", "a2", "b1", "elsewhere", "a3", "A1"]);
    let delivered = Outbound {
        state: OutboundState::Sent,
        platform_id: Some("id 大".into()),
        settled_at: Some(at(4)),
        ..first[0].clone()
    };
    assert_eq!(all[0], delivered);
    let (given_up, error) = (&all[1], Some("a day has passed"));
    assert_eq!((given_up.state, given_up.last_error.as_deref()), (OutboundState::GivenUp, error));
    assert_eq!(other.outbound(Some(all[3].id), 1).await?, all[4..5]);
    // The limit counts destinations, and the oldest parts come first.
    store.post(&[], &["c", "d", "e"].map(|name| reply(name, &[name])), &request(103)).await?;
    assert_eq!(bodies(&store.take_outbound(&account(), &us, 2, &request(104)).await?), ["c", "d"]);
    assert_eq!(store.take_outbound(&account(), &us, 0, &request(104)).await?, []);
    Ok(())
}

/// A part of a deliverer that died goes to the next one, who is told that the platform may have it already.
pub async fn a_lost_deliverer_leaves_a_doubtful_part(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    store.post(&[], &[reply("a", &["a1", "a2"]), reply("b", &["b1"])], &request(1)).await?;
    let lost = store.take_outbound(&account(), &holder(1), 1, &request(2)).await?.remove(0);
    let found = other.take_outbound(&account(), &holder(2), 10, &request(3)).await?;
    assert_eq!(bodies(&found), ["a1", "b1"]);
    let doubts: Vec<_> = found.iter().map(|part| (part.attempts, part.doubtful, part.holder.clone())).collect();
    let next = Some(holder(2).key());
    assert_eq!(doubts, [(2, true, next.clone()), (1, false, next)]);
    // It was not dead after all.
    assert!(!store.settle_outbound(lost.id, 1, &sent("old"), &request(4)).await?);
    // A certain failure does not remove the doubt of an earlier attempt.
    assert!(other.settle_outbound(lost.id, 2, &later(5, true), &request(4)).await?);
    let again = other.take_outbound(&account(), &holder(2), 1, &request(5)).await?.remove(0);
    assert!(again.doubtful && again.attempts == 3, "{again:?}");
    assert!(other.settle_outbound(again.id, 3, &sent("7"), &request(6)).await?);
    let part = store.outbound(None, 1).await?.remove(0);
    assert!(part.doubtful && part.state == OutboundState::Sent && part.platform_id.as_deref() == Some("7"), "{part:?}");
    // An attempt whose answer did not arrive is uncertain, without a second deliverer.
    assert!(other.settle_outbound(found[1].id, 1, &later(7, false), &request(7)).await?);
    let uncertain = other.take_outbound(&account(), &holder(2), 10, &request(8)).await?;
    assert_eq!(uncertain.iter().map(|part| part.doubtful).collect::<Vec<_>>(), [false, true]);
    assert_eq!(bodies(&uncertain), ["a2", "b1"]);
    Ok(())
}

/// Two deliverers at once have no attempt in common, and every part is settled once.
pub async fn two_deliverers_share_nothing(setup: Setup) -> CaseResult {
    const DESTINATIONS: usize = 12;
    let handles = [setup.store().await, setup.store().await];
    let replies: Vec<NewOutbound> = (0..DESTINATIONS).map(|n| reply(&format!("d{n:02}"), &["1", "2", "3"])).collect();
    handles[0].post(&[], &replies, &request(1)).await?;
    let mut deliverers = tokio::task::JoinSet::new();
    for (n, store) in handles.iter().enumerate() {
        let store = store.clone();
        deliverers.spawn(async move {
            let us = holder(n as i64);
            let (mut attempts, mut settled) = (Vec::new(), Vec::new());
            // Once nothing is unsettled, nothing is taken.
            while store.outbound(None, 100).await?.iter().any(|part| !part.state.is_settled()) {
                for part in store.take_outbound(&account(), &us, 4, &request(2)).await? {
                    attempts.push((part.id, part.attempts));
                    tokio::task::yield_now().await;
                    if store.settle_outbound(part.id, part.attempts, &sent("7"), &request(3)).await? {
                        settled.push(part.id);
                    }
                }
            }
            Ok::<_, StoreError>((attempts, settled))
        });
    }
    let (mut attempts, mut settled) = (BTreeSet::new(), BTreeMap::<OutboundId, usize>::new());
    for answer in deliverers.join_all().await {
        let (taken, done) = answer?;
        taken.into_iter().for_each(|attempt| assert!(attempts.insert(attempt), "{attempt:?} was given twice"));
        done.into_iter().for_each(|part| *settled.entry(part).or_default() += 1);
    }
    assert_eq!((settled.len(), settled.values().max()), (DESTINATIONS * 3, Some(&1)));
    let all = handles[0].outbound(None, 100).await?;
    assert!(all.iter().all(|part| part.state == OutboundState::Sent && attempts.contains(&(part.id, part.attempts))));
    Ok(())
}

/// A part is not tried again before its time, and the next part of its destination is not tried either.
pub async fn a_part_waits_until_its_time(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    store.post(&[], &[reply("a", &["a1", "a2"])], &request(1)).await?;
    let part = store.take_outbound(&account(), &holder(1), 10, &request(2)).await?.remove(0);
    assert!(store.settle_outbound(part.id, 1, &later(30, true), &request(3)).await?);
    let waits = store.outbound(None, 1).await?.remove(0);
    assert_eq!((waits.state, waits.not_before), (OutboundState::Waiting, Some(at(30))));
    assert_eq!((waits.last_error.as_deref(), waits.settled_at), (Some("429"), None));
    for early in [4.0, 29.999] {
        for process in [1, 2] {
            let taken = store.take_outbound(&account(), &holder(process), 10, &request(early)).await?;
            assert_eq!(taken, [], "{early}");
        }
    }
    let taken = store.take_outbound(&account(), &holder(2), 10, &request(30)).await?;
    assert_eq!((bodies(&taken), taken[0].attempts, taken[0].doubtful), (vec!["a1"], 2, false));
    Ok(())
}

/// Only the current attempt settles a part, and a settled part stays as it is.
pub async fn an_old_attempt_settles_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let queued = store.post(&[], &[reply("a", &["a1"])], &request(1)).await?[0];
    assert!(!store.settle_outbound(queued, 0, &sent("1"), &request(2)).await?, "nobody took it");
    assert!(!store.settle_outbound(OutboundId(queued.0 + 1_000), 1, &sent("1"), &request(2)).await?);
    for attempt in 1..4 {
        let taken = store.take_outbound(&account(), &holder(attempt.into()), 1, &request(3)).await?;
        assert_eq!(taken[0].attempts, attempt);
        for other in [attempt - 1, attempt + 1] {
            assert!(!store.settle_outbound(queued, other, &sent("1"), &request(4)).await?);
        }
        assert_eq!(store.outbound(None, 1).await?, taken);
    }
    assert!(store.settle_outbound(queued, 3, &later(5, true), &request(5)).await?);
    assert!(!store.settle_outbound(queued, 3, &sent("1"), &request(5)).await?, "the attempt is over");
    let taken = store.take_outbound(&account(), &holder(4), 1, &request(6)).await?.remove(0);
    assert!(store.settle_outbound(queued, taken.attempts, &sent("right"), &request(7)).await?);
    let before = store.outbound(None, 1).await?;
    for how in [sent("wrong"), later(9, false), Settled::Refused { error: "x".into() }] {
        assert!(!store.settle_outbound(queued, taken.attempts, &how, &request(8)).await?);
    }
    assert_eq!(store.outbound(None, 1).await?, before);
    assert_eq!(before[0].platform_id.as_deref(), Some("right"));
    Ok(())
}

/// A part that the platform refused for good, such as one for a chat that is gone, is final, and the next part goes on.
pub async fn a_refused_part_is_final(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    store.post(&[], &[reply("gone", &["1", "2"])], &request(1)).await?;
    let part = store.take_outbound(&account(), &holder(1), 10, &request(2)).await?.remove(0);
    let refused = Settled::Refused { error: "chat not found 大".into() };
    assert!(store.settle_outbound(part.id, 1, &refused, &request(3)).await?);
    let next = store.take_outbound(&account(), &holder(2), 10, &request(1_000)).await?;
    assert_eq!((bodies(&next), next[0].attempts), (vec!["2"], 1));
    let expected = Outbound {
        state: OutboundState::Refused,
        last_error: Some("chat not found 大".into()),
        settled_at: Some(at(3)),
        ..part
    };
    assert_eq!(store.outbound(None, 1).await?, [expected]);
    Ok(())
}
