//! A call under way: its arguments, the store, the time, its key.

use crate::args::Args;
use crate::fail::Fail;
use hermes_session::{Request, RequestKey, Store, StoreError, Timestamp};

/// What a call comes to: a result as JSON text, or why there is none.
pub(crate) type Answer = Result<String, Fail>;

/// A result that is nothing.
pub(crate) const NONE: &str = "null";

/// A call under way.
pub(crate) struct Call<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) args: Args<'a>,
    pub(crate) now: Timestamp,
}

impl Call<'_> {
    /// The request that a change carries to the store.
    pub(crate) fn request(&self) -> Request {
        Request { at: self.now, key: self.key() }
    }

    pub(crate) fn key(&self) -> Option<RequestKey> {
        self.args.0.key.clone()
    }
}

/// A truth value.
pub(crate) fn yes(is_true: bool) -> Answer {
    Ok(is_true.to_string())
}

/// A change of a session that may not be there: then nothing was changed, and that is no error.
pub(crate) fn or_nothing<T>(result: Result<T, StoreError>) -> Result<Option<T>, Fail> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A change of a session that has to be there.
pub(crate) fn or_no_reference<T>(result: Result<T, StoreError>) -> Result<T, Fail> {
    or_nothing(result)?.ok_or_else(Fail::no_such_reference)
}

/// Results as a list.
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
