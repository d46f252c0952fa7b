//! The JSON that programs read: answers of `--json`, of rpc calls and of MCP tools, as types with schemas.
//!
//! Each type is one JSON object. Names are those of the columns of the tables, times are epoch seconds as doubles. A
//! key that has no value is `null`, unless the field says that it is left out. `docs/json.md` is generated from these
//! types (`tests/docs.rs`).
//!
//! Two kinds of JSON are not written through types, because they must carry values that serde can't hold (`NaN`,
//! infinities, lone surrogates, numbers of any size): lines of exports (`hermes_session::export`) and rows of the
//! agent's tables over rpc (`hermes_rpc`).

#![warn(missing_docs)]

pub mod archive;
pub mod changes;
pub mod config;
pub mod doctor;
pub mod erase;
pub mod insights;
pub mod owners;
pub mod pins;
pub mod recall;
pub mod repair;
pub mod rpc;
pub mod search;
pub mod session;
mod spelling;
pub mod statistics;
pub mod status;
mod stored;
pub mod transfer;
pub mod trash;
pub mod usage;
pub mod verify;

pub use spelling::to_string;
pub use stored::Stored;

use schemars::JsonSchema;
use serde::Serialize;

/// The version of the documents that `--json` prints.
pub const SCHEMA: u32 = 1;

/// A document of `--json`: an object that starts with the version of its format.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<T> {
    /// The version of the format, always 1.
    pub schema: u32,
    /// The other keys.
    #[serde(flatten)]
    pub body: T,
}

/// Returns a value as a tree. It must hold no [`Stored`] JSON, which a tree can't carry.
pub fn to_value<T: Serialize>(value: &T) -> serde_json::Value {
    serde_json::to_value(value).expect("types of this crate have text as keys")
}

/// Returns the text of a document of `--json`, on one line.
pub fn document<T: Serialize>(body: &T) -> String {
    to_string(&Document { schema: SCHEMA, body })
}
