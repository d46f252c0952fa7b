//! Concurrent work: waited for, retried, and reported when it takes too long.

use crate::fixture::{id, now, options, said, server, session};
use hermes_conformance::servers::Mariadb;
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::{ConversationStore as _, EndReason, SessionStore as _, StoreError};
use mysql_async::prelude::Queryable as _;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_lock_of_others_is_waited_for_and_told() {
    let Some(server) = server(&[]) else { return };
    let options = MysqlOptions { wait: Duration::from_secs(2), ..options() };
    let store = Arc::new(MysqlStore::open(&server.url(), &options).await.expect("it opens"));
    store.create(&session("s"), &now()).await.expect("made");
    let holder = Holder::new(&server, "SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE").await;
    let error = store.append(&id("s"), &[said("x")], &now()).await.expect_err("somebody else has the session");
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    // The call waits as long as needed, within its limit.
    let waiting = Arc::clone(&store);
    let waiting = tokio::spawn(async move { waiting.append(&id("s"), &[said("x")], &now()).await });
    awaited(&server).await;
    holder.release().await;
    waiting.await.expect("no panic").expect("said");
    assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_only_reads_is_not_asked_again_on_the_same_connection() {
    let Some(server) = server(&[]) else { return };
    // A user with all privileges could write anyway.
    server.sql("CREATE USER plain@'127.0.0.1'; GRANT ALL ON hermes.* TO plain@'127.0.0.1'");
    let url = server.url().replace("hermes@", "plain@");
    let store = Arc::new(MysqlStore::open(&url, &options()).await.expect("it opens"));
    store.create(&session("s"), &now()).await.expect("made");
    let newest = server.sql("SELECT max(id) FROM information_schema.processlist WHERE user = 'plain'");
    let left = "SELECT count(*) FROM information_schema.processlist WHERE user = 'plain' AND id <= ";
    server.sql("SET GLOBAL read_only = 1");
    let waiting = Arc::clone(&store);
    let waiting = tokio::spawn(async move { waiting.append(&id("s"), &[said("x")], &now()).await });
    while server.sql(&format!("{left}{}", newest.trim())).trim() != "0" {
        assert!(!waiting.is_finished(), "it waits");
        tokio::task::yield_now().await;
    }
    server.sql("SET GLOBAL read_only = 0");
    waiting.await.expect("no panic").expect("said");
    assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(1));
}

#[tokio::test]
async fn every_connection_in_use_is_reported_within_the_time_out() {
    let Some(server) = server(&[]) else { return };
    let options = MysqlOptions { max_connections: 1, wait: Duration::from_secs(3), ..options() };
    let store = Arc::new(MysqlStore::open(&server.url(), &options).await.expect("it opens"));
    store.create(&session("s"), &now()).await.expect("made");
    let holder = Holder::new(&server, "SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE").await;
    let (waiting, reading) = (Arc::clone(&store), Arc::clone(&store));
    let waiting = tokio::spawn(async move { waiting.append(&id("s"), &[said("x")], &now()).await });
    // The first call has the only connection, and waits on it for the holder.
    awaited(&server).await;
    let error = reading.session(&id("s")).await.expect_err("there is no connection left");
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    let told = waiting.await.expect("no panic").expect_err("the holder is still there");
    assert!(matches!(told, StoreError::Busy { .. }), "{told:?}");
    holder.release().await;
    store.append(&id("s"), &[said("x")], &now()).await.expect("said");
}

#[tokio::test]
async fn a_server_that_takes_no_more_connections_is_waited_for() {
    let Some(server) = server(&["max_connections=11"]) else { return };
    let store = Arc::new(MysqlStore::open(&server.url(), &options()).await.expect("it opens"));
    store.create(&session("s"), &now()).await.expect("made");
    let mut holders = Vec::new();
    for _ in 0..9 {
        holders.push(Holder::new(&server, "SELECT 1").await);
    }
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.append(&id("s"), &[said("x")], &now()).await });
    }
    for holder in holders {
        holder.release().await;
    }
    while let Some(task) = tasks.join_next().await {
        task.expect("no panic").expect("said");
    }
    assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(8));
}

#[tokio::test]
async fn many_at_once_neither_lose_nor_fail() {
    let Some(server) = server(&[]) else { return };
    let store = Arc::new(MysqlStore::open(&server.url(), &options()).await.expect("it opens"));
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
    let Some(server) = server(&[]) else { return };
    let store = Arc::new(MysqlStore::open(&server.url(), &options()).await.expect("it opens"));
    for name in ["s", "t"] {
        store.create(&session(name), &now()).await.expect("made");
    }
    // The holder has locked the side row and wants the session, while an append has locked the session and wants the
    // side row. The server spares the transaction that changed more, which is the holder.
    let mut holder = Holder::new(&server, "CREATE TEMPORARY TABLE ballast (a INT PRIMARY KEY) ENGINE = InnoDB").await;
    let rows: Vec<String> = (0..100).map(|number| format!("('ballast {number}', 'x')")).collect();
    holder.run(&format!("INSERT INTO state_meta (`key`, value) VALUES {}", rows.join(", "))).await.expect("written");
    holder.run("SELECT 1 FROM hx_session WHERE session_id = 's' FOR UPDATE").await.expect("locked");
    let waiting = Arc::clone(&store);
    let waiting = tokio::spawn(async move { waiting.append(&id("s"), &[said("x")], &now()).await });
    awaited(&server).await;
    holder.run("SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE").await.expect("the append is given up");
    holder.release().await;
    waiting.await.expect("no panic").expect("said");
    assert_eq!(store.session(&id("s")).await.expect("read").map(|session| session.message_count), Some(1));
    let deadlocks = server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'");
    assert_eq!(deadlocks.trim(), "Innodb_deadlocks\t1", "there was one");
}

/// Waits until a transaction waits for a lock.
async fn awaited(server: &Mariadb) {
    while server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").trim().ends_with("\t0") {
        tokio::task::yield_now().await;
    }
}

/// Another client's transaction that keeps the locks of its statements.
pub(crate) struct Holder(mysql_async::Conn);

impl Holder {
    pub(crate) async fn new(server: &Mariadb, sql: &str) -> Self {
        let connection = mysql_async::Conn::from_url(server.url()).await.expect("connected");
        let mut holder = Self(connection);
        holder.run("START TRANSACTION").await.expect("begun");
        holder.run(sql).await.expect("locked");
        holder
    }

    async fn run(&mut self, sql: &str) -> Result<(), mysql_async::Error> {
        self.0.query_drop(sql).await
    }

    pub(crate) async fn commit(mut self) {
        self.run("COMMIT").await.expect("committed");
    }

    pub(crate) async fn release(self) {
        self.0.disconnect().await.expect("gone");
    }
}
