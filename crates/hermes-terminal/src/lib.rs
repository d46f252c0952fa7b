//! Terminal output and prompts. Used by the `hermes` command and by chat clients.
//!
//! | modules | hold |
//! |---|---|
//! | `sanitize`, `line`, [`layout`], [`highlight`] | harmless text ([`Visible`]), styled lines ([`Line`]), widths, highlighted matches |
//! | [`table`], [`bars`], [`figures`], [`time`], [`shell`] | tables, bars, numbers, times and shell words for people |
//! | [`markdown`], [`transcript`], [`recap`], [`document`] | messages and sessions: drawn, or as a Markdown document |
//! | `ui`, `ask`, `progress`, [`output`], `pager` | printing, prompts, progress bars, the pager and `man` |
//! | [`screen`], [`paint`] | the whole screen of a terminal |
//!
//! Invariant: stored or typed text reaches a terminal only as [`Visible`], so it can't send control characters.
//! The crate knows no store, no command line and no clock.

#![warn(missing_docs)]

mod ask;
pub mod bars;
pub mod document;
mod error;
pub mod figures;
pub mod highlight;
pub mod layout;
mod line;
pub mod markdown;
pub mod output;
mod pager;
pub mod paint;
mod progress;
pub mod recap;
mod sanitize;
pub mod screen;
pub mod shell;
pub mod table;
pub mod time;
pub mod transcript;
mod ui;

pub use ask::Confirmation;
pub use error::TerminalError;
pub use line::Line;
pub use pager::show_manual;
pub use progress::Progress;
pub use sanitize::Visible;
pub use ui::{Color, UNLIMITED, Ui, error_line};
