//! One of several processes that append to one file concurrently.
//!
//! It opens the file, prints `ready`, and starts when it reads a line. It stops after its time, or when its input ends.
//! Its messages are `NAME/NUMBER BODY`, so that a later count can identify each of them and detect truncated ones.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_session::{NewMessage, NewSession, Request, Role, SessionId, SessionStore as _, Source, Timestamp};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time of the first message; the others follow in real time.
const START: f64 = 1_767_225_600.0;

/// Appends for `seconds`, with a pause of `pause` milliseconds after each message. Reports how long each took and which
/// failed.
pub(crate) async fn run(file: &str, bodies: &Path, name: &str, seconds: f64, pause: u64) -> Result<Value, Anything> {
    let bodies: Vec<String> = serde_json::from_slice(&std::fs::read(bodies)?)?;
    let store = crate::open(file)?;
    let id = SessionId::parse(format!("bench-{name}"))?;
    let start = Timestamp::from_seconds(START)?;
    store.ensure(&NewSession::new(id.clone(), Source::parse("bench")?), &Request::at(start)).await?;
    let stopped = started()?;
    let watch = Stopwatch::start();
    let (mut latencies, mut failed) = (Vec::new(), Vec::new());
    while watch.seconds() < seconds && !stopped.load(Ordering::Relaxed) {
        let number = latencies.len();
        let text = format!("{name}/{number} {}", bodies[number % bodies.len()]);
        let request = Request::at(start.plus(watch.seconds()));
        let one = Stopwatch::start();
        if let Err(error) = store.append(&id, &[NewMessage::new(Role::User, text)], &request).await {
            failed.push(json!([number, error.to_string()]));
        }
        latencies.push(one.seconds() * 1e3);
        std::thread::sleep(Duration::from_millis(pause));
    }
    let (seconds, cpu) = (watch.seconds(), watch.cpu_seconds());
    drop(store);
    Ok(json!({
        "name": name, "seconds": seconds, "latencies_ms": latencies, "failed": failed,
        "cpu_seconds": cpu, "cpu_seconds_closed": watch.cpu_seconds(),
    }))
}

/// Waits for the start. Returns the flag that is set to stop.
fn started() -> Result<Arc<AtomicBool>, Anything> {
    println!("ready");
    std::io::stdout().flush()?;
    let mut line = String::new();
    if std::io::stdin().read_line(&mut line)? == 0 {
        return Err("told to stop before the start".into());
    }
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopped);
    std::thread::spawn(move || {
        _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        flag.store(true, Ordering::Relaxed);
    });
    Ok(stopped)
}
