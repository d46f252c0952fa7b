//! The server dies under writers, again and again.

use crate::fixture::{options, server};
use hermes_conformance::servers::deaths;
use hermes_postgres::{PostgresOptions, PostgresStore};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_under_writers() {
    // What is on disk counts here.
    let Some(mut server) = server(&["fsync=on", "synchronous_commit=on"]) else { return };
    let options = PostgresOptions { wait: Duration::from_secs(60), ..options("deaths") };
    let store = PostgresStore::open(&server.url(), &options).await.expect("it opens");
    deaths::killed_under_writers(Arc::new(store), || server.crash()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_after_a_refusal() {
    // What nobody waits for is not on disk for a while.
    let Some(mut server) = server(&["fsync=on", "synchronous_commit=on", "wal_writer_delay=10s"]) else { return };
    let store = PostgresStore::open(&server.url(), &options("refusal")).await.expect("it opens");
    deaths::killed_after_a_refusal(&store, || server.crash()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_in_every_phase() {
    let Some(server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("cut")).await.expect("it opens");
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hermes'";
    deaths::cut_under_a_writer(Arc::new(store), || _ = server.sql(cut)).await;
}
