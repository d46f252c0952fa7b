//! Erasing from a file and restoring a backup into one, beside other processes.

#![allow(clippy::disallowed_methods, reason = "the tests play the foreign writer")]
#![allow(clippy::print_stdout, reason = "a child process reports what it did")]
#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod child;
mod erase;
#[allow(dead_code, reason = "shared with the tests of hermes-sqlite")]
#[path = "../../../hermes-sqlite/tests/file/fixture.rs"]
mod fixture;
#[path = "../../../hermes-sqlite/tests/file/inline.rs"]
mod inline;
mod restore_backup;
