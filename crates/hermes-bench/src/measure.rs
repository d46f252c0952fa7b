//! Times the calls that a person waits for.

use crate::{Anything, corpus};
use hermes_session::replay::{self, Scope};
use hermes_session::{ListRequest, MAX_PAGE, MessageRequest, Order, PageRequest, SessionId, SessionStore as _};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long each call is repeated.
const BUDGET: Duration = Duration::from_millis(1_500);

/// Measures lists, loading and opening on a file that holds the corpus.
pub(crate) fn all(runtime: &Runtime, file: &str, corpus: &Path) -> Result<Value, Anything> {
    let store = crate::open(file)?;
    let list = |order| ListRequest { order, page: PageRequest::first(20), ..ListRequest::default() };
    let of_200: Vec<SessionId> = corpus::sessions(corpus)?
        .filter_map(|session| {
            session.ok().filter(|session| session["messages"].as_array().is_some_and(|all| all.len() == 200))
        })
        .filter_map(|session| SessionId::parse(session["id"].as_str()?).ok())
        .collect();
    let mut turn = of_200.iter().cycle();
    let mut next = || turn.next().ok_or("the corpus has no session of 200 messages");
    let mut figures = Map::new();
    figures.insert("list_20".into(), time(|| runtime.block_on(store.list(&list(Order::Started))).map(drop))?);
    figures
        .insert("list_20_last_active".into(), time(|| runtime.block_on(store.list(&list(Order::Active))).map(drop))?);
    let first = next()?.clone();
    let loaded = runtime.block_on(store.messages(&first, &MessageRequest::first(MAX_PAGE)))?;
    if loaded.len() != 200 {
        return Err("the file does not hold the corpus".into());
    }
    let get = |id: &SessionId| runtime.block_on(store.messages(id, &MessageRequest::first(1_000))).map(drop);
    figures.insert("get_messages_200".into(), time(|| Ok::<_, Anything>(get(next()?)?))?);
    let resume = |id: &SessionId| runtime.block_on(replay::load(&store, id, Scope::ThisSession)).map(drop);
    figures.insert("conversation_200".into(), time(|| Ok::<_, Anything>(resume(next()?)?))?);
    drop(store);
    figures.insert("open_existing".into(), time(|| crate::open(file).map(drop))?);
    Ok(Value::Object(figures))
}

/// Repeats a call for the budget and tells its median and tail, in milliseconds, and the CPU time of the whole process for each.
fn time<E: Into<Anything>>(mut call: impl FnMut() -> Result<(), E>) -> Result<Value, Anything> {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut samples = Vec::new();
    while samples.len() < 5 || start.elapsed() < BUDGET {
        let one = Instant::now();
        call().map_err(Into::into)?;
        samples.push(one.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = (cpu_seconds() - cpu) * 1e3 / samples.len() as f64;
    samples.sort_by(f64::total_cmp);
    let at = |share: f64| samples[((samples.len() as f64 * share) as usize).min(samples.len() - 1)];
    Ok(json!({"n": samples.len(), "p50_ms": at(0.5), "p99_ms": at(0.99), "cpu_ms": cpu}))
}

/// CPU time of this process so far, all threads, as the kernel counts it in hundredths of a second.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // After the name and the state letter (which is no number): utime and stime are the 11th and 12th numbers.
    fields.get(10).zip(fields.get(11)).map_or(0.0, |(user, system)| (user + system) / 100.0)
}
