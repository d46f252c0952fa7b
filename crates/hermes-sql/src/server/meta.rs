//! Values stored beside the sessions.

use super::{Fields as _, Sql};
use crate::{stored, values};

/// Implements `read` of the contract.
pub async fn read<T: Sql>(transaction: &T, key: &str) -> Result<Option<String>, T::Failure> {
    let sql = "SELECT value FROM state_meta WHERE \"key\" = $1";
    let Some(row) = transaction.row(sql, values![key]).await? else { return Ok(None) };
    let value: Option<String> = row.try_get(0)?;
    Ok(value.map(|value| stored::with_nul(&value).unwrap_or(value)))
}

/// Implements `write` of the contract.
pub async fn write<T: Sql>(transaction: &T, key: &str, value: Option<&str>) -> Result<(), T::Failure> {
    match value {
        Some(value) => {
            let upsert = (transaction.dialect().upsert)("\"key\"");
            let sql = format!("INSERT INTO state_meta (\"key\", value) VALUES ($1, $2) {upsert} value = $2");
            transaction.run(&sql, values![key, stored::without_nul(value).as_ref()]).await?
        }
        None => transaction.run("DELETE FROM state_meta WHERE \"key\" = $1", values![key]).await?,
    };
    Ok(())
}

/// Returns keys and values in the order of the keys.
pub async fn page<T: Sql>(
    transaction: &T,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<(String, String)>, T::Failure> {
    let sql =
        "SELECT \"key\", value FROM state_meta WHERE value IS NOT NULL AND \"key\" > $1 ORDER BY \"key\" LIMIT $2";
    let mut page = Vec::new();
    for row in transaction.rows(sql, values![after.unwrap_or_default(), i64::from(limit)]).await? {
        let value: String = row.try_get(1)?;
        page.push((row.try_get(0)?, stored::with_nul(&value).unwrap_or(value)));
    }
    Ok(page)
}

/// Implements `swap_meta` of the contract.
pub async fn swap<T: Sql>(
    transaction: &T,
    key: &str,
    expected: Option<&str>,
    value: Option<&str>,
) -> Result<bool, T::Failure> {
    // Waits for concurrent callers. If two callers find no row, only one can insert; the other is retried and then sees
    // the value.
    let sql = format!("SELECT 1 FROM state_meta WHERE \"key\" = $1{}", transaction.dialect().lock);
    transaction.rows(&sql, values![key]).await?;
    if read(transaction, key).await?.as_deref() != expected {
        return Ok(false);
    }
    if let (None, Some(value)) = (expected, value) {
        // A row without a value counts as missing. A value committed by another caller since the read stays, and the
        // insert fails on it.
        transaction.run("DELETE FROM state_meta WHERE \"key\" = $1 AND value IS NULL", values![key]).await?;
        let sql = "INSERT INTO state_meta (\"key\", value) VALUES ($1, $2)";
        transaction.run(sql, values![key, stored::without_nul(value)]).await?;
    } else {
        write(transaction, key, value).await?;
    }
    Ok(true)
}
