//! The server crashes repeatedly while clients write.

use crate::fixture::{cut_all, database, options, server};
use hermes_conformance::servers::deaths;
use hermes_mysql::{MysqlOptions, MysqlStore};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_under_writers() {
    // The test is about data on disk.
    let Some(mut server) = server(&["innodb_flush_log_at_trx_commit=1"]) else { return };
    let options = MysqlOptions { wait: Duration::from_secs(60), ..options() };
    let store = MysqlStore::open(&server.url(), &options).await.expect("it opens");
    deaths::killed_under_writers(Arc::new(store), || server.crash()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_after_a_refusal() {
    let Some(mut server) = server(&["innodb_flush_log_at_trx_commit=1"]) else { return };
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    deaths::killed_after_a_refusal(&store, || server.crash()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaced_by_one_that_knows_less() {
    let Some(mut server) = server(&["innodb_flush_log_at_trx_commit=1"]) else { return };
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    let replace = || {
        server.sql("DELETE FROM hx_term WHERE term = 'zetaqx'");
        server.crash();
    };
    deaths::replaced_by_one_that_knows_less(&store, replace).await;
}

/// An older state is restored while connections stay open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn put_back_under_a_writer() {
    let Some(server) = server(&[]) else { return };
    for (name, marks) in [("back", "UPDATE hx_mark SET number = number - 1"), ("anew", "DELETE FROM hx_mark")] {
        let store = MysqlStore::open(&database(&server, name), &options()).await.expect("it opens");
        let replace = || _ = server.sql(&format!("USE {name}; DELETE FROM hx_term WHERE term = 'zetaqx'; {marks}"));
        deaths::replaced_by_one_that_knows_less(&store, replace).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deprived_of_a_word() {
    let Some(server) = server(&[]) else { return };
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    deaths::deprived_of_a_word(&store, || _ = server.sql("DELETE FROM hx_term WHERE term = 'zetaqx'")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_in_every_phase() {
    let Some(server) = server(&[]) else { return };
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    deaths::cut_under_a_writer(Arc::new(store), || cut_all(&server)).await;
}
