//! The chat-completions protocol as a codec: a request as bytes, an answer from bytes. No network, no clock.

mod calls;
mod decoder;
mod details;
mod events;
mod request;
mod think;
mod value;

#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use events::{EventReader, TooLong};
pub use request::body;
pub(crate) use value::{parsed, some_text};
