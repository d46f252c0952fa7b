//! A copy of one state of the store.

use crate::MysqlStore;
use crate::database::{Database, Purpose};
use crate::error::Failure;
use hermes_session::{BackupReport, StoreError};
use hermes_sql::server::{Backup, Failing as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) async fn write(store: &MysqlStore, target: &Path) -> Result<BackupReport, StoreError> {
    const OP: &str = "copy the store";
    let backup = Backup::new(target)?;
    let database = store.database();
    let failed = |failure: Failure| failure.into_store_error(OP, Duration::ZERO, &database.location);
    // A snapshot cannot be shared with another connection, so everything is read on this one.
    let frame = database.begin(Purpose::ReadAll, OP).await.map_err(failed)?;
    frame.batch("SET SESSION wait_timeout = 28800").await.map_err(failed)?;
    let frozen = MysqlStore::at(Database { frame: Some(Arc::new(frame)), ..database.clone() });
    backup.fill(&frozen).await
}
