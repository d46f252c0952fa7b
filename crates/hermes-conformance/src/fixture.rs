//! What cases are written with: fixed times, short names, and the few looks at a store that all of them take.

use hermes_session::{
    Conflict, Content, Json, Listing, Maintenance, Message, MessageBody, MessageRequest, NewMessage, NewSession,
    Request, RequestKey, Role, Session, SessionId, Source, StoreError, Timestamp, Title,
};

/// When cases take place: a second of 2025 with a fraction that no decimal of a few digits can hold.
const EPOCH: f64 = 1_741_166_123.123_456_7;

/// The time `seconds` after the start of the case.
pub(crate) fn at(seconds: impl Into<f64>) -> Timestamp {
    Timestamp::from_seconds(EPOCH + seconds.into()).unwrap()
}

/// A change at that time.
pub(crate) fn request(seconds: impl Into<f64>) -> Request {
    Request::at(at(seconds))
}

/// A change at that time, under a key.
pub(crate) fn keyed(seconds: impl Into<f64>, key: &str) -> Request {
    request(seconds).keyed(self::key(key))
}

pub(crate) fn key(text: &str) -> RequestKey {
    RequestKey::parse(text).unwrap()
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub(crate) fn ids(texts: &[&str]) -> Vec<SessionId> {
    texts.iter().copied().map(id).collect()
}

pub(crate) fn source(text: &str) -> Source {
    Source::parse(text).unwrap()
}

pub(crate) fn title(text: &str) -> Title {
    Title::parse(text).unwrap()
}

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

/// A session of the terminal with nothing else known.
pub(crate) fn new_session(name: &str) -> NewSession {
    NewSession::new(id(name), source("cli"))
}

/// A message of the person.
pub(crate) fn user(text: &str) -> NewMessage {
    NewMessage::new(Role::User, text)
}

/// A message of the model.
pub(crate) fn assistant(text: &str) -> NewMessage {
    NewMessage::new(Role::Assistant, text)
}

/// A message of the model that calls tools and says nothing.
pub(crate) fn calls(tool_calls: &str) -> NewMessage {
    MessageBody { tool_calls: Some(json(tool_calls)), ..MessageBody::empty(Role::Assistant) }.into()
}

/// Structured content, or text that Rust can't hold.
pub(crate) fn structured(text: &str) -> Content {
    Content::from_json(json(text))
}

/// Makes a session of the terminal that starts at a time.
pub(crate) async fn made(store: &dyn Maintenance, name: &str, seconds: impl Into<f64>) -> SessionId {
    store.create(&new_session(name), &request(seconds)).await.unwrap();
    id(name)
}

/// The session, which must be there.
pub(crate) async fn stored(store: &dyn Maintenance, name: &SessionId) -> Session {
    store.session(name).await.unwrap().unwrap_or_else(|| panic!("session {name} is not there"))
}

/// Every message of a session.
pub(crate) async fn transcript(store: &dyn Maintenance, name: &SessionId) -> Vec<Message> {
    store.messages(name, &MessageRequest::first(u32::MAX)).await.unwrap()
}

/// What every message of a session says, as plain text.
pub(crate) async fn texts(store: &dyn Maintenance, name: &SessionId) -> Vec<String> {
    transcript(store, name).await.iter().map(|message| message.body.plain_text().into_owned()).collect()
}

/// The ids of the rows of a page, in order.
pub(crate) fn row_ids(listing: &Listing) -> Vec<&str> {
    listing.rows.iter().map(|row| row.id.as_str()).collect()
}

/// The conflict that a call must have met.
#[track_caller]
pub(crate) fn conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Conflict {
    match result {
        Err(StoreError::Conflict(conflict)) => conflict,
        other => panic!("a conflict was expected, not {other:?}"),
    }
}

/// Sees to it that the call did not find that session.
#[track_caller]
pub(crate) fn assert_not_found<T: std::fmt::Debug>(result: Result<T, StoreError>, name: &SessionId) {
    match result {
        Err(StoreError::NotFound(missing)) => assert_eq!(missing, name.as_str()),
        other => panic!("session {name} should not be found, not {other:?}"),
    }
}

/// Sees to it that what was given was refused, and names what.
#[track_caller]
pub(crate) fn assert_invalid<T: std::fmt::Debug>(result: Result<T, StoreError>, what: &str) {
    match result {
        Err(StoreError::Invalid(invalid)) => assert_eq!(invalid.what, what, "{invalid}"),
        other => panic!("{what} should be refused, not {other:?}"),
    }
}
