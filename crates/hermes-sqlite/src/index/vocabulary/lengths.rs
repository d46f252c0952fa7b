//! `hx_doclen`: how many tokens each message has, for ranking.
//!
//! A row holds a thousand ids, two bytes each, and a page holds two rows. Zero stands for no message; other values are
//! the number of tokens plus one, capped at the maximum.

use crate::error::Failure;
use rusqlite::{Connection, OptionalExtension as _, params};

/// How many ids a row holds.
const BLOCK: i64 = 1_000;

/// The largest length that can be stored.
pub(crate) const MAX_LENGTH: u32 = u16::MAX as u32 - 1;

/// The lengths of messages, in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lengths {
    /// Sorted by block number.
    blocks: Vec<(i64, Vec<u8>)>,
}

impl Lengths {
    /// Reads all lengths.
    pub(crate) fn load(connection: &Connection) -> Result<Self, Failure> {
        let mut statement = connection.prepare_cached("SELECT block, lengths FROM hx_doclen ORDER BY block")?;
        let blocks = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self { blocks: blocks.collect::<Result<_, _>>()? })
    }

    /// Reads the lengths of some messages and of their neighbours.
    pub(crate) fn of(connection: &Connection, ids: impl Iterator<Item = i64>) -> Result<Self, Failure> {
        let mut numbers: Vec<i64> = ids.map(|id| id.div_euclid(BLOCK)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let read = |number| Ok((number, block(connection, number)?));
        Ok(Self { blocks: numbers.into_iter().map(read).collect::<Result<_, Failure>>()? })
    }

    /// Returns how many tokens a message has; `None` if it is not indexed.
    pub(crate) fn get(&self, id: i64) -> Option<u32> {
        let at = self.blocks.binary_search_by_key(&id.div_euclid(BLOCK), |(number, _)| *number).ok()?;
        length(self.blocks[at].1.get(place(id)..place(id) + 2)?)
    }
}

/// Returns the offset of the length of a message in its block.
fn place(id: i64) -> usize {
    2 * id.rem_euclid(BLOCK) as usize
}

fn length(bytes: &[u8]) -> Option<u32> {
    u32::from(u16::from_le_bytes(bytes.try_into().ok()?)).checked_sub(1)
}

fn block(connection: &Connection, number: i64) -> Result<Vec<u8>, Failure> {
    let mut statement = connection.prepare_cached("SELECT lengths FROM hx_doclen WHERE block = ?")?;
    Ok(statement.query_row([number], |row| row.get(0)).optional()?.unwrap_or_default())
}

/// Stores the lengths of messages, in the order of their ids; `None` removes one.
pub(super) fn set(connection: &Connection, lengths: impl Iterator<Item = (i64, Option<usize>)>) -> Result<(), Failure> {
    let mut open: Option<(i64, Vec<u8>)> = None;
    for (id, length) in lengths {
        let number = id.div_euclid(BLOCK);
        if open.as_ref().is_none_or(|(current, _)| *current != number) {
            close(connection, open.take())?;
        }
        let (_, bytes) = match &mut open {
            Some(open) => open,
            none => none.insert((number, block(connection, number)?)),
        };
        let at = place(id);
        if bytes.len() < at + 2 {
            bytes.resize(at + 2, 0);
        }
        let kept = length.map_or(0, |length| u16::try_from(length + 1).unwrap_or(u16::MAX));
        bytes[at..at + 2].copy_from_slice(&kept.to_le_bytes());
    }
    close(connection, open)
}

/// Writes a block, without the zeros at its end. Deletes a block that is all zeros.
fn close(connection: &Connection, open: Option<(i64, Vec<u8>)>) -> Result<(), Failure> {
    let Some((number, mut bytes)) = open else { return Ok(()) };
    let kept = bytes.chunks_exact(2).rposition(|length| length != [0, 0]).map_or(0, |last| 2 * (last + 1));
    bytes.truncate(kept);
    if bytes.is_empty() {
        connection.prepare_cached("DELETE FROM hx_doclen WHERE block = ?")?.execute([number])?;
    } else {
        connection
            .prepare_cached("INSERT OR REPLACE INTO hx_doclen (block, lengths) VALUES (?, ?)")?
            .execute(params![number, bytes])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_kept_wherever_ids_lie() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(super::super::TABLES).unwrap();
        let ids = [i64::MIN, -1_000, -1, 0, 1, 999, 1_000, 2_500, i64::MAX];
        set(&connection, ids.into_iter().zip(0..).map(|(id, n)| (id, Some(n)))).unwrap();
        let lengths = Lengths::load(&connection).unwrap();
        for (id, n) in ids.into_iter().zip(0..) {
            assert_eq!(lengths.get(id), Some(n), "{id}");
        }
        assert_eq!([-999, 2, 1_001, 3_000].map(|id| lengths.get(id)), [None; 4]);
        let some = Lengths::of(&connection, [1_000, -1, 5_000].into_iter()).unwrap();
        assert_eq!([1_000, -1, 5_000, 2_500].map(|id| some.get(id)), [Some(6), Some(2), None, None]);
    }

    #[test]
    fn the_longest_counts_as_the_most_that_fits() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(super::super::TABLES).unwrap();
        set(&connection, [(1, Some(65_533)), (2, Some(65_534)), (3, Some(5_000_000))].into_iter()).unwrap();
        let lengths = Lengths::load(&connection).unwrap();
        assert_eq!([1, 2, 3].map(|id| lengths.get(id)), [Some(65_533), Some(65_534), Some(65_534)]);
    }

    #[test]
    fn what_is_gone_leaves_no_row() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(super::super::TABLES).unwrap();
        set(&connection, [(1, Some(7)), (2, Some(8)), (1_500, Some(9))].into_iter()).unwrap();
        set(&connection, [(2, None), (1_500, None), (9_000, None)].into_iter()).unwrap();
        let rows: Vec<(i64, i64)> = connection
            .prepare("SELECT block, length(lengths) FROM hx_doclen")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(rows, [(0, 4)]);
        let lengths = Lengths::load(&connection).unwrap();
        assert_eq!((lengths.get(1), lengths.get(2)), (Some(7), None));
        set(&connection, [(1, None)].into_iter()).unwrap();
    }
}
