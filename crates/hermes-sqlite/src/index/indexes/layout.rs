//! The state of a file's indexes, derived from the statements that created them.

use super::{INDEXES, Index, compact, pending};
use crate::index::vocabulary;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// How an index stores its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    #[default]
    Missing,
    Inline,
    Compact,
}

/// The behaviour of a trigger of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Hook {
    #[default]
    Missing,
    /// It indexes every row within the write, as the agent defines it.
    Agents,
    /// It skips rows that are indexed later.
    Ours,
}

/// The state of one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    pub(crate) kind: Kind,
    /// For inserted, deleted and updated rows.
    pub(crate) hooks: [Hook; 3],
}

/// The state of both indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    words: Look,
    trigrams: Look,
    /// Whether the views that compact indexes read exist.
    views: bool,
    /// Whether our own indexes exist.
    own: bool,
}

impl Layout {
    /// Reads the layout of an open file.
    pub(crate) fn of(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let statements: BTreeMap<String, String> = connection
            .prepare_cached(
                "SELECT name, sql FROM main.sqlite_schema WHERE (name GLOB 'messages_fts*' OR name GLOB 'hx_*' OR type = 'view') \
                 AND sql IS NOT NULL",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let [words, trigrams] = INDEXES.map(|index| Look::of(&statements, index));
        let views = INDEXES.into_iter().all(|index| statements.contains_key(compact::view(index)));
        let own = vocabulary::NAMES.iter().all(|name| statements.contains_key(*name));
        Ok(Self { words, trigrams, views, own })
    }

    /// Returns the state of one index.
    pub(crate) const fn look(&self, index: Index) -> Look {
        match index {
            Index::Words => self.words,
            Index::Trigrams => self.trigrams,
        }
    }

    /// Returns whether new messages are put into the backlog and indexed later. This is not so if triggers of the agent
    /// index them all within the write.
    pub(crate) fn is_deferred(&self) -> bool {
        INDEXES.into_iter().any(|index| self.look(index).hooks[0] != Hook::Agents)
    }

    /// Returns whether an object of ours is missing or was redefined by a foreign writer, so that triggers fail or
    /// leave rows unindexed.
    ///
    /// An agent whose SQLite has no FTS5 drops all the triggers, because it could not write with them. That state is
    /// accepted: we index what it adds.
    pub(crate) fn is_torn(&self) -> bool {
        let looks = INDEXES.map(|index| self.look(index));
        if looks.iter().all(|look| look.kind != Kind::Missing && look.hooks == [Hook::Missing; 3]) {
            return !self.views;
        }
        looks.into_iter().any(|look| match look.kind {
            Kind::Missing => true,
            Kind::Compact => !self.views || look.has_gap(),
            // Without the other triggers it may hold deleted rows, which a search notices because it reads each
            // message.
            Kind::Inline => look.hooks[0] == Hook::Missing && self.is_made_by_us(),
        })
    }

    /// Returns whether everything that a search needs exists: the word index and our own indexes.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.look(Index::Words).kind != Kind::Missing && self.own
    }

    /// Returns whether no trigger fills the indexes.
    pub(crate) fn has_no_triggers(&self) -> bool {
        INDEXES.into_iter().all(|index| self.look(index).hooks[0] == Hook::Missing)
    }

    /// Returns whether we made any part of the indexes, whatever is left of the rest.
    pub(crate) fn is_made_by_us(&self) -> bool {
        let looks = INDEXES.map(|index| self.look(index));
        looks.iter().any(|look| look.kind == Kind::Compact || look.hooks.contains(&Hook::Ours))
    }

    /// Returns whether both indexes are compact.
    pub(crate) fn is_compact(&self) -> bool {
        INDEXES.into_iter().all(|index| self.look(index).kind == Kind::Compact)
    }
}

impl Look {
    /// Returns whether a trigger of ours is missing or was redefined by a foreign writer.
    pub(super) fn has_gap(&self) -> bool {
        self.hooks.iter().any(|hook| matches!(hook, Hook::Missing | Hook::Agents))
    }

    fn of(statements: &BTreeMap<String, String>, index: Index) -> Self {
        let kind = match statements.get(index.table()) {
            None => Kind::Missing,
            Some(sql) if sql.contains(compact::view(index)) => Kind::Compact,
            Some(_) => Kind::Inline,
        };
        let hooks = index.triggers().map(|name| match statements.get(&name) {
            None => Hook::Missing,
            // Our delete and update triggers do not name the backlog; they are recognized by their use of `_docsize`.
            Some(sql) if sql.contains(pending::NAME) || sql.contains("_docsize") => Hook::Ours,
            Some(_) => Hook::Agents,
        });
        Self { kind, hooks }
    }
}
