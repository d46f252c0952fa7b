//! The session store for programs in other languages: JSON lines over a pipe.
//!
//! The methods are those of the Python agent's `SessionDB` 0.14.0, with the same names, arguments, defaults, results
//! and kinds of errors, and a few of our own. `docs/rpc.md` describes the protocol, `docs/differences.md` the intended
//! differences from the agent.
//!
//! There is one file for each group of methods. `signature` and `table` define their parameters, `wire` how values are
//! encoded on the pipe, `scheduler` which calls may run concurrently.

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
