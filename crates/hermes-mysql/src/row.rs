//! Rows and values of the server for the shared decoders.

use crate::database::{Transaction, values};
use crate::error::Failure;
use hermes_session::{Message, Session, SessionId, StoreError};
use hermes_sql::{Cell, SqlRow, columns, decode, stored};
use mysql_async::Value;
use mysql_async::prelude::FromValue;
use std::sync::LazyLock;

/// Reads a value of a row by its place.
pub(crate) trait Get {
    fn try_get<T: FromValue>(&self, index: usize) -> Result<T, Failure>;
}

impl Get for mysql_async::Row {
    fn try_get<T: FromValue>(&self, index: usize) -> Result<T, Failure> {
        let odd = || {
            let name = self.columns_ref().get(index).map(|column| column.name_str().into_owned());
            Failure::Damaged(format!("{}: is not what it should be", name.unwrap_or_else(|| index.to_string())))
        };
        self.get_opt(index).and_then(Result::ok).ok_or_else(odd)
    }
}

/// A row as the decoders read it.
pub(crate) struct Row<'r> {
    row: &'r mysql_async::Row,
    /// Texts that were kept in another form because of a NUL.
    restored: Vec<(usize, String)>,
    /// The column that holds the content of a message, and its kind.
    content: Option<(usize, &'r str)>,
}

/// Where the content of a message stands in [`columns::MESSAGE`], and where its kind follows.
const CONTENT: usize = 4;
const KIND: usize = 15;

impl<'r> Row<'r> {
    pub(crate) fn new(row: &'r mysql_async::Row) -> Self {
        let restored = (0..row.len()).filter_map(|at| Some((at, stored::with_nul(text(row, at)?)?))).collect();
        Self { row, restored, content: None }
    }

    fn of_message(row: &'r mysql_async::Row) -> Self {
        let content = text(row, KIND).map(|kind| (CONTENT, kind));
        let mut row = Self::new(row);
        row.restored.retain(|(at, _)| *at != CONTENT);
        Self { content, ..row }
    }
}

impl SqlRow for Row<'_> {
    fn cell(&self, index: usize) -> Cell<'_> {
        match self.row.as_ref(index) {
            Some(Value::Int(number)) => Cell::Integer(*number),
            Some(Value::UInt(number)) => Cell::Integer(i64::try_from(*number).unwrap_or(i64::MAX)),
            Some(Value::Double(number)) => Cell::Real(*number),
            Some(Value::Bytes(bytes)) => match (text(self.row, index), self.content) {
                (Some(text), Some((at, kind))) if at == index => Cell::Kept(kind, text),
                _ => match self.restored.iter().find(|(at, _)| *at == index) {
                    Some((_, restored)) => Cell::Text(restored.as_bytes()),
                    None => Cell::Text(bytes),
                },
            },
            _ => Cell::Null,
        }
    }
}

/// A text, as it stands in a column.
pub(crate) fn text(row: &mysql_async::Row, index: usize) -> Option<&str> {
    match row.as_ref(index) {
        Some(Value::Bytes(bytes)) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// A text that a server can keep.
pub(crate) fn kept(text: Option<&str>) -> Option<String> {
    text.map(|text| stored::without_nul(text).into_owned())
}

/// The columns of a message, its kind of content last.
pub(crate) static MESSAGE: LazyLock<String> = LazyLock::new(|| format!("{}, content_kind", columns::MESSAGE));

/// A message of `session` from [`static@MESSAGE`].
pub(crate) fn message(row: &mysql_async::Row, session: &SessionId) -> Message {
    decode::message(&Row::of_message(row), session)
}

/// The session with this id.
pub(crate) async fn session(transaction: &Transaction, id: &SessionId) -> Result<Option<Session>, Failure> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {}, h.relation FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id WHERE s.id = $1",
            columns::SESSION
        )
    });
    let found = transaction.row(&SQL, values![id.as_str()]).await?;
    Ok(found.map(|row| decode::session(&Row::new(&row))).transpose()?)
}

/// The session with this id, which has to be there.
pub(crate) async fn existing(transaction: &Transaction, id: &SessionId) -> Result<Session, Failure> {
    session(transaction, id).await?.ok_or_else(|| StoreError::no_session(id).into())
}

/// Sees that a session is there.
pub(crate) async fn require(transaction: &Transaction, id: &SessionId) -> Result<(), Failure> {
    match transaction.row("SELECT 1 FROM sessions WHERE id = $1", values![id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Sees that a session is there, and that nobody else changes it until the end of the transaction.
pub(crate) async fn lock(transaction: &Transaction, id: &SessionId) -> Result<(), Failure> {
    match transaction.row("SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE", values![id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// An id from a column.
pub(crate) fn id(row: &mysql_async::Row, index: usize) -> Result<SessionId, Failure> {
    Ok(SessionId::from_stored(row.try_get::<String>(index)?))
}
