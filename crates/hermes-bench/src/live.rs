//! Live clients: processes that fight for one conversation, that are killed in the middle of turns, and the cost of
//! turns, mail and fences.
//!
//! Each measurement runs on a new store of an engine. The parent starts this program again for every process that it
//! measures or kills.

pub(crate) mod fenced;
pub(crate) mod fight;
pub(crate) mod kills;
pub(crate) mod mail;

use crate::Anything;
use hermes_session::live::Holder;
use hermes_session::{NewSession, Request, SessionId, Source, Store, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use std::process::{Child, Command, Stdio};

/// Returns the time of this machine, which all processes share.
fn now() -> Result<Timestamp, Anything> {
    let time = clock_gettime(ClockId::Realtime);
    Ok(Timestamp::from_seconds(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)?)
}

/// Returns this process as a holder of leases.
fn holder(label: &str) -> Holder {
    Holder { host: "bench".into(), process: i64::from(std::process::id()), born: String::new(), label: label.into() }
}

/// Creates the conversation that is measured.
async fn create(store: &dyn Store) -> Result<SessionId, Anything> {
    let id = SessionId::parse("bench")?;
    store.create(&NewSession::new(id.clone(), Source::parse("bench")?), &Request::at(now()?)).await?;
    Ok(id)
}

/// Starts this program once more, with its output as a pipe.
fn start(arguments: &[&str]) -> Result<Child, Anything> {
    Ok(Command::new(std::env::current_exe()?).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
}
