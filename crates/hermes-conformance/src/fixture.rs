//! Helpers for cases: fixed times, short names, and common reads of a store.

pub(crate) mod live;

use hermes_session::{
    Conflict, Content, Json, Listing, Maintenance, Message, MessageBody, MessageRequest, NewMessage, NewSession,
    Request, RequestKey, Role, Session, SessionId, Source, StoreError, Timestamp, Title,
};

/// Start time of cases: a second of 2025 with a fraction that has no short decimal representation.
const EPOCH: f64 = 1_741_166_123.123_456_7;

/// Returns the time `seconds` after the start of the case.
pub(crate) fn at(seconds: impl Into<f64>) -> Timestamp {
    Timestamp::from_seconds(EPOCH + seconds.into()).unwrap()
}

/// Returns a request at that time.
pub(crate) fn request(seconds: impl Into<f64>) -> Request {
    Request::at(at(seconds))
}

/// Returns a request at that time, with an idempotency key.
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

/// Returns a new session with source `cli` and no other fields.
pub(crate) fn new_session(name: &str) -> NewSession {
    NewSession::new(id(name), source("cli"))
}

/// Returns a message of the user.
pub(crate) fn user(text: &str) -> NewMessage {
    NewMessage::new(Role::User, text)
}

/// Returns a message of the assistant.
pub(crate) fn assistant(text: &str) -> NewMessage {
    NewMessage::new(Role::Assistant, text)
}

/// Returns a message of the assistant that calls tools and has no text.
pub(crate) fn calls(tool_calls: &str) -> NewMessage {
    MessageBody { tool_calls: Some(json(tool_calls)), ..MessageBody::empty(Role::Assistant) }.into()
}

/// Returns structured content, or text that Rust can't hold.
pub(crate) fn structured(text: &str) -> Content {
    Content::from_json(json(text))
}

/// Creates a session with source `cli` that starts at this time.
pub(crate) async fn made(store: &dyn Maintenance, name: &str, seconds: impl Into<f64>) -> SessionId {
    store.create(&new_session(name), &request(seconds)).await.unwrap();
    id(name)
}

/// Returns the session, which must exist.
pub(crate) async fn stored(store: &dyn Maintenance, name: &SessionId) -> Session {
    store.session(name).await.unwrap().unwrap_or_else(|| panic!("session {name} is not there"))
}

/// Returns every message of a session.
pub(crate) async fn transcript(store: &dyn Maintenance, name: &SessionId) -> Vec<Message> {
    store.messages(name, &MessageRequest::first(u32::MAX)).await.unwrap()
}

/// Returns the text of every message of a session.
pub(crate) async fn texts(store: &dyn Maintenance, name: &SessionId) -> Vec<String> {
    transcript(store, name).await.iter().map(|message| message.body.plain_text().into_owned()).collect()
}

/// Returns the ids of the rows of a page, in order.
pub(crate) fn row_ids(listing: &Listing) -> Vec<&str> {
    listing.rows.iter().map(|row| row.id.as_str()).collect()
}

/// Returns the conflict of a call that must have failed with one.
#[track_caller]
pub(crate) fn conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Conflict {
    match result {
        Err(StoreError::Conflict(conflict)) => conflict,
        other => panic!("a conflict was expected, not {other:?}"),
    }
}

/// Asserts that the call failed because the session does not exist.
#[track_caller]
pub(crate) fn assert_not_found<T: std::fmt::Debug>(result: Result<T, StoreError>, name: &SessionId) {
    match result {
        Err(StoreError::NotFound(missing)) => assert_eq!(missing, name.as_str()),
        other => panic!("session {name} should not be found, not {other:?}"),
    }
}

/// Asserts that an argument was refused, and which.
#[track_caller]
pub(crate) fn assert_invalid<T: std::fmt::Debug>(result: Result<T, StoreError>, what: &str) {
    match result {
        Err(StoreError::Invalid(invalid)) => assert_eq!(invalid.what, what, "{invalid}"),
        other => panic!("{what} should be refused, not {other:?}"),
    }
}
