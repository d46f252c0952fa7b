//! Processes that fight for one conversation. The store's own sequence of messages shows whether an old owner ever wrote
//! after the next one had the lease.

use super::{create, holder, now, start};
use crate::Anything;
use crate::stopwatch::Stopwatch;
use crate::stores::{self, Throwaway};
use hermes_conformance::history::{Grant, History};
use hermes_session::live::{Acquired, Fence, Lease, Resource, Take, Terms};
use hermes_session::{
    Conflict, Extent, MessageId, MessageRequest, NewMessage, Request, Role, SessionId, StoreError, Window,
};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

/// Time to live of a lease: some expire while their holder pauses.
const TTL: Duration = Duration::from_millis(20);

/// Messages read at once.
const PAGE: u32 = 1_000;

/// Starts the processes, waits until together they took the lease `takes` times, and checks the history.
pub(crate) async fn run(engine: &str, processes: usize, takes: usize) -> Result<Value, Anything> {
    let place = Throwaway::new(engine)?;
    let store = stores::open(&place.url, false).await?;
    let id = create(&*store).await?;
    let watch = Stopwatch::start();
    let share = takes.div_ceil(processes).to_string();
    let fighters: Vec<_> = (0..processes)
        .map(|number| start(&["live-fighter", &place.url, &share, &number.to_string()]))
        .collect::<Result<_, _>>()?;
    let mut history = History::default();
    let mut refused = 0_u64;
    let readers: Vec<_> = fighters
        .into_iter()
        .map(|mut fighter| {
            std::thread::spawn(move || -> Result<_, String> {
                let output = fighter.stdout.take().ok_or("no output")?;
                let lines: Vec<String> =
                    BufReader::new(output).lines().collect::<Result<_, _>>().map_err(|e| e.to_string())?;
                let status = fighter.wait().map_err(|error| error.to_string())?;
                if status.success() { Ok(lines) } else { Err(format!("a process failed: {status}")) }
            })
        })
        .collect();
    for reader in readers {
        for line in reader.join().map_err(|_| "a reader panicked")?? {
            let words: Vec<i64> = line.split(' ').skip(1).map(str::parse).collect::<Result<_, _>>()?;
            match (line.as_bytes().first(), &words[..]) {
                (Some(b'g'), &[token, newest]) => {
                    history.granted(Grant { fence: Fence(token), newest: MessageId(newest) });
                }
                (Some(b'r'), &[count]) => refused += count.unsigned_abs(),
                _ => return Err(format!("unexpected: {line}").into()),
            }
        }
    }
    let seconds = watch.seconds();
    let written = read(&*store, &id, &mut history).await?;
    let violations = history.violations();
    Ok(json!({
        "engine": engine, "processes": processes, "takes": history.grants(), "writes": written,
        "refused_writes": refused, "violations": violations.len(), "examples": violations.iter().take(3).map(ToString::to_string).collect::<Vec<_>>(),
        "seconds": seconds,
    }))
}

/// Adds the messages to the history. Each has the token under which it was written.
async fn read(store: &dyn hermes_session::Store, id: &SessionId, history: &mut History) -> Result<u64, Anything> {
    let (mut after, mut written) = (None, 0);
    loop {
        let request = MessageRequest { extent: Extent::Every, ..MessageRequest::new(Window::After(after), PAGE) };
        let page = store.messages(id, &request).await?;
        let Some(last) = page.last() else { return Ok(written) };
        after = Some(last.id);
        for message in &page {
            let token = message.body.text().ok_or("a message without a text")?.parse()?;
            history.wrote(Fence(token), message.id);
            written += 1;
        }
    }
}

/// One of the processes: takes the lease `takes` times, writes under each of its tokens, the old ones too.
pub(crate) async fn fighter(url: &str, takes: usize, number: u64) -> Result<Value, Anything> {
    let store = stores::open(url, false).await?;
    let id = SessionId::parse("bench")?;
    let (resource, me) = (Resource::Conversation(id.clone()), holder(&format!("fighter {number}")));
    let mut output = std::io::stdout().lock();
    let (mut tries, mut refused, mut taken) = (number, 0_u64, 0);
    let mut old: Option<Lease> = None;
    let mut seen: Option<Fence> = None;
    while taken < takes {
        tries = tries.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let take = match (tries >> 33) % 4 {
            0 => seen.map_or(Take::Free, Take::Force),
            1 => Take::Idle,
            _ => Take::Free,
        };
        let lease = match store.acquire(&resource, &me, Terms { ttl: TTL, take }, &Request::at(now()?)).await? {
            Acquired::Held(lease) => {
                seen = Some(lease.fence);
                std::thread::sleep(Duration::from_micros(200 + (tries >> 40) % 800));
                continue;
            }
            Acquired::Got(grant) => {
                writeln!(output, "g {} {}", grant.lease.fence.0, grant.newest.map_or(0, |id| id.0))?;
                grant.lease
            }
        };
        taken += 1;
        // The last owner's token first: nobody else may have taken the lease since only if it is still current.
        for owner in old.iter().chain([&lease]) {
            let text = NewMessage::new(Role::User, owner.fence.0.to_string());
            match store.append(&id, &[text], &Request::at(now()?).fenced(owner.fence)).await {
                Ok(_) => {}
                Err(StoreError::Conflict(Conflict::Fenced(_))) => refused += 1,
                Err(error) => return Err(error.into()),
            }
        }
        if (tries >> 20) % 2 == 0 {
            store.release(&lease, &Request::at(now()?)).await?;
        }
        old = Some(lease);
    }
    writeln!(output, "r {refused}")?;
    Ok(Value::Null)
}
