//! Search on servers with an index of our own: one list of *lexemes* per message, made from the folded text.
//!
//! [`lexemes`] defines the lexemes of a message, [`ask`] the conditions that a query puts on an index, [`wanted`] the
//! same conditions in lexemes. None of them knows SQL. The lists name candidates, never too few. [`engine`] checks the
//! text of each candidate before it is returned, and defines the order. A server answers through [`postings`].

pub mod ask;
pub mod engine;
pub mod lexemes;
pub mod postings;
pub mod rows;
pub mod surround;
pub mod wanted;
