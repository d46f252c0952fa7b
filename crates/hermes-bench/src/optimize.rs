//! Converts a file of the agent to the compact layout.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_session::{Maintenance as _, Optimizing};
use serde_json::{Value, json};
use std::path::Path;

/// Opens the file, which adopts it if necessary, then converts it completely.
pub(crate) async fn run(file: &str) -> Result<Value, Anything> {
    let watch = Stopwatch::start();
    let store = crate::open(file)?;
    let opened = watch.seconds();
    while store.optimize().await? != Optimizing::Done {}
    crate::settle(store).await?;
    let converted = watch.seconds();
    let shrunk = hermes_sqlite::shrink(Path::new(file))?;
    Ok(json!({
        "seconds_open": opened, "seconds_converted": converted, "seconds": watch.seconds(),
        "cpu_seconds": watch.cpu_seconds(), "shrunk": format!("{shrunk:?}"),
    }))
}
