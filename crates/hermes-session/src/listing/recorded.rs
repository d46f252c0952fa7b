//! Filters on columns that only newer agents record.

use crate::{Extra, Invalid, Scalar};

/// A column of `sessions` that only newer agents have, and that a filter can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The working directory in which the session ran.
    Cwd,
    /// The Git branch that was checked out there.
    Branch,
}

impl Field {
    /// Returns the name of the column.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Cwd => "cwd",
            Self::Branch => "git_branch",
        }
    }

    /// Returns the error for a store in which no session has a value of this column. An empty list would hide that the
    /// agent never recorded it.
    pub fn not_recorded(self) -> Invalid {
        let (what, since) = match self {
            Self::Cwd => ("working directory", "0.16"),
            Self::Branch => ("Git branch", "0.18"),
        };
        let why = format!("is not recorded in this store: no session has a value in sessions.{}", self.column());
        Invalid::new(what, why, format!("agents before {since} do not record it; list without this filter"))
    }
}

/// A condition on such a column. It applies to the first session of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The column.
    pub field: Field,
    /// The value: an absolute path without a slash at its end, or the name of a branch.
    pub value: String,
}

impl Recorded {
    /// Requests sessions that ran in this folder or below it.
    pub fn cwd(folder: impl Into<String>) -> Self {
        // Without the slash at the end, so that the root is empty.
        Self { field: Field::Cwd, value: folder.into().trim_end_matches('/').to_owned() }
    }

    /// Requests sessions that ran while this branch was checked out.
    pub fn branch(name: impl Into<String>) -> Self {
        Self { field: Field::Branch, value: name.into() }
    }

    /// Returns the start of values that match besides the value itself: the paths below a folder.
    pub fn prefix(&self) -> Option<String> {
        (self.field == Field::Cwd).then(|| format!("{}/", self.value))
    }

    /// Returns whether a session with these columns matches.
    pub fn admits(&self, extra: &Extra) -> bool {
        let Some(Scalar::Text(stored)) = extra.get(self.field.column()) else { return false };
        *stored == self.value || self.prefix().is_some_and(|prefix| stored.starts_with(&prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_itself_and_what_is_below_it() {
        let admits = |asked: &str, stored: &str| {
            Recorded::cwd(asked).admits(&Extra::from_iter([("cwd", Scalar::Text(stored.to_owned()))]))
        };
        for (asked, stored, expected) in [
            ("/work/a", "/work/a", true),
            ("/work/a", "/work/a/b", true),
            ("/work/a/", "/work/a", true),
            ("/work/a", "/work/a/", true),
            ("/work/a", "/work/ab", false),
            ("/work/a", "/work", false),
            ("/work/a", "/WORK/A", false),
            ("/", "/work", true),
            ("/", "/", true),
        ] {
            assert_eq!(admits(asked, stored), expected, "{asked} {stored}");
        }
        assert!(!Recorded::cwd("/").admits(&Extra::new()));
    }

    #[test]
    fn a_branch_is_one_name() {
        let branch = |name: &str| Extra::from_iter([("git_branch", Scalar::Text(name.to_owned()))]);
        assert!(Recorded::branch("main").admits(&branch("main")));
        assert!(!Recorded::branch("main").admits(&branch("main/fix")));
        assert!(!Recorded::branch("main").admits(&Extra::from_iter([("cwd", Scalar::Text("main".into()))])));
    }

    #[test]
    fn the_error_names_column_and_agent() {
        let error = Field::Branch.not_recorded();
        assert_eq!(
            error.to_string(),
            "Git branch is not recorded in this store: no session has a value in sessions.git_branch"
        );
        assert!(error.hint.contains("0.18"));
    }
}
