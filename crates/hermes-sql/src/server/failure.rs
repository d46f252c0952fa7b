//! Failures of a job on a server.

/// Defines `Failure` for a provider, in a module that has a `PoolError`, a `TimeoutType` and four functions on the
/// driver's error:
///
/// - `remedy(&error) -> Remedy`,
/// - `is_refusal(&error) -> bool`, see [`Failing`](crate::server::Failing),
/// - `error_code(&error) -> String`, its number for the log,
/// - `server_error(error, op, waited, location) -> StoreError`, the domain's error for it.
#[macro_export]
macro_rules! server_failure {
    ($driver:ty, $pool:ty) => {
        /// Failure of a job, of the domain or of the server.
        #[derive(Debug)]
        pub(crate) enum Failure {
            Store(hermes_session::StoreError),
            Driver($driver),
            Pool($pool),
            /// A stored value cannot be read.
            Damaged(String),
            /// The transaction did not happen and can be retried.
            Undone(hermes_session::Cause),
            /// The answer to a commit was lost and its outcome is unknown.
            InDoubt(hermes_session::Cause),
        }

        const _: () = {
            use hermes_session::{Cause, Conflict, Invalid, StoreError, Unreadable};
            use std::time::Duration;
            use $crate::server::{Failing, Odd, Remedy};

            impl From<StoreError> for Failure {
                fn from(error: StoreError) -> Self {
                    Self::Store(error)
                }
            }

            impl From<Conflict> for Failure {
                fn from(conflict: Conflict) -> Self {
                    Self::Store(conflict.into())
                }
            }

            impl From<Invalid> for Failure {
                fn from(invalid: Invalid) -> Self {
                    Self::Store(invalid.into())
                }
            }

            impl From<Unreadable> for Failure {
                fn from(row: Unreadable) -> Self {
                    Self::Damaged(format!("{} {}: {}", row.table, row.id, row.why))
                }
            }

            impl From<Odd> for Failure {
                fn from(Odd(what): Odd) -> Self {
                    Self::Damaged(what)
                }
            }

            impl From<$driver> for Failure {
                fn from(error: $driver) -> Self {
                    Self::Driver(error)
                }
            }

            impl From<$pool> for Failure {
                fn from(error: $pool) -> Self {
                    match error {
                        PoolError::Backend(error) => Self::Driver(error),
                        other => Self::Pool(other),
                    }
                }
            }

            impl Failing for Failure {
                fn remedy(&self) -> Remedy {
                    match self {
                        Self::Driver(error) => remedy(error),
                        Self::Undone(_) => Remedy::Again,
                        Self::Pool(PoolError::Timeout(TimeoutType::Create)) => Remedy::Reconnect,
                        Self::Pool(_) | Self::Store(_) | Self::Damaged(_) | Self::InDoubt(_) => Remedy::Tell,
                    }
                }

                fn is_refusal(&self) -> bool {
                    match self {
                        Self::Driver(error) => is_refusal(error),
                        Self::Store(_) | Self::Damaged(_) => true,
                        Self::Pool(_) | Self::Undone(_) | Self::InDoubt(_) => false,
                    }
                }

                fn code(&self) -> String {
                    match self {
                        Self::Driver(error) => error_code(error),
                        Self::Pool(PoolError::Timeout(kind)) => format!("no connection ({kind:?})"),
                        Self::Pool(_) => "no connection".to_owned(),
                        Self::Store(_) => "refused".to_owned(),
                        Self::Damaged(_) => "stored data is damaged".to_owned(),
                        Self::Undone(_) => "not done".to_owned(),
                        Self::InDoubt(_) => "outcome unknown".to_owned(),
                    }
                }

                fn into_cause(self) -> Cause {
                    match self {
                        Self::Driver(error) => error.into(),
                        Self::Pool(error) => error.into(),
                        Self::Undone(cause) | Self::InDoubt(cause) => cause,
                        Self::Store(error) => error.into(),
                        Self::Damaged(what) => what.into(),
                    }
                }

                fn is_missing(&self) -> bool {
                    matches!(self, Self::Store(StoreError::NotFound(_)))
                }

                fn undone(cause: Cause) -> Self {
                    Self::Undone(cause)
                }

                fn in_doubt(cause: Cause) -> Self {
                    Self::InDoubt(cause)
                }

                fn into_store_error(self, op: &'static str, waited: Duration, location: &str) -> StoreError {
                    let location = hermes_session::Location::Server(location.to_owned());
                    match self {
                        Self::Store(error) => error,
                        Self::Damaged(what) => StoreError::Corrupt { location, what, source: None },
                        Self::InDoubt(source) => StoreError::InDoubt { location, op, source },
                        Self::Undone(source) => StoreError::Busy { location, op, waited, holder: None, source },
                        Self::Pool(error @ PoolError::Timeout(TimeoutType::Wait)) => {
                            let holder = Some("calls of this process that use every connection".to_owned());
                            StoreError::Busy { location, op, waited, holder, source: error.into() }
                        }
                        Self::Pool(error) => StoreError::Backend { location, op, source: error.into() },
                        Self::Driver(error) => server_error(error, op, waited, location),
                    }
                }
            }
        };
    };
}
