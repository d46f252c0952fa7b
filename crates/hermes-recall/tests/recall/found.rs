//! Which conversations are returned, and which parts of them.

use crate::{Place, at, id, names, session};
use hermes_recall::{MAX_LIMIT, RecallRequest, to_json};
use hermes_session::search::SearchFilter;
use hermes_session::{
    ConversationStore as _, NewChild, NewMessage, Relation, Role, Scope, SessionStore as _, Source, Title,
};
use jiff::tz::TimeZone;

#[tokio::test]
async fn hits_are_grouped_and_the_best_conversations_come_first() {
    let place = Place::new();
    for number in 0..15 {
        let name = format!("s{number:02}");
        place.session(session(&name, "cli"), f64::from(number)).await;
        place.say(&name, &["where is the ferry timetable?", "the ferry leaves at nine", "and the last ferry?"]).await;
    }
    for (limit, expect) in [(0, 1), (1, 1), (3, 3), (10, 10), (99, MAX_LIMIT)] {
        let results = place.recall(&RecallRequest { limit, ..RecallRequest::new("ferry") }).await;
        assert_eq!(results.len(), expect);
        assert!(results.iter().all(|result| result.matches.len() == 3), "each with its matches");
        let mut names = names(&results);
        names.dedup();
        assert_eq!(names.len(), expect, "each once");
    }
}

