//! Owners of a conversation, and the feed of changes, on a server.

use crate::fixture::{id, now, options, server, session};
use crate::waiting::Holder;
use hermes_conformance::servers::owners;
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::live::Kinds;
use hermes_session::{ChangeStore as _, EndReason, Maintenance as _, SessionStore as _, Store};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_want_one_conversation() {
    let Some(server) = server(&[]) else { return };
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for _ in 0..16 {
        let options = PostgresOptions { max_connections: 1, ..options("owners") };
        stores.push(Arc::new(PostgresStore::open(&server.url(), &options).await.expect("it opens")));
    }
    owners::one_writes_at_a_time(stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_in_every_phase_of_a_turn() {
    let Some(server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("talk")).await.expect("it opens");
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hermes'";
    owners::cut_in_every_phase_of_a_turn(Arc::new(store), || _ = server.sql(cut)).await;
}

/// A transaction draws its number in the feed before another one, and commits after it was read.
#[tokio::test]
async fn a_change_that_commits_late_is_reported() {
    let Some(server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("late")).await.expect("it opens");
    store.create(&session("a"), &now()).await.expect("made");
    store.create(&session("b"), &now()).await.expect("made");
    let late = Holder::new(&server, "late", "INSERT INTO hx_change (session_id, kinds) VALUES ('a', 4)").await;
    // A reader that starts after the number was drawn waits for it as well.
    let early = store.changes(None).await.expect("read").next;
    store.end(&id("b"), &EndReason::from_stored("cli_close"), &now()).await.expect("ended");
    let started = store.changes(None).await.expect("read").next;
    let seen = store.changes(Some(&early)).await.expect("read");
    assert_eq!(seen.changed.iter().map(|one| one.session.as_str()).collect::<Vec<_>>(), ["b"]);
    late.commit().await;
    for mark in [&seen.next, &started] {
        let seen = store.changes(Some(mark)).await.expect("read");
        assert_eq!(
            seen.changed.iter().map(|one| (one.session.as_str(), one.kinds)).collect::<Vec<_>>(),
            [("a", Kinds::SESSION)]
        );
        assert_eq!(store.changes(Some(&seen.next)).await.expect("read").changed, []);
    }
}

/// Rows are deleted after a day; a mark from before starts again.
#[tokio::test]
async fn an_old_mark_starts_again() {
    let Some(server) = server(&[]) else { return };
    let store = PostgresStore::open(&server.url(), &options("old")).await.expect("it opens");
    let mark = store.changes(None).await.expect("read").next;
    store.create(&session("a"), &now()).await.expect("made");
    store.create(&session("b"), &now()).await.expect("made");
    server.sql("UPDATE old.hx_change SET at = at - 90000 WHERE session_id = 'a'");
    while store.upkeep().await.expect("done") {}
    assert_eq!(server.sql("SELECT session_id FROM old.hx_change").trim(), "b");
    let seen = store.changes(Some(&mark)).await.expect("read");
    assert!(seen.is_reset && seen.changed.is_empty(), "{seen:?}");
    assert_eq!(store.changes(Some(&seen.next)).await.expect("read").changed, []);
}
