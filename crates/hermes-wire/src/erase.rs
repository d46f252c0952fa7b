//! Erasing.

use schemars::JsonSchema;
use serde::Serialize;

/// A conversation that was erased.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Erased<'a> {
    /// The session in which the conversation continued.
    pub id: &'a str,
    /// How many sessions were erased.
    pub sessions: u64,
    /// How many messages were erased.
    pub messages: u64,
    /// How many transcript files of the agent were removed.
    pub files: u64,
    /// Other files that still hold parts of it; they are not changed.
    pub elsewhere: Vec<String>,
    /// Whether nothing of it is left in the files of the store; `null` on a server, where that can't be known.
    pub clean: Option<bool>,
    /// The proof; left out on a server.
    #[serde(flatten)]
    pub proof: Option<ErasureProof<'a>>,
}

/// The search for remains in the files of a store after a conversation was erased.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErasureProof<'a> {
    /// Whether the file was rewritten: `done`, `in use` (another program has it open) or `no room`. This key and the
    /// following ones are left out on a server.
    pub rewritten: &'static str,
    /// How many byte sequences were searched for.
    pub needles: u64,
    /// How many words were searched for in the indexes.
    pub words: u64,
    /// How many bytes of the store's files were read.
    pub scanned_bytes: u64,
    /// Files of the store in which a byte sequence was found.
    pub left: Vec<String>,
    /// How many of the words are still in an index.
    pub words_left: u64,
    /// Tables of the agent that hold parts of it, though no column links these rows to the conversation.
    pub tables_left: Vec<&'a str>,
}

/// With `--finish`: an erasure that was interrupted and is done now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finished {
    /// How many transcript files the interrupted run had left.
    pub files: u64,
    /// Whether the file was rewritten: `done`, `in use` or `no room`.
    pub rewritten: &'static str,
    /// Whether nothing is left in the files of the store.
    pub clean: bool,
}
