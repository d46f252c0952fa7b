//! The content of an answer.

use super::{MOMENTS, asked, ids, question};
use crate::fixture::{assistant, at, calls, id, made, new_session, request, source, title, user};
use crate::{CaseResult, Setup};
use hermes_session::search::matching::Tier;
use hermes_session::search::{Neighbour, SearchRequest, snippet};
use hermes_session::{MessageBody, NewChild, NewMessage, NewSession, PageRequest, Relation, Role};

/// A hit names its message, its session, and the session in which its conversation continues.
pub async fn a_hit_tells_where_it_is(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let root = NewSession { model: Some("m-1".into()), ..NewSession::new(id("root"), source("telegram")) };
    store.create(&root, &request(0)).await?;
    store.set_title(&id("root"), Some(&title("plan")), &request(0)).await?;
    let tool = MessageBody { tool_name: Some("web_search".into()), ..MessageBody::new(Role::Tool, "the needle") };
    let said = store.append(&id("root"), &[NewMessage::from(tool).said_at(at(-5))], &request(1)).await?;
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.append(&id("helper"), &[user("a needle of the helper")], &request(2)).await?;
    store.split(&id("root"), &NewChild::new(id("next")), &[user("summary")], &request(3)).await?;
    store.split(&id("next"), &NewChild::new(id("last")), &[user("the last needle")], &request(4)).await?;
    made(&*store, "alone", 5).await;
    store.append(&id("alone"), &[user("needle alone")], &request(5)).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        let hits = asked(&*store, &question("needle")).await?;
        let hit = hits.iter().find(|hit| hit.message == said[0]).unwrap();
        assert_eq!((hit.session.as_str(), hit.conversation.as_str()), ("root", "last"), "{moment:?}");
        assert_eq!(hit.title.as_deref(), Some("plan #3"), "{moment:?}");
        assert_eq!((&hit.role, hit.said_at, hit.started_at), (&Role::Tool, at(-5), at(0)), "{moment:?}");
        assert_eq!((hit.tool_name.as_deref(), hit.model.as_deref()), (Some("web_search"), Some("m-1")), "{moment:?}");
        assert_eq!((&hit.source, hit.tier), (&source("telegram"), Tier::Words), "{moment:?}");
        let mut places: Vec<_> = hits.iter().map(|hit| (hit.session.as_str(), hit.conversation.as_str())).collect();
        places.sort_unstable();
        assert_eq!(places, [("alone", "alone"), ("helper", "last"), ("last", "last"), ("root", "last")], "{moment:?}");
        let alone = hits.iter().find(|hit| hit.session == id("alone")).unwrap();
        assert_eq!((alone.title.as_deref(), alone.model.as_deref()), (None, None), "{moment:?}");
    }
    Ok(())
}

/// A hit has the messages before and after it in its session, in the order they were written, whatever their times are;
/// none if the request says so.
pub async fn neighbours(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "other", 0).await);
    let said = |message: NewMessage, seconds: i32| message.said_at(at(seconds));
    store.append(&session, &[said(user("first needle"), 30)], &request(1)).await?;
    store.append(&other, &[user("between")], &request(1)).await?;
    let called = calls(r#"[{"function": {"name": "find", "arguments": "{\"path\": \"名\"}"}}]"#);
    store.append(&session, &[said(called, 20), said(assistant("second needle"), 10)], &request(1)).await?;
    store.append(&other, &[user("between")], &request(1)).await?;
    let long = "long ".repeat(100);
    store.append(&session, &[said(user(&long), 40), said(user("last needle"), 5)], &request(1)).await?;
    let neighbour = |role: Role, text: &str| Some(Neighbour { role, text: text.into() });
    let head = snippet::head(&long, snippet::NEIGHBOUR);
    for moment in MOMENTS {
        moment.come(&*store).await?;
        let alone = SearchRequest { with_neighbours: false, ..question("needle") };
        for hit in asked(&*store, &alone).await? {
            assert_eq!((hit.before, hit.after), (None, None), "{moment:?}");
        }
        let mut hits = asked(&*store, &question("needle")).await?;
        hits.sort_by_key(|hit| hit.message);
        let beside: Vec<_> = hits.into_iter().map(|hit| (hit.before, hit.after)).collect();
        let call = snippet::head("find\npath\n名", snippet::NEIGHBOUR);
        assert_eq!(
            beside,
            [
                (None, neighbour(Role::Assistant, &call)),
                (neighbour(Role::Assistant, &call), neighbour(Role::User, &head)),
                (neighbour(Role::User, &head), None),
            ],
            "{moment:?}"
        );
    }
    Ok(())
}

