//! The server crashes repeatedly while clients write.

use crate::fixture::{id, now, options, said, server};
use crate::pooler::Pooler;
use hermes_conformance::servers::deaths;
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{Maintenance as _, SessionStore as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Commits are durable, and asynchronous commits reach the disk late.
const FORGETFUL: [&str; 3] = ["fsync=on", "synchronous_commit=on", "wal_writer_delay=10s"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_under_writers() {
    let Some(mut server) = server(&FORGETFUL) else { return };
    let options = PostgresOptions { wait: Duration::from_secs(60), ..options("deaths") };
    let store = PostgresStore::open(&server.url(), &options).await.expect("it opens");
    deaths::killed_under_writers(Arc::new(store), || server.crash()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_after_a_refusal() {
    let Some(mut server) = server(&FORGETFUL) else { return };
    let store = PostgresStore::open(&server.url(), &options("refusal")).await.expect("it opens");
    deaths::killed_after_a_refusal(&store, || server.crash()).await;
}

/// The server keeps its name after such a crash.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_within_after_a_refusal() {
    let Some(server) = server(&FORGETFUL) else { return };
    let store = PostgresStore::open(&server.url(), &options("refusal")).await.expect("it opens");
    deaths::killed_after_a_refusal(&store, || server.crash_within()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaced_by_one_that_knows_less() {
    let Some(mut server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("less")).await.expect("it opens");
    let replace = || {
        server.sql("DELETE FROM less.hx_term WHERE term = 'zetaqx'");
        server.stop("fast");
        server.launch();
    };
    deaths::replaced_by_one_that_knows_less(&store, replace).await;
}

/// An older state is restored while connections stay open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn put_back_under_a_writer() {
    let Some(server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("back")).await.expect("it opens");
    let replace = || {
        _ = server.sql("DELETE FROM back.hx_term WHERE term = 'zetaqx'; UPDATE back.hx_mark SET number = number - 1")
    };
    deaths::replaced_by_one_that_knows_less(&store, replace).await;
    let store = PostgresStore::open(&server.url(), &options("anew")).await.expect("it opens");
    let replace = || {
        _ = server
            .sql("ALTER TABLE anew.hx_term RENAME TO old; CREATE TABLE anew.hx_term (LIKE anew.old INCLUDING ALL)");
    };
    deaths::replaced_by_one_that_knows_less(&store, replace).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deprived_of_a_word() {
    let Some(server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("word")).await.expect("it opens");
    deaths::deprived_of_a_word(&store, || _ = server.sql("DELETE FROM word.hx_term WHERE term = 'zetaqx'")).await;
}

/// A pooler keeps its clients when it loses its server: facts cached about the previous server may no longer hold,
/// whenever it was lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaced_behind_a_pooler() {
    let Some(server) = server(&FORGETFUL) else { return };
    let pooler = Pooler::new(server.port()).await;
    let options = PostgresOptions { max_connections: 1, ..options("pooled") };
    let store = PostgresStore::open(&pooler.url(), &options).await.expect("it opens");
    let server = Arc::new(Mutex::new(server));
    deaths::replaced_by_one_that_knows_less(&store, || {
        let mut server = server.lock().expect("no panic");
        server.sql("DELETE FROM pooled.hx_term WHERE term = 'zetaqx'");
        server.crash();
    })
    .await;
    assert_eq!(pooler.clients(), 1, "the connection lasted");
    // Between adding words and the transaction that uses them.
    let crashed = Arc::clone(&server);
    pooler.before_the_next_write(move || crashed.lock().expect("no panic").crash());
    store.append(&id("w0"), &[said("omegaqx")], &now()).await.expect("said");
    assert!(!pooler.has_errand(), "it was lost meanwhile");
    assert_eq!(pooler.clients(), 1, "the connection lasted");
    let report = store.verify().await.expect("looked through");
    assert!(report.is_sound(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_in_every_phase() {
    let Some(server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("cut")).await.expect("it opens");
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hermes'";
    deaths::cut_under_a_writer(Arc::new(store), || _ = server.sql(cut)).await;
}
