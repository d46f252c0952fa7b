//! Searches, lists and counts stay within their scope.

use crate::fixture::{id, ids, new_session, request, user};
use crate::ordering::ORDERS;
use crate::people::{fill, scopes, secret, sessions};
use crate::search::MOMENTS;
use crate::{CaseResult, Setup, oracle};
use hermes_session::search::{Query, SearchFilter, SearchOrder, SearchRequest};
use hermes_session::{Counts, ListRequest, NewSession, PageRequest, Scope, SessionFilter, View, scope};
use std::collections::BTreeSet;

/// A search finds every message of the conversations within its scope and none of any other, for every kind of query
/// and every state of the indexes.
pub async fn a_search_stays_within(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    fill(&*store).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for (scope, roots) in scopes() {
            let expect: BTreeSet<&str> =
                sessions().into_iter().filter(|(_, root)| roots.contains(root)).map(|(id, _)| id).collect();
            let filter = SearchFilter { scope: scope.clone(), ..SearchFilter::default() };
            // A word, a part of one, no word at all, and a query that only matches relaxed.
            for text in ["common OR commonly", "ommon", "\"\" NOT absent", "common absent nothing"] {
                for order in [SearchOrder::Best, SearchOrder::Newest] {
                    let request = SearchRequest {
                        filter: filter.clone(),
                        order,
                        page: PageRequest::first(3),
                        ..SearchRequest::new(Query::parse(text))
                    };
                    let hits = oracle::every_page(&*store, &request).await?;
                    let found: BTreeSet<&str> = hits.iter().map(|hit| hit.session.as_str()).collect();
                    assert_eq!(found, expect, "{moment:?}, {text} {order:?}: {scope:?}");
                }
            }
            for (session, root) in sessions() {
                let request =
                    SearchRequest { filter: filter.clone(), ..SearchRequest::new(Query::parse(&secret(session))) };
                let found = store.search(&request).await?.hits.len();
                assert_eq!(found, if roots.contains(&root) { 2 } else { 0 }, "{moment:?}, {session}: {scope:?}");
            }
        }
    }
    Ok(())
}

/// The same for a scope with too many sessions to list them.
pub async fn a_search_of_many_stays_within(setup: Setup) -> CaseResult {
    const EACH: usize = 80;
    let store = setup.idle_store("s").await;
    for number in 0..EACH {
        for user_id in ["anna", "bob"] {
            let name = format!("{user_id}-{number}");
            let session = NewSession { user_id: Some(user_id.into()), ..new_session(&name) };
            store.create(&session, &request(number as i32)).await?;
            store.append(&id(&name), &[user(&format!("common {user_id}"))], &request(number as i32)).await?;
        }
    }
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for (user_id, expect) in [("anna", EACH), ("bob", EACH), ("nobody", 0)] {
            let scope = Scope::User { user_id: user_id.into(), source: None };
            for text in ["common", "ommo", "\"\" NOT absent", "common absent nothing"] {
                let request = SearchRequest {
                    filter: SearchFilter { scope: scope.clone(), ..SearchFilter::default() },
                    page: PageRequest::first(50),
                    ..SearchRequest::new(Query::parse(text))
                };
                let hits = oracle::every_page(&*store, &request).await?;
                assert!(
                    hits.iter().all(|hit| hit.session.as_str().starts_with(user_id)),
                    "{moment:?}, {text}: {hits:?}"
                );
                assert_eq!(hits.len(), expect, "{moment:?}, {text}, {user_id}");
            }
        }
    }
    Ok(())
}

/// Lists and counts show the conversations within a scope, and only their sessions, in every order.
pub async fn lists_and_counts_stay_within(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    fill(&*store).await?;
    for (scope, roots) in scopes() {
        let expect: Vec<&str> =
            sessions().into_iter().filter(|(_, root)| roots.contains(root)).map(|(id, _)| id).collect();
        // Some stores check a title row by row.
        for title in [None, Some("TALK".to_owned())] {
            let filter = SessionFilter { scope: scope.clone(), title, ..SessionFilter::default() };
            for order in ORDERS {
                let list = async |view| {
                    let request = ListRequest { view, order, filter: filter.clone(), ..ListRequest::default() };
                    let rows = store.list(&request).await?.rows.into_iter();
                    let names = rows.map(|row| match view {
                        View::Conversations => row.conversation.to_string(),
                        View::Sessions => row.id.to_string(),
                    });
                    Ok::<_, hermes_session::StoreError>(names.collect::<BTreeSet<String>>())
                };
                let names = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
                assert_eq!(list(View::Conversations).await?, names(roots), "{order:?} {filter:?}");
                assert_eq!(list(View::Sessions).await?, names(&expect), "{order:?} {filter:?}");
            }
            let [conversations, sessions] = [roots.len() as u64, expect.len() as u64];
            let counts = Counts { conversations, sessions, messages: 2 * sessions };
            assert_eq!(store.counts(&filter).await?, counts, "{filter:?}");
        }
    }
    Ok(())
}

/// A conversation can be requested by any of its sessions, and is returned only if it is within the scope.
pub async fn a_conversation_by_any_of_its_sessions(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    fill(&*store).await?;
    for (scope, roots) in scopes() {
        for (session, root) in sessions() {
            let conversations = Some(ids(&[session, "absent"]));
            let filter = SessionFilter { scope: scope.clone(), conversations, ..SessionFilter::default() };
            let rows = store.list(&ListRequest { filter: filter.clone(), ..ListRequest::default() }).await?.rows;
            let found: Vec<&str> = rows.iter().map(|row| row.conversation.as_str()).collect();
            let expect: &[&str] = if roots.contains(&root) { &[root] } else { &[] };
            assert_eq!(found, expect, "{filter:?}");
            assert_eq!(store.counts(&filter).await?.conversations, expect.len() as u64, "{filter:?}");
        }
    }
    let none = SessionFilter { conversations: Some(Vec::new()), ..SessionFilter::default() };
    assert_eq!(store.counts(&none).await?, Counts::default());
    Ok(())
}

/// The scope of a chat consists of the sessions that its topics are bound to, and those that the caller knows.
pub async fn the_topics_of_a_chat(setup: Setup) -> CaseResult {
    use hermes_session::TopicChange;
    let store = setup.store().await;
    fill(&*store).await?;
    for (chat, thread, session) in [("7", "1", "t1b"), ("7", "2", "t2"), ("8", "1", "t3")] {
        let change = TopicChange::Bind {
            chat_id: chat.into(),
            thread_id: thread.into(),
            user_id: "anna".into(),
            session_key: format!("key {session}"),
            session_id: id(session),
            managed_mode: "auto".into(),
        };
        store.change_topics(&change, crate::fixture::at(0)).await?;
    }
    let telegram = crate::fixture::source("telegram");
    let found = scope::of_chat(&*store, &telegram, "7", ids(&["d1", "t2"])).await?;
    assert_eq!(found, Scope::Chat(ids(&["d1", "t1b", "t2"])));
    assert_eq!(scope::of_chat(&*store, &telegram, "9", Vec::new()).await?, Scope::Chat(Vec::new()));
    // A chat with the same number on another platform is another chat.
    let discord = crate::fixture::source("discord");
    assert_eq!(scope::of_chat(&*store, &discord, "7", ids(&["d1"])).await?, Scope::Chat(ids(&["d1"])));
    Ok(())
}
