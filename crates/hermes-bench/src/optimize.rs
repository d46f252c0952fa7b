//! Brings a file of the agent's making into the compact layout.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};

/// Opens, which adopts the file if nobody has yet, then converts it to the end.
pub(crate) async fn run(file: &str) -> Result<Value, Anything> {
    let watch = Stopwatch::start();
    let store = crate::open(file)?;
    let opened = watch.seconds();
    optimize(&store).await?;
    crate::settle(store).await?;
    Ok(json!({"seconds_open": opened, "seconds": watch.seconds(), "cpu_seconds": watch.cpu_seconds()}))
}

async fn optimize(_store: &SqliteStore) -> Result<(), Anything> {
    Err("optimize is not there yet".into())
}
