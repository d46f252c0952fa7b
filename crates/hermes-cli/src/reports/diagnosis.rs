//! Findings of `doctor`.

use crate::program::called;
use hermes_terminal::shell::shell_word;
use std::path::PathBuf;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Degree {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Note,
    /// Works, but should be fixed.
    Warning,
    /// Something does not work, or may be lost.
    Problem,
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// The object checked: `home`, `config`, `permissions`, …
    pub(crate) name: &'static str,
    pub(crate) degree: Degree,
    /// The finding, as a sentence.
    pub(crate) what: String,
    /// The remedy: advice, or a command to run.
    pub(crate) remedy: Option<String>,
    /// The fix that `--fix` applies.
    pub(crate) fix: Option<Fix>,
}

/// A fix that `--fix` applies. Each changes only derived data, the permissions of a file or the leftovers of a copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fix {
    /// Removes the permissions of others on a file or folder.
    Mode(PathBuf, u32),
    /// Removes the leftovers of an unfinished copy.
    Remove(PathBuf),
    /// Does deferred work: indexes the backlog, processes rows of foreign writers, checkpoints the WAL.
    Upkeep,
    /// Rebuilds the search indexes.
    Rebuild,
    /// Recounts the messages of sessions.
    Recount,
}

impl Item {
    pub(crate) fn new(name: &'static str, degree: Degree, what: impl Into<String>) -> Self {
        Self { name, degree, what: what.into(), remedy: None, fix: None }
    }

    pub(crate) fn fine(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, Degree::Fine, what)
    }

    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(called(&remedy.into()).into_owned()), ..self }
    }

    /// Sets the fix that `--fix` applies, and as the remedy the command that does the same.
    pub(crate) fn fixed_by(self, fix: Fix) -> Self {
        let remedy = match &fix {
            Fix::Mode(path, mode) => format!("chmod {mode:o} {}", shell_word(&path.display().to_string())),
            Fix::Remove(path) => format!("rm -r {}", shell_word(&path.display().to_string())),
            Fix::Upkeep => "hermes sessions optimize".to_owned(),
            Fix::Rebuild => "hermes sessions optimize --rebuild".to_owned(),
            Fix::Recount => "hermes doctor --fix".to_owned(),
        };
        Self { fix: Some(fix), ..self.remedy(remedy) }
    }
}

/// The findings, and the fixes that were applied before.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    pub(crate) items: Vec<Item>,
    /// The fixes that `--fix` attempted, in words, each with the reason if it failed.
    pub(crate) fixed: Vec<(String, Option<String>)>,
}

impl Diagnosis {
    pub(crate) fn count(&self, degree: Degree) -> u64 {
        self.items.iter().filter(|item| item.degree == degree).count() as u64
    }
}
