//! Care of the file: verify, backup, recomputing stale rows, releasing space, optimize, detach.

pub(crate) mod backup;
pub(crate) mod detach;
pub(crate) mod fresh;
pub(crate) mod optimize;
pub(crate) mod orphans;
pub(crate) mod refresh;
pub(crate) mod shrink;
pub(crate) mod stale;
pub(crate) mod vacuum;
pub(crate) mod verify;
