//! Salvaging damaged files: every kind of page, truncated files, torn WALs; compared with the results of other tools on
//! the same files.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::disallowed_methods, reason = "damage is done, and looked at, past the store")]

mod beside;
mod cases;
mod damage;
mod fixture;
mod live;
mod newer;
mod pins_and_tags;
mod states;