/// A snippet shows the text with delimiters around matches, in the requested style.
pub async fn snippets(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let filler = "lorem ipsum dolor sit amet ".repeat(200);
    store
        .append(
            &session,
            &[user("Crème Brûlée, 大别山"), user(&format!("{filler}the needle here {filler}"))],
            &request(1),
        )
        .await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        let shown = async |query: &str, style: snippet::Style| -> Result<String, hermes_session::StoreError> {
            Ok(asked(&*store, &SearchRequest { snippet: style, ..question(query) }).await?[0].snippet.clone())
        };
        let plain = snippet::Style::default;
        assert_eq!(shown("creme", plain()).await?, ">>>Crème<<< Brûlée, 大别山", "{moment:?}");
        assert_eq!(shown("rul 别", plain()).await?, "Crème B>>>rûl<<<ée, 大>>>别<<<山", "{moment:?}");
        let style = snippet::Style { open: "[".into(), close: "]".into(), ..plain() };
        assert_eq!(shown("\"brulee, 大\"", style.clone()).await?, "Crème [Brûlée, 大]别山", "{moment:?}");
        let long = shown("needle", style).await?;
        assert!(long.contains("the [needle] here"), "{moment:?}: {long}");
        assert!(long.starts_with("...") && long.ends_with("..."), "{moment:?}: {long}");
        assert!(long.chars().count() <= plain().length + "......[]".len(), "{moment:?}: {long}");
    }
    Ok(())
}

/// A page of size 0 is not an error, and has no next page.
pub async fn nothing_wanted(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    for query in ["cat", "\"\" NOT cat", "", "cat OR 大", "🚀"] {
        let request = SearchRequest { page: PageRequest::first(0), ..question(query) };
        let answer = store.search(&request).await?;
        assert!(answer.hits.is_empty() && answer.next.is_none(), "nothing said, {query}: {answer:?}");
    }
    store.append(&session, &[user("cat"), user("dog 大 🚀")], &request(1)).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for query in ["cat", "\"\" NOT cat", "", "cat OR 大", "absent", "🚀"] {
            for relax in [false, true] {
                let request = SearchRequest { page: PageRequest::first(0), relax, ..question(query) };
                let answer = store.search(&request).await?;
                assert!(answer.hits.is_empty() && answer.next.is_none(), "{moment:?}, {query}: {answer:?}");
            }
        }
    }
    Ok(())
}

/// Matches of the whole query are not mixed with others. Only if there are none, messages with some of the words are
/// returned, and the answer says so.
pub async fn relaxed_only_if_nothing_matches(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let texts = ["the server crashed at night", "deployment notes", "広島の天気", "unrelated"];
    let said = store.append(&session, &texts.map(user), &request(1)).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for (query, is_relaxed, expect) in [
            ("server crashed", false, &[0][..]),
            ("server notes", true, &[0, 1]),
            ("server zebra", true, &[0]),
            ("server!", true, &[0]),
            ("\"crashed server\"", true, &[0]),
            ("広島 zebra", true, &[2]),
            ("server notes NOT deployment", true, &[0]),
        ] {
            let answer = store.search(&SearchRequest { relax: true, ..question(query) }).await?;
            let mut found = ids(&answer.hits);
            found.sort_unstable();
            assert_eq!(found, expect.iter().map(|place| said[*place]).collect::<Vec<_>>(), "{moment:?}: {query}");
            assert_eq!(answer.served.is_relaxed, is_relaxed, "{moment:?}: {query}");
            let marked = answer.hits.iter().all(|hit| hit.snippet.contains(">>>"));
            assert!(marked, "{moment:?}, {query}: {:?}", answer.hits);
            let strict = store.search(&question(query)).await?;
            assert!(!strict.served.is_relaxed && strict.hits.len() == if is_relaxed { 0 } else { 1 }, "{query}");
        }
        let nothing = store.search(&SearchRequest { relax: true, ..question("zebra xylophone") }).await?;
        assert!(nothing.hits.is_empty() && nothing.next.is_none(), "{moment:?}: {nothing:?}");
    }
    Ok(())
}
