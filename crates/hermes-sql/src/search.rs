//! Search on servers whose index is ours: one list of *lexemes* per message, made from the folded text.
//!
//! [`lexemes`] says what of a message is listed, [`ask`] what a question asks of such a list, [`wanted`] the same in lexemes. None of them knows SQL.
//! The lists name messages that may be meant, never too few; [`engine`] looks at the text of each before it is told, and knows the order. A
//! server answers through [`postings`].

pub mod ask;
pub mod engine;
pub mod lexemes;
pub mod postings;
pub mod rows;
pub mod surround;
pub mod wanted;
