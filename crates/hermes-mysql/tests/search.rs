//! Search on a server: behaviour that only a server can show.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

use hermes_conformance::servers::{Mariadb, is_skipped};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::search::matching::Matcher;
use hermes_session::search::{Query, SearchAnswer, SearchRequest};
use hermes_session::{
    ConversationStore as _, Maintenance as _, MessageId, NewMessage, NewSession, Optimizing, PageRequest, Request,
    Role, SessionId, SessionStore as _, Source, Timestamp,
};
use mysql_async::prelude::Queryable as _;
use std::time::Duration;

fn request() -> Request {
    Request::at(Timestamp::from_seconds(1_700_000_000.0).unwrap())
}

async fn open(server: &Mariadb, database: &str) -> MysqlStore {
    server.sql(&format!("CREATE DATABASE IF NOT EXISTS {database}"));
    MysqlStore::open(&server.url_of(database), &MysqlOptions::default()).await.unwrap()
}

/// Appends texts to a new session. Returns their messages.
async fn say(store: &MysqlStore, name: &str, texts: &[&str]) -> Vec<MessageId> {
    let id = SessionId::parse(name.to_owned()).unwrap();
    store.create(&NewSession::new(id.clone(), Source::parse("cli".to_owned()).unwrap()), &request()).await.unwrap();
    let messages: Vec<NewMessage> = texts.iter().map(|text| NewMessage::new(Role::User, *text)).collect();
    store.append(&id, &messages, &request()).await.unwrap()
}

fn question(query: &str) -> SearchRequest {
    SearchRequest {
        relax: false,
        timeout: Duration::from_secs(60),
        page: PageRequest::first(100),
        ..SearchRequest::new(Query::parse(query))
    }
}

fn found(answer: &SearchAnswer) -> Vec<MessageId> {
    answer.hits.iter().map(|hit| hit.message).collect()
}

