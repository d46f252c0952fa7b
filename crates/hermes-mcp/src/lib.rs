//! The session store for agents, as a server of the Model Context Protocol.
//!
//! What a client may see is fixed when the server is made: a [`Whose`]. Nothing that a client says widens it. Unless the server may write, no tool changes
//! anything. `rmcp` is seen nowhere else.

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
