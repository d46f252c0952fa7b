//! Columns that a target has no place for. Each is asked for once, and values are counted.

use super::ImportPiece;
use crate::extra::Table;
use crate::{Extra, Maintenance, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// The columns that a target was asked about.
#[derive(Debug, Default)]
pub(crate) struct Lacking {
    asked: BTreeSet<(Table, String)>,
    lacking: BTreeSet<(Table, String)>,
}

impl Lacking {
    /// Returns the columns of a row that the target has a place for.
    pub(crate) async fn kept(
        &mut self,
        store: &dyn Maintenance,
        table: Table,
        extra: &Extra,
    ) -> Result<Extra, StoreError> {
        self.ask(store, extra.columns().map(|column| (table, column.to_owned())).collect()).await?;
        let mut kept = extra.clone();
        kept.retain(|column| !self.lacking.contains(&(table, column.to_owned())));
        Ok(kept)
    }

    /// Asks the target about columns that it was not asked about yet.
    async fn ask(&mut self, store: &dyn Maintenance, columns: Vec<(Table, String)>) -> Result<(), StoreError> {
        let new: Vec<(Table, String)> = columns.into_iter().filter(|column| !self.asked.contains(column)).collect();
        if !new.is_empty() {
            self.lacking.extend(store.lacking(&new).await?);
            self.asked.extend(new);
        }
        Ok(())
    }

    /// Returns the columns of a piece that the target will not keep, as sentences.
    pub(crate) async fn of(&mut self, store: &dyn Maintenance, piece: &ImportPiece) -> Result<Vec<String>, StoreError> {
        let mut columns: BTreeMap<(Table, String), u64> = BTreeMap::new();
        let mut count = |table: Table, extra: &Extra| {
            extra.columns().for_each(|column| *columns.entry((table, column.to_owned())).or_default() += 1);
        };
        if piece.start == 0 {
            count(Table::Sessions, &piece.session.extra);
        }
        piece.messages.iter().for_each(|message| count(Table::Messages, &message.extra));
        self.ask(store, columns.keys().cloned().collect()).await?;
        let lost = columns.iter().filter(|(column, _)| self.lacking.contains(*column));
        Ok(lost
            .map(|((table, column), rows)| match table {
                Table::Sessions => format!("its column {column} is not copied: the target has no such column"),
                Table::Messages => {
                    format!("the column {column} of {rows} messages is not copied: the target has no such column")
                }
            })
            .collect())
    }
}
