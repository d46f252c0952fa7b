//! We and the Python agent on one file: releases of the agent run as separate processes, we in this one.
//!
//! Two copies of SQLite in one process destroy a file, so Python's copy is never loaded into this process: `peer.py`
//! runs the agent's own store and communicates by JSON lines.

#![allow(
    clippy::disallowed_methods,
    reason = "the tests look at the file from outside, and the agent goes by the clock"
)]
#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

/// Makes a test of a scenario for each release: `scenario::release_0_14_0` and so on.
macro_rules! scenario {
    ($scenario:ident: $($test:ident $version:literal),+) => {
        mod $scenario {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    let Some(release) = crate::peer::Release::find($version) else { return };
                    let _turn = crate::fixture::ALONE.read().await;
                    super::$scenario(&release).await;
                }
            )+
        }
    };
    ($scenario:ident) => {
        scenario!($scenario: release_0_14_0 "0.14.0", release_0_19_0 "0.19.0");
    };
}

mod adoption;
mod at_once;
mod damage;
mod deaths;
mod fixture;
mod in_turn;
mod ledger;
mod markers;
#[path = "../shared/old_schema.rs"]
mod old_schema;
mod on_our_file;
mod on_their_file;
mod optimize;
mod owners;
mod peer;
mod process;
mod releases;
mod samples;
mod steps;
mod structured;
mod trash;
mod untouched;
mod views;
