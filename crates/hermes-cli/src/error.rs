//! Errors of commands: a text, hints and an exit code.

use crate::hints;
use hermes_app::{AppError, UrlOrigin};
use hermes_config::{ConfigError, Origin};
use hermes_session::{Invalid, StoreError};
use hermes_terminal::Line;
use hermes_terminal::TerminalError;
use std::error::Error;
use std::io;
use std::process::ExitCode;

/// The hint for output that could not be written.
const OUTPUT_HINT: &str = "check where the output goes";

/// Category of an error, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The reader of the output is gone; nothing is wrong.
    Closed,
    /// The person answered no to a question; nothing is wrong.
    Declined,
    /// The person can do something: not found, ambiguous, refused, in conflict.
    User,
    /// The command line is wrong.
    Usage,
    /// The store can't be reached, is damaged, locked or newer.
    Store,
    /// A signal asked the command to stop, and it did.
    Stopped(u8),
}

impl Kind {
    /// Returns the exit code of the process.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Closed | Self::Declined => 0,
            Self::User => 1,
            Self::Usage => 2,
            Self::Store => 3,
            // The convention of shells for a program that a signal ended.
            Self::Stopped(signal) => 128_u8.saturating_add(signal),
        }
    }
}

/// The failure of a command.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    source: Box<dyn Error + Send + Sync>,
    details: Vec<Line>,
    hints: Vec<String>,
}

impl CliError {
    /// Returns an error with a hint.
    pub(crate) fn new(kind: Kind, source: impl Into<Box<dyn Error + Send + Sync>>, hint: impl Into<String>) -> Self {
        Self { kind, source: source.into(), details: Vec::new(), hints: vec![hint.into()] }
    }

    /// Adds lines that are printed between the error and its hints.
    pub(crate) fn with_details(self, details: Vec<Line>) -> Self {
        Self { details, ..self }
    }

    /// Adds another hint.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the error for an invalid value on the command line.
    pub(crate) fn usage(invalid: Invalid) -> Self {
        let hint = invalid.hint.to_string();
        Self::new(Kind::Usage, invalid, hint)
    }

    /// Returns the error for a variable that an argument names and that is not set.
    pub(crate) fn unset_variable(name: &str, flag: &str) -> Self {
        let text = format!("the variable {name} that {flag} names is not set, or is not UTF-8");
        Self::new(Kind::User, text, format!("set {name} to the URL of a store"))
    }

    /// Makes a refusal of the store an error of the user: the input, other users of the store or a missing earlier step
    /// cause it. Other errors keep their kind.
    pub(crate) fn refused(error: StoreError) -> Self {
        match error {
            StoreError::Refused { .. } => {
                let hint = hints::of_store(&error).into_owned();
                Self::new(Kind::User, error, hint)
            }
            other => other.into(),
        }
    }

    /// Returns the error for work that a signal stopped; `how_far` is its text.
    pub(crate) fn stopped(signal: u8, how_far: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::Stopped(signal), how_far.into(), hint)
    }

    /// Returns the end of a command whose question the person answered with no.
    pub(crate) fn declined() -> Self {
        Self::new(Kind::Declined, "the answer was no", "answer y to continue, or pass --yes")
    }

    /// Returns the error for output that could not be written.
    pub(crate) fn output(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { Kind::Closed } else { Kind::User };
        Self::new(kind, OutputError(error), OUTPUT_HINT)
    }

    /// Says in the error for output that could not be written that the change was made all the same.
    pub(crate) fn after_change(self) -> Self {
        match self.kind {
            Kind::User => Self { source: AfterChange(self.source).into(), ..self },
            _ => self,
        }
    }

    /// Returns the category.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the store's error, if this is one.
    pub(crate) fn of_store(&self) -> Option<&StoreError> {
        self.source.downcast_ref()
    }

    /// Returns the exit code of the process.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.kind.code())
    }

    /// Returns the error and its causes on one line. A cause that the text contains already is not repeated, nor is the
    /// number by which SQLite repeats its message.
    pub(crate) fn text(&self) -> String {
        let mut text = self.source.to_string();
        let mut cause = self.source.source();
        while let Some(error) = cause {
            let cause_text = error.to_string();
            if !text.contains(&cause_text) && !cause_text.starts_with("Error code ") {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            cause = error.source();
        }
        text
    }

    /// Returns the lines that are printed between the error and its hints.
    pub(crate) fn details(&self) -> &[Line] {
        &self.details
    }

    /// Returns the hints.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }
}

