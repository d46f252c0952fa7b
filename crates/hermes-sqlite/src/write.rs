//! Writing: the writer thread, the readers beside it, the queue of all processes, the WAL and background work.

pub(crate) mod background;
pub(crate) mod budget;
pub(crate) mod checkpoint;
pub(crate) mod database;
pub(crate) mod long_wait;
pub(crate) mod queue;
pub(crate) mod readers;
pub(crate) mod requests;
pub(crate) mod wal;
pub(crate) mod worker;
pub(crate) mod writer;
