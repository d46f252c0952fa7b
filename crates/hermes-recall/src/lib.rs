//! Recall: what was said about this, for an agent that should not ask its person again.
//!
//! [`session_search`] finds the conversations in which something was said and gives the passage around each match, without a model. Whose conversations
//! are looked at is a mandatory argument, a [`Scope`](hermes_session::Scope), and is asked of the store with each question; [`Reader`] has the same for
//! lists, transcripts and counts. No call of this crate tells of a conversation outside the scope, not even that it is there.

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
mod window;

pub use conversation::Conversation;
pub use json::{failure, listed, page, statistics, statistics_of, to_json};
pub use reader::{MAX_NOTE, MAX_PAGE_CHARACTERS, Page, Place, Reader, Statistics};
pub use recall::{Answered, Match, Recall, Recalled, session_search};
pub use request::{DEFAULT_BUDGET, DEFAULT_LIMIT, HIDDEN, MAX_BUDGET, MAX_LIMIT, MIN_BUDGET, RecallRequest};
pub use summary::{Asked, Summarised, Summariser, Summarising};
pub use window::Window;
