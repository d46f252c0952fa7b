//! Recent messages are found while the server flushes its index from memory to disk.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

use hermes_conformance::servers::{Mariadb, is_skipped};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::search::{Query, SearchRequest};
use hermes_session::{
    ConversationStore as _, MessageId, NewMessage, NewSession, PageRequest, Request, Role, SessionId,
    SessionStore as _, Source, Timestamp,
};
use mysql_async::prelude::Queryable as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn request() -> Request {
    Request::at(Timestamp::from_seconds(1_700_000_000.0).unwrap())
}

fn question(query: &str) -> SearchRequest {
    SearchRequest {
        relax: false,
        timeout: Duration::from_secs(60),
        page: PageRequest::first(100),
        ..SearchRequest::new(Query::parse(query))
    }
}

fn session() -> SessionId {
    SessionId::parse("s".to_owned()).unwrap()
}

async fn open(server: &Mariadb) -> MysqlStore {
    server.sql("CREATE DATABASE moving");
    let store = MysqlStore::open(&server.url_of("moving"), &MysqlOptions::default()).await.unwrap();
    let session = NewSession::new(session(), Source::parse("cli".to_owned()).unwrap());
    store.create(&session, &request()).await.unwrap();
    store
}

async fn say(store: &MysqlStore, text: impl Into<String>) -> MessageId {
    store.append(&session(), &[NewMessage::new(Role::User, text.into())], &request()).await.unwrap()[0]
}

/// State shared by the searching tasks and the writing one.
#[derive(Default)]
struct Tally {
    is_over: AtomicBool,
    /// Number of the needle that was written last.
    said: AtomicUsize,
    /// How often the index hid a needle from a single query.
    gaps: AtomicUsize,
    asked: AtomicUsize,
    missed: AtomicUsize,
}

/// One task repeatedly writes a needle and then enough text for the server to flush its index; others search for the
/// needle.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn searches_are_complete_while_the_index_moves() {
    /// Number of gaps after which a missed needle would have shown.
    const ENOUGH: usize = 12;
    if is_skipped("mysql") {
        return;
    }
    // The smallest cache there is, and each commit waits for the disk.
    let server = Mariadb::start(&["innodb_ft_cache_size=1600000", "innodb_flush_log_at_trx_commit=1"]);
    let store = open(&server).await;
    let tally = Tally::default();
    let ask = async || {
        while !tally.is_over.load(Ordering::SeqCst) {
            let needle = tally.said.load(Ordering::SeqCst);
            if needle > 0 {
                let answer = store.search(&question(&format!("needle{needle:06}"))).await.unwrap();
                tally.asked.fetch_add(1, Ordering::SeqCst);
                tally.missed.fetch_add(usize::from(answer.hits.len() != 1), Ordering::SeqCst);
            }
            tokio::task::yield_now().await;
        }
    };
    let ask_once = async || {
        let mut conn = mysql_async::Conn::from_url(server.url_of("moving")).await.unwrap();
        while !tally.is_over.load(Ordering::SeqCst) {
            let needle = tally.said.load(Ordering::SeqCst);
            if needle > 0 {
                let sql = "SELECT message_id FROM hx_search WHERE MATCH (words) AGAINST (? IN BOOLEAN MODE)";
                let found: Option<i64> = conn.exec_first(sql, (format!("vneedle{needle:06}"),)).await.unwrap();
                tally.gaps.fetch_add(usize::from(found.is_none()), Ordering::SeqCst);
            }
            tokio::task::yield_now().await;
        }
    };
    let speak = async || {
        let mut conn = mysql_async::Conn::from_url(server.url_of("moving")).await.unwrap();
        let until = Instant::now() + Duration::from_secs(25);
        let mut round = 0;
        while tally.gaps.load(Ordering::SeqCst) < ENOUGH && Instant::now() < until {
            round += 1;
            say(&store, format!("needle{round:06}")).await;
            tally.said.store(round, Ordering::SeqCst);
            for part in 0..8 {
                much(&mut conn, (0..2_000).map(|word| format!(" w{round}x{part}x{word}")).collect()).await;
            }
        }
        tally.is_over.store(true, Ordering::SeqCst);
        round
    };
    let (rounds, ..) = tokio::join!(speak(), ask(), ask(), ask_once());
    let [gaps, asked, missed] = [&tally.gaps, &tally.asked, &tally.missed].map(|count| count.load(Ordering::SeqCst));
    println!("{rounds} rounds, {gaps} gaps for who asks once; {asked} questions, {missed} without the answer");
    assert_eq!(missed, 0, "of {asked} questions, beside {gaps} gaps");
    assert!(asked > 0);
}

/// Inserts a message with many words as the store does, without the time it takes to extract the words.
async fn much(conn: &mut mysql_async::Conn, words: String) {
    let sql =
        "INSERT INTO messages (session_id, timestamp, role, content, content_kind) VALUES ('s', 1, 'user', '', 'text')";
    conn.query_drop(sql).await.unwrap();
    let id = conn.last_insert_id().unwrap();
    let sql = "INSERT INTO hx_search (message_id, session_id, length, form, words) VALUES (?, 's', 2000, 1, ?)";
    conn.exec_drop(sql, (id, format!("k__{id}{words}"))).await.unwrap();
}

/// An index that hides a witness may hide other messages: the answer is marked as partial.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_partial_while_the_index_hides_a_witness() {
    if is_skipped("mysql") {
        return;
    }
    let server = Mariadb::start(&[]);
    let store = open(&server).await;
    let said = [say(&store, "a cat").await, say(&store, "another cat").await];
    let told = async |is_partial: bool| {
        let answer = store.search(&question("cat")).await.unwrap();
        let mut ids: Vec<MessageId> = answer.hits.iter().map(|hit| hit.message).collect();
        ids.sort_unstable();
        assert_eq!((ids, answer.served.is_partial), (said.to_vec(), is_partial));
    };
    told(false).await;
    // Rebuilds the index without the word of one of them.
    server.sql(&format!(
        "USE moving; CREATE TABLE dropped (value VARCHAR(30)) ENGINE = InnoDB; INSERT INTO dropped VALUES ('k__{}'); \
         SET SESSION innodb_ft_user_stopword_table = 'moving/dropped'; SET SESSION innodb_ft_enable_stopword = ON; \
         ALTER TABLE hx_search DROP INDEX hx_search_words; ALTER TABLE hx_search ADD FULLTEXT KEY hx_search_words (words)",
        said[0].0
    ));
    told(true).await;
    // Without recent writes no flush is expected.
    server.sql("UPDATE moving.hx_mark SET at = at - INTERVAL 1 HOUR");
    told(false).await;
}
