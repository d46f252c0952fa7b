//! Answers of a store to many queries, to compare two builds or two stores: ids in order, and the time of each query.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use crate::stores;
use hermes_session::search::{Query, SearchAnswer, SearchRequest};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Time limit of a query: long enough that every answer is complete.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the first two pages of each of the queries, a JSON list of strings, from the store at `url`: a server or a file.
pub(crate) fn run(runtime: &Runtime, url: &str, queries: &Path) -> Result<Value, Anything> {
    let store = runtime.block_on(stores::open(url, true))?;
    let queries: Vec<String> = serde_json::from_slice(&std::fs::read(queries)?)?;
    let mut answers = Map::new();
    for text in &queries {
        let request = SearchRequest { timeout: TIMEOUT, ..SearchRequest::new(Query::parse(text)) };
        let watch = Stopwatch::start();
        let first = runtime.block_on(store.search(&request))?;
        let milliseconds = watch.seconds() * 1e3;
        let mut pages = vec![page(&first)];
        if let Some(after) = first.next {
            let second = runtime.block_on(store.search(&SearchRequest { after: Some(after), ..request }))?;
            pages.push(page(&second));
        }
        answers.insert(text.clone(), json!({"pages": pages, "ms": milliseconds}));
    }
    Ok(Value::Object(answers))
}

fn page(answer: &SearchAnswer) -> Value {
    let hits: Vec<Value> = answer
        .hits
        .iter()
        .map(|hit| json!([hit.message.0, hit.score, format!("{:?}", hit.tier), hit.snippet, hit.conversation.as_str()]))
        .collect();
    json!({"hits": hits, "relaxed": answer.served.is_relaxed, "partial": answer.served.is_partial})
}
