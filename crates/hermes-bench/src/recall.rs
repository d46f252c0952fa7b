//! Times recall, on a store that has just been opened and on one that is in use.

use crate::Anything;
use crate::stopwatch::{Stopwatch, percentiles};
use hermes_recall::{Recall, RecallRequest, session_search};
use hermes_session::Scope;
use serde_json::{Map, Value, json};
use std::path::Path;
use tokio::runtime::Runtime;

/// How many seconds each query is repeated.
const BUDGET: f64 = 0.5;
/// Number of times that the store is opened for a cold query.
const COLD: usize = 3;

/// Runs each of the queries, a JSON list of objects with `name` and `query`.
pub(crate) fn run(runtime: &Runtime, file: &str, queries: &Path) -> Result<Value, Anything> {
    let queries: Value = serde_json::from_slice(&std::fs::read(queries)?)?;
    let mut figures = Map::new();
    let store = crate::open(file)?;
    for query in queries.as_array().ok_or("the queries are no list")? {
        let (Some(name), Some(text)) = (query["name"].as_str(), query["query"].as_str()) else { continue };
        let request = RecallRequest::new(text);
        let mut cold = Vec::new();
        for _ in 0..COLD {
            let one = Stopwatch::start();
            let opened = crate::open(file)?;
            runtime.block_on(session_search(&opened, &Scope::All, &request, None))?;
            cold.push(one.seconds() * 1e3);
        }
        let answer = runtime.block_on(session_search(&store, &Scope::All, &request, None))?;
        let (conversations, characters) = match &answer {
            Recall::Recent(rows) => (rows.len(), 0),
            Recall::Found { results, .. } => {
                (results.len(), results.iter().map(|result| result.window.characters()).sum::<usize>())
            }
        };
        let whole = Stopwatch::start();
        let mut warm = Vec::new();
        while warm.len() < 5 || whole.seconds() < BUDGET {
            let one = Stopwatch::start();
            runtime.block_on(session_search(&store, &Scope::All, &request, None))?;
            warm.push(one.seconds() * 1e3);
        }
        let cpu = whole.cpu_seconds() * 1e3 / warm.len() as f64;
        let figure = json!({
            "cold": percentiles(cold), "warm": percentiles(warm), "cpu_ms": cpu, "conversations": conversations, "characters": characters,
        });
        figures.insert(name.to_owned(), figure);
    }
    Ok(Value::Object(figures))
}
