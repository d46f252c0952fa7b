//! Measures our store. `scripts/bench` runs it next to the Python agent and prints both results.
//!
//! There is one subcommand, and one file, per measurement; each prints one JSON object. `scripts/bench` describes them.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod answers;
mod append;
mod appender;
mod corpus;
mod find;
mod live;
mod optimize;
mod prune;
mod reads;
mod recall;
mod servers;
mod stopwatch;
mod stores;
mod threads;

use hermes_session::{Maintenance as _, StoreError};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::error::Error;
use std::path::Path;

const USAGE: &str = "usage: hermes-bench load CORPUS FILE | reads CORPUS FILE | append CORPUS FILE COUNT | \
                     appender FILE BODIES NAME SECONDS PAUSE_MS | prune FILE NOW DAYS | optimize FILE | threads FILE | \
                     find FILE QUERIES | recall FILE QUERIES | servers CORPUS FILE QUERIES SECONDS | \
                     answers URL QUERIES | live-fight ENGINE PROCESSES ASKS | live-kills ENGINE KILLS | \
                     live-mail ENGINE COUNT | live-fenced ENGINE COUNT (ENGINE: sqlite, postgres, mariadb)";

/// Any error: a benchmark stops at the first one.
type Anything = Box<dyn Error + Send + Sync>;

fn open(path: &str) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(Path::new(path), &SqliteOptions::default())
}

/// Opens a file so that nothing is indexed before [`settle`], in order to measure acknowledgements alone.
fn open_idle(path: &str) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(Path::new(path), &SqliteOptions { background: false, ..SqliteOptions::default() })
}

/// Does all deferred work and closes the store.
async fn settle(store: SqliteStore) -> Result<(), StoreError> {
    while store.upkeep().await? {}
    Ok(())
}

fn main() -> Result<(), Anything> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let figures = match arguments[..] {
        ["load", corpus, file] => runtime.block_on(corpus::load(file, Path::new(corpus)))?,
        ["reads", corpus, file] => reads::all(&runtime, file, Path::new(corpus))?,
        ["append", corpus, file, count] => runtime.block_on(append::run(file, Path::new(corpus), count.parse()?))?,
        ["appender", file, bodies, name, seconds, pause] => {
            runtime.block_on(appender::run(file, Path::new(bodies), name, seconds.parse()?, pause.parse()?))?
        }
        ["prune", file, now, days] => runtime.block_on(prune::run(file, now.parse()?, days.parse()?))?,
        ["optimize", file] => runtime.block_on(optimize::run(file))?,
        ["find", file, queries] => find::run(&runtime, file, Path::new(queries))?,
        ["recall", file, queries] => recall::run(&runtime, file, Path::new(queries))?,
        ["servers", corpus, file, queries, seconds] => {
            servers::run(&runtime, Path::new(corpus), file, Path::new(queries), seconds.parse()?)?
        }
        ["answers", url, queries] => answers::run(&runtime, url, Path::new(queries))?,
        ["live-fight", engine, processes, asks] => {
            runtime.block_on(live::fight::run(engine, processes.parse()?, asks.parse()?))?
        }
        ["live-fighter", url, rounds, number] => {
            runtime.block_on(live::fight::fighter(url, rounds.parse()?, number.parse()?))?
        }
        ["live-kills", engine, kills] => runtime.block_on(live::kills::run(engine, kills.parse()?))?,
        ["live-answerer", url] => runtime.block_on(live::kills::answerer(url))?,
        ["live-mail", engine, count] => runtime.block_on(live::mail::run(engine, count.parse()?))?,
        ["live-fenced", engine, count] => runtime.block_on(live::fenced::run(engine, count.parse()?))?,
        ["threads", file] => threads::run(&runtime, file)?,
        _ => return Err(USAGE.into()),
    };
    println!("{figures}");
    Ok(())
}
