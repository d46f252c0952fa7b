//! Stand-ins for servers that this project talks to, on the loopback interface. For tests alone.
//!
//! [`ModelServer`] serves a [`Script`](hermes_model::script::Script) over the true wire format of chat-completions. It
//! is strict: it checks every request with rules of its own, answers a bad one with status 400, and records it, so that
//! a test can assert that there were none.

#![warn(missing_docs)]

mod checks;
mod http;
mod server;

pub use checks::{IdForm, check};
pub use server::{ModelServer, Received, Rules};
