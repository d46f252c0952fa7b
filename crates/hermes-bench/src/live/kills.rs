//! A process that answers chat messages, killed again and again in the middle of a turn. The next one continues. At the
//! end every question has one answer and one delivery.

use super::{create, holder, now, start};
use crate::Anything;
use crate::stopwatch::Stopwatch;
use crate::stores::{self, Throwaway};
use hermes_session::live::{
    Account, Acquired, Fence, Inbound, InboxItem, NewOutbound, NewPart, NewTurn, Resource, Said, Take, Terms, Turn,
    TurnClose, TurnKind,
};
use hermes_session::{Extent, MessageRequest, NewMessage, Request, RequestKey, Role, SessionId, Store, Window};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

/// Questions that wait at a time.
const BATCH: usize = 64;

/// Pause of the answering process within a turn, in which most kills hit it.
const THINKING: Duration = Duration::from_millis(3);

/// Kills the answering process until `kills` of the kills left an open turn. Counts lost and doubled questions, answers
/// and deliveries.
pub(crate) async fn run(engine: &str, kills: usize) -> Result<Value, Anything> {
    let place = Throwaway::new(engine)?;
    let store = stores::open(&place.url, false).await?;
    let id = create(&*store).await?;
    let watch = Stopwatch::start();
    let (mut asked, mut in_turn, mut others, mut delay) = (0, 0, 0, 1_u64);
    while in_turn < kills {
        if store.waiting(None, 8).await?.len() < 8 {
            ask(&*store, &id, asked).await?;
            asked += BATCH;
        }
        let mut child = start(&["live-answerer", &place.url])?;
        // It reports its first step, so that the kill hits its work and not its start.
        let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let _ready = lines.next().ok_or("the process has not started")??;
        delay = delay.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((delay >> 33) % 12_000));
        child.kill()?;
        child.wait()?;
        if store.open_turns(None, 1).await?.is_empty() { others += 1 } else { in_turn += 1 }
    }
    // The last one is left alone until everything is answered.
    let mut last = start(&["live-answerer", &place.url])?;
    while !(store.waiting(None, 1).await?.is_empty() && store.open_turns(None, 1).await?.is_empty()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    last.kill()?;
    last.wait()?;
    let counts = Counts::of(&*store, &id, asked).await?;
    Ok(json!({
        "engine": engine, "kills_in_a_turn": in_turn, "kills_between_turns": others, "questions": asked,
        "lost": counts.lost, "doubled": counts.doubled, "seconds": watch.seconds(),
    }))
}

/// Receives the next questions.
async fn ask(store: &dyn Store, id: &SessionId, from: usize) -> Result<(), Anything> {
    let batch: Vec<Inbound> = (from..from + BATCH)
        .map(|number| Inbound {
            chat: "chat".into(),
            message_id: number.to_string(),
            route: None,
            session: Some(id.clone()),
            payload: number.to_string(),
        })
        .collect();
    store.receive(&Account::parse("bench:1")?, &batch, None, &Request::at(now()?)).await?;
    Ok(())
}

/// Questions, answers and deliveries that are missing or there twice.
struct Counts {
    lost: usize,
    doubled: usize,
}

impl Counts {
    async fn of(store: &dyn Store, id: &SessionId, asked: usize) -> Result<Self, Anything> {
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let mut after = None;
        loop {
            let request = MessageRequest { extent: Extent::Every, ..MessageRequest::new(Window::After(after), 1_000) };
            let page = store.messages(id, &request).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            for message in &page {
                *found.entry(message.body.plain_text().into_owned()).or_default() += 1;
            }
        }
        let mut after = None;
        loop {
            let page = store.outbound(after, 1_000).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            for part in &page {
                *found.entry(format!("delivery {}", part.content.body)).or_default() += 1;
            }
        }
        let mut counts = Self { lost: 0, doubled: 0 };
        for number in 0..asked {
            for text in [format!("question {number}"), format!("answer {number}"), format!("delivery answer {number}")]
            {
                match found.get(&text) {
                    Some(1) => {}
                    None | Some(0) => counts.lost += 1,
                    Some(_) => counts.doubled += 1,
                }
            }
        }
        Ok(counts)
    }
}

/// Answers the waiting questions, after the turn that a killed process left, until it is killed.
pub(crate) async fn answerer(url: &str) -> Result<Value, Anything> {
    let store = stores::open(url, false).await?;
    let id = SessionId::parse("bench")?;
    let fence = own(&*store, &id).await?;
    println!("ready");
    std::io::stdout().flush()?;
    for turn in store.open_turns(None, 10).await? {
        let turn = store.resume_turn(turn.id, &Request::at(now()?).fenced(fence)).await?;
        // The question is the newest message of the transcript.
        let newest = store.messages(&id, &MessageRequest::new(Window::Before(None), 1)).await?;
        let text =
            newest.last().map(|message| message.body.plain_text().into_owned()).ok_or("a turn without a question")?;
        let number = text.strip_prefix("question ").ok_or("a turn without a question")?.to_owned();
        close(&*store, &turn, &number, fence).await?;
    }
    loop {
        for item in store.waiting(None, 8).await? {
            let turn = open(&*store, &id, &item, fence).await?;
            std::thread::sleep(THINKING);
            close(&*store, &turn, &item.inbound.payload, fence).await?;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Takes the conversation over from the process that was killed.
async fn own(store: &dyn Store, id: &SessionId) -> Result<Fence, Anything> {
    let (resource, me) = (Resource::Conversation(id.clone()), holder("answerer"));
    let mut take = Take::Free;
    loop {
        let terms = Terms { ttl: Duration::from_secs(15), take };
        match store.acquire(&resource, &me, terms, &Request::at(now()?)).await? {
            Acquired::Got(grant) => return Ok(grant.lease.fence),
            Acquired::Held(lease) => take = Take::Dead(lease.fence),
        }
    }
}

async fn open(store: &dyn Store, id: &SessionId, item: &InboxItem, fence: Fence) -> Result<Turn, Anything> {
    let question = NewMessage::new(Role::User, format!("question {}", item.inbound.payload));
    let turn = NewTurn {
        session: id.clone(),
        kind: TurnKind::Person,
        route: None,
        opened_by: "bench".into(),
        said: vec![Said { message: question, inbox: Some(item.id) }],
    };
    let key = RequestKey::parse(format!("open-{}", item.id.0))?;
    Ok(store.open_turn(&turn, &Request::at(now()?).keyed(key).fenced(fence)).await?.turn)
}

async fn close(store: &dyn Store, turn: &Turn, number: &str, fence: Fence) -> Result<(), Anything> {
    let answer = format!("answer {number}");
    let part = NewPart { body: answer.clone(), plain: None, nonce: number.to_owned() };
    let reply = NewOutbound { account: Account::parse("bench:1")?, destination: "chat".into(), parts: vec![part] };
    let close = TurnClose {
        messages: vec![NewMessage::new(Role::Assistant, answer)],
        outbound: vec![reply],
        ..TurnClose::default()
    };
    let key = RequestKey::parse(format!("close-{}", turn.id))?;
    store.close_turn(turn.id, &close, &Request::at(now()?).keyed(key).fenced(fence)).await?;
    Ok(())
}
