//! Behaviour that is particular to files: modes, foreign writers, damage, locks, other processes.

#![allow(clippy::disallowed_methods, reason = "the tests play the foreign writer")]
#![allow(clippy::print_stdout, reason = "a child process tells what it did, a test what it counted or skipped")]
#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod adoption;
mod archive;
mod backup;
mod child;
mod corners;
mod damage;
mod deletion;
mod first_write;
mod fixture;
mod foreign;
mod import;
mod indexes;
mod inline;
mod live;
mod locks;
mod log;
mod lost;
mod mixed;
mod modes;
mod newer;
#[path = "../shared/old_schema.rs"]
mod old_schema;
mod optimize;
mod pages;
mod pins_and_tags;
mod processes;
mod queue;
mod read_only;
mod refusals;
mod revisions;
mod room;
mod search;
mod stale;
mod topics;
mod trash;
mod undo;
mod upgrades;
mod vacuum;
mod verify;
mod versions;
