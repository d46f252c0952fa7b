//! No call crosses a scope: every call that reads, within every scope, on every store.
//!
//! `cargo test -p hermes-recall --test recall matrix -- --nocapture` prints the matrix.

use hermes_conformance::ModelStore;
use hermes_conformance::people::{fill, scopes, secret, sessions};
use hermes_conformance::servers::{Mariadb, Postgres, is_skipped};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_recall::{Reader, RecallRequest, listed, page, statistics_of, to_json};
use hermes_session::search::SearchFilter;
use hermes_session::{
    ListRequest, PageRequest, Request, Scope, SessionId, Source, Store, StoreError, Timestamp, Title,
};
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

/// Returns the sessions about which an answer reveals anything: their ids, titles or words are in it.
fn told(answer: &str) -> BTreeSet<&'static str> {
    let signs = |session: &str| [format!("\"{session}\""), secret(session), format!("talk {session}\"")];
    let all = sessions().into_iter().map(|(session, _)| session);
    all.filter(|session| signs(session).iter().any(|sign| answer.contains(sign))).collect()
}

/// Returns the answers of every read, by name, as an agent gets them.
async fn answers(reader: &Reader) -> Result<Vec<(&'static str, String)>, StoreError> {
    let zone = TimeZone::UTC;
    let mut all = Vec::new();
    let searched = async |name, request: RecallRequest| {
        let request = RecallRequest { limit: 10, ..request };
        // Without the query, so that it is not mistaken for a part of the answer.
        let answer = to_json("", &reader.search(&request, None).await?, &zone);
        let served = &answer["served"];
        if !served.is_null() {
            // The size of the backlog covers messages of everybody.
            assert_eq!(served["unindexed"].is_u64(), !reader.scope().is_bounded(), "{name}: {served}");
        }
        Ok::<_, StoreError>((name, answer.to_string()))
    };
    all.push(searched("search, words", RecallRequest::new("common OR commonly")).await?);
    all.push(searched("search, pieces", RecallRequest::new("ommon")).await?);
    all.push(searched("search, relaxed", RecallRequest::new("common absent nothing")).await?);
    all.push(searched("search, negative", RecallRequest::new("\"\" NOT absent")).await?);
    let secrets: Vec<String> = sessions().into_iter().map(|(session, _)| secret(session)).collect();
    all.push(searched("search, secrets", RecallRequest::new(secrets.join(" OR "))).await?);
    // Naming sessions, users or sources does not widen the scope.
    let every: Vec<SessionId> = sessions().into_iter().map(|(session, _)| id(session)).collect();
    let filter = SearchFilter { sessions: Some(every.clone()), ..SearchFilter::default() };
    all.push(searched("search, named sessions", RecallRequest { filter, ..RecallRequest::new("common") }).await?);
    let tags = ["telegram", "discord", "cli", "cron"].map(|tag| Source::parse(tag).unwrap());
    let filter = SearchFilter { sources: Some(tags.to_vec()), scope: Scope::All, ..SearchFilter::default() };
    all.push(searched("search, named sources", RecallRequest { filter, ..RecallRequest::new("common") }).await?);
    all.push(searched("recent", RecallRequest::new("")).await?);
    let filter = SearchFilter { sessions: Some(every), ..SearchFilter::default() };
    all.push(searched("recent, named sessions", RecallRequest { filter, ..RecallRequest::new("") }).await?);
    let everything = ListRequest { page: PageRequest::first(100), ..ListRequest::default() };
    all.push(("list", listed(&reader.list(&everything).await?, &everything.page, &zone, None).to_string()));
    let mut read = [String::new(), String::new(), String::new()];
    for (session, _) in sessions() {
        let refused = |error| match error {
            StoreError::NotFound(_) => Ok(String::new()),
            other => Err(other),
        };
        read[0] +=
            &reader.read(&id(session), None, 100).await.map(|read| page(&read, &zone).to_string()).or_else(refused)?;
        read[1] += &reader.transcript(&id(session), 10_000).await.or_else(refused)?;
        read[2] += &reader
            .conversation(&id(session))
            .await
            .map(|one| statistics_of(&one, &zone).to_string())
            .or_else(refused)?;
    }
    let [pages, transcripts, statistics] = read;
    all.extend([("read", pages), ("transcript", transcripts), ("statistics of one", statistics)]);
    Ok(all)
}

