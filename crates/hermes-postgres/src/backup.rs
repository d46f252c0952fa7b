//! A copy of one state of the store.

use crate::PostgresStore;
use crate::database::{Database, Purpose};
use crate::error::Failure;
use hermes_session::{BackupReport, StoreError};
use hermes_sql::server::{Backup, Failing as _, Fields as _, Remedy, Server as _, Sql as _};
use hermes_sql::values;
use std::path::Path;
use std::time::Duration;

pub(crate) async fn write(store: &PostgresStore, target: &Path) -> Result<BackupReport, StoreError> {
    const OP: &str = "copy the store";
    let backup = Backup::new(target)?;
    let database = store.database();
    let failed = |failure: Failure| failure.into_store_error(OP, Duration::ZERO, &database.location);
    // Other transactions can read this snapshot as long as this transaction lasts.
    let frame = database.begin(Purpose::ReadAll, OP).await.map_err(failed)?;
    frame.also("SET LOCAL idle_in_transaction_session_timeout = 0").await.map_err(failed)?;
    let row = frame.one("SELECT pg_export_snapshot()", values![]).await.map_err(failed)?;
    let snapshot: String = row.try_get(0).map_err(|odd| failed(odd.into()))?;
    let frozen = PostgresStore::at(Database { snapshot: Some(snapshot), replica: None, ..database.clone() });
    let report = backup.fill(&frozen).await;
    database.roll_back(frame, Remedy::Tell).await;
    report
}