#[tokio::test]
async fn one_chatty_conversation_keeps_nobody_out() {
    let place = Place::new();
    place.session(session("quiet", "cli"), 0.0).await;
    let filler = "many other words ".repeat(30);
    place.say("quiet", &[&format!("{filler} ferry {filler}")]).await;
    place.session(session("chatty", "cli"), 1.0).await;
    let many: Vec<String> = (0..400).map(|number| format!("ferry {number}")).collect();
    place.say("chatty", &many.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(names(&place.recall(&RecallRequest::new("ferry")).await), ["chatty", "quiet"]);
}

#[tokio::test]
async fn every_match_of_a_conversation_is_shown_whoever_fills_the_page() {
    let place = Place::new();
    place.session(session("quiet", "cli"), 0.0).await;
    let filler = "many other words ".repeat(30);
    let mut said = vec!["ferry ferry ferry".to_owned()];
    said.extend((0..9).map(|number| format!("{number} {filler} ferry {filler}")));
    place.say("quiet", &said.iter().map(String::as_str).collect::<Vec<_>>()).await;
    place.session(session("chatty", "cli"), 1.0).await;
    let many: Vec<String> = (0..100).map(|number| format!("ferry {number}")).collect();
    place.say("chatty", &many.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let request = RecallRequest { limit: 2, ..RecallRequest::new("ferry") };
    let count = |results: &[hermes_recall::Recalled], name: &str| {
        results.iter().find(|result| result.conversation.id().as_str() == name).unwrap().matches.len()
    };
    let results = place.recall(&request).await;
    assert_eq!((count(&results, "quiet"), count(&results, "chatty")), (10, 20));
    // A filter by sessions is still applied, and a relaxed search stays relaxed.
    let results = place.recall(&RecallRequest { query: "ferry absent nothing".into(), ..request.clone() }).await;
    assert_eq!(count(&results, "quiet"), 10);
    place.store.split(&id("quiet"), &NewChild::new(id("more")), &[], &at(2.0)).await.unwrap();
    place.say("more", &["ferry"]).await;
    let sessions = Some(vec![id("quiet"), id("chatty")]);
    let filter = SearchFilter { sessions, ..SearchFilter::default() };
    assert_eq!(count(&place.recall(&RecallRequest { filter, ..request }).await, "more"), 10);
}

#[tokio::test]
async fn the_current_conversation_and_its_ancestors_are_left_out() {
    let place = Place::new();
    for name in ["root", "other"] {
        place.session(session(name, "cli"), 0.0).await;
        place.say(name, &["the ferry"]).await;
    }
    let texts = [NewMessage::new(Role::User, "still the ferry")];
    place.store.split(&id("root"), &NewChild::new(id("tip")), &texts, &at(1.0)).await.unwrap();
    place.session(session("worker", "cli").child_of(id("root"), Relation::Delegate), 2.0).await;
    place.say("worker", &["ferry research"]).await;
    place.store.branch(&id("tip"), &NewChild::new(id("branch")), &at(3.0)).await.unwrap();
    place.store.branch(&id("tip"), &NewChild::new(id("sibling")), &at(4.0)).await.unwrap();
    let without = async |current: &str| {
        let request = RecallRequest { current: Some(id(current)), limit: 10, ..RecallRequest::new("ferry") };
        let results = place.recall(&request).await;
        let recent = place.recent(&RecallRequest { query: "  ".into(), ..request }).await;
        let mut found: Vec<String> = names(&results).into_iter().map(str::to_owned).collect();
        found.sort();
        let mut listed = recent;
        listed.sort();
        assert_eq!(found, listed);
        found.join(" ")
    };
    for current in ["root", "tip", "worker"] {
        assert_eq!(without(current).await, "branch other sibling", "{current}");
    }
    assert_eq!(without("branch").await, "other sibling");
    assert_eq!(without("other").await, "branch sibling tip");
    assert_eq!(without("absent").await, "branch other sibling tip");
}

#[tokio::test]
async fn a_word_in_a_continuation_or_a_delegate_is_in_the_window() {
    let place = Place::new();
    place.session(session("root", "telegram"), 0.0).await;
    place.say("root", &["plan the garden", "roses or beans?"]).await;
    let texts = [NewMessage::new(Role::User, "plan the garden"), NewMessage::new(Role::User, "take the zinnias")];
    place.store.split(&id("root"), &NewChild::new(id("tip")), &texts, &at(1.0)).await.unwrap();
    place.session(session("worker", "delegate").child_of(id("root"), Relation::Delegate), 2.0).await;
    place.say("worker", &["find seeds", "heliotrope costs 3 euros"]).await;
    place.store.set_title(&id("tip"), Some(&Title::parse("Garden").unwrap()), &at(3.0)).await.unwrap();

    let results = place.recall(&RecallRequest::new("zinnias")).await;
    assert_eq!(names(&results), ["tip"]);
    assert_eq!(
        results[0].window.text, "[USER]: plan the garden\n\n[ASSISTANT]: roses or beans?\n\n[USER]: take the zinnias",
        "the chain as one, what was copied once"
    );
    assert_eq!(results[0].conversation.title(), Some("Garden"));
    let results = place.recall(&RecallRequest::new("heliotrope")).await;
    assert_eq!(names(&results), ["tip"]);
    assert!(results[0].window.text.contains("heliotrope costs 3 euros"), "{}", results[0].window.text);
    // A match that is only in a copy is reported at the original message.
    let filter = SearchFilter { sessions: Some(vec![id("tip")]), ..SearchFilter::default() };
    let results = place.recall(&RecallRequest { filter, ..RecallRequest::new("garden") }).await;
    assert!(results[0].window.text.starts_with("[USER]: plan the garden"), "{}", results[0].window.text);
}

#[tokio::test]
async fn a_long_session_is_read_around_its_matches() {
    let place = Place::new();
    place.session(session("long", "cli"), 0.0).await;
    let texts: Vec<String> = (0..3_000)
        .map(|number| match number {
            20 | 1_500 | 2_990 => format!("the ferry number {number}"),
            _ => format!("something else {number} {}", "x".repeat(200)),
        })
        .collect();
    place.say("long", &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for budget in [1_000, 5_000, 20_000, 100_000] {
        let results = place.recall(&RecallRequest { budget, ..RecallRequest::new("ferry") }).await;
        let window = &results[0].window;
        for number in [20, 1_500, 2_990] {
            assert!(window.text.contains(&format!("the ferry number {number}")), "{number} in {budget}");
        }
        assert!(
            window.characters() <= budget && window.characters() * 2 > budget,
            "{} of {budget}",
            window.characters()
        );
        assert_eq!(window.messages + window.left_out, 3_000, "what was not read is left out as well");
    }
}

#[tokio::test]
async fn of_a_long_session_with_short_messages_as_much_is_read_as_fits() {
    let place = Place::new();
    place.session(session("long", "cli"), 0.0).await;
    let texts: Vec<String> = (0..3_000)
        .map(|number| if number == 1_500 { "the ferry".to_owned() } else { format!("note {number}") })
        .collect();
    place.say("long", &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for (budget, all) in [(20_000, false), (100_000, true)] {
        let results = place.recall(&RecallRequest { budget, ..RecallRequest::new("ferry") }).await;
        let window = &results[0].window;
        assert!(window.text.contains("the ferry") && (all || window.characters() * 5 > budget * 4), "{budget}");
        assert_eq!(window.messages + window.left_out, 3_000);
        assert_eq!(window.left_out == 0, all, "{budget}");
        assert_eq!(window.text.starts_with("[… ") && window.text.ends_with(" …]"), !all, "{budget}");
    }
}

#[tokio::test]
async fn hidden_sources_are_for_who_names_them() {
    let place = Place::new();
    for (name, source) in [("mine", "cli"), ("made", "tool")] {
        place.session(session(name, source), 0.0).await;
        place.say(name, &["the ferry"]).await;
    }
    assert_eq!(names(&place.recall(&RecallRequest::new("ferry")).await), ["mine"]);
    assert_eq!(place.recent(&RecallRequest::new("")).await, ["mine"]);
    let filter = SearchFilter { sources: Some(vec![Source::parse("tool").unwrap()]), ..SearchFilter::default() };
    let named = RecallRequest { filter, ..RecallRequest::new("ferry") };
    assert_eq!(names(&place.recall(&named).await), ["made"]);
    assert_eq!(place.recent(&RecallRequest { query: String::new(), ..named }).await, ["made"]);
}

#[tokio::test]
async fn recent_conversations_without_those_that_nothing_was_said_in() {
    let place = Place::new();
    for (name, seconds) in [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0), ("e", 5.0)] {
        place.session(session(name, "cli"), seconds * 100.0).await;
    }
    for name in ["a", "b", "d", "e"] {
        place.say(name, &["hello"]).await;
    }
    assert_eq!(place.recent(&RecallRequest::new(" \n")).await, ["e", "d", "b"]);
    let limit = RecallRequest { limit: 10, ..RecallRequest::new("") };
    assert_eq!(place.recent(&limit).await, ["e", "d", "b", "a"]);
}

#[tokio::test]
async fn the_answer_has_the_keys_of_the_agent() {
    let place = Place::new();
    place.session(session("s", "cli"), 0.0).await;
    place.say("s", &["the ferry to Hven", "leaves at nine"]).await;
    let json = async |query: &str| {
        let recall = hermes_recall::session_search(&place.store, &Scope::All, &RecallRequest::new(query), None).await;
        to_json(query, &recall.unwrap(), &TimeZone::UTC)
    };
    let found = json("ferry").await;
    assert_eq!((&found["success"], &found["count"], &found["sessions_searched"]), (&true.into(), &1.into(), &1.into()));
    let result = &found["results"][0];
    assert_eq!(result["session_id"], "s");
    assert_eq!(result["when"], "November 14, 2023 at 10:13 PM");
    assert_eq!(result["summary"], "[USER]: the ferry to Hven\n\n[ASSISTANT]: leaves at nine");
    assert_eq!(result["matches"][0]["snippet"], "the >>>ferry<<< to Hven");
    let none = json("absent").await;
    assert_eq!(
        (&none["success"], &none["count"], &none["message"]),
        (&true.into(), &0.into(), &"No matching sessions found.".into())
    );
    let recent = json("").await;
    assert_eq!((&recent["mode"], &recent["results"][0]["preview"]), (&"recent".into(), &"the ferry to Hven".into()));
}
