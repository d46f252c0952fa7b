//! What `doctor` found.

use hermes_terminal::shell::shell_word;
use std::path::PathBuf;

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Degree {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Note,
    /// It works, and should be mended.
    Warning,
    /// Something does not work, or may be lost.
    Problem,
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What: `home`, `config`, `permissions`, …
    pub(crate) name: &'static str,
    pub(crate) degree: Degree,
    /// What is so, as a sentence.
    pub(crate) what: String,
    /// What the person can do, or the command that does it.
    pub(crate) remedy: Option<String>,
    /// What `--fix` does about it.
    pub(crate) mend: Option<Mend>,
}

/// What `--fix` does. Each only touches what is derived, or who may read a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mend {
    /// Takes a file or folder from others.
    Mode(PathBuf, u32),
    /// Removes what a copy that was not finished left behind.
    Remove(PathBuf),
    /// Does what was put off: indexing, what foreign writers left, folding the log.
    Upkeep,
    /// Makes the search indexes anew.
    Rebuild,
    /// Counts the messages of sessions anew.
    Recount,
}

impl Item {
    pub(crate) fn new(name: &'static str, degree: Degree, what: impl Into<String>) -> Self {
        Self { name, degree, what: what.into(), remedy: None, mend: None }
    }

    pub(crate) fn fine(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, Degree::Fine, what)
    }

    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// The same, mended by `--fix`, or by the command that does the same.
    pub(crate) fn mended_by(self, mend: Mend) -> Self {
        let remedy = match &mend {
            Mend::Mode(path, mode) => format!("chmod {mode:o} {}", shell_word(&path.display().to_string())),
            Mend::Remove(path) => format!("rm -r {}", shell_word(&path.display().to_string())),
            Mend::Upkeep => "hermes sessions optimize".to_owned(),
            Mend::Rebuild => "hermes sessions optimize --rebuild".to_owned(),
            Mend::Recount => "hermes doctor --fix".to_owned(),
        };
        Self { remedy: Some(remedy), mend: Some(mend), ..self }
    }
}

/// What was found, and what was mended before that.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    pub(crate) items: Vec<Item>,
    /// What `--fix` did, in words, each with why it did not work out if it did not.
    pub(crate) mended: Vec<(String, Option<String>)>,
}

impl Diagnosis {
    pub(crate) fn count(&self, degree: Degree) -> u64 {
        self.items.iter().filter(|item| item.degree == degree).count() as u64
    }
}
