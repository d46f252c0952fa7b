//! Recall: finds what was said about a topic, so that an agent need not ask its person again.
//!
//! [`session_search`] finds conversations about a topic and returns the passage around each match, without a model. The
//! [`Scope`](hermes_session::Scope), which limits whose conversations are read, is a mandatory argument and part of
//! every query to the store. [`Reader`] does the same for lists, transcripts and counts. No call of this crate reveals
//! anything about a conversation outside the scope, not even that it exists.

#![warn(missing_docs)]

mod conversation;
pub mod hints;
mod json;
mod reader;
mod recall;
mod render;
mod request;
mod summary;
mod transcript;
pub mod when;
mod window;

pub use conversation::Conversation;
pub use json::{failure, listed, page, statistics, statistics_of, to_json};
pub use reader::{MAX_NOTE, MAX_PAGE_CHARACTERS, Page, Place, Reader, Statistics};
pub use recall::{Answered, Match, Recall, Recalled, session_search};
pub use request::{DEFAULT_BUDGET, DEFAULT_LIMIT, HIDDEN, MAX_BUDGET, MAX_LIMIT, MIN_BUDGET, RecallRequest};
pub use summary::{Asked, Summarised, Summariser, Summarising};
pub use window::Window;
