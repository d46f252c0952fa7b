//! Values kept beside the sessions.

use crate::database::{Transaction, values};
use crate::error::Failure;
use crate::row::Get as _;
use hermes_sql::stored;

pub(crate) async fn read(transaction: &Transaction, key: &str) -> Result<Option<String>, Failure> {
    let sql = "SELECT value FROM state_meta WHERE `key` = $1";
    let Some(row) = transaction.row(sql, values![key]).await? else { return Ok(None) };
    let value: Option<String> = row.try_get(0)?;
    Ok(value.map(|value| stored::with_nul(&value).unwrap_or(value)))
}

pub(crate) async fn write(transaction: &Transaction, key: &str, value: Option<&str>) -> Result<(), Failure> {
    match value {
        Some(value) => {
            let sql = "INSERT INTO state_meta (`key`, value) VALUES ($1, $2) ON DUPLICATE KEY UPDATE value = $2";
            transaction.run(sql, values![key, stored::without_nul(value).as_ref()]).await?
        }
        None => transaction.run("DELETE FROM state_meta WHERE `key` = $1", values![key]).await?,
    };
    Ok(())
}

/// Values and their keys, in the order of the keys.
pub(crate) async fn page(
    transaction: &Transaction,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<(String, String)>, Failure> {
    let sql = "SELECT `key`, value FROM state_meta WHERE value IS NOT NULL AND ($1 IS NULL OR `key` > $1) ORDER BY `key` LIMIT $2";
    let mut page = Vec::new();
    for row in transaction.rows(sql, values![after, i64::from(limit)]).await? {
        let value: String = row.try_get(1)?;
        page.push((row.try_get(0)?, stored::with_nul(&value).unwrap_or(value)));
    }
    Ok(page)
}
