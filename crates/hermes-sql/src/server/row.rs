//! Sessions and messages of a server.

use super::{Fields as _, LIST, ServerRow, Sql, among};
use crate::{Cell, SqlRow, columns, decode, stored, values};
use hermes_session::{Message, Session, SessionId, StoreError};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A row as the decoders read it: texts that were kept in another form because of a NUL as they were given.
pub struct Restored<'r, R> {
    row: &'r R,
    restored: Vec<(usize, String)>,
    /// The column that holds the content of a message, and its kind.
    content: Option<(usize, &'r str)>,
}

/// Where the content of a message stands in [`columns::MESSAGE`], and where its kind follows.
const CONTENT: usize = 4;
const KIND: usize = 15;

impl<'r, R: ServerRow> Restored<'r, R> {
    /// Any row.
    pub fn new(row: &'r R) -> Self {
        let restored = (0..row.width()).filter_map(|at| Some((at, stored::with_nul(row.text(at)?)?))).collect();
        Self { row, restored, content: None }
    }

    fn of_message(row: &'r R) -> Self {
        let content = row.text(KIND).map(|kind| (CONTENT, kind));
        let mut row = Self::new(row);
        row.restored.retain(|(at, _)| *at != CONTENT);
        Self { content, ..row }
    }
}

impl<R: ServerRow> SqlRow for Restored<'_, R> {
    fn cell(&self, index: usize) -> Cell<'_> {
        match (self.row.cell(index), self.content) {
            (Cell::Text(bytes), Some((at, kind))) if at == index => {
                std::str::from_utf8(bytes).map_or(Cell::Text(bytes), |text| Cell::Kept(kind, text))
            }
            (Cell::Text(bytes), _) => match self.restored.iter().find(|(at, _)| *at == index) {
                Some((_, restored)) => Cell::Text(restored.as_bytes()),
                None => Cell::Text(bytes),
            },
            (cell, _) => cell,
        }
    }
}

/// A text column, as it was given.
pub fn given<R: ServerRow>(row: &R, index: usize) -> Option<String> {
    row.text(index).map(|text| stored::with_nul(text).unwrap_or_else(|| text.to_owned()))
}

/// A text that a server can keep.
pub fn kept(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(stored::without_nul)
}

/// The columns of a message, its kind of content last.
pub static MESSAGE: LazyLock<String> = LazyLock::new(|| format!("{}, content_kind", columns::MESSAGE));

/// A message of `session` from [`static@MESSAGE`].
pub fn message<R: ServerRow>(row: &R, session: &SessionId) -> Message {
    decode::message(&Restored::of_message(row), session)
}

/// The session with this id.
///
/// # Errors
/// What the server says.
pub async fn session<T: Sql>(transaction: &T, id: &SessionId) -> Result<Option<Session>, T::Failure> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {}, h.relation FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id WHERE s.id = $1",
            columns::SESSION
        )
    });
    let found = transaction.row(&SQL, values![id.as_str()]).await?;
    Ok(found.map(|row| decode::session(&Restored::new(&row))).transpose()?)
}

/// The sessions of these ids that are there, in the order of the ids.
///
/// # Errors
/// What the server says.
pub async fn sessions<T: Sql>(transaction: &T, ids: &[SessionId]) -> Result<Vec<Session>, T::Failure> {
    let mut found = HashMap::new();
    for some in ids.chunks(LIST) {
        let (condition, values) = among("s.id", 1, some.iter().map(SessionId::as_str));
        let sql = format!(
            "SELECT {}, h.relation FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id WHERE {condition}",
            columns::SESSION
        );
        for row in transaction.rows(&sql, values).await? {
            let session = decode::session(&Restored::new(&row))?;
            found.insert(session.id.clone(), session);
        }
    }
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

/// The session with this id, which has to be there.
pub(super) async fn existing<T: Sql>(transaction: &T, id: &SessionId) -> Result<Session, T::Failure> {
    session(transaction, id).await?.ok_or_else(|| StoreError::no_session(id).into())
}

/// Sees that a session is there.
pub(super) async fn require<T: Sql>(transaction: &T, id: &SessionId) -> Result<(), T::Failure> {
    match transaction.row("SELECT 1 FROM sessions WHERE id = $1", values![id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Sees that a session is there, and that nobody else changes it until the end of the transaction.
pub(super) async fn lock<T: Sql>(transaction: &T, id: &SessionId) -> Result<(), T::Failure> {
    let sql = format!("SELECT 1 FROM sessions WHERE id = $1{}", transaction.dialect().lock);
    match transaction.row(&sql, values![id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}
