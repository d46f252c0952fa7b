//! Many rows at once, in statements of a bounded size.

use crate::error::Failure;
use crate::transaction::Transaction;
use mysql_async::Value;

/// The most bytes of values in one statement, but for a row that has more by itself. A server takes 16 MB or more at once, unless somebody set it lower.
const BYTES: usize = 4 << 20;

/// The most rows of one statement.
const ROWS: usize = 128;

/// A statement that adds rows.
pub(crate) struct Bulk {
    /// What comes before the rows, up to `VALUES`.
    pub(crate) head: &'static str,
    /// What comes behind them.
    pub(crate) tail: &'static str,
}

impl Bulk {
    /// Adds rows; for each statement how many of them it took, and the first id that the server drew for them.
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

    /// Sends what waits, in lots whose sizes are powers of two: so the server has to know few statements.
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
            added.push((lot, transaction.insert(&sql, values).await?));
        }
        Ok(())
    }
}

/// How much room a value takes on its way.
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
