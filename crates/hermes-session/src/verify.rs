//! What looking through a whole store finds, and what a copy of it holds.

use std::path::PathBuf;

/// How many findings of each severity a check lists. All are counted.
pub const MAX_FINDINGS: u64 = 100;

/// What was looked at, check by check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether no check found a problem. Notes do not count.
    pub fn is_sound(&self) -> bool {
        self.problems() == 0
    }

    /// How many problems there are in all, listed or not.
    pub fn problems(&self) -> u64 {
        self.checks.iter().map(|check| check.problems).sum()
    }

    /// The check of this name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is called: `file`, `schema`, `indexes`, `counters`, `relations`, `side tables`, `index backlog`.
    pub name: &'static str,
    /// How many things it looked at.
    pub looked_at: u64,
    /// What they are: `pages`, `sessions`, `messages`.
    pub things: &'static str,
    /// What it found, the first [`MAX_FINDINGS`] of each severity.
    pub findings: Vec<Finding>,
    /// How many problems there are, listed or not.
    pub problems: u64,
    /// How many notes there are, listed or not.
    pub notes: u64,
}

impl Check {
    /// A check that has looked at nothing yet.
    pub const fn new(name: &'static str, things: &'static str) -> Self {
        Self { name, looked_at: 0, things, findings: Vec::new(), problems: 0, notes: 0 }
    }

    /// Tells of something that is wrong.
    pub fn problem(&mut self, object: impl Into<String>, what: impl Into<String>) {
        self.problems += 1;
        if self.problems <= MAX_FINDINGS {
            self.findings.push(Finding { object: object.into(), what: what.into(), severity: Severity::Problem });
        }
    }

    /// Tells of something that is worth knowing and not wrong.
    pub fn note(&mut self, object: impl Into<String>, what: impl Into<String>) {
        self.notes += 1;
        if self.notes <= MAX_FINDINGS {
            self.findings.push(Finding { object: object.into(), what: what.into(), severity: Severity::Note });
        }
    }

    /// How many findings are not listed.
    pub fn unlisted(&self) -> u64 {
        (self.problems + self.notes).saturating_sub(self.findings.len() as u64)
    }
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is about: a table and an id, or the name of an index or a trigger.
    pub object: String,
    /// What is the matter with it, as the end of a sentence.
    pub what: String,
    /// How bad it is.
    pub severity: Severity,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Worth knowing: a foreign writer's doing, or work that is outstanding. Nothing is lost and nothing is told wrongly.
    Note,
    /// Something is not as it should be, and does not become so by itself.
    Problem,
}

impl Severity {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// What a copy of a store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// Where it is.
    pub path: PathBuf,
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
    /// Its size.
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
