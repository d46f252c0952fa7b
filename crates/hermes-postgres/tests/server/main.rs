//! Behaviour that only a server can cause: refusals, crashes, foreign tables, old and new versions.

mod deaths;
mod fixture;
mod migrations;
mod owners;
mod pooler;
mod refusals;
mod trust;
mod waiting;
