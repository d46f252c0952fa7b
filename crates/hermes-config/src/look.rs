//! Everything that is wrong with the settings, not only the first of it.

use crate::file::Tree;
use crate::settings::resolve_tree;
use crate::{ConfigError, ConfigFile, Environment, Flags, Settings};

/// Our keys. Those of the first parts in [`OURS`] are all there are; elsewhere the agent has more.
const KEYS: [&str; 26] = [
    "sessiondb.provider",
    "sessiondb.sqlite",
    "sessiondb.sqlite.db_path",
    "sessiondb.sqlite.synchronous",
    "sessiondb.sqlite.wait_seconds",
    "sessiondb.sqlite.read_only",
    "sessiondb.postgresql",
    "sessiondb.postgresql.dsn",
    "sessiondb.postgresql.replica_dsn",
    "sessiondb.postgresql.pool_size",
    "sessiondb.postgresql.max_overflow",
    "sessiondb.postgresql.statement_timeout",
    "sessiondb.postgresql.schema",
    "sessiondb.mysql",
    "sessiondb.mysql.host",
    "sessiondb.mysql.port",
    "sessiondb.mysql.database",
    "sessiondb.mysql.user",
    "sessiondb.mysql.password",
    "sessiondb.mysql.pool_size",
    "sessions.auto_prune",
    "sessions.retention_days",
    "sessions.vacuum_after_prune",
    "sessions.min_interval_hours",
    "sessions.trash_days",
    "search.timeout_ms",
];

/// Maps that hold no keys but ours.
const OURS: [&str; 4] = ["sessiondb", "sessiondb.sqlite", "sessiondb.postgresql", "sessiondb.mysql"];
/// Maps that hold keys of ours among others.
const SHARED: [&str; 2] = ["sessions", "search"];

/// What looking at the settings found.
#[derive(Debug)]
pub struct Looked {
    /// The settings, without the values that can't be taken; nothing if not even a default can take their place.
    pub settings: Option<Settings>,
    /// What is wrong, in the order in which it was found.
    pub errors: Vec<ConfigError>,
    /// Keys that nobody reads.
    pub unknown: Vec<UnknownKey>,
}

/// A key that stands where ours do and is none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key.
    pub key: String,
    /// The key that may be meant.
    pub like: Option<&'static str>,
}

/// Looks at every setting. A value that can't be taken is told and left out, so that the next one is found as well.
///
/// Keys of the agent's are left alone, but for those that differ from one of ours by a slip.
pub fn look(flags: &Flags, environment: &Environment, file: Option<&ConfigFile>) -> Looked {
    let mut looked = Looked { settings: None, errors: Vec::new(), unknown: Vec::new() };
    let mut tree = match Tree::parse(file) {
        Ok(tree) => tree,
        Err(error) => {
            looked.errors.push(error);
            return looked;
        }
    };
    looked.unknown = unknown(&tree);
    // Each round takes one of our keys out.
    for _ in 0..=KEYS.len() + 1 {
        match resolve_tree(flags, environment, &tree) {
            Ok(settings) => {
                looked.errors.extend(settings.store().err());
                looked.settings = Some(settings);
                break;
            }
            Err(error) => {
                let key = match &error {
                    ConfigError::Value { key, .. } | ConfigError::Unset { key, .. } => Some(*key),
                    _ => None,
                };
                looked.errors.push(error);
                match key {
                    Some(key) => tree.remove(key),
                    None => break,
                }
            }
        }
    }
    looked
}

fn unknown(tree: &Tree) -> Vec<UnknownKey> {
    let mut unknown = Vec::new();
    for (map, is_ours) in OURS.map(|map| (map, true)).into_iter().chain(SHARED.map(|map| (map, false))) {
        for name in tree.below(map) {
            let key = format!("{map}.{name}");
            if KEYS.contains(&key.as_str()) {
                continue;
            }
            let like = KEYS.into_iter().filter(|known| known.starts_with(map)).find(|known| distance(known, &key) <= 2);
            if is_ours || like.is_some() {
                unknown.push(UnknownKey { key, like });
            }
        }
    }
    unknown
}

/// How many characters have to be put in, taken out or changed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut above_left = place;
        let mut left = place + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, expected) in row.iter_mut().skip(1).zip(&other) {
            let changed = above_left + usize::from(letter != *expected);
            above_left = *cell;
            left = changed.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn look_at(yaml: &str) -> Looked {
        let flags = Flags { home: Some(PathBuf::from("/home/ada/.hermes")), ..Flags::default() };
        look(&flags, &Environment::default(), Some(&ConfigFile::new("/c.yaml", yaml)))
    }

    #[test]
    fn every_wrong_value_is_told_and_the_rest_is_taken() {
        let looked = look_at(
            "sessiondb:\n  sqlite: {wait_seconds: soon, synchronous: maybe}\nsearch: {timeout_ms: 0}\nsessions: {retention_days: 7}\n",
        );
        let told: Vec<String> = looked.errors.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told.iter().any(|error| error.starts_with("search.timeout_ms is 0")), "{told:?}");
        assert_eq!(looked.settings.unwrap().sessions.retention_days.value, 7);
        assert_eq!(look_at("a: [").errors.len(), 1);
        assert_eq!(look_at("sessiondb: {provider: mysql}").errors.len(), 1, "a key is missing");
    }

    #[test]
    fn keys_that_nobody_reads_are_told_and_the_agents_are_not() {
        let looked = look_at(
            "sessiondb: {provider: sqlite, colour: red, sqlite: {dbpath: x}}\nsessions: {retention_day: 3, theirs: 1}\nmodel: {x: 1}\n",
        );
        let told: Vec<(&str, Option<&str>)> = looked.unknown.iter().map(|key| (key.key.as_str(), key.like)).collect();
        assert_eq!(
            told,
            [
                ("sessiondb.colour", None),
                ("sessiondb.sqlite.dbpath", Some("sessiondb.sqlite.db_path")),
                ("sessions.retention_day", Some("sessions.retention_days")),
            ]
        );
        assert!(looked.errors.is_empty());
    }

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        for (one, other, expect) in [("", "abc", 3), ("kitten", "sitting", 3), ("same", "same", 0), ("ab", "ba", 2)] {
            assert_eq!(distance(one, other), expect, "{one} {other}");
        }
    }
}
