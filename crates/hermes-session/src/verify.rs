//! Reports of verifying a store and of backing it up.

use std::path::PathBuf;

/// Maximum number of findings of each severity that a check lists. All are counted.
pub const MAX_FINDINGS: u64 = 100;

/// Result of a verification, check by check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The checks, in the order in which they ran.
    pub checks: Vec<Check>,
}

impl Report {
    /// Returns whether no check found a problem. Notes do not count.
    pub fn is_sound(&self) -> bool {
        self.problems() == 0
    }

    /// Returns the number of all problems, listed or not.
    pub fn problems(&self) -> u64 {
        self.checks.iter().map(|check| check.problems).sum()
    }

    /// Returns the check of this name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name: `file`, `schema`, `indexes`, `counters`, `relations`, `side tables`, `index backlog`.
    pub name: &'static str,
    /// Number of things examined.
    pub looked_at: u64,
    /// Kind of these things: `pages`, `sessions`, `messages`.
    pub things: &'static str,
    /// Findings, the first [`MAX_FINDINGS`] of each severity.
    pub findings: Vec<Finding>,
    /// Number of problems, listed or not.
    pub problems: u64,
    /// Number of notes, listed or not.
    pub notes: u64,
}

impl Check {
    /// Creates a check that has examined nothing yet.
    pub const fn new(name: &'static str, things: &'static str) -> Self {
        Self { name, looked_at: 0, things, findings: Vec::new(), problems: 0, notes: 0 }
    }

    /// Adds a problem.
    pub fn problem(&mut self, object: impl Into<String>, what: impl Into<String>) {
        self.problems += 1;
        if self.problems <= MAX_FINDINGS {
            self.findings.push(Finding { object: object.into(), what: what.into(), severity: Severity::Problem });
        }
    }

    /// Adds a note: a fact worth knowing that is not a problem.
    pub fn note(&mut self, object: impl Into<String>, what: impl Into<String>) {
        self.notes += 1;
        if self.notes <= MAX_FINDINGS {
            self.findings.push(Finding { object: object.into(), what: what.into(), severity: Severity::Note });
        }
    }

    /// Returns the number of findings that are not listed.
    pub fn unlisted(&self) -> u64 {
        (self.problems + self.notes).saturating_sub(self.findings.len() as u64)
    }
}

/// A finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Object concerned: a table and an id, or the name of an index or a trigger.
    pub object: String,
    /// The finding in words, as the end of a sentence.
    pub what: String,
    /// Its severity.
    pub severity: Severity,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Worth knowing: data of a foreign writer, or outstanding work. Nothing is lost, and no call returns wrong data.
    Note,
    /// Something is wrong and does not resolve itself.
    Problem,
}

impl Severity {
    /// Returns the severity as a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// Content of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// Location of the file.
    pub path: PathBuf,
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_some_are_listed() {
        let mut check = Check::new("relations", "sessions");
        for number in 0..250 {
            check.note(format!("sessions {number}"), "has a parent that is not there");
        }
        check.problem("messages 1", "belongs to no session");
        assert_eq!((check.notes, check.problems, check.findings.len(), check.unlisted()), (250, 1, 101, 150));
        assert_eq!(check.findings[100].severity, Severity::Problem, "notes do not crowd out a problem");
        let report = Report { checks: vec![Check::new("file", "pages"), check] };
        assert!(!report.is_sound());
        assert_eq!((report.problems(), report.check("relations").map(|check| check.notes)), (1, Some(250)));
    }
}
