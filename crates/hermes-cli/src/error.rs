//! What a command answers when it can't do its work: a text, hints, an exit code.

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
const OUTPUT_HINT: &str = "see where the output goes";

/// Whose matter an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whoever reads the output has gone; nothing is wrong.
    Closed,
    /// The person can do something: not found, ambiguous, refused, in conflict.
    User,
    /// The command line is wrong.
    Usage,
    /// The store can't be reached, is damaged, locked or newer.
    Store,
    /// A signal asked to stop, and so it did.
    Stopped(u8),
}

impl Kind {
    /// The exit code of the process.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::User => 1,
            Self::Usage => 2,
            Self::Store => 3,
            // As shells tell of a program that a signal ended.
            Self::Stopped(signal) => 128_u8.saturating_add(signal),
        }
    }
}

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    source: Box<dyn Error + Send + Sync>,
    details: Vec<Line>,
    hints: Vec<String>,
}

impl CliError {
    /// An error with what the person can do about it.
    pub(crate) fn new(kind: Kind, source: impl Into<Box<dyn Error + Send + Sync>>, hint: impl Into<String>) -> Self {
        Self { kind, source: source.into(), details: Vec::new(), hints: vec![hint.into()] }
    }

    /// The same error with lines that stand between it and what can be done.
    pub(crate) fn with_details(self, details: Vec<Line>) -> Self {
        Self { details, ..self }
    }

    /// The same error with something else that the person can do about it.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// A value on the command line that can't be taken.
    pub(crate) fn usage(invalid: Invalid) -> Self {
        let hint = invalid.hint.to_string();
        Self::new(Kind::Usage, invalid, hint)
    }

    /// A variable that an argument names and that is not set.
    pub(crate) fn unset_variable(name: &str, flag: &str) -> Self {
        let text = format!("the variable {name} that {flag} names is not set, or is no text");
        Self::new(Kind::User, text, format!("set {name} to the URL of a store"))
    }

    /// A refusal of the store as a matter of what was typed, of who has the store open, or of what has to be done first. Other errors stay as they are.
    pub(crate) fn refused(error: StoreError) -> Self {
        match error {
            StoreError::Refused { .. } => {
                let hint = hints::of_store(&error).into_owned();
                Self::new(Kind::User, error, hint)
            }
            other => other.into(),
        }
    }

    /// Work that was stopped by a signal, told with how far it was.
    pub(crate) fn stopped(signal: u8, how_far: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::Stopped(signal), how_far.into(), hint)
    }

    /// Output that could not be written.
    pub(crate) fn output(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { Kind::Closed } else { Kind::User };
        Self::new(kind, OutputError(error), OUTPUT_HINT)
    }

    /// Whose matter it is.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// What the store said, if it is the store's error.
    pub(crate) fn of_store(&self) -> Option<&StoreError> {
        self.source.downcast_ref()
    }

    /// The exit code of the process.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.kind.code())
    }

    /// What went wrong and why, on one line. A cause that its error has told already is not repeated.
    pub(crate) fn text(&self) -> String {
        let mut text = self.source.to_string();
        let mut cause = self.source.source();
        while let Some(error) = cause {
            let told = error.to_string();
            if !text.contains(&told) {
                text.push_str(": ");
                text.push_str(&told);
            }
            cause = error.source();
        }
        text
    }

    /// What is told of it besides.
    pub(crate) fn details(&self) -> &[Line] {
        &self.details
    }

    /// What the person can do.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }
}

#[derive(Debug, thiserror::Error)]
#[error("could not write the output")]
struct OutputError(#[source] io::Error);

impl From<TerminalError> for CliError {
    fn from(error: TerminalError) -> Self {
        let (kind, hint) = match &error {
            TerminalError::Closed(_) => (Kind::Closed, OUTPUT_HINT),
            TerminalError::Output(_) => (Kind::User, OUTPUT_HINT),
            TerminalError::Pager(_) => (Kind::User, "set PAGER to a program that is there, or give --no-pager"),
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
                "leave --read-only out",
            ),
            AppError::ReadOnly { origin } => Self::new(
                Kind::User,
                format!("this command writes to the store, which is read-only, set by {origin}"),
                "set sessiondb.sqlite.read_only to false to let commands write",
            ),
            AppError::NoStore { .. } => {
                let hint = "`hermes demo` makes one to look at; --home, --url and HERMES_HOME say where else to look";
                Self::new(Kind::User, error, hint)
            }
            AppError::Unset { ref name } => {
                let hint = format!("set {name} to the URL of a store");
                Self::new(Kind::User, error, hint)
            }
            AppError::TemporaryFolder(_) => Self::new(Kind::User, error, "see TMPDIR"),
            // Another error of the crate, which has no hint yet.
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
        let table: [(CliError, u8); 11] = [
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
            (CliError::stopped(2, "stopped", "x"), 130),
        ];
        for (error, code) in table {
            assert_eq!(error.kind().code(), code, "{error:?}");
            assert!(!error.hints().is_empty() && !error.hints()[0].is_empty());
        }
    }

    #[test]
    fn causes_are_told_once() {
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
    }
}
