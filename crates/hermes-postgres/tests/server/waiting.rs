//! Concurrent work: waited for, retried, and reported when it takes too long.

use crate::fixture::{id, now, options, said, server, session};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{ConversationStore as _, EndReason, SessionStore as _, StoreError};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_statement_that_takes_too_long_is_reported() {
    let Some(server) = server(&[]) else { return };
    let options = PostgresOptions { statement_timeout: Duration::from_millis(300), ..options("a") };
    let store = PostgresStore::open(&server.url(), &options).await.expect("it opens");
    store.create(&session("s"), &now()).await.expect("made");
    let holder = Holder::new(&server, "a", "SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE").await;
    let error = store.append(&id("s"), &[said("x")], &now()).await.expect_err("somebody else has the session");
    assert!(
        matches!(error, StoreError::Backend { .. }) && format!("{error:?}").contains("statement timeout"),
        "{error:?}"
    );
    drop(holder);
    store.append(&id("s"), &[said("x")], &now()).await.expect("said");
    assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(1));
}

#[tokio::test]
async fn what_comes_before_a_transaction_is_bounded_as_well() {
    let Some(server) = server(&[]) else { return };
    let options = PostgresOptions { statement_timeout: Duration::from_millis(300), ..options("a") };
    let store = PostgresStore::open(&server.url(), &options).await.expect("it opens");
    let refused = |error: StoreError| format!("{error:?}").contains("statement timeout");
    let holder = Holder::new(&server, "a", "LOCK TABLE hx_mark").await;
    assert!(refused(store.create(&session("s"), &now()).await.expect_err("somebody else has all marks")));
    holder.0.batch_execute("ROLLBACK").await.expect("released");
    store.create(&session("s"), &now()).await.expect("made");
    let holder = Holder::new(&server, "a", "LOCK TABLE hx_term").await;
    assert!(refused(store.append(&id("s"), &[said("x")], &now()).await.expect_err("somebody else has all words")));
    holder.0.batch_execute("ROLLBACK").await.expect("released");
    store.append(&id("s"), &[said("x")], &now()).await.expect("said");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_only_reads_is_not_asked_again_on_the_same_connection() {
    let Some(server) = server(&[]) else { return };
    let store = Arc::new(PostgresStore::open(&server.url(), &options("a")).await.expect("it opens"));
    store.create(&session("s"), &now()).await.expect("made");
    let pids = server.sql("SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE application_name = 'hermes'");
    let left = format!("SELECT count(*) FROM pg_stat_activity WHERE pid IN ({})", pids.trim());
    let set = |value: &str| {
        server.sql(&format!("ALTER SYSTEM SET default_transaction_read_only = {value}"));
        server.sql("SELECT pg_reload_conf()");
        // A new process sees the value only after all others were told.
        while server.sql("SHOW default_transaction_read_only").trim() != value {}
    };
    set("on");
    let waiting = Arc::clone(&store);
    let waiting = tokio::spawn(async move { waiting.append(&id("s"), &[said("x")], &now()).await });
    while server.sql(&left).trim() != "0" {
        assert!(!waiting.is_finished(), "it waits");
        tokio::task::yield_now().await;
    }
    set("off");
    waiting.await.expect("no panic").expect("said");
}

#[tokio::test]
async fn every_connection_in_use_is_reported_within_the_time_out() {
    let Some(server) = server(&[]) else { return };
    let options = PostgresOptions { max_connections: 1, wait: Duration::from_millis(500), ..options("a") };
    let store = Arc::new(PostgresStore::open(&server.url(), &options).await.expect("it opens"));
    store.create(&session("s"), &now()).await.expect("made");
    let holder = Holder::new(&server, "a", "SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE").await;
    let waiting = Arc::clone(&store);
    let waiting = tokio::spawn(async move { waiting.append(&id("s"), &[said("x")], &now()).await });
    // The first call has the only connection, and waits on it for the holder.
    holder.awaited(&server).await;
    let error = store.session(&id("s")).await.expect_err("there is no connection left");
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    drop(holder);
    waiting.await.expect("no panic").expect("said");
}

#[tokio::test]
async fn a_pool_of_somebody_elses_serves() {
    let Some(server) = server(&[]) else { return };
    let config = server.url().parse().expect("a URL");
    let manager = deadpool_postgres::Manager::new(config, tokio_postgres::NoTls);
    let pool = deadpool_postgres::Pool::builder(manager).max_size(2).build().expect("a pool");
    let store = PostgresStore::with_pool(pool.clone(), &options("theirs")).await.expect("it opens");
    store.create(&session("s"), &now()).await.expect("made");
    store.append(&id("s"), &[said("x")], &now()).await.expect("said");
    let client = pool.get().await.expect("a connection");
    let row =
        client.query_one("SELECT current_setting('search_path'), current_setting('statement_timeout')", &[]).await;
    let row = row.expect("its settings");
    assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1)), ("\"$user\", public", "0"), "nothing is left behind");
}

