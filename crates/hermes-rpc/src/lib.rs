//! The session store for programs in other languages: JSON lines over a pipe.
//!
//! The methods are those of the Python agent's `SessionDB` 0.14.0, by name, argument, default, result and kind of error, and a few of ours.
//! `docs/rpc.md` tells the protocol, `docs/differences.md` where an answer is meant to differ from the agent's.
//!
//! One file for each group of methods; `signature` and `table` say what they are called with, `wire` how values cross the pipe, `scheduler`
//! which calls may run side by side.

#![warn(missing_docs)]

mod args;
mod call;
mod fail;
mod request_line;
mod row;
mod scheduler;
mod serve;
mod service;
mod signature;
mod table;
mod wire;

mod conversation;
mod export;
mod handoff;
mod listing;
mod maintenance;
mod messages;
mod meta;
mod recall;
mod search;
mod sessions;
mod titles;
mod topics;

pub use fail::{ErrorType, error_type};
pub use service::{Clock, PROTOCOL, Service, hello_of_failure};
pub use table::signatures;
