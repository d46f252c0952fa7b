//! Models over the network.
//!
//! Pure: [`conform`] (any conversation → the list that the strictest provider accepts), [`chat`] (the
//! chat-completions protocol as a codec over bytes), [`RetryPolicy`], [`profile`](fn@profile), [`cost`](fn@cost).
//! With a network: [`Transport`] and its [`HttpTransport`]. [`Model`] joins them.
//!
//! Nothing here knows a store or a tool. The clock is an argument ([`Clock`]).

#![warn(missing_docs)]

mod address;
mod answer;
pub mod chat;
mod clock;
mod conform;
mod digest;
mod error;
mod message;
mod model;
mod models;
mod prices;
mod profile;
mod request;
mod retry;
pub mod script;
mod tokens;
mod transport;

pub use address::{BaseUrl, Key, Origin, Url};
pub use answer::{Answer, Finish, Piece};
pub use clock::{Clock, SystemClock};
pub use conform::{BRIDGE, CONTINUE, EMPTY_RESULT, NAMELESS, OPENING, Violation, conform, is_object, validate};
pub use error::{ErrorKind, ModelError, NetworkFault};
pub use message::{AssistantMessage, Call, CallResult, Image, Part, Reasoning, WireMessage};
pub use model::{Event, Model, OnEvent};
pub use models::{ModelInfo, find_model, read_models};
pub use prices::{Billing, Cost, PriceSource, PriceTable, Prices, cost, usage_update};
pub use profile::{CallIds, LengthField, Profile, Quirks, ReturnedReasoning, WrongQuirk, profile};
pub use request::{Request, ToolSpec};
pub use retry::{Retry, RetryPolicy};
pub use tokens::Tokens;
pub use transport::{HttpRequest, HttpResponse, HttpTransport, ResponseBody, Scripted, Timeouts, Transport};
