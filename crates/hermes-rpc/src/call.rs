//! A running call: its arguments, the store, the time and its idempotency key.

use crate::args::Args;
use crate::fail::Fail;
use hermes_session::{Request, RequestKey, Store, StoreError, Timestamp};

/// The result of a call as JSON text, or its error.
pub(crate) type Answer = Result<String, Fail>;

/// The result `None` of Python.
pub(crate) const NONE: &str = "null";

/// A running call.
pub(crate) struct Call<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) args: Args<'a>,
    pub(crate) now: Timestamp,
}

impl Call<'_> {
    /// Returns the request that a change passes to the store.
    pub(crate) fn request(&self) -> Request {
        Request { key: self.key(), ..Request::at(self.now) }
    }

    pub(crate) fn key(&self) -> Option<RequestKey> {
        self.args.0.key.clone()
    }
}

/// Returns a boolean as a result.
pub(crate) fn yes(is_true: bool) -> Answer {
    Ok(is_true.to_string())
}

/// Converts the result of changing a session that may not exist. Returns `None` if it does not exist: nothing was
/// changed, and that is not an error.
pub(crate) fn or_nothing<T>(result: Result<T, StoreError>) -> Result<Option<T>, Fail> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Converts the result of changing a session that must exist.
pub(crate) fn or_no_reference<T>(result: Result<T, StoreError>) -> Result<T, Fail> {
    or_nothing(result)?.ok_or_else(Fail::no_such_reference)
}

/// Joins results to a JSON list.
pub(crate) fn list(elements: impl IntoIterator<Item = String>) -> String {
    let elements: Vec<String> = elements.into_iter().collect();
    let mut out = String::with_capacity(elements.iter().map(|element| element.len() + 2).sum::<usize>() + 2);
    out.push('[');
    for (place, element) in elements.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        out.push_str(element);
    }
    out.push(']');
    out
}
