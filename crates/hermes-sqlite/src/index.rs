//! Search indexes: the agent's full-text tables and our own vocabulary.

pub(crate) mod indexes;
pub(crate) mod vocabulary;
