//! Status of the store.

use crate::database::Database;
use crate::error::Failure;
use crate::schema::AGENT_VERSION;
use crate::transaction::Transaction;
use hermes_session::{PoolStatus, StoreStatus};
use hermes_sql::server::{Fields as _, Sql as _, maintenance};
use hermes_sql::values;

pub(crate) async fn status(transaction: &Transaction, database: &Database) -> Result<StoreStatus, Failure> {
    let version: String = transaction.one("SELECT current_setting('server_version')", values![]).await?.try_get(0)?;
    let room = crate::statistics::room(transaction).await?;
    let indexes = maintenance::health(transaction).await?;
    let pool = database.pool.status();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(StoreStatus {
        provider: "postgresql",
        version,
        location: database.location.clone(),
        schema_version: AGENT_VERSION,
        schema: Some(database.schema.clone()),
        bytes: room.bytes,
        free_bytes: room.free,
        indexes,
        pool: Some(PoolStatus {
            size: count(pool.size),
            in_use: count(pool.size.saturating_sub(pool.available)),
            most: count(pool.max_size),
        }),
    })
}
