//! Transcripts page by page.

use crate::{Place, at, id, session};
use hermes_recall::{MAX_PAGE_CHARACTERS, Reader, listed, page};
use hermes_session::{
    ConversationStore as _, ListRequest, NewChild, NewMessage, PageRequest, Relation, Role, Scope, SessionId,
    SessionStore as _, StoreError, Title,
};
use jiff::tz::TimeZone;
use std::sync::Arc;

/// Returns the pages of `limit` messages that a client gets when it follows `session_id` and `next`.
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
    // A position in the chain is not one in the delegate.
    let behind = reader.read(&id("tip"), Some("1.1".parse().unwrap()), 9).await.unwrap();
    assert_eq!(behind.messages.len(), 1);
    let odd = reader.read(&id("worker"), Some("1.1".parse().unwrap()), 9).await.unwrap_err();
    assert!(matches!(&odd, StoreError::Invalid(_)), "{odd}");
}

#[tokio::test]
async fn a_title_that_is_taken_is_reported_as_it_was_given() {
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

#[tokio::test]
async fn a_page_has_an_end_however_long_its_messages_are() {
    let place = Place::new();
    place.session(session("s", "cli"), 0.0).await;
    let (long, huge) = ("é".repeat(20_000), format!("first{}last", "é".repeat(3 * MAX_PAGE_CHARACTERS)));
    place.say("s", &["short", &long, &long, &long, &huge, "after"]).await;
    let reader = Reader::new(Arc::new(place.store), Scope::All);
    let (mut after, mut counts) = (None, Vec::new());
    loop {
        let read = reader.read(&id("s"), after, 100).await.unwrap();
        let answer = page(&read, &TimeZone::UTC);
        let messages = answer["messages"].as_array().unwrap();
        let size: usize = messages.iter().map(|message| message["content"].as_str().unwrap().chars().count()).sum();
        assert!(size <= MAX_PAGE_CHARACTERS + 10, "{size}");
        for message in messages {
            let text = message["content"].as_str().unwrap();
            let is_cut = text.starts_with("first") && text.ends_with("last") && text.contains(" […] ");
            assert_eq!(message["is_cut"] == true, is_cut);
        }
        counts.push(messages.len());
        after = read.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(counts, [3, 1, 1, 1]);
}

#[tokio::test]
async fn a_row_that_cannot_be_read_moves_no_page() {
    let place = Place::new();
    for (name, seconds) in [("a", 0.0), ("b", 100.0), ("c", 200.0), ("d", 300.0)] {
        place.session(session(name, "cli"), seconds).await;
    }
    // The newest session has an unreadable time.
    place.foreign("UPDATE sessions SET started_at = 'soon' WHERE id = 'c'");
    let reader = Reader::new(Arc::new(place.store), Scope::All);
    let (mut offset, mut names) = (0, Vec::new());
    loop {
        let page = PageRequest::new(2, offset).unwrap();
        let request = ListRequest { page, ..ListRequest::default() };
        let answer = listed(&reader.list(&request).await.unwrap(), &request.page, &TimeZone::UTC, None);
        for row in answer["conversations"].as_array().unwrap() {
            names.push(row["session_id"].as_str().unwrap().to_owned());
        }
        match answer["next_offset"].as_i64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(names, ["d", "b", "a"]);
}
