//! Collects every error in the settings, not only the first one.

use crate::file::Tree;
use crate::settings::resolve_tree;
use crate::{ConfigError, ConfigFile, Environment, Flags, Settings};

/// Our keys. The maps in [`OURS`] hold no other keys; the other maps also hold keys of the agent.
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

/// Maps that hold only our keys.
const OURS: [&str; 4] = ["sessiondb", "sessiondb.sqlite", "sessiondb.postgresql", "sessiondb.mysql"];
/// Maps that hold our keys among others.
const SHARED: [&str; 2] = ["sessions", "search"];

/// Result of checking the settings.
#[derive(Debug)]
pub struct Looked {
    /// The settings without the invalid values; `None` if not even defaults can replace them.
    pub settings: Option<Settings>,
    /// The errors, in the order in which they were found.
    pub errors: Vec<ConfigError>,
    /// Keys that nothing reads.
    pub unknown: Vec<UnknownKey>,
}

/// An unknown key in a place where our keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key.
    pub key: String,
    /// The known key that was probably meant.
    pub like: Option<&'static str>,
}

/// Checks every setting. An invalid value is reported and removed, so that the next one is found as well.
///
/// Keys of the agent are ignored, except those that differ from one of ours by a typing error.
pub fn look(flags: &Flags, environment: &Environment, file: Option<&ConfigFile>) -> Looked {
    let mut environment = environment.clone();
    let mut looked = Looked { settings: None, errors: Vec::new(), unknown: Vec::new() };
    let mut tree = match Tree::parse(file) {
        Ok(tree) => tree,
        Err(error) => {
            looked.errors.push(error);
            return looked;
        }
    };
    looked.unknown = unknown(&tree);
    // Each round removes one of our keys or variables.
    for _ in 0..=KEYS.len() + 2 {
        match resolve_tree(flags, &environment, &tree) {
            Ok(settings) => {
                // A key that was removed because of its value is not missing.
                let is_new = |error: &ConfigError| looked.errors.iter().all(|known| known.key() != error.key());
                let missing = settings.store().err().filter(is_new);
                looked.errors.extend(missing);
                looked.settings = Some(settings);
                break;
            }
            Err(error) => {
                match &error {
                    ConfigError::Value { key, .. } | ConfigError::Unset { key, .. } => tree.remove(key),
                    ConfigError::NotText { name } => environment = environment.without(name),
                    _ => {
                        looked.errors.push(error);
                        break;
                    }
                }
                looked.errors.push(error);
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

/// Returns the edit distance: how many characters have to be inserted, deleted or replaced.
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
    fn every_wrong_value_is_reported_and_the_rest_is_taken() {
        let looked = look_at(
            "sessiondb:\n  sqlite: {wait_seconds: soon, synchronous: maybe}\nsearch: {timeout_ms: 0}\nsessions: {retention_days: 7}\n",
        );
        let told: Vec<String> = looked.errors.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told.iter().any(|error| error.starts_with("search.timeout_ms is 0")), "{told:?}");
        assert_eq!(looked.settings.unwrap().sessions.retention_days.value, 7);
        assert_eq!(look_at("a: [").errors.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            let url = (crate::env::HERMES_SESSIONDB_URL, std::ffi::OsStr::from_bytes(b"x\xff"));
            let flags = Flags { home: Some("/h".into()), ..Flags::default() };
            let looked = look(&flags, &Environment::new([url], None), None);
            assert!(looked.settings.is_some() && matches!(looked.errors[..], [ConfigError::NotText { .. }]));
        }
        assert_eq!(look_at("sessiondb: {provider: mysql}").errors.len(), 1, "a key is missing");
        let unset = look_at("sessiondb: {provider: postgresql, postgresql: {dsn: '{{ env.NOT_SET }}'}}");
        assert!(matches!(unset.errors[..], [ConfigError::Unset { .. }]), "{:?}", unset.errors);
    }

    #[test]
    fn unknown_keys_are_reported_and_the_agents_are_not() {
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
