//! Search on a server: behaviour that only a server can show.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

use hermes_conformance::servers::{Postgres, is_skipped};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::search::matching::Matcher;
use hermes_session::search::{Query, SearchAnswer, SearchRequest};
use hermes_session::transfer::{TransferOptions, copy};
use hermes_session::{
    ConversationStore as _, Maintenance as _, MessageId, NewMessage, NewSession, PageRequest, Request, Role, SessionId,
    SessionStore as _, Source, Timestamp,
};
use std::ops::ControlFlow;
use std::time::Duration;

fn request() -> Request {
    Request::at(Timestamp::from_seconds(1_700_000_000.0).unwrap())
}

async fn open(server: &Postgres, schema: &str) -> PostgresStore {
    let options = PostgresOptions { schema: Some(schema.to_owned()), ..PostgresOptions::default() };
    PostgresStore::open(&server.url(), &options).await.unwrap()
}

/// Appends texts to a new session. Returns their messages.
async fn say(store: &PostgresStore, name: &str, texts: &[&str]) -> Vec<MessageId> {
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

#[tokio::test]
async fn search_on_a_server() {
    if is_skipped("postgres") {
        return;
    }
    let server = Postgres::start(&[]);
    a_statement_that_takes_too_long_is_given_up(&server).await;
    what_is_too_large_for_the_index_is_looked_through(&server).await;
    words_in_a_row_are_found_where_there_are_no_places(&server).await;
    messages_without_their_session_are_not_found(&server).await;
    without_the_index_of_pieces_the_same_is_found(&server).await;
    what_is_excluded_is_not_found(&server).await;
    upkeep_leaves_nothing_waiting_in_the_index(&server).await;
}

/// The hits found so far are returned, with their context.
async fn a_statement_that_takes_too_long_is_given_up(server: &Postgres) {
    let store = open(server, "late").await;
    let said = say(&store, "s", &["before", "a cat", "concatenate"]).await;
    let request = SearchRequest { timeout: Duration::from_millis(300), ..question("cat") };
    let whole = store.search(&request).await.unwrap();
    assert!(found(&whole) == said[1..] && !whole.served.is_partial, "{whole:?}");
    // Whole words come first and need no vocabulary. Nobody can read the vocabulary while this connection locks it.
    let (holder, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    holder.batch_execute("BEGIN; LOCK TABLE late.hx_term IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let part = store.search(&request).await.unwrap();
    assert_eq!(found(&part), [said[1]]);
    assert!(part.served.is_partial && part.next.is_none(), "{part:?}");
    assert_eq!(part.hits[0].before.as_ref().unwrap().text, "before");
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.search(&request).await.unwrap(), whole);
    drop(holder);
    connection.await.unwrap().unwrap();
}

/// Such a message is ranked among the others by how many of the words it has.
async fn what_is_too_large_for_the_index_is_looked_through(server: &Postgres) {
    let store = open(server, "large").await;
    let words: String = (0..90_000).map(|n| format!("word{n:06} ")).collect();
    let texts = [&format!("{words} zebra xylophone!"), "a zebra", "xylophone", "neither", &format!("{words}zebra")];
    let said = say(&store, "s", &texts.map(|text| text as &str)).await;
    assert_eq!(
        server.sql("SELECT string_agg(form::text, '' ORDER BY message_id) FROM large.hx_search").trim(),
        "20002"
    );
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

async fn words_in_a_row_are_found_where_there_are_no_places(server: &Postgres) {
    let store = open(server, "rows").await;
    let many = format!("{}needle, here it is", "the ".repeat(300));
    let said = say(&store, "s", &[&many, "a needle here", "here is a needle", "a needle, here"]).await;
    assert_eq!(server.sql("SELECT string_agg(form::text, '' ORDER BY message_id) FROM rows.hx_search").trim(), "1000");
    for query in ["\"needle, here\"", "\"eedle, her\"", "\"dle, here\" NOT zebra"] {
        let mut ids = found(&store.search(&question(query)).await.unwrap());
        ids.sort_unstable();
        assert_eq!(ids, [said[0], said[3]], "{query}");
    }
}

/// An import writes messages before the session that makes them visible.
async fn messages_without_their_session_are_not_found(server: &Postgres) {
    let store = open(server, "orphans").await;
    let said = say(&store, "s", &["a cat", "concatenate"]).await;
    say(&store, "gone", &["a cat", "concatenate"]).await;
    server.sql("SET search_path = orphans; DELETE FROM hx_session WHERE session_id = 'gone'; DELETE FROM sessions WHERE id = 'gone'");
    for query in ["cat", "\"\" NOT dog", "cat OR dog", "at"] {
        let mut ids = found(&store.search(&question(query)).await.unwrap());
        ids.sort_unstable();
        assert_eq!(ids, said, "{query}");
    }
    let relaxed = SearchRequest { relax: true, ..question("\"cat a\" concatenated") };
    assert_eq!(store.search(&relaxed).await.unwrap().hits.len(), 2);
}

async fn without_the_index_of_pieces_the_same_is_found(server: &Postgres) {
    let store = open(server, "pieces").await;
    say(&store, "s", &["unhandled 50% x_y", "HANDLE", "shandy", "Ärger", "händel"]).await;
    let mut answers = Vec::new();
    for _ in 0..2 {
        let mut all = Vec::new();
        for query in ["and", "an", "handle", "ger", "0%", "d 50", "_y"] {
            all.push(found(&store.search(&question(query)).await.unwrap()));
        }
        answers.push(all);
        server.sql("DROP INDEX IF EXISTS pieces.hx_term_trgm");
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2, 1, 1, 1, 1]);
}

/// Excluded sessions are none, few or many.
async fn what_is_excluded_is_not_found(server: &Postgres) {
    let store = open(server, "excluded").await;
    let said = say(&store, "s", &["a cat", "concatenate", "cats"]).await;
    let tool = Source::parse("tool".to_owned()).unwrap();
    for count in [0, 3, 5_000] {
        server.sql(&format!(
            "SET search_path = excluded; \
             INSERT INTO sessions (id, source, started_at) SELECT 'tool-' || n, 'tool', 1 FROM generate_series(1, {count}) n ON CONFLICT DO NOTHING; \
             INSERT INTO hx_session (session_id, relation, root, tip, started_at, last_active, active) \
             SELECT id, 'root', id, id, 1, 1, 1 FROM sessions WHERE source = 'tool' ON CONFLICT DO NOTHING"
        ));
        if count == 3 {
            let id = SessionId::parse("tool-1".to_owned()).unwrap();
            store.append(&id, &[NewMessage::new(Role::Tool, "a cat")], &request()).await.unwrap();
        }
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

/// An import leaves entries of the index waiting, which every search would read.
async fn upkeep_leaves_nothing_waiting_in_the_index(server: &Postgres) {
    let (from, to) = (open(server, "source").await, open(server, "target").await);
    let texts: Vec<String> = (0..600).map(|number| format!("needle {number}")).collect();
    say(&from, "s", &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut watch = |_| ControlFlow::Continue(());
    copy(&from, &to, &TransferOptions::default(), &mut watch).await.unwrap();
    while to.upkeep().await.unwrap() {}
    assert_eq!(server.sql("SELECT gin_clean_pending_list('target.hx_search_words')").trim(), "0");
    assert_eq!(to.search(&question("needle")).await.unwrap().hits.len(), 100);
}
