//! Decodes sessions and messages of a server.

use super::{Fields as _, LIST, ServerRow, Sql, among};
use crate::{Cell, SqlRow, columns, decode, stored, values};
use hermes_session::{Extent, Extra, Fault, Message, MessageState, Session, SessionId, StoreError, Unreadable};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A row for the decoders. Texts that were escaped because they contain a NUL have their original form.
pub struct Restored<'r, R> {
    row: &'r R,
    restored: Vec<(usize, String)>,
    /// Column of a message's content, and the kind of content.
    content: Option<(usize, &'r str)>,
    /// Index that the decoder reads, and the index of the column to read instead.
    relation: Option<(usize, usize)>,
}

/// Index of the content in [`columns::MESSAGE`]; its kind follows the columns at `KIND`.
const CONTENT: usize = 4;
const KIND: usize = 15;

impl<'r, R: ServerRow> Restored<'r, R> {
    /// Wraps any row.
    pub fn new(row: &'r R) -> Self {
        let restored = (0..row.width()).filter_map(|at| Some((at, stored::with_nul(row.text(at)?)?))).collect();
        Self { row, restored, content: None, relation: None }
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
        let index = self.relation.filter(|(asked, _)| *asked == index).map_or(index, |(_, there)| there);
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

/// Returns a text column in its original form.
pub fn given<R: ServerRow>(row: &R, index: usize) -> Option<String> {
    row.text(index).map(|text| stored::with_nul(text).unwrap_or_else(|| text.to_owned()))
}

/// Returns a text in a form that a server can store.
pub fn kept(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(stored::without_nul)
}

/// Columns of a message: the modelled ones, the kind of content, its state, and columns of newer agents.
pub static MESSAGE: LazyLock<String> =
    LazyLock::new(|| format!("{}, content_kind, active, compacted, extra", columns::MESSAGE));

/// Columns of a session, from the alias `s`: the modelled ones, whether it is archived, and columns of newer agents.
pub static SESSION: LazyLock<String> = LazyLock::new(|| format!("{}, s.archived, s.extra", columns::SESSION));

/// Condition on `messages` for being part of the transcript.
pub const IN_TRANSCRIPT: &str = "active = 1";

/// Condition on `messages` for being found by search.
pub const WAS_SAID: &str = "(active = 1 OR compacted = 1)";

/// Returns the condition on `messages` for an extent.
pub const fn within(extent: Extent) -> &'static str {
    match extent {
        Extent::Transcript => IN_TRANSCRIPT,
        Extent::Said => WAS_SAID,
        Extent::Every => "1 = 1",
    }
}

/// Returns the stored form of columns of newer agents; `None` if there is nothing to keep.
pub fn kept_extra(extra: &Extra) -> Option<String> {
    (!extra.is_empty()).then(|| extra.to_json())
}

/// Decodes a message of `session` from [`static@MESSAGE`].
pub fn message<R: ServerRow>(row: &R, session: &SessionId) -> Message {
    let mut message = compared(row, session);
    let number = |at: usize| match row.cell(at) {
        Cell::Integer(number) => Some(number),
        _ => None,
    };
    message.state = MessageState::from_columns(number(KIND + 1), number(KIND + 2));
    read_extra(row.text(KIND + 3), &mut message.extra, &mut message.faults);
    message
}

/// Decodes a message of `session` from [`columns::COMPARED`] and its kind of content.
pub fn compared<R: ServerRow>(row: &R, session: &SessionId) -> Message {
    decode::message(&Restored::of_message(row), session)
}

/// Decodes a session from [`static@SESSION`] and its relation.
///
/// # Errors
/// Fails if the row has no id or no start time.
pub fn decoded_session<R: ServerRow>(row: &R) -> Result<Session, Unreadable> {
    // The decoder expects the relation directly after the modelled columns.
    let restored = Restored { relation: Some((MODELLED, MODELLED + 2)), ..Restored::new(row) };
    let mut session = decode::session(&restored)?;
    session.archived = matches!(row.cell(MODELLED), Cell::Integer(archived) if archived != 0);
    read_extra(row.text(MODELLED + 1), &mut session.extra, &mut session.faults);
    Ok(session)
}

/// Number of columns of [`columns::SESSION`].
const MODELLED: usize = 30;

fn read_extra(text: Option<&str>, extra: &mut Extra, faults: &mut Vec<Fault>) {
    match text.map(Extra::from_json) {
        None => {}
        Some(Ok(read)) => *extra = read,
        Some(Err(why)) => faults.push(Fault {
            column: "extra",
            why: why.to_string(),
            raw: text.unwrap_or_default().as_bytes().to_vec(),
        }),
    }
}

/// Returns the session with this id, or `None`.
///
/// # Errors
/// Fails if the server does or the row cannot be decoded.
pub async fn session<T: Sql>(transaction: &T, id: &SessionId) -> Result<Option<Session>, T::Failure> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {}, h.relation FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id WHERE s.id = $1",
            *SESSION
        )
    });
    let found = transaction.row(&SQL, values![id.as_str()]).await?;
    Ok(found.map(|row| decoded_session(&row)).transpose()?)
}

/// Returns the existing sessions with these ids, in the order of the ids.
///
/// # Errors
/// Fails if the server does or a row cannot be decoded.
pub async fn sessions<T: Sql>(transaction: &T, ids: &[SessionId]) -> Result<Vec<Session>, T::Failure> {
    let mut found = HashMap::new();
    for some in ids.chunks(LIST) {
        let (condition, values) = among("s.id", 1, some.iter().map(SessionId::as_str));
        let sql = format!(
            "SELECT {}, h.relation FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id WHERE {condition}",
            *SESSION
        );
        for row in transaction.rows(&sql, values).await? {
            let session = decoded_session(&row)?;
            found.insert(session.id.clone(), session);
        }
    }
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

/// Returns the session with this id. Fails if it does not exist.
pub(super) async fn existing<T: Sql>(transaction: &T, id: &SessionId) -> Result<Session, T::Failure> {
    session(transaction, id).await?.ok_or_else(|| StoreError::no_session(id).into())
}

/// Fails if a session does not exist.
pub(super) async fn require<T: Sql>(transaction: &T, id: &SessionId) -> Result<(), T::Failure> {
    match transaction.row("SELECT 1 FROM sessions WHERE id = $1", values![id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Locks a session until the end of the transaction. Fails if it does not exist.
pub(super) async fn lock<T: Sql>(transaction: &T, id: &SessionId) -> Result<(), T::Failure> {
    let sql = format!("SELECT 1 FROM sessions WHERE id = $1{}", transaction.dialect().lock);
    match transaction.row(&sql, values![id.as_str()]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::no_session(id).into()),
    }
}
