//! The application layer: the work of a program with settings, store and files, without a terminal.
//!
//! A [`Workspace`] knows the flags and the environment. It reads `config.yaml` once, and nothing else opens a store:
//!
//! ```no_run
//! # async fn example(flags: hermes_config::Flags, now: hermes_session::Timestamp) -> Result<(), Box<dyn std::error::Error>> {
//! use hermes_app::last_list::Lists;
//! use hermes_app::{Access, Workspace, listing, resolve, trash};
//!
//! let workspace = Workspace::new(flags, hermes_config::Environment::of_process());
//! let opened = workspace.open(Access::Write).await?;
//! let found = resolve::resolve(&workspace, &*opened.store, "@last", Lists::Own, now).await?;
//! let preview = trash::preview(&*opened.store, &found.asked, opened.transcripts().as_ref(), now).await?;
//! let days = opened.settings.sessions.trash_days.value;
//! let report = trash::delete(&*opened.store, &preview, days, opened.transcripts().as_ref(), now).await?;
//! # Ok(()) }
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`workspace`] | flags, environment, settings and the URL of the store, each read once |
//! | [`open`] | settings → opened store: access, read-only check, indexing of an adopted file, notices |
//! | [`transcripts`] | the transcript files that an agent keeps beside the store |
//! | [`trash`] | delete, trash, restore and empty, with the transcripts |
//! | [`retention`] | prune and auto-prune, with the transcripts |
//! | [`resolve`], [`last_list`], [`terminal`] | from a text that a person typed to a session; numbered lists of each terminal |
//! | [`messages`] | messages of a session, read in pages and counted by state |
//! | [`listing`] | filters and pages of the lists that people see |
//! | [`owners`] | who owns a conversation, whether that process is gone, and taking a conversation over |
//! | [`migrate`] | copy a store to another one and prove the copy |
//!
//! Functions return data, typed errors and progress events. They print nothing, and errors carry no hints: a hint names
//! a command or a key, which only the surface knows.

#![warn(missing_docs)]

pub mod error;
pub mod last_list;
pub mod listing;
pub mod messages;
pub mod migrate;
pub mod open;
pub mod owners;
mod process;
pub mod resolve;
pub mod retention;
pub mod terminal;
pub mod transcripts;
pub mod trash;
pub mod workspace;

pub use error::{AppError, UrlOrigin};
pub use open::{Access, OpenStore, Opened};
pub use terminal::Terminal;
pub use transcripts::Transcripts;
pub use workspace::Workspace;