async fn sorted(store: &MysqlStore, query: &str) -> Vec<MessageId> {
    let answer = store.search(&question(query)).await.unwrap();
    assert!(!answer.served.is_partial, "{query}: {answer:?}");
    let mut ids = found(&answer);
    ids.sort_unstable();
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn search_on_a_server() {
    if is_skipped("mysql") {
        return;
    }
    let server = Mariadb::start(&[]);
    a_statement_that_takes_too_long_is_given_up(&server).await;
    what_is_too_large_for_the_index_is_looked_through(&server).await;
    words_in_a_row_are_found(&server).await;
    messages_without_their_session_are_not_found(&server).await;
    stop_words_and_short_words_are_words(&server).await;
    words_of_a_transaction_that_failed_are_learned_again(&server).await;
    what_the_index_lost_is_found(&server).await;
    words_beside_data_are_found_together(&server).await;
    many_pieces_are_looked_up_together(&server).await;
    what_is_excluded_is_not_found(&server).await;
}

/// The hits found so far are returned, with their context.
async fn a_statement_that_takes_too_long_is_given_up(server: &Mariadb) {
    let store = open(server, "late").await;
    let said = say(&store, "s", &["before", "a cat", "concatenate"]).await;
    let request = SearchRequest { timeout: Duration::from_millis(700), ..question("cat") };
    let whole = store.search(&request).await.unwrap();
    assert!(found(&whole) == said[1..] && !whole.served.is_partial, "{whole:?}");
    // Whole words come first and need no vocabulary. The vocabulary is made slow.
    server
        .sql("USE late; RENAME TABLE hx_term TO kept; CREATE VIEW hx_term AS SELECT term FROM kept WHERE sleep(5) = 0");
    let part = store.search(&request).await.unwrap();
    assert_eq!(found(&part), [said[1]]);
    assert!(part.served.is_partial && part.next.is_none(), "{part:?}");
    assert_eq!(part.hits[0].before.as_ref().unwrap().text, "before");
    server.sql("USE late; DROP VIEW hx_term; RENAME TABLE kept TO hx_term");
    assert_eq!(store.search(&request).await.unwrap(), whole);
}

/// Such a message is ranked among the others by how many of the words it has.
async fn what_is_too_large_for_the_index_is_looked_through(server: &Mariadb) {
    let store = open(server, "large").await;
    let words: String = (0..90_000).map(|n| format!("word{n:06} ")).collect();
    let texts = [&format!("{words} zebra xylophone!"), "a zebra", "xylophone", "neither", &format!("{words}zebra")];
    let said = say(&store, "s", &texts.map(|text| text as &str)).await;
    assert_eq!(forms(server, "large"), "21112");
    let check = async |query: &str, expect: &[usize]| {
        let answer = store.search(&question(query)).await.unwrap();
        assert_eq!(found(&answer), expect.iter().map(|place| said[*place]).collect::<Vec<_>>(), "{query}");
        let matcher = Matcher::new(&Query::parse(query));
        assert_eq!(expect.len(), texts.iter().filter(|text| matcher.tier(text).is_some()).count());
    };
    check("zebra", &[1, 4, 0]).await;
    check("zebra OR xylophone", &[2, 1, 0, 4]).await;
    check("word089999 NOT xylophone", &[4]).await;
    check("ylophon", &[2, 0]).await;
    check("\"zebra xylophone!\"", &[0]).await;
    let relaxed = SearchRequest { relax: true, ..question("\"xylophone zebras\"") };
    let answer = store.search(&relaxed).await.unwrap();
    assert!(answer.served.is_relaxed && answer.hits.len() == 4, "{:?}", answer.served);
}

fn forms(server: &Mariadb, database: &str) -> String {
    let sql = format!("SELECT group_concat(form ORDER BY message_id SEPARATOR '') FROM {database}.hx_search");
    server.sql(&sql).trim().to_owned()
}

/// The index has no positions; the texts decide.
async fn words_in_a_row_are_found(server: &Mariadb) {
    let store = open(server, "rows_").await;
    let said =
        say(&store, "s", &["the needle, here it is", "a needle here", "here is a needle", "a needle, here"]).await;
    for query in ["\"needle, here\"", "\"eedle, her\"", "\"dle, here\" NOT zebra"] {
        assert_eq!(sorted(&store, query).await, [said[0], said[3]], "{query}");
    }
}

/// An import writes messages before the session that makes them visible.
async fn messages_without_their_session_are_not_found(server: &Mariadb) {
    let store = open(server, "orphans").await;
    let said = say(&store, "s", &["a cat", "concatenate"]).await;
    say(&store, "gone", &["a cat", "concatenate"]).await;
    server.sql("USE orphans; DELETE FROM hx_session WHERE session_id = 'gone'; DELETE FROM sessions WHERE id = 'gone'");
    for query in ["cat", "\"\" NOT dog", "cat OR dog", "at"] {
        assert_eq!(sorted(&store, query).await, said, "{query}");
    }
    let relaxed = SearchRequest { relax: true, ..question("\"cat a\" concatenated") };
    assert_eq!(store.search(&relaxed).await.unwrap().hits.len(), 2);
}

async fn stop_words_and_short_words_are_words(server: &Mariadb) {
    let store = open(server, "short").await;
    let long = "Rindfleischetikettierungsüberwachungsaufgabenübertragung";
    let texts = ["what is it to be", "I", "a", "ü", "C++", "the", "大", long, "ß", "x y z"];
    let said = say(&store, "s", &texts).await;
    for (query, place) in [
        ("what", 0),
        ("\"is it to be\"", 0),
        ("i", 1),
        ("a", 2),
        ("ü", 3),
        ("C++", 4),
        ("the", 5),
        ("大", 6),
        (long, 7),
        ("rindfleischetikettierungsüberwachungsaufgaben*", 7),
        ("ss", 8),
        ("y", 9),
    ] {
        let answer = store.search(&question(query)).await.unwrap();
        let words = answer.hits.iter().find(|hit| hit.message == said[place]);
        assert!(words.is_some(), "{query}: {answer:?}");
        let matcher = Matcher::new(&Query::parse(query));
        let expect = texts.iter().filter(|text| matcher.tier(text).is_some()).count();
        assert_eq!(answer.hits.len(), expect, "{query}");
    }
}

/// Words that a transaction adds to the vocabulary are cached once it is committed, and not before.
async fn words_of_a_transaction_that_failed_are_learned_again(server: &Mariadb) {
    let store = open(server, "failed").await;
    say(&store, "s", &["begin"]).await;
    server.sql(
        "USE failed; CREATE TRIGGER fails BEFORE INSERT ON hx_search FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not now'",
    );
    let id = SessionId::parse("s".to_owned()).unwrap();
    let messages = [NewMessage::new(Role::User, "unheardof")];
    store.append(&id, &messages, &request()).await.unwrap_err();
    assert_eq!(server.sql("SELECT count(*) FROM failed.hx_term WHERE term = 'unheardof'").trim(), "0");
    server.sql("DROP TRIGGER failed.fails");
    let said = store.append(&id, &messages, &request()).await.unwrap();
    assert_eq!(sorted(&store, "heardo").await, said);
}

/// Words in data are not in the vocabulary. They are asked for beside the words that are: by themselves if few messages have
/// them, otherwise with the other words.
async fn words_beside_data_are_found_together(server: &Mariadb) {
    let store = open(server, "data").await;
    let data = |word: &str| format!("{word}/{}", "aB3+".repeat(80));
    let mut texts = vec!["needle beside thread".to_owned(), format!("needle {}", data("thread")), "thread".to_owned()];
    for name in ["few", "many"] {
        let said = say(&store, name, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let expect = |query: &str| {
            let matcher = Matcher::new(&Query::parse(query));
            let ids = said.iter().zip(&texts).filter(|(_, text)| matcher.tier(text).is_some()).map(|(id, _)| *id);
            ids.collect::<Vec<_>>()
        };
        for query in ["needle thread", "needl threa", "\"needle thread/aB3\"", "thread aB3", "thread ab3 zebra"] {
            let (mut found, expect) = (sorted(&store, query).await, expect(query));
            found.retain(|id| said.contains(id));
            assert_eq!(found, expect, "{name}: {query}");
        }
        texts = (0..70)
            .map(|number| format!("{number} {}", data(&format!("thread needle{number}"))))
            .chain(texts)
            .collect();
    }
}

/// One scan of the vocabulary finds the words of each of several pieces.
async fn many_pieces_are_looked_up_together(server: &Mariadb) {
    let store = open(server, "scan").await;
    let texts = ["unhandled xylophone", "handles of phones", "candle in a box", "boxes unhandy, Ärgernis"];
    let said = say(&store, "s", &texts).await;
    for query in
        ["handl phon", "ndle ox", "an e", "gernis oxe andy", "\"dled xylo\" phon", "handl zebr", "xylo hand* i"]
    {
        let matcher = Matcher::new(&Query::parse(query));
        let expect: Vec<_> =
            said.iter().zip(texts).filter(|(_, text)| matcher.tier(text).is_some()).map(|(id, _)| *id).collect();
        assert_eq!(sorted(&store, query).await, expect, "{query}");
    }
}

/// Excluded sessions are few or many.
async fn what_is_excluded_is_not_found(server: &Mariadb) {
    let store = open(server, "excluded").await;
    let said = say(&store, "s", &["a cat", "concatenate", "cats"]).await;
    let tool = Source::parse("tool".to_owned()).unwrap();
    let hide = async |from: usize, to: usize| {
        for number in from..to {
            let id = SessionId::parse(format!("tool-{number}")).unwrap();
            store.create(&NewSession::new(id.clone(), tool.clone()), &request()).await.unwrap();
            if number % 500 == 0 {
                store.append(&id, &[NewMessage::new(Role::Tool, "a cat")], &request()).await.unwrap();
            }
        }
    };
    for count in [0, 3, 1_100] {
        hide(if count > 3 { 3 } else { 0 }, count).await;
        for query in ["cat", "cat OR dog", "cat NOT dog", "at"] {
            let mut request = question(query);
            request.filter.exclude_sources = vec![tool.clone()];
            let mut ids = found(&store.search(&request).await.unwrap());
            ids.sort_unstable();
            assert_eq!(ids, said, "{query} beside {count}");
        }
        let mut relaxed = SearchRequest { relax: true, ..question("cats zebra") };
        relaxed.filter.exclude_sources = vec![tool.clone()];
        assert_eq!(store.search(&relaxed).await.unwrap().hits.len(), 2, "beside {count}");
    }
}

/// A crash can lose rows of the index, though not of the table. The test imitates such a row by one without the word
/// that every list has.
async fn what_the_index_lost_is_found(server: &Mariadb) {
    let store = open(server, "lost").await;
    let said = say(&store, "s", &["a cat", "concatenate", "another cat", "dog"]).await;
    let lose = || {
        server.sql(&format!(
            "UPDATE lost.hx_search SET words = 'v___ ' WHERE message_id IN ({}, {})",
            said[1].0, said[2].0
        ))
    };
    lose();
    assert_eq!(sorted(&store, "cat").await, [said[0]], "the index was compared when the store was opened");
    // Imitates a later start of the server. A store that cannot write compares at every search.
    server.sql("UPDATE lost.hx_state SET value = '0' WHERE `key` LIKE 'index of %'");
    let options = MysqlOptions { read_only: true, ..MysqlOptions::default() };
    let reader = MysqlStore::open(&server.url_of("lost"), &options).await.unwrap();
    for query in ["cat", "cat NOT dog", "cat OR zebra"] {
        assert_eq!(sorted(&reader, query).await, said[..3], "{query}");
    }
    // A store that can write indexes them again, and records that once two starts are distinguishable.
    up_for_long(server).await;
    drop(open(server, "lost").await);
    let noted = "SELECT value > 0 FROM lost.hx_state WHERE `key` LIKE 'index of %'";
    assert_eq!(server.sql(noted).trim(), "1");
    let changed = "SELECT count(*) FROM lost.hx_search WHERE words = 'v___' AND right(words, 1) <> ' '";
    assert_eq!(server.sql(changed).trim(), "2", "their rows were written again");
}

/// Waits until the next start of the server will be distinguishable from this one by its time.
async fn up_for_long(server: &Mariadb) {
    while server
        .sql("SELECT variable_value > 5 FROM information_schema.global_status WHERE variable_name = 'UPTIME'")
        .trim()
        != "1"
    {
        tokio::task::yield_now().await;
    }
}

/// Settings that drop words lose nothing: every message is scanned, and those written meanwhile are until they are
/// indexed again.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_server_that_drops_words_all_is_found() {
    if is_skipped("mysql") {
        return;
    }
    let mut server = Mariadb::start(&["innodb_ft_min_token_size=6"]);
    let store = open(&server, "unfit").await;
    let said = say(&store, "s", &["a cat", "concatenate", "dog", "cat and dog"]).await;
    assert_eq!(forms(&server, "unfit"), "2222");
    for (query, expect) in [
        ("cat", vec![said[0], said[1], said[3]]),
        ("cat OR dog", said.clone()),
        ("cat NOT dog", vec![said[0], said[1]]),
        ("ncat", vec![said[1]]),
    ] {
        assert_eq!(sorted(&store, query).await, expect, "{query}");
    }
    // With correct settings nothing changes until everything is indexed again.
    drop(store);
    server.stop("fast");
    server.set(&["innodb_ft_min_token_size=3"]);
    server.launch();
    let store = open(&server, "unfit").await;
    assert_eq!(sorted(&store, "cat").await, [said[0], said[1], said[3]]);
    assert_eq!(forms(&server, "unfit"), "2222");
    store.rebuild_indexes().await.unwrap();
    while store.optimize().await.unwrap() != Optimizing::Done {}
    assert_eq!(forms(&server, "unfit"), "1111");
    assert_eq!(sorted(&store, "cat").await, [said[0], said[1], said[3]]);
}

/// A row that was inserted before the server flushed its index, and committed afterwards, is missing in the index after
/// a crash.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_lost_when_it_failed_is_found() {
    if is_skipped("mysql") {
        return;
    }
    let mut server = Mariadb::start(&["innodb_ft_cache_size=1600000", "innodb_flush_log_at_trx_commit=1"]);
    let store = open(&server, "failing").await;
    let said = say(&store, "s", &["a cat", "concatenate"]).await;
    let mut slow = mysql_async::Conn::from_url(server.url_of("failing")).await.unwrap();
    let slowly = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN; UPDATE hx_search SET words = concat(words, ' ')";
    slow.query_drop(slowly).await.unwrap();
    let words: Vec<String> = (0..60).map(|k| (0..4_000).map(|n| format!("w{k}x{n:06} ")).collect()).collect();
    say(&store, "t", &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
    // Waits until the server has flushed it: this table shows the part still in memory.
    let waiting = "SET GLOBAL innodb_ft_aux_table = 'failing/hx_search'; SELECT count(*) FROM information_schema.innodb_ft_index_cache";
    while server.sql(waiting).trim().parse::<u64>().unwrap() > 100_000 {
        tokio::task::yield_now().await;
    }
    slow.query_drop("COMMIT").await.unwrap();
    drop((slow, store));
    server.crash();
    let sql = "SELECT count(*) FROM failing.hx_search WHERE MATCH (words) AGAINST ('vcat' IN BOOLEAN MODE)";
    let kept = server.sql(sql);
    let options = MysqlOptions { read_only: true, ..MysqlOptions::default() };
    let reader = MysqlStore::open(&server.url_of("failing"), &options).await.unwrap();
    assert_eq!(sorted(&reader, "cat").await, said, "the index had {kept}");
    let store = open(&server, "failing").await;
    assert_eq!(sorted(&store, "cat").await, said);
    assert_eq!(server.sql(sql).trim(), "1", "it is listed anew, after {kept}");
}

/// A process that outlives the server: the comparison is done once instead of by each search.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_is_noted_by_whoever_searches_after_it() {
    if is_skipped("mysql") {
        return;
    }
    let mut server = Mariadb::start(&[]);
    let store = open(&server, "again").await;
    let said = say(&store, "s", &["a cat"]).await;
    server.stop("fast");
    server.launch();
    up_for_long(&server).await;
    server.sql("DELETE FROM again.hx_state WHERE `key` LIKE 'index of %'");
    assert_eq!(sorted(&store, "cat").await, said);
    assert_eq!(sorted(&store, "cat").await, said);
    // The search of another process has nothing to compare then.
    let start = std::time::Instant::now();
    while server.sql("SELECT count(*) FROM again.hx_state WHERE `key` LIKE 'index of %'").trim() != "1" {
        assert!(start.elapsed() < Duration::from_secs(60), "nobody noted it");
        tokio::task::yield_now().await;
    }
}
