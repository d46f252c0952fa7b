//! What only a server can do to us: refuse, vanish, be somebody else's, be old or new.

mod deaths;
mod fixture;
mod migrations;
mod pooler;
mod refusals;
mod trust;
mod waiting;
