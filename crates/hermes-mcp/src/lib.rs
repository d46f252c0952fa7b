//! An MCP (Model Context Protocol) server that gives agents access to the session store.
//!
//! The scope of a client is fixed when the server is created, by a [`Whose`]. No request of a client widens it. No tool
//! changes anything unless writing is allowed. No other crate uses `rmcp`.

#![warn(missing_docs)]

mod arguments;
mod calls;
mod http;
mod resources;
mod server;
mod stdio;
mod tools;

pub use http::{new_token, serve_http};
pub use server::{Options, Server, Whose};
pub use stdio::serve_stdio;
