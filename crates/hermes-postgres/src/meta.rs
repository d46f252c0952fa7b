//! Values kept beside the sessions.

use crate::database::Transaction;
use crate::error::Failure;
use hermes_sql::stored;

pub(crate) async fn read(transaction: &Transaction, key: &str) -> Result<Option<String>, Failure> {
    let sql = "SELECT value FROM state_meta WHERE key = $1";
    let Some(row) = transaction.row(sql, &[&key]).await? else { return Ok(None) };
    let value: Option<String> = row.try_get(0)?;
    Ok(value.map(|value| stored::with_nul(&value).unwrap_or(value)))
}

pub(crate) async fn write(transaction: &Transaction, key: &str, value: Option<&str>) -> Result<(), Failure> {
    match value {
        Some(value) => {
            let sql = "INSERT INTO state_meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            transaction.run(sql, &[&key, &stored::without_nul(value)]).await?
        }
        None => transaction.run("DELETE FROM state_meta WHERE key = $1", &[&key]).await?,
    };
    Ok(())
}