/// Output about a change that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("could not write the output; the change was made")]
struct AfterChange(#[source] Box<dyn Error + Send + Sync>);

#[derive(Debug, thiserror::Error)]
#[error("could not write the output")]
struct OutputError(#[source] io::Error);

impl From<TerminalError> for CliError {
    fn from(error: TerminalError) -> Self {
        let (kind, hint) = match &error {
            TerminalError::Closed(_) => (Kind::Closed, OUTPUT_HINT),
            TerminalError::Output(_) => (Kind::User, OUTPUT_HINT),
            TerminalError::Screen(_) => (Kind::User, "`hermes sessions list` needs no screen"),
        };
        Self::new(kind, error, hint)
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::NotFound(_) | StoreError::Conflict(_) | StoreError::Invalid(_) => Kind::User,
            _ => Kind::Store,
        };
        let hint = hints::of_store(&error).into_owned();
        Self::new(kind, error, hint)
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let hint = error.hint();
        Self::new(Kind::User, error, hint)
    }
}

impl From<AppError> for CliError {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Config(error) => error.into(),
            AppError::Store(error) => error.into(),
            AppError::Url { invalid, origin } => invalid_url(invalid, &origin),
            AppError::Replica { ref origin } => {
                let hint = format!("write postgresql://user@host/database (it is from {origin})");
                Self::new(Kind::User, error, hint)
            }
            AppError::ReadOnly { origin: Origin::Flag } => Self::new(
                Kind::User,
                "this command writes to the store, and --read-only forbids it",
                "run it without --read-only",
            ),
            AppError::ReadOnly { origin } => Self::new(
                Kind::User,
                format!("this command writes to the store, which is read-only, set by {origin}"),
                "set sessiondb.sqlite.read_only to false to let commands write",
            ),
            AppError::NoStore { .. } => {
                let hint = "`hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one";
                Self::new(Kind::User, error, hint)
            }
            AppError::Unset { ref name } => {
                let hint = format!("set {name} to the URL of a store");
                Self::new(Kind::User, error, hint)
            }
            AppError::TemporaryFolder(_) => Self::new(Kind::User, error, "see TMPDIR"),
            // An error of the crate that has no hint of its own yet.
            error => Self::new(Kind::User, error, "see `hermes doctor`"),
        }
    }
}

fn invalid_url(invalid: Invalid, origin: &UrlOrigin) -> CliError {
    let (kind, hint) = match origin {
        UrlOrigin::Setting(origin) => {
            let kind = if *origin == Origin::Flag { Kind::Usage } else { Kind::User };
            (kind, format!("{} (the URL is from {origin})", invalid.hint))
        }
        UrlOrigin::Argument => (Kind::Usage, invalid.hint.to_string()),
        UrlOrigin::Variable(name) => (Kind::User, format!("{} (the URL is from ${name})", invalid.hint)),
    };
    CliError::new(kind, invalid, hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::{Location, Refusal};
    use std::time::Duration;

    #[test]
    fn each_error_has_its_exit_code() {
        let cause = || io::Error::other("no space left").into();
        let table: [(CliError, u8); 12] = [
            (StoreError::NotFound("x".into()).into(), 1),
            (StoreError::Invalid(Invalid::new("title", "is empty", "x")).into(), 1),
            (
                StoreError::Busy {
                    location: Location::File("state.db".into()),
                    op: "append",
                    waited: Duration::from_secs(60),
                    holder: None,
                    source: cause(),
                }
                .into(),
                3,
            ),
            (
                StoreError::Corrupt {
                    location: Location::File("state.db".into()),
                    what: "messages".into(),
                    source: None,
                }
                .into(),
                3,
            ),
            (StoreError::refused("/x".as_ref(), Refusal::Empty).into(), 3),
            (
                StoreError::Backend { location: Location::File("state.db".into()), op: "open", source: cause() }.into(),
                3,
            ),
            (
                StoreError::InDoubt { location: Location::File("state.db".into()), op: "append", source: cause() }
                    .into(),
                3,
            ),
            (ConfigError::NoHome.into(), 1),
            (CliError::usage(Invalid::new("limit", "is negative", "x")), 2),
            (CliError::output(io::ErrorKind::BrokenPipe.into()), 0),
            (CliError::declined(), 0),
            (CliError::stopped(2, "stopped", "x"), 130),
        ];
        for (error, code) in table {
            assert_eq!(error.kind().code(), code, "{error:?}");
            assert!(!error.hints().is_empty() && !error.hints()[0].is_empty());
        }
    }

    #[test]
    fn causes_are_reported_once() {
        let busy = StoreError::Busy {
            location: Location::File("state.db".into()),
            op: "append",
            waited: Duration::from_secs(60),
            holder: None,
            source: io::Error::other("database is locked").into(),
        };
        assert_eq!(
            CliError::from(busy).text(),
            "state.db was locked for 60.0 s while trying to append: database is locked"
        );
        let held = StoreError::Busy {
            location: Location::File("state.db".into()),
            op: "append",
            waited: Duration::from_secs(60),
            holder: Some("process 7 (hermes)".into()),
            source: "process 7 (hermes)".into(),
        };
        assert_eq!(
            CliError::from(held).text(),
            "state.db was locked for 60.0 s while trying to append; it is held by process 7 (hermes)"
        );
        let backend = StoreError::Backend {
            location: Location::File("state.db".into()),
            op: "open",
            source: io::Error::other("no space left").into(),
        };
        assert_eq!(CliError::from(backend).text(), "could not open in state.db: no space left");
        #[derive(Debug, thiserror::Error)]
        #[error("disk image is malformed")]
        struct OfSqlite(#[source] io::Error);
        let corrupt = StoreError::Corrupt {
            location: Location::File("state.db".into()),
            what: "disk image is malformed".into(),
            source: Some(OfSqlite(io::Error::other("Error code 11: The disk image is malformed")).into()),
        };
        assert_eq!(CliError::from(corrupt).text(), "state.db is damaged: disk image is malformed");
    }
}
