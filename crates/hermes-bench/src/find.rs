//! Times searches: the first page of each query, as a person sees it.

use crate::Anything;
use crate::stopwatch::{Stopwatch, percentiles};
use hermes_session::ConversationStore;
use hermes_session::search::{Query, SearchRequest};
use serde_json::{Map, Value, json};
use std::path::Path;
use tokio::runtime::Runtime;

/// How many seconds each query is repeated.
const BUDGET: f64 = 0.5;

/// Runs each of the queries, a JSON list of objects with `name` and `query`, repeatedly.
pub(crate) fn run(runtime: &Runtime, file: &str, queries: &Path) -> Result<Value, Anything> {
    ask(runtime, &crate::open(file)?, queries)
}

/// Runs the queries on any store.
pub(crate) fn ask(runtime: &Runtime, store: &dyn ConversationStore, queries: &Path) -> Result<Value, Anything> {
    let queries: Value = serde_json::from_slice(&std::fs::read(queries)?)?;
    let mut figures = Map::new();
    for query in queries.as_array().ok_or("the queries are no list")? {
        let (Some(name), Some(text)) = (query["name"].as_str(), query["query"].as_str()) else { continue };
        let request = SearchRequest::new(Query::parse(text));
        let answer = runtime.block_on(store.search(&request))?;
        let whole = Stopwatch::start();
        let mut samples = Vec::new();
        while samples.len() < 5 || whole.seconds() < BUDGET {
            let one = Stopwatch::start();
            runtime.block_on(store.search(&request))?;
            samples.push(one.seconds() * 1e3);
        }
        let cpu = whole.cpu_seconds() * 1e3 / samples.len() as f64;
        let mut figure = percentiles(samples);
        figure["cpu_ms"] = json!(cpu);
        figure["hits"] = json!(answer.hits.len());
        figures.insert(name.to_owned(), figure);
    }
    Ok(Value::Object(figures))
}
