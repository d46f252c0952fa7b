//! Sessions and messages of a server.

use super::{Fields as _, LIST, ServerRow, Sql, among};
use crate::{Cell, SqlRow, columns, decode, stored, values};
use hermes_session::{Extent, Extra, Fault, Message, MessageState, Session, SessionId, StoreError, Unreadable};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A row as the decoders read it: texts that were kept in another form because of a NUL as they were given.
pub struct Restored<'r, R> {
    row: &'r R,
    restored: Vec<(usize, String)>,
    /// The column that holds the content of a message, and its kind.
    content: Option<(usize, &'r str)>,
    /// A place that the decoder reads, and the one where its value stands.
    relation: Option<(usize, usize)>,
}

/// Where the content of a message stands in [`columns::MESSAGE`], and where its kind follows.
const CONTENT: usize = 4;
const KIND: usize = 15;

impl<'r, R: ServerRow> Restored<'r, R> {
    /// Any row.
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

/// A text column, as it was given.
pub fn given<R: ServerRow>(row: &R, index: usize) -> Option<String> {
    row.text(index).map(|text| stored::with_nul(text).unwrap_or_else(|| text.to_owned()))
}

/// A text that a server can keep.
pub fn kept(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(stored::without_nul)
}

/// The columns of a message: the modelled ones, the kind of content, its state, and columns of newer agents.
pub static MESSAGE: LazyLock<String> =
    LazyLock::new(|| format!("{}, content_kind, active, compacted, extra", columns::MESSAGE));

/// The columns of a session, from the alias `s`: the modelled ones, whether it is archived, and columns of newer agents.
pub static SESSION: LazyLock<String> = LazyLock::new(|| format!("{}, s.archived, s.extra", columns::SESSION));

/// The condition on `messages` for being part of the transcript.
pub const IN_TRANSCRIPT: &str = "active = 1";

/// The condition on `messages` for being found by search.
pub const WAS_SAID: &str = "(active = 1 OR compacted = 1)";

/// Returns the condition on `messages` for being meant by a request.
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

/// A message of `session` from [`static@MESSAGE`].
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

/// A message of `session` from [`columns::COMPARED`] and its kind of content.
pub fn compared<R: ServerRow>(row: &R, session: &SessionId) -> Message {
    decode::message(&Restored::of_message(row), session)
}

/// A session from [`static@SESSION`] and its relation.
///
/// # Errors
/// If it has no id or no time of start.
pub fn decoded_session<R: ServerRow>(row: &R) -> Result<Session, Unreadable> {
    // The decoder expects the relation right behind the modelled columns.
    let restored = Restored { relation: Some((MODELLED, MODELLED + 2)), ..Restored::new(row) };
    let mut session = decode::session(&restored)?;
    session.archived = matches!(row.cell(MODELLED), Cell::Integer(archived) if archived != 0);
    read_extra(row.text(MODELLED + 1), &mut session.extra, &mut session.faults);
    Ok(session)
}

/// How many columns [`columns::SESSION`] has.
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

/// The session with this id.
///
/// # Errors
/// What the server says.
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
            *SESSION
        );
        for row in transaction.rows(&sql, values).await? {
            let session = decoded_session(&row)?;
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
