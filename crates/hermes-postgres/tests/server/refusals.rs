//! Unusable servers are reported as such, at once, without a fallback.

use crate::fixture::{id, now, options, refusal, said, server, session};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{ConversationStore as _, Maintenance as _, Refusal, ServerProblem, SessionStore as _, StoreError};
use std::time::{Duration, Instant};

#[tokio::test]
async fn each_reason_is_reported_with_what_to_do() {
    let Some(server) = server(&[]) else { return };
    server.sql("CREATE ROLE guest LOGIN PASSWORD 'right'");
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    let port = server.port();
    let url = |place: &str| format!("postgresql://{place}");
    let (error, reason) = refusal(&url(&format!("hermes@127.0.0.1:{port}/nowhere")), &options("a")).await;
    assert_eq!(
        error,
        format!(
            "postgresql://hermes@127.0.0.1:{port}/nowhere (schema a) can't be used: database \"nowhere\" does not exist"
        )
    );
    assert!(matches!(reason, Refusal::Server { problem: ServerProblem::NoDatabase, .. }), "{reason:?}");
    let (error, reason) = refusal(&url(&format!("nobody@127.0.0.1:{port}/hermes")), &options("a")).await;
    assert!(error.ends_with("can't be used: role \"nobody\" does not exist"), "{error}");
    assert!(matches!(reason, Refusal::Server { problem: ServerProblem::Authentication, .. }), "{reason:?}");
    let (error, reason) = refusal(&url(&format!("guest@127.0.0.1:{port}/hermes")), &options("a")).await;
    assert!(error.ends_with("can't be used: permission denied for database hermes"), "{error}");
    assert!(matches!(reason, Refusal::Server { problem: ServerProblem::NoPrivilege, .. }), "{reason:?}");
    let (error, _) = refusal(&url(&format!("hermes@127.0.0.1:{port}/latin")), &options("a")).await;
    assert!(error.ends_with("stores text as LATIN1, not UTF-8"), "{error}");
    let reading = PostgresOptions { create: false, ..options("a") };
    let (error, _) = refusal(&server.url(), &reading).await;
    assert!(error.ends_with("has no session store in the schema a"), "{error}");
    assert_eq!(server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'a'").trim(), "0", "nothing was made");
    for schema in ["", "pg_x", &"x".repeat(64)] {
        let error = PostgresStore::open(&server.url(), &options(schema)).await.err().expect("it is refused");
        assert!(matches!(error, StoreError::Invalid(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_wrong_password_is_reported_and_not_shown() {
    let Some(server) = server(&[]) else { return };
    server.sql("ALTER ROLE hermes PASSWORD 'right'");
    let rules = server.data().join("pg_hba.conf");
    std::fs::write(rules, "host all all 127.0.0.1/32 scram-sha-256\n").expect("the rules are written");
    server.run("pg_ctl", &["-D", "data", "reload"]);
    let url = |password: &str| format!("postgresql://hermes:{password}@127.0.0.1:{}/hermes", server.port());
    // The server reads its rules a moment later.
    let start = Instant::now();
    while PostgresStore::open(&url("hunter2"), &options("a")).await.is_ok() {
        assert!(start.elapsed() < Duration::from_secs(20), "the rules are not read");
    }
    let (error, reason) = refusal(&url("hunter2"), &options("a")).await;
    assert!(error.ends_with("can't be used: password authentication failed for user \"hermes\""), "{error}");
    assert!(!format!("{error}{reason:?}").contains("hunter2"));
    let store = PostgresStore::open(&url("right"), &options("b")).await.expect("the right one is taken");
    assert!(!format!("{:?}", store.status().await.expect("its status")).contains("right"));
}

#[tokio::test]
async fn nobody_there_is_reported_within_the_time_out() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let silent = listener.local_addr().expect("its address").port();
    let options = PostgresOptions { connect_timeout: Duration::from_secs(1), ..options("a") };
    let start = Instant::now();
    // First a server that accepts the connection and never answers, then a port that nobody listens on.
    let (_, reason) = refusal(&format!("postgresql://a@127.0.0.1:{silent}/b"), &options).await;
    assert!(matches!(reason, Refusal::Server { problem: ServerProblem::NotReached, .. }), "{reason:?}");
    drop(listener);
    refusal(&format!("postgresql://a@127.0.0.1:{silent}/b"), &options).await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn of_several_hosts_the_one_that_takes_writes_is_found() {
    let Some(server) = server(&[]) else { return };
    let dead = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|port| port.local_addr()).expect("a port").port();
    let url = format!("postgresql://hermes@127.0.0.1:{dead},127.0.0.1:{}/hermes", server.port());
    let store = PostgresStore::open(&url, &options("a")).await.expect("it opens");
    store.create(&session("s"), &now()).await.expect("made");
    // A read-only server is skipped.
    server.sql("ALTER DATABASE hermes SET default_transaction_read_only = on");
    refusal(&url, &options("a")).await;
}

#[tokio::test]
async fn tables_of_others_are_left_alone() {
    let Some(server) = server(&[]) else { return };
    server.sql("CREATE SCHEMA shop; CREATE TABLE shop.sessions (cart TEXT); INSERT INTO shop.sessions VALUES ('milk')");
    let (error, reason) = refusal(&server.url(), &options("shop")).await;
    assert!(error.ends_with("has a table sessions in the schema shop that is not ours"), "{error}");
    assert!(matches!(reason, Refusal::OtherTables { .. }), "{reason:?}");
    assert_eq!(
        server.sql("SELECT string_agg(relname, ',') FROM pg_class WHERE relnamespace = 'shop'::regnamespace").trim(),
        "sessions"
    );
}

#[tokio::test]
async fn schemas_are_stores_of_their_own() {
    let Some(server) = server(&[]) else { return };
    let one = PostgresStore::open(&server.url(), &options("one")).await.expect("it opens");
    let two = PostgresStore::open(
        &format!("{}?schema=Two words\"", server.url()),
        &PostgresOptions { schema: None, ..options("") },
    )
    .await
    .expect("it opens");
    one.create(&session("s"), &now()).await.expect("made");
    assert_eq!(two.session(&id("s")).await.expect("read"), None);
    two.create(&session("s"), &now()).await.expect("made");
    two.append(&id("s"), &[said("x")], &now()).await.expect("said");
    assert_eq!(one.counts(&Default::default()).await.expect("counted").messages, 0);
}

#[tokio::test]
async fn reading_alone_makes_and_changes_nothing() {
    let Some(server) = server(&[]) else { return };
    let reading = PostgresOptions { read_only: true, ..options("r") };
    refusal(&server.url(), &reading).await;
    let store = PostgresStore::open(&server.url(), &options("r")).await.expect("it opens");
    store.create(&session("s"), &now()).await.expect("made");
    let store = PostgresStore::open(&server.url(), &reading).await.expect("it opens");
    assert!(store.session(&id("s")).await.expect("read").is_some());
    let refused = store.append(&id("s"), &[said("new words")], &now()).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
}

#[tokio::test]
async fn without_trigrams_it_says_how_to_add_them() {
    let Some(server) = server(&[]) else { return };
    server.sql("CREATE ROLE modest LOGIN; CREATE SCHEMA modest AUTHORIZATION modest");
    let url = format!("postgresql://modest@127.0.0.1:{}/hermes", server.port());
    let store = PostgresStore::open(&url, &options("modest")).await.expect("it opens all the same");
    let notices = store.notices().join("\n");
    assert!(notices.contains("CREATE EXTENSION pg_trgm"), "{notices}");
    store.create(&session("s"), &now()).await.expect("made");
    store.append(&id("s"), &[said("extraordinary")], &now()).await.expect("said");
    let reading = PostgresOptions { read_only: true, ..options("modest") };
    let notices = async || PostgresStore::open(&url, &reading).await.expect("it opens").notices().join("\n");
    let told = notices().await;
    assert!(told.contains("pg_trgm is missing; have an administrator run CREATE EXTENSION pg_trgm"), "{told}");
    server.sql("CREATE EXTENSION pg_trgm");
    let told = notices().await;
    assert!(told.contains("their index is missing; the next command that writes creates it"), "{told}");
    let store = PostgresStore::open(&url, &options("modest")).await.expect("it opens");
    assert_eq!(notices().await, "");
    assert_eq!(store.notices(), Vec::<String>::new());
    assert_eq!(server.sql("SELECT to_regclass('modest.hx_term_trgm')").trim(), "modest.hx_term_trgm");
}
