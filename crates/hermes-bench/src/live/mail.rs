//! The way of a chat message: received, turn opened, turn closed with an answer, answer delivered.

use super::{create, holder, now};
use crate::Anything;
use crate::stopwatch::Stopwatch;
use crate::stores::{self, Throwaway};
use hermes_session::live::{
    Account, Acquired, Inbound, NewOutbound, NewPart, NewTurn, Received, Resource, Said, Settled, Terms, TurnClose,
    TurnKind,
};
use hermes_session::{NewMessage, Request, Role};
use serde_json::{Value, json};
use std::time::Duration;

/// Calls that change something, for each message; each is one commit.
const COMMITS: usize = 5;

/// Reports CPU time of this process and wall time for each message.
pub(crate) async fn run(engine: &str, count: usize) -> Result<Value, Anything> {
    let place = Throwaway::new(engine)?;
    let store = stores::open(&place.url, false).await?;
    let (id, account, me) = (create(&*store).await?, Account::parse("bench:1")?, holder("mail"));
    let terms = Terms::free(Duration::from_secs(3_600));
    let granted = store.acquire(&Resource::Conversation(id.clone()), &me, terms, &Request::at(now()?)).await?;
    let Acquired::Got(grant) = granted else { return Err("the lease of a new store is taken".into()) };
    let fenced = || Ok::<_, Anything>(Request::at(now()?).fenced(grant.lease.fence));
    let watch = Stopwatch::start();
    for number in 0..count {
        let inbound = Inbound {
            chat: "chat".into(),
            message_id: number.to_string(),
            route: None,
            session: Some(id.clone()),
            payload: format!("question {number}"),
        };
        let cursor = number.to_string();
        let received = store.receive(&account, &[inbound], Some(&cursor), &Request::at(now()?)).await?;
        let [Received::New(inbox)] = received[..] else { return Err("a new message is known".into()) };
        let turn = NewTurn {
            session: id.clone(),
            kind: TurnKind::Person,
            route: None,
            opened_by: "bench".into(),
            said: vec![Said { message: NewMessage::new(Role::User, format!("question {number}")), inbox: Some(inbox) }],
        };
        let opened = store.open_turn(&turn, &fenced()?).await?;
        let part = NewPart { body: format!("answer {number}"), plain: None, nonce: number.to_string() };
        let close = TurnClose {
            messages: vec![NewMessage::new(Role::Assistant, format!("answer {number}"))],
            outbound: vec![NewOutbound { account: account.clone(), destination: "chat".into(), parts: vec![part] }],
            ..TurnClose::default()
        };
        store.close_turn(opened.turn.id, &close, &fenced()?).await?;
        let taken = store.take_outbound(&account, &me, 1, &Request::at(now()?)).await?;
        let [part] = &taken[..] else { return Err("the answer is not due".into()) };
        let sent = Settled::Sent { platform_id: Some(number.to_string()) };
        if !store.settle_outbound(part.id, part.attempts, &sent, &Request::at(now()?)).await? {
            return Err("the attempt is not the current one".into());
        }
    }
    let (seconds, cpu) = (watch.seconds(), watch.cpu_seconds());
    Ok(json!({
        "engine": engine, "messages": count, "commits_per_message": COMMITS,
        "cpu_us_per_message": cpu * 1e6 / count as f64, "per_second": count as f64 / seconds,
    }))
}
