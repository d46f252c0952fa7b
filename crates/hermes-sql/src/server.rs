//! What the providers of servers share: how a call is sent again, and how a commit whose answer was lost is found out about, and
//! how a copy is made.

mod attempt;
mod backup;
mod marks;
mod store;

pub use attempt::{Attempts, Failing, Lost, Remedy, Server};
pub use backup::Backup;
pub use marks::{Mark, Marks};