#[tokio::test]
async fn many_at_once_neither_lose_nor_fail() {
    let Some(server) = server(&[]) else { return };
    let store = Arc::new(PostgresStore::open(&server.url(), &options("many")).await.expect("it opens"));
    store.create(&session("root"), &now()).await.expect("made");
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..16 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            for turn in 0..10 {
                let name = format!("w{worker}-{turn}");
                store.create(&session(&name).child_of(id("root"), hermes_session::Relation::Delegate), &now()).await?;
                store.append(&id(&name), &[said(&format!("word{turn} common")), said("second")], &now()).await?;
                store.append(&id("root"), &[said(&format!("word{worker}"))], &now()).await?;
                store.end(&id(&name), &EndReason::parse("cli_close")?, &now()).await?;
            }
            Ok::<(), StoreError>(())
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.expect("no panic").expect("all of it is done");
    }
    let counts = store.counts(&Default::default()).await.expect("counted");
    assert_eq!((counts.conversations, counts.sessions, counts.messages), (1, 161, 16 * 10 * 3));
    let report = hermes_session::Maintenance::verify(&*store).await.expect("looked through");
    assert!(report.is_sound(), "{report:?}");
}

#[tokio::test]
async fn a_deadlock_is_tried_again() {
    let Some(server) = server(&["deadlock_timeout=50ms"]) else { return };
    let store = Arc::new(PostgresStore::open(&server.url(), &options("a")).await.expect("it opens"));
    for name in ["s", "t"] {
        store.create(&session(name), &now()).await.expect("made");
    }
    // The holder has locked the side row and wants the session, while an append has locked the session and wants the
    // side row.
    let holder = Holder::new(&server, "a", "SELECT 1 FROM hx_session WHERE session_id = 's' FOR UPDATE").await;
    let waiting = Arc::clone(&store);
    let waiting = tokio::spawn(async move { waiting.append(&id("s"), &[said("x")], &now()).await });
    holder.awaited(&server).await;
    // The server aborts one of the two: the holder, or the append, which is retried once the holder is gone.
    _ = holder.0.batch_execute("SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE").await;
    drop(holder);
    waiting.await.expect("no panic").expect("said");
    assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(1));
}

/// Another client's transaction that keeps the locks of its statement.
pub(crate) struct Holder(tokio_postgres::Client);

impl Holder {
    pub(crate) async fn new(server: &hermes_conformance::servers::Postgres, schema: &str, sql: &str) -> Self {
        let (client, connection) =
            tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.expect("connected");
        tokio::spawn(connection);
        client.batch_execute(&format!("BEGIN; SET search_path = {schema}; {sql}")).await.expect("locked");
        Self(client)
    }

    pub(crate) async fn commit(self) {
        self.0.batch_execute("COMMIT").await.expect("committed");
    }

    /// Waits until a transaction waits for a lock.
    async fn awaited(&self, server: &hermes_conformance::servers::Postgres) {
        while server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").trim() == "0" {
            tokio::task::yield_now().await;
        }
    }
}
