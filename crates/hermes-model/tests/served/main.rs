//! The whole way of a request: front, codec, retries, transport and a strict server on the loopback interface.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod answers;
mod connections;
mod encrypted;
mod faults;
mod keys;
mod scripted;
mod support;
