//! Transcripts page by page.

use crate::{Place, at, id, session};
use hermes_recall::{Reader, page};
use hermes_session::{NewChild, NewMessage, Relation, Role, Scope, SessionId, SessionStore as _, StoreError, Title};
use jiff::tz::TimeZone;
use std::sync::Arc;

/// What pages of so many messages tell, as who follows `session_id` and `next` gets them.
async fn followed(reader: &Reader, name: &str, limit: u32) -> Vec<String> {
    let (mut session, mut after, mut texts) = (id(name), None, Vec::new());
    loop {
        let answer = page(&reader.read(&session, after, limit).await.unwrap(), &TimeZone::UTC);
        for message in answer["messages"].as_array().unwrap() {
            texts.push(message["content"].as_str().unwrap().to_owned());
        }
        session = SessionId::parse(answer["session_id"].as_str().unwrap()).unwrap();
        match answer["next"].as_str() {
            Some(next) => after = Some(next.parse().unwrap()),
            None => return texts,
        }
    }
}

#[tokio::test]
async fn the_pages_of_a_delegate_are_its_own_to_the_last() {
    let place = Place::new();
    place.session(session("root", "cli"), 0.0).await;
    place.say("root", &["plan", "yes", "go"]).await;
    let texts = [NewMessage::new(Role::User, "later")];
    place.store.split(&id("root"), &NewChild::new(id("tip")), &texts, &at(1.0)).await.unwrap();
    place.session(session("worker", "cli").child_of(id("root"), Relation::Delegate), 2.0).await;
    place.say("worker", &["seeds", "found", "prices", "noted"]).await;
    let reader = Reader::new(Arc::new(place.store), Scope::All);
    for limit in [1, 2, 3, 9] {
        assert_eq!(followed(&reader, "worker", limit).await, ["seeds", "found", "prices", "noted"]);
        assert_eq!(followed(&reader, "root", limit).await, ["plan", "yes", "go", "later"]);
    }
    // A place in the chain is none of the delegate's.
    let behind = reader.read(&id("tip"), Some("1.1".parse().unwrap()), 9).await.unwrap();
    assert_eq!(behind.messages.len(), 1);
    let odd = reader.read(&id("worker"), Some("1.1".parse().unwrap()), 9).await.unwrap_err();
    assert!(matches!(&odd, StoreError::Invalid(_)), "{odd}");
}

#[tokio::test]
async fn a_title_that_is_taken_is_told_as_it_was_given() {
    let place = Place::new();
    for name in ["a", "b"] {
        place.session(session(name, "cli"), 0.0).await;
    }
    let title = Title::parse("Garden").unwrap();
    place.store.set_title(&id("a"), Some(&title), &at(1.0)).await.unwrap();
    let reader = Reader::new(Arc::new(place.store), Scope::All);
    let error = reader.rename(&id("b"), &title, &at(2.0)).await.unwrap_err();
    assert_eq!(error.to_string(), "title \"Garden\" is taken");
}
