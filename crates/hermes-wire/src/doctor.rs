//! Findings of `doctor`.

use schemars::JsonSchema;
use serde::Serialize;

/// The result of `doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Diagnosis<'a> {
    /// How many items are problems.
    pub problems: u64,
    /// How many items are warnings.
    pub warnings: u64,
    /// All items that were checked.
    pub items: Vec<Item<'a>>,
    /// The repairs that `--fix` made.
    pub mended: Vec<Mended<'a>>,
}

/// An item that was checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item<'a> {
    /// Its name; see [doctor.md](doctor.md).
    pub name: &'a str,
    /// `fine`, `note`, `warning` or `problem`.
    pub degree: &'static str,
    /// A description of the finding.
    pub what: &'a str,
    /// How to fix it.
    pub remedy: Option<&'a str>,
    /// Whether `--fix` fixes it.
    pub fixable: bool,
}

/// A repair that `--fix` made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mended<'a> {
    /// A description of the repair.
    pub what: &'a str,
    /// The error; `null` if it did not fail.
    pub failed: Option<&'a str>,
}
