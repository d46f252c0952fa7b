//! The domain of agent sessions.
//!
//! * **Session**: a row; one stretch of a conversation with one context.
//! * **Lineage**: all sessions linked by parent.
//! * **Conversation**: a compressed chain (a root and its continuations) plus its delegates. Its id is that of its tip,
//!   its start that of its root.
//! * **Branch**: a conversation of its own that records the session it was branched from.
//! * **Active**: not ended. **Last activity**: the time of the newest message, or the start.
//!
//! Types, pure functions and the store contract ([`SessionStore`]). Nothing here reads a clock, a file, a
//! terminal or a network; the time is always an argument.

#![warn(missing_docs)]

pub mod change;
pub mod compaction;
mod content;
mod deletion;
pub mod digest;
mod error;
pub mod export;
pub mod extra;
pub mod gateway;
mod id;
pub mod import;
pub mod insights;
mod invalid;
pub mod json;
pub mod lineage;
mod listing;
pub mod live;
mod message;
mod message_request;
mod message_state;
pub mod needles;
mod percent;
pub mod pins_and_tags;
mod preview;
mod quoted;
pub mod recap;
pub mod redact;
pub mod replay;
mod request;
pub mod resume;
pub mod retention;
pub mod scope;
pub mod script;
pub mod scrub;
pub mod search;
pub mod search_text;
mod session;
mod statistics;
mod status;
mod store;
mod time;
pub mod title;
mod tool_calls;
pub mod topics;
pub mod transcript_file;
pub mod transfer;
mod trash;
mod usage;
mod verify;
pub mod versions;

pub use content::Content;
pub use deletion::{DeleteExtent, Deleted};
pub use error::{
    Cause, Conflict, Location, Purpose, ReadOnlyReason, Refusal, ServerProblem, StoreError, TargetProblem,
};
pub use extra::{Extra, Scalar};
pub use id::{MAX_ID_BYTES, MessageId, RequestKey, SessionId, checked_meta_key, checked_prefix};
pub use insights::{Insights, InsightsRequest};
pub use invalid::Invalid;
pub use json::{Json, JsonKind};
pub use lineage::{Lineage, Link};
pub use listing::{
    Archived, Counts, Field, ListCursor, ListRequest, Listing, MAX_PAGE, Order, PageRequest, Recorded, SessionFilter,
    SessionSummary, Unreadable, View,
};
pub use message::{Fault, Message, MessageBody, NewMessage, Role};
pub use message_request::{Extent, MessageRequest, Window};
pub use message_state::{MessageState, StateCounts};
pub use percent::{percent_decoded, percent_encoded};
pub use pins_and_tags::{PinAndTags, Tag};
pub use preview::{MAX_PREVIEW, preview};
pub use quoted::{MAX_QUOTED, quoted, shortened};
pub use request::Request;
pub use scope::Scope;
pub use session::{EndReason, Ensured, HandoffColumns, NewChild, NewSession, Relation, Session, SessionPatch, Source};
pub use statistics::{ModelStatistics, Room, SessionPart, SourceStatistics, Statistics};
pub use status::{Foreign, IndexHealth, Optimizing, PoolStatus, StoreStatus};
pub use store::{
    ChangeStore, ConversationStore, GatewayStore, LeaseStore, MailStore, Maintenance, RouteStore, SessionStore, Store,
    TurnStore,
};
pub use time::Timestamp;
pub use title::{MAX_TITLE, Title, Titled};
pub use topics::{TopicBinding, TopicChange, TopicMode, Topics, TopicsImported};
pub use trash::{Emptying, Restored, Retitled, Trashed};
pub use usage::{Usage, UsageMode, UsageUpdate};
pub use verify::{BackupReport, Check, Finding, MAX_FINDINGS, Report, Severity};
