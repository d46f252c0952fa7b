//! Rows and values of PostgreSQL for the shared decoders.

use crate::database::Transaction;
use crate::error::Failure;
use hermes_session::{Message, Session, SessionId, StoreError};
use hermes_sql::{Cell, SqlRow, columns, decode, stored};
use std::borrow::Cow;
use std::sync::LazyLock;
use tokio_postgres::types::Type;

/// A row as the decoders read it.
pub(crate) struct Row<'r> {
    row: &'r tokio_postgres::Row,
    /// Texts that were kept in another form because of a NUL.
    restored: Vec<(usize, String)>,
    /// The column that holds the content of a message, and its kind.
    content: Option<(usize, &'r str)>,
}

/// Where the content of a message stands in [`columns::MESSAGE`], and where its kind follows.
const CONTENT: usize = 4;
const KIND: usize = 15;

impl<'r> Row<'r> {
    pub(crate) fn new(row: &'r tokio_postgres::Row) -> Self {
        let texts = (0..row.len()).filter(|at| *row.columns()[*at].type_() == Type::TEXT);
        let restored = texts.filter_map(|at| Some((at, stored::with_nul(text(row, at)?)?))).collect();
        Self { row, restored, content: None }
    }

    fn of_message(row: &'r tokio_postgres::Row) -> Self {
        let content = text(row, KIND).map(|kind| (CONTENT, kind));
        let mut row = Self::new(row);
        row.restored.retain(|(at, _)| *at != CONTENT);
        Self { content, ..row }
    }
}

impl SqlRow for Row<'_> {
    fn cell(&self, index: usize) -> Cell<'_> {
        let row = self.row;
        match *row.columns()[index].type_() {
            Type::INT8 => row.try_get(index).ok().flatten().map_or(Cell::Null, Cell::Integer),
            Type::FLOAT8 => row.try_get(index).ok().flatten().map_or(Cell::Null, Cell::Real),
            _ => match (text(row, index), self.content) {
                (None, _) => Cell::Null,
                (Some(text), Some((at, kind))) if at == index => Cell::Kept(kind, text),
                (Some(text), _) => match self.restored.iter().find(|(at, _)| *at == index) {
                    Some((_, restored)) => Cell::Text(restored.as_bytes()),
                    None => Cell::Text(text.as_bytes()),
                },
            },
        }
    }
}

fn text(row: &tokio_postgres::Row, index: usize) -> Option<&str> {
    row.try_get(index).ok().flatten()
}

/// A text that a server can keep.
pub(crate) fn kept(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(stored::without_nul)
}

/// The columns of a message, its kind of content last.
pub(crate) static MESSAGE: LazyLock<String> = LazyLock::new(|| format!("{}, content_kind", columns::MESSAGE));

/// A message of `session` from [`static@MESSAGE`].
pub(crate) fn message(row: &tokio_postgres::Row, session: &SessionId) -> Message {
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
    let found = transaction.row(&SQL, &[&id.as_str()]).await?;
    Ok(found.map(|row| decode::session(&Row::new(&row))).transpose()?)
}

/// The session with this id, which has to be there.
pub(crate) async fn existing(transaction: &Transaction, id: &SessionId) -> Result<Session, Failure> {
    session(transaction, id).await?.ok_or_else(|| StoreError::no_session(id).into())
}

/// Sees that a session is there.
pub(crate) async fn require(transaction: &Transaction, id: &SessionId) -> Result<(), Failure> {
    match transaction.row("SELECT 1 FROM sessions WHERE id = $1", &[&id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Sees that a session is there, and that nobody else changes it until the end of the transaction.
pub(crate) async fn lock(transaction: &Transaction, id: &SessionId) -> Result<(), Failure> {
    match transaction.row("SELECT 1 FROM sessions WHERE id = $1 FOR NO KEY UPDATE", &[&id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// An id from a column.
pub(crate) fn id(row: &tokio_postgres::Row, index: usize) -> Result<SessionId, Failure> {
    Ok(SessionId::from_stored(row.try_get::<_, String>(index)?))
}
