//! Inserts of many rows, in statements of limited size.

use crate::error::Failure;
use crate::transaction::Transaction;
use mysql_async::{Params, Value};

/// Maximum bytes of values in one statement, unless a single row is larger. By default, servers accept 16 MB or more at
/// once.
const BYTES: usize = 4 << 20;

/// Maximum rows of one statement.
const ROWS: usize = 128;

/// A statement that inserts rows.
pub(crate) struct Bulk {
    /// Text before the rows, up to `VALUES`.
    pub(crate) head: &'static str,
    /// Text after the rows.
    pub(crate) tail: &'static str,
}

impl Bulk {
    /// Inserts rows. Returns for each statement the number of its rows, and the first id that the server assigned.
    pub(crate) async fn add(
        &self,
        transaction: &Transaction,
        rows: impl IntoIterator<Item = Vec<Value>>,
    ) -> Result<Vec<(usize, i64)>, Failure> {
        let mut added = Vec::new();
        let (mut waiting, mut bytes) = (Vec::new(), 0);
        for row in rows {
            let size: usize = row.iter().map(Size::size).sum();
            if !waiting.is_empty() && (bytes + size > BYTES || waiting.len() == ROWS) {
                self.flush(transaction, std::mem::take(&mut waiting), &mut added).await?;
                bytes = 0;
            }
            bytes += size;
            waiting.push(row);
        }
        self.flush(transaction, waiting, &mut added).await?;
        Ok(added)
    }

    /// Sends the waiting rows in batches whose sizes are powers of two, so that the server sees few distinct
    /// statements.
    async fn flush(
        &self,
        transaction: &Transaction,
        rows: Vec<Vec<Value>>,
        added: &mut Vec<(usize, i64)>,
    ) -> Result<(), Failure> {
        let mut rows = rows.into_iter();
        while rows.len() > 0 {
            let lot = 1 << rows.len().ilog2();
            let values: Vec<Value> = rows.by_ref().take(lot).flatten().collect();
            let row = format!("({})", vec!["?"; values.len() / lot].join(", "));
            let sql = format!("{} {} {}", self.head, vec![row.as_str(); lot].join(", "), self.tail);
            added.push((lot, transaction.assigned(&sql, Params::Positional(values)).await?));
        }
        Ok(())
    }
}

/// Size of a value in the protocol, in bytes.
trait Size {
    fn size(&self) -> usize;
}

impl Size for Value {
    fn size(&self) -> usize {
        match self {
            Value::Bytes(bytes) => bytes.len() + 9,
            _ => 9,
        }
    }
}
