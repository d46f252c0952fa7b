//! Processes that fight for one conversation. The store's own sequence of messages shows whether an old owner ever wrote
//! after the next one had the lease.

use super::{create, now, start};
use crate::Anything;
use crate::stopwatch::Stopwatch;
use crate::stores::{self, Throwaway};
use hermes_conformance::history::{Event, Plan, prove, work};
use hermes_session::{SessionId, Timestamp};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Child;
use std::time::Duration;

/// Time to live of a lease: some expire while their holder pauses.
const TTL: Duration = Duration::from_millis(4);

/// Starts the processes, which together ask for the lease `asks` times, and proves their histories.
pub(crate) async fn run(engine: &str, processes: u32, asks: u32) -> Result<Value, Anything> {
    let place = Throwaway::new(engine)?;
    let store = stores::open(&place.url, false).await?;
    let id = create(&*store).await?;
    let watch = Stopwatch::start();
    let share = asks.div_ceil(processes).to_string();
    let fighters: Vec<Child> = (0..processes)
        .map(|number| start(&["live-fighter", &place.url, &share, &number.to_string()]))
        .collect::<Result<_, _>>()?;
    let readers: Vec<_> = fighters.into_iter().map(|fighter| std::thread::spawn(move || history(fighter))).collect();
    let mut histories = Vec::new();
    for reader in readers {
        histories.push(reader.join().map_err(|_| "a reader panicked")??);
    }
    let seconds = watch.seconds();
    // Stops with a panic at the first violation.
    let proved = prove(&*store, &id, &histories).await?;
    Ok(json!({
        "engine": engine, "processes": processes, "asks": asks, "grants": proved.grants, "writes": proved.writes,
        "refused_writes": proved.refused, "without_an_answer": proved.unacknowledged, "violations": 0,
        "seconds": seconds,
    }))
}

/// Reads the history of a process to its end.
fn history(mut fighter: Child) -> Result<Vec<Event>, String> {
    let output = fighter.stdout.take().ok_or("no output")?;
    let mut events = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|error| error.to_string())?;
        // The last line is the figures of the process.
        events.extend(Event::from_line(&line));
    }
    let status = fighter.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(events) } else { Err(format!("a process failed: {status}")) }
}

/// One of the processes.
pub(crate) async fn fighter(url: &str, rounds: u32, worker: u32) -> Result<Value, Anything> {
    let store = stores::open(url, false).await?;
    let plan = Plan { session: SessionId::parse("bench")?, worker: worker + 1, rounds, ttl: TTL };
    // The clock of a machine is never a value that a timestamp can't hold.
    let clock = || now().unwrap_or(Timestamp::EPOCH);
    // A killed process leaves what it has written here, so each line is flushed by its end.
    let mut record = |event: Event| _ = writeln!(std::io::stdout(), "{}", event.to_line());
    work(&*store, &plan, &clock, &mut record).await?;
    Ok(Value::Null)
}