/// The current conversation and those it originates from are left out, as far as they are within the scope. A current
/// conversation outside the scope has no effect.
async fn being_somewhere(reader: &Reader, scope: &Scope, within: &BTreeSet<&str>) {
    let found = async |current: Option<SessionId>, query: &str| {
        let request = RecallRequest { current, limit: 10, ..RecallRequest::new(query) };
        to_json("", &reader.search(&request, None).await.unwrap(), &TimeZone::UTC).to_string()
    };
    for query in ["common", "", "absent", "common absent"] {
        let nowhere = found(None, query).await;
        assert_eq!(found(Some(id("nowhere")), query).await, nowhere, "within {scope:?}");
        for (session, root) in sessions() {
            let answer = found(Some(id(session)), query).await;
            if !within.contains(session) {
                assert_eq!(answer, nowhere, "{session} is not within {scope:?}");
                continue;
            }
            // The only branch originates from the first conversation.
            let origins = if root == "x1" { vec!["t1", "x1"] } else { vec![root] };
            let known = sessions().into_iter().filter(|(_, root)| origins.contains(root)).map(|(session, _)| session);
            let known: BTreeSet<&str> = known.collect();
            let expect: BTreeSet<&str> = told(&nowhere).difference(&known).copied().collect();
            assert_eq!(told(&answer), expect, "in {session} within {scope:?}");
        }
    }
}

/// Checks what may be revealed within a scope, and what must be found.
async fn check(name: &str, store: Arc<dyn Store>) {
    fill(&*store).await.unwrap();
    let mut table: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (scope, roots) in scopes() {
        let reader = Reader::new(Arc::clone(&store), scope.clone());
        let within: BTreeSet<&str> =
            sessions().into_iter().filter(|(_, root)| roots.contains(root)).map(|(session, _)| session).collect();
        for (call, answer) in answers(&reader).await.unwrap() {
            let told = told(&answer);
            let crossed: Vec<_> = told.difference(&within).collect();
            assert!(crossed.is_empty(), "{name}: {call} within {scope:?} tells of {crossed:?}:\n{answer}");
            assert_eq!(told.is_empty(), within.is_empty(), "{name}: {call} within {scope:?} tells of all there is");
            let sum = table.entry(call).or_default();
            sum.0 += told.len();
            sum.1 += within.len();
        }
        let counts = reader.statistics().await.unwrap().counts;
        assert_eq!((counts.conversations, counts.sessions), (roots.len() as u64, within.len() as u64), "{scope:?}");
        being_somewhere(&reader, &scope, &within).await;
        changes(&reader, &within).await;
    }
    #[expect(clippy::print_stdout, reason = "the matrix is what this test is for")]
    for (call, (told, within)) in table {
        println!(
            "{name:<10} {call:<24} {} scopes: told of {told:>3} sessions, {within:>3} within, 0 outside",
            scopes().len()
        );
    }
}

/// Nothing outside the scope can be changed, and a title that is taken outside does not reveal by which session.
async fn changes(reader: &Reader, within: &BTreeSet<&str>) {
    let request = Request::at(Timestamp::from_seconds(1.0).unwrap());
    for (session, _) in sessions().into_iter().filter(|(session, _)| !within.contains(session)) {
        let renamed = reader.rename(&id(session), &Title::parse("mine").unwrap(), &request).await;
        assert!(matches!(renamed, Err(StoreError::NotFound(_))), "{session}: {renamed:?}");
        let noted = reader.append_note(&id(session), "mine", &request).await;
        assert!(matches!(noted, Err(StoreError::NotFound(_))), "{session}: {noted:?}");
        if let Some(own) = within.iter().next() {
            let taken = Title::parse(&format!("talk {session}")).unwrap();
            let error = reader.rename(&id(own), &taken, &request).await.unwrap_err();
            assert!(matches!(&error, StoreError::Invalid(_)), "{error:?}");
            assert!(!error.to_string().contains(&format!("\"{session}\"")), "{error}");
        }
    }
}

#[tokio::test]
async fn matrix_on_the_model() {
    check("model", Arc::new(ModelStore::new())).await;
}

#[tokio::test]
async fn matrix_on_sqlite() {
    let place = crate::Place::new();
    check("sqlite", Arc::new(place.store)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn matrix_on_postgresql() {
    if is_skipped("postgres") {
        return;
    }
    let server = Postgres::start(&[]);
    let store = PostgresStore::open(&server.url(), &PostgresOptions::default()).await.unwrap();
    check("postgresql", Arc::new(store)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn matrix_on_mariadb() {
    if is_skipped("mysql") {
        return;
    }
    let server = Mariadb::start(&[]);
    tokio::task::block_in_place(|| server.sql("CREATE DATABASE IF NOT EXISTS recall"));
    let store = MysqlStore::open(&server.url_of("recall"), &MysqlOptions::default()).await.unwrap();
    check("mariadb", Arc::new(store)).await;
}
