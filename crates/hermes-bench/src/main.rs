//! Measures our store on a corpus. `scripts/bench` runs it beside the Python agent and prints both.
//!
//! `hermes-bench load CORPUS FILE`, `hermes-bench measure CORPUS FILE`, `hermes-bench writers FILE`, `hermes-bench writer FILE NAME COUNT`.
//! Each prints one JSON object.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod corpus;
mod measure;
mod writers;

use hermes_session::StoreError;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::error::Error;
use std::path::Path;

/// Whatever went wrong: a bench stops at it.
type Anything = Box<dyn Error + Send + Sync>;

fn open(path: &str) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(Path::new(path), &SqliteOptions::default())
}

fn main() -> Result<(), Anything> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let figures = match arguments[..] {
        ["load", corpus, file] => runtime.block_on(corpus::load(&open(file)?, Path::new(corpus)))?,
        ["measure", corpus, file] => measure::all(&runtime, file, Path::new(corpus))?,
        ["writers", file] => writers::all(&runtime, file)?,
        ["writer", file, name, count] => runtime.block_on(writers::one(file, name, count.parse()?))?,
        _ => return Err("usage: hermes-bench load|measure CORPUS FILE, or writers FILE".into()),
    };
    println!("{figures}");
    Ok(())
}
