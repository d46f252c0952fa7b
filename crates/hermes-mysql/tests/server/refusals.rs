//! Unusable servers are reported as such, at once, without a fallback.

use crate::fixture::{database, id, now, options, refusal, said, server, session};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::{ConversationStore as _, Maintenance as _, Refusal, ServerProblem, SessionStore as _, StoreError};
use std::time::{Duration, Instant};

#[tokio::test]
async fn each_reason_is_reported_with_what_to_do() {
    let Some(server) = server(&[]) else { return };
    server.sql("CREATE USER guest@'127.0.0.1'; GRANT SELECT ON hermes.* TO guest@'127.0.0.1'");
    let port = server.port();
    let url = |place: &str| format!("mysql://{place}");
    let (error, reason) = refusal(&server.url_of("nowhere"), &options()).await;
    assert_eq!(error, format!("mysql://hermes@127.0.0.1:{port}/nowhere can't be used: Unknown database 'nowhere'"));
    assert!(matches!(reason, Refusal::Server { problem: ServerProblem::NoDatabase, .. }), "{reason:?}");
    let (error, reason) = refusal(&url(&format!("nobody@127.0.0.1:{port}/hermes")), &options()).await;
    assert!(error.contains("can't be used: Access denied for user 'nobody'"), "{error}");
    assert!(matches!(reason, Refusal::Server { problem: ServerProblem::Authentication, .. }), "{reason:?}");
    let (error, reason) = refusal(&url(&format!("guest@127.0.0.1:{port}/hermes")), &options()).await;
    assert!(error.contains("denied to user 'guest'"), "{error}");
    assert!(
        matches!(reason, Refusal::Server { problem: ServerProblem::NoAccess | ServerProblem::NoPrivilege, .. }),
        "{reason:?}"
    );
    let reading = MysqlOptions { create: false, ..options() };
    let (error, _) = refusal(&server.url(), &reading).await;
    assert!(error.contains("has no session store"), "{error}");
    assert_eq!(server.sql("SHOW TABLES"), "", "nothing was made");
    for url in ["mysql://", "mysql://127.0.0.1", "mysql://127.0.0.1/", "mysql://127.0.0.1/d?nonsense=1"] {
        let error = MysqlStore::open(url, &options()).await.err().expect("it is refused");
        assert!(matches!(error, StoreError::Invalid(_)), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn a_wrong_password_is_reported_and_not_shown() {
    let Some(server) = server(&[]) else { return };
    server.sql("CREATE USER ada@'127.0.0.1' IDENTIFIED BY 'ri:g?h@t%'; GRANT ALL ON hermes.* TO ada@'127.0.0.1'");
    let url = |password: &str| format!("mysql://ada:{password}@127.0.0.1:{}/hermes", server.port());
    let (error, reason) = refusal(&url("hunter2"), &options()).await;
    assert!(error.contains("can't be used: Access denied for user 'ada'"), "{error}");
    assert!(!format!("{error}{reason:?}").contains("hunter2"), "{error} {reason:?}");
    let store = MysqlStore::open(&url("ri%3Ag%3Fh%40t%25"), &options()).await.expect("the right one is taken");
    assert!(!format!("{:?}", store.status().await.expect("its status")).contains("ri:g"));
}

#[tokio::test]
async fn nobody_there_is_reported_within_the_time_out() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let silent = listener.local_addr().expect("its address").port();
    let options = MysqlOptions { connect_timeout: Duration::from_secs(1), ..options() };
    let start = Instant::now();
    // First a server that accepts the connection and never answers, then a port that nobody listens on.
    let (_, reason) = refusal(&format!("mysql://a@127.0.0.1:{silent}/b"), &options).await;
    assert!(matches!(reason, Refusal::Server { problem: ServerProblem::NotReached, .. }), "{reason:?}");
    drop(listener);
    refusal(&format!("mysql://a@127.0.0.1:{silent}/b"), &options).await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn tables_of_others_are_left_alone() {
    let Some(server) = server(&[]) else { return };
    let url = database(&server, "shop");
    server.sql("CREATE TABLE shop.sessions (cart TEXT); INSERT INTO shop.sessions VALUES ('milk')");
    let (error, reason) = refusal(&url, &options()).await;
    assert!(error.contains("has a table sessions in the database shop that is not ours"), "{error}");
    assert!(matches!(reason, Refusal::OtherTables { .. }), "{reason:?}");
    assert_eq!(server.sql("SHOW TABLES FROM shop"), "sessions\n");
    assert_eq!(server.sql("SELECT cart FROM shop.sessions"), "milk\n");
}

#[tokio::test]
async fn a_server_that_only_reads_is_reported() {
    let Some(server) = server(&[]) else { return };
    let url = database(&server, "r");
    drop(MysqlStore::open(&url, &options()).await.expect("it opens"));
    // A user with all privileges could write to such a server anyway.
    server.sql("CREATE USER ada@'127.0.0.1'; GRANT ALL ON r.* TO ada@'127.0.0.1'; SET GLOBAL read_only = 1");
    let url = url.replace("hermes@", "ada@");
    let store = MysqlStore::open(&url, &options()).await.expect("it opens: the tables are there");
    assert_eq!(store.session(&id("s")).await.expect("read"), None);
    let refused = store.create(&session("s"), &now()).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
}

#[tokio::test]
async fn databases_are_stores_of_their_own() {
    let Some(server) = server(&[]) else { return };
    let one = MysqlStore::open(&database(&server, "one"), &options()).await.expect("it opens");
    server.sql("CREATE DATABASE `Two words?`");
    let two = MysqlStore::open(&server.url_of("Two%20words%3F"), &options()).await.expect("it opens");
    one.create(&session("s"), &now()).await.expect("made");
    assert_eq!(two.session(&id("s")).await.expect("read"), None);
    two.create(&session("s"), &now()).await.expect("made");
    two.append(&id("s"), &[said("x")], &now()).await.expect("said");
    assert_eq!(one.counts(&Default::default()).await.expect("counted").messages, 0);
}

#[tokio::test]
async fn reading_alone_makes_and_changes_nothing() {
    let Some(server) = server(&[]) else { return };
    let reading = MysqlOptions { read_only: true, ..options() };
    refusal(&server.url(), &reading).await;
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    store.create(&session("s"), &now()).await.expect("made");
    let store = MysqlStore::open(&server.url(), &reading).await.expect("it opens");
    assert!(store.session(&id("s")).await.expect("read").is_some());
    let refused = store.append(&id("s"), &[said("new words")], &now()).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
}

/// The settings of a server do not affect stored data: other character sets, other SQL modes, other table formats.
#[tokio::test]
async fn the_settings_of_a_server_change_nothing_that_is_kept() {
    let odd = [
        "character-set-server=latin1",
        "sql_mode=ANSI,ORACLE,PAD_CHAR_TO_FULL_LENGTH",
        "default-time-zone=+09:00",
        "autocommit=0",
        "transaction-isolation=SERIALIZABLE",
        "default-storage-engine=Aria",
        "auto_increment_increment=7",
    ];
    let Some(server) = server(&odd) else { return };
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    store.create(&session("s"), &now()).await.expect("made");
    let texts = ["大别山 \u{1f980} ünï", "back\\slash 'quoted' \"twice\"", "  spaces  ", "", "a\0b"];
    for text in texts {
        store.append(&id("s"), &[said(text)], &now()).await.expect("said");
    }
    drop(store);
    let store = MysqlStore::open(&server.url(), &options()).await.expect("it opens");
    let there = store.messages(&id("s"), &hermes_session::MessageRequest::first(9)).await.expect("read");
    assert_eq!(there.iter().map(|message| message.body.plain_text().into_owned()).collect::<Vec<_>>(), texts);
    let engines = "SELECT DISTINCT engine FROM information_schema.tables WHERE table_schema = 'hermes'";
    assert_eq!(server.sql(engines), "InnoDB\n");
}
