//! Appends messages of the corpus one by one, each acknowledged before the next, to a file without messages.

use crate::stopwatch::{Stopwatch, percentiles};
use crate::{Anything, corpus};
use hermes_session::{NewMessage, Request, SessionId, SessionStore as _};
use serde_json::{Value, json};
use std::path::Path;

/// Reports the CPU time of the acknowledgements alone, and with all deferred work and closing the file.
pub(crate) async fn run(file: &str, corpus: &Path, count: usize) -> Result<Value, Anything> {
    let store = crate::open_idle(file)?;
    let mut messages: Vec<(SessionId, NewMessage)> = Vec::with_capacity(count);
    for session in corpus::sessions(corpus)? {
        let session = session?;
        let id = corpus::create(&store, &session).await?;
        let left = count - messages.len();
        for message in session["messages"].as_array().into_iter().flatten().take(left) {
            messages.push((id.clone(), corpus::message(message)?));
        }
        if messages.len() == count {
            break;
        }
    }
    if messages.len() < count {
        return Err(format!("the corpus has {} messages only", messages.len()).into());
    }
    let mut samples = Vec::with_capacity(count);
    let whole = Stopwatch::start();
    for (id, message) in &messages {
        let one = std::time::Instant::now();
        let at = message.timestamp.ok_or("a message without a time")?;
        store.append(id, std::slice::from_ref(message), &Request::at(at)).await?;
        samples.push(one.elapsed().as_secs_f64() * 1e3);
    }
    let (seconds, cpu, user) = (whole.seconds(), whole.cpu_seconds(), whole.user_seconds());
    crate::settle(store).await?;
    let (seconds_settled, cpu_settled) = (whole.seconds(), whole.cpu_seconds());
    let count = count as f64;
    Ok(json!({
        "acknowledged": percentiles(samples),
        "cpu_ms": cpu * 1e3 / count,
        "user_ms": user * 1e3 / count,
        "cpu_settled_ms": cpu_settled * 1e3 / count,
        "per_second": count / seconds,
        "per_second_settled": count / seconds_settled,
    }))
}
