//! What a file has of the indexes, told by the statements that made them.

use super::{INDEXES, Index, compact, pending};
use crate::index::vocabulary;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// How an index keeps its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    #[default]
    Missing,
    Inline,
    Compact,
}

/// What a trigger of an index does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Hook {
    #[default]
    Missing,
    /// It indexes every row within the write, as the agent makes it.
    Agents,
    /// It leaves out rows that are to be indexed later.
    Ours,
}

/// One index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    pub(crate) kind: Kind,
    /// For new, deleted and changed rows.
    pub(crate) hooks: [Hook; 3],
}

/// Both indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    words: Look,
    trigrams: Look,
    /// Whether the views are there that compact indexes read.
    views: bool,
    /// Whether our own indexes are there.
    own: bool,
}

impl Layout {
    /// Looks at an open file.
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

    /// What there is of one index.
    pub(crate) const fn look(&self, index: Index) -> Look {
        match index {
            Index::Words => self.words,
            Index::Trigrams => self.trigrams,
        }
    }

    /// Whether new messages are to be noted, to be indexed later. Not so where triggers that are not ours index them all at once.
    pub(crate) fn is_deferred(&self) -> bool {
        INDEXES.into_iter().any(|index| self.look(index).hooks[0] != Hook::Agents)
    }

    /// Whether something that we made is not there, or was made anew by somebody else: triggers fail then, or leave rows behind.
    ///
    /// An agent whose SQLite has no FTS5 drops all the triggers, because it could write nothing with them. That stays: what it adds is
    /// indexed by us.
    pub(crate) fn is_torn(&self) -> bool {
        let looks = INDEXES.map(|index| self.look(index));
        if looks.iter().all(|look| look.kind != Kind::Missing && look.hooks == [Hook::Missing; 3]) {
            return !self.views;
        }
        looks.into_iter().any(|look| match look.kind {
            Kind::Missing => true,
            Kind::Compact => !self.views || look.has_gap(),
            // With the others gone it may hold rows that are no more, which whoever searches sees.
            Kind::Inline => look.hooks[0] == Hook::Missing && self.is_made_by_us(),
        })
    }

    /// Whether there is all that a search asks: the index of words, and our own.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.look(Index::Words).kind != Kind::Missing && self.own
    }

    /// Whether no trigger fills the indexes.
    pub(crate) fn has_no_triggers(&self) -> bool {
        INDEXES.into_iter().all(|index| self.look(index).hooks[0] == Hook::Missing)
    }

    /// Whether any part of it was made by us, whatever is left of the rest.
    pub(crate) fn is_made_by_us(&self) -> bool {
        let looks = INDEXES.map(|index| self.look(index));
        looks.iter().any(|look| look.kind == Kind::Compact || look.hooks.contains(&Hook::Ours))
    }

    /// Whether both indexes are compact.
    pub(crate) fn is_compact(&self) -> bool {
        INDEXES.into_iter().all(|index| self.look(index).kind == Kind::Compact)
    }
}

impl Look {
    /// Whether a trigger of ours is not there, or was made anew by somebody else.
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
            // Those that have nothing to do with new rows tell themselves by how they look whether a row is in the index.
            Some(sql) if sql.contains(pending::NAME) || sql.contains("_docsize") => Hook::Ours,
            Some(_) => Hook::Agents,
        });
        Self { kind, hooks }
    }
}
