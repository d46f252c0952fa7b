//! Findings of `doctor`.

use schemars::JsonSchema;
use serde::Serialize;

/// What `doctor` found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Diagnosis<'a> {
    /// How many items are problems.
    pub problems: u64,
    /// How many items are warnings.
    pub warnings: u64,
    /// Everything that was checked.
    pub items: Vec<Item<'a>>,
    /// What `--fix` did.
    pub mended: Vec<Mended<'a>>,
}

/// Something that was checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item<'a> {
    /// Its name; see [doctor.md](doctor.md).
    pub name: &'a str,
    /// `fine`, `note`, `warning` or `problem`.
    pub degree: &'static str,
    /// What was found.
    pub what: &'a str,
    /// What can be done about it.
    pub remedy: Option<&'a str>,
    /// Whether `--fix` does it.
    pub fixable: bool,
}

/// Something that `--fix` did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mended<'a> {
    /// What was done.
    pub what: &'a str,
    /// Why it failed; `null` if it did not.
    pub failed: Option<&'a str>,
}
