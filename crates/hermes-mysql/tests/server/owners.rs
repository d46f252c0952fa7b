//! Owners of a conversation, and the feed of changes, on a server.

use crate::fixture::{cut_all, id, now, options, server, session};
use crate::waiting::Holder;
use hermes_conformance::servers::owners;
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::live::Kinds;
use hermes_session::{ChangeStore as _, EndReason, SessionStore as _, Store};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_want_one_conversation() {
    let Some(server) = server(&[]) else { return };
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for _ in 0..16 {
        let options = MysqlOptions { max_connections: 1, ..options() };
        stores.push(Arc::new(MysqlStore::open(&server.url(), &options).await.expect("it opens")));
    }
    owners::one_writes_at_a_time(stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_in_every_phase_of_a_turn() {
    let Some(server) = server(&[]) else { return };
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    owners::cut_in_every_phase_of_a_turn(Arc::new(store), || cut_all(&server)).await;
}

/// A transaction draws its number in the feed before another one, and commits after it was read.
#[tokio::test]
async fn a_change_that_commits_late_is_reported() {
    let Some(server) = server(&[]) else { return };
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    store.create(&session("a"), &now()).await.expect("made");
    store.create(&session("b"), &now()).await.expect("made");
    let sql = "INSERT INTO hx_change (session_id, kinds, at) VALUES ('a', 4, unix_timestamp())";
    let late = Holder::new(&server, sql).await;
    // A reader that starts after the number was drawn waits for it as well.
    let early = store.changes(None).await.expect("read").next;
    store.end(&id("b"), &EndReason::from_stored("cli_close"), &now()).await.expect("ended");
    let started = store.changes(None).await.expect("read").next;
    let seen = store.changes(Some(&early)).await.expect("read");
    assert_eq!(seen.changed.iter().map(|one| one.session.as_str()).collect::<Vec<_>>(), ["b"]);
    late.commit().await;
    for mark in [&seen.next, &started] {
        let seen = store.changes(Some(mark)).await.expect("read");
        let changed: Vec<_> = seen.changed.iter().map(|one| (one.session.as_str(), one.kinds)).collect();
        assert_eq!(changed, [("a", Kinds::SESSION)]);
        assert_eq!(store.changes(Some(&seen.next)).await.expect("read").changed, []);
    }
}
