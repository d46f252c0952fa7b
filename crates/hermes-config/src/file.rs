//! `config.yaml`: a tree of which only our keys are read.

use crate::{ConfigError, Environment, Origin};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The file's name in the home folder.
pub const FILE_NAME: &str = "config.yaml";

/// A file's text with its path, so that errors can name both.
#[derive(Clone)]
pub struct ConfigFile {
    path: PathBuf,
    text: String,
}

impl ConfigFile {
    /// Returns a text as if it had been read from `path`.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Reads the file of a home folder. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// If it exists and can't be read as UTF-8.
    pub fn read(home: &Path) -> Result<Option<Self>, ConfigError> {
        let path = home.join(FILE_NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                tracing::debug!(?path, bytes = text.len(), "read config.yaml");
                Ok(Some(Self { path, text }))
            }
            // A home that is a file has no config either; opening the store reports what is wrong with it.
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            // Without permission to enter the folder, nothing of a file in it can be found.
            Err(source) if path.symlink_metadata().is_err() => {
                Err(ConfigError::ClosedFolder { folder: home.to_owned(), source })
            }
            Err(source) => Err(ConfigError::Unreadable { path, source }),
        }
    }
}

/// The parsed file; empty if there is none.
pub(crate) struct Tree {
    path: PathBuf,
    root: Value,
}

impl Tree {
    pub(crate) fn parse(file: Option<&ConfigFile>) -> Result<Self, ConfigError> {
        let Some(ConfigFile { path, text }) = file else {
            return Ok(Self { path: PathBuf::new(), root: Value::Null });
        };
        // As lenient as the agent's own reader, because the file belongs to the agent. No snippets: the line may hold a
        // password.
        let options = serde_saphyr::options! {
            duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
            non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::AsString,
            with_snippet: false,
        };
        let broken = |line: u64, why: String| {
            let template = text.lines().nth(line.saturating_sub(1) as usize).is_some_and(|line| line.contains("{{"));
            let hint = if template {
                "put a value with {{ env.NAME }} in quotes"
            } else {
                "correct the file; it is YAML, indented with spaces"
            };
            ConfigError::Broken { path: path.clone(), line, why, hint }
        };
        let root: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let message = error.without_snippet().to_string();
            let why = message.lines().next().unwrap_or("is not YAML").to_owned();
            broken(error.location().map_or(1, |location| location.line()), why)
        })?;
        match root {
            Value::Object(_) | Value::Null => Ok(Self { path: path.clone(), root }),
            _ => Err(broken(1, "the file is not a map of keys to values".into())),
        }
    }

    /// Returns the keys below a key, as they are in the file. Empty if its value is not a map.
    pub(crate) fn below(&self, key: &str) -> Vec<&str> {
        let at = key.split('.').try_fold(&self.root, |at, part| at.get(part));
        at.and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key.as_str()).collect()
    }

    /// Removes a dotted key.
    pub(crate) fn remove(&mut self, key: &str) {
        let (above, last) = key.rsplit_once('.').unwrap_or(("", key));
        let at = above.split('.').filter(|part| !part.is_empty()).try_fold(&mut self.root, |at, part| at.get_mut(part));
        if let Some(map) = at.and_then(Value::as_object_mut) {
            map.remove(last);
        }
    }

    /// Returns the value of a dotted key, as it is in the file. Null counts as not given.
    pub(crate) fn value(&self, key: &'static str) -> Option<(&Value, Origin)> {
        let value = key.split('.').try_fold(&self.root, |at, part| at.get(part))?;
        let origin = Origin::File { path: self.path.clone(), key };
        Some((value, origin)).filter(|(value, _)| !value.is_null())
    }
}

/// Replaces each `{{ env.NAME }}` by the variable. Fails with the name of a variable that is not set.
pub(crate) fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let name = after.split_once("}}").and_then(|(inside, tail)| Some((inside.trim().strip_prefix("env.")?, tail)));
        out.push_str(before);
        match name {
            Some((name, tail)) => {
                let value = environment.raw(name).and_then(OsStr::to_str).ok_or_else(|| name.to_owned())?;
                out.push_str(value);
                rest = tail;
            }
            None => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}
