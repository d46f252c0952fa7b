//! The search engine of every store.
//!
//! [`engine`] composes an answer: it asks a store for candidates, checks the text of each before it is returned, and
//! defines the order. A store answers through [`Postings`](postings::Postings), from whatever index it has. Candidates
//! may be too many, never too few.
//!
//! Servers list *lexemes* of each message: [`lexemes`] defines them, [`ask`] the conditions that a query puts on such an
//! index, [`wanted`] the same conditions in lexemes, [`vocabulary`] the lookup of pieces of words. [`sieve`] excludes
//! messages that can't match while a store without an index is scanned. Nothing here knows SQL.

#![warn(missing_docs)]

pub mod ask;
pub mod engine;
pub mod lexemes;
pub mod postings;
pub mod sieve;
pub mod vocabulary;
pub mod wanted;
