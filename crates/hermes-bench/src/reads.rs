//! Times the calls that a person waits for.

use crate::stopwatch::{Stopwatch, percentiles};
use crate::{Anything, corpus};
use hermes_session::replay::{self, Scope};
use hermes_session::{
    ConversationStore, ListRequest, MAX_PAGE, MessageRequest, Order, PageRequest, SessionId, SessionStore as _,
};
use serde_json::{Map, Value, json};
use std::path::Path;
use tokio::runtime::Runtime;

/// How many seconds each call is repeated.
const BUDGET: f64 = 1.5;

/// Measures lists, loading and opening on a file that holds the corpus.
pub(crate) fn all(runtime: &Runtime, file: &str, corpus: &Path) -> Result<Value, Anything> {
    let store = crate::open(file)?;
    let of_200: Vec<SessionId> = corpus::sessions(corpus)?
        .filter_map(|session| {
            session.ok().filter(|session| session["messages"].as_array().is_some_and(|all| all.len() == 200))
        })
        .filter_map(|session| SessionId::parse(session["id"].as_str()?).ok())
        .collect();
    let mut turn = of_200.iter().cycle();
    let mut next = || turn.next().ok_or("the corpus has no session of 200 messages");
    let Value::Object(mut figures) = lists(runtime, &store)? else { return Err("lists are no figures".into()) };
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

/// Measures the lists that a person sees first, on any store.
pub(crate) fn lists(runtime: &Runtime, store: &dyn ConversationStore) -> Result<Value, Anything> {
    let list = |order| ListRequest { order, page: PageRequest::first(20), ..ListRequest::default() };
    let mut figures = Map::new();
    figures.insert("list_20".into(), time(|| runtime.block_on(store.list(&list(Order::Started))).map(drop))?);
    figures
        .insert("list_20_last_active".into(), time(|| runtime.block_on(store.list(&list(Order::Active))).map(drop))?);
    Ok(Value::Object(figures))
}

/// Repeats a call for the budget. Reports its median and tail, and the CPU time of the whole process per call.
fn time<E: Into<Anything>>(mut call: impl FnMut() -> Result<(), E>) -> Result<Value, Anything> {
    let whole = Stopwatch::start();
    let mut samples = Vec::new();
    while samples.len() < 5 || whole.seconds() < BUDGET {
        let one = Stopwatch::start();
        call().map_err(Into::into)?;
        samples.push(one.seconds() * 1e3);
    }
    let cpu = whole.cpu_seconds() * 1e3 / samples.len() as f64;
    let mut figures = percentiles(samples);
    figures["cpu_ms"] = json!(cpu);
    Ok(figures)
}
