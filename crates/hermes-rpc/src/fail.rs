//! Errors for the client: the name of a Python class, and a text.

use hermes_session::{Conflict, Invalid, StoreError};

/// The class of an error, which a caller catches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorType {
    /// A value that is not accepted.
    Value,
    /// Arguments that do not fit the method, or a value of the wrong type.
    Type,
    /// A named object does not exist.
    Key,
    /// A reference to an object that does not exist, or a duplicate of one that must be unique.
    Integrity,
    /// The store is locked, full, read-only or can't be reached.
    Operational,
    /// The store is damaged, or the file is not a store.
    Database,
    /// A file or folder may not be used.
    Permission,
    /// A file or folder does not exist.
    FileNotFound,
    /// A time limit was exceeded.
    Timeout,
}

impl ErrorType {
    /// Returns the name of the class.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "ValueError",
            Self::Type => "TypeError",
            Self::Key => "KeyError",
            Self::Integrity => "IntegrityError",
            Self::Operational => "OperationalError",
            Self::Database => "DatabaseError",
            Self::Permission => "PermissionError",
            Self::FileNotFound => "FileNotFoundError",
            Self::Timeout => "TimeoutError",
        }
    }
}

/// Returns the class that an error of the store has for the client.
pub fn error_type(error: &StoreError) -> ErrorType {
    match error {
        StoreError::NotFound(_) => ErrorType::Key,
        StoreError::Conflict(Conflict::TitleTaken { .. } | Conflict::TopicTaken { .. } | Conflict::KeyReused(_))
        | StoreError::Invalid(_) => ErrorType::Value,
        StoreError::Conflict(_) => ErrorType::Integrity,
        StoreError::Corrupt { .. } | StoreError::Refused { .. } => ErrorType::Database,
        _ => ErrorType::Operational,
    }
}

/// The error of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fail {
    pub(crate) error: ErrorType,
    pub(crate) text: String,
}

impl Fail {
    pub(crate) fn new(error: ErrorType, text: impl Into<String>) -> Self {
        Self { error, text: text.into() }
    }

    pub(crate) fn value(text: impl Into<String>) -> Self {
        Self::new(ErrorType::Value, text)
    }

    pub(crate) fn wrong_type(text: impl Into<String>) -> Self {
        Self::new(ErrorType::Type, text)
    }

    /// Returns the error that callers of the agent's store get for a reference to a session that does not exist.
    pub(crate) fn no_such_reference() -> Self {
        Self::new(ErrorType::Integrity, "FOREIGN KEY constraint failed")
    }

    /// Returns the error that callers of the agent's store get for a required column without a value.
    pub(crate) fn missing(column: &str) -> Self {
        Self::new(ErrorType::Integrity, format!("NOT NULL constraint failed: {column}"))
    }
}

impl From<StoreError> for Fail {
    fn from(error: StoreError) -> Self {
        let kind = error_type(&error);
        Self::new(kind, format!("{error}; {}", hermes_recall::hints::of(&error)))
    }
}

impl From<Invalid> for Fail {
    fn from(invalid: Invalid) -> Self {
        Self::value(format!("{invalid}; {}", invalid.hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::{Location, ReadOnlyReason, SessionId};

    #[test]
    fn a_store_that_is_locked_says_so_in_the_word_that_callers_look_for() {
        let busy = StoreError::Busy {
            location: Location::File("state.db".into()),
            op: "append",
            waited: std::time::Duration::from_secs(60),
            holder: None,
            source: "x".into(),
        };
        let fail = Fail::from(busy);
        assert_eq!(fail.error.name(), "OperationalError");
        assert!(fail.text.contains("locked"), "{}", fail.text);
    }

    #[test]
    fn each_error_has_its_class() {
        let id = SessionId::parse("s").unwrap();
        let table = [
            (StoreError::NotFound("s".into()), "KeyError"),
            (StoreError::Invalid(Invalid::new("title", "is empty", "x")), "ValueError"),
            (Conflict::Exists(id.clone()).into(), "IntegrityError"),
            (Conflict::TitleTaken { title: "t".into(), holder: id }.into(), "ValueError"),
            (
                StoreError::Corrupt { location: Location::File("x".into()), what: "y".into(), source: None },
                "DatabaseError",
            ),
            (
                StoreError::ReadOnly {
                    op: "append",
                    location: Location::File("x".into()),
                    reason: ReadOnlyReason::NotWritable,
                },
                "OperationalError",
            ),
        ];
        for (error, name) in table {
            assert_eq!(Fail::from(error).error.name(), name);
        }
    }
}
