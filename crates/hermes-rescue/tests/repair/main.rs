//! Salvaging damaged files: every kind of page, cut files, torn logs; what is saved, beside what others get of the same files.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::disallowed_methods, reason = "damage is done, and looked at, past the store")]

mod beside;
mod cases;
mod damage;
mod fixture;
mod newer;
mod pins_and_tags;
mod states;
