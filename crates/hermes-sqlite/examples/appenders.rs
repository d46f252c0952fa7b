//! Processes that append to one file at once: acknowledged appends per second, latency, and fairness.
//!
//! `cargo run --release -p hermes-sqlite --example appenders -- FILE PROCESSES SECONDS`

#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use hermes_session::{NewMessage, NewSession, Request, Role, SessionId, SessionStore as _, Source, Timestamp};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Anything = Box<dyn std::error::Error>;

fn main() -> Result<(), Anything> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["one", file, seconds] => one(file.as_ref(), seconds.parse()?),
        [file, processes, seconds] => all(file, processes.parse()?, seconds),
        _ => Err("appenders FILE PROCESSES SECONDS".into()),
    }
}

/// Starts the processes, releases them together, and prints the results.
fn all(file: &str, processes: usize, seconds: &str) -> Result<(), Anything> {
    drop(SqliteStore::open(file.as_ref(), &SqliteOptions::default())?);
    let mut children: Vec<Child> = (0..processes)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["one", file, seconds]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        })
        .collect::<Result<_, _>>()?;
    let mut outputs: Vec<_> = children
        .iter_mut()
        .filter_map(|child| child.stdout.take())
        .map(|output| BufReader::new(output).lines())
        .collect();
    for output in &mut outputs {
        output.next().ok_or("a process ended early")??;
    }
    for child in &mut children {
        child.stdin.take().ok_or("no input")?.write_all(b"go\n")?;
    }
    let mut took = Vec::new();
    let mut counts = Vec::new();
    for output in outputs {
        let before = took.len();
        for line in output {
            took.push(line?.parse::<u64>()?);
        }
        counts.push(took.len() - before);
    }
    for mut child in children {
        if !child.wait()?.success() {
            return Err("a process failed".into());
        }
    }
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize] as f64 / 1e3;
    let mean = took.len() as f64 / processes as f64;
    println!(
        "{processes} processes: {:.0} acknowledged/s, p50 {:.2} ms, p99 {:.2} ms, max {:.1} ms, slowest process {:.2} of the mean",
        took.len() as f64 / seconds.parse::<f64>()?,
        at(0.5),
        at(0.99),
        at(1.0),
        counts.iter().copied().min().unwrap_or(0) as f64 / mean
    );
    Ok(())
}

/// Runs one of the processes: appends one message after the other, then prints how many microseconds each took.
fn one(file: &Path, seconds: f64) -> Result<(), Anything> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let store = SqliteStore::open(file, &SqliteOptions::default())?;
    let at = Request::at(Timestamp::from_seconds(1.0)?);
    let id = SessionId::parse(format!("writer-{}", std::process::id()))?;
    let text = "The agent has looked at the file and found that nothing is missing from it. ".repeat(8);
    let took = runtime.block_on(async {
        store.ensure(&NewSession::new(id.clone(), Source::parse("bench")?), &at).await?;
        println!("ready");
        std::io::stdin().read_line(&mut String::new())?;
        let (start, span) = (Instant::now(), Duration::from_secs_f64(seconds));
        let mut took = Vec::new();
        while start.elapsed() < span {
            let asked = Instant::now();
            store.append(&id, &[NewMessage::new(Role::User, text.as_str())], &at).await?;
            took.push(asked.elapsed().as_micros());
        }
        Ok::<_, Anything>(took)
    })?;
    for time in took {
        println!("{time}");
    }
    Ok(())
}
