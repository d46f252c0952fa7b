//! Titles: unique, and numbered along a lineage under the write lock.

use crate::calls::row::{existing, require, time};
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::title::split_number;
use hermes_session::{Conflict, Request, SessionId, Title, Titled, change};
use hermes_sql::statements;
use rusqlite::{OptionalExtension as _, params};

pub(crate) fn set(
    database: &Database,
    id: &SessionId,
    title: Option<&Title>,
    request: &Request,
) -> Result<(), Failure> {
    once(database, request, id, &change::set_title(id, title), || {
        require(database, id)?;
        write(database, id, title)
    })
}

pub(crate) fn allocate(database: &Database, id: &SessionId, base: &Title, request: &Request) -> Result<Title, Failure> {
    once(database, request, id, &change::allocate_title(id, base), || {
        require(database, id)?;
        let title = next(database, id, base)?;
        write(database, id, Some(&title))?;
        Ok(title)
    })
}

pub(crate) fn entitle(
    database: &Database,
    id: &SessionId,
    base: &Title,
    request: &Request,
) -> Result<Option<Title>, Failure> {
    once(database, request, id, &change::entitle(id, base), || {
        if existing(database, id)?.title.is_some() {
            return Ok(None);
        }
        let title = next(database, id, base)?;
        write(database, id, Some(&title))?;
        Ok(Some(title))
    })
}

/// Returns the next free title in the lineage of `base`, not counting the title of `id`.
pub(crate) fn next(database: &Database, id: &SessionId, base: &Title) -> Result<Title, Failure> {
    let mut taken = Vec::new();
    for stem in base.stems() {
        let found = lineage_of(database, &stem)?;
        taken.extend(found.into_iter().filter(|found| found.id != *id).map(|found| found.title));
    }
    Ok(base.next(taken.iter().map(String::as_str)))
}

/// Sets or clears a title. Fails if another session has it.
pub(crate) fn write(database: &Database, id: &SessionId, title: Option<&Title>) -> Result<(), Failure> {
    if let Some(title) = title {
        let holder: Option<String> = database
            .prepare_cached(statements::TITLE_HOLDER)?
            .query_row(params![title.as_str(), id.as_str()], |row| row.get(0))
            .optional()?;
        if let Some(holder) = holder {
            let holder = SessionId::from_stored(holder);
            return Err(Conflict::TitleTaken { title: title.as_str().to_owned(), holder }.into());
        }
    }
    database.prepare_cached(statements::SET_TITLE)?.execute(params![title.map(Title::as_str), id.as_str()])?;
    Ok(())
}

/// Returns the sessions with this title, or this title and a number.
pub(crate) fn lineage_of(database: &Database, title: &str) -> Result<Vec<Titled>, Failure> {
    // ` #0` to ` #:` spans everything that continues with a digit; the index on titles serves both parts.
    let mut statement = database.prepare_cached(
        "SELECT id, title, started_at FROM sessions WHERE title = ?1 \
         UNION ALL SELECT id, title, started_at FROM sessions WHERE title >= ?1 || ' #0' AND title < ?1 || ' #:'",
    )?;
    let mut rows = statement.query(params![title])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let candidate: String = row.get(1)?;
        let in_lineage = candidate == title || matches!(split_number(&candidate), (base, Some(_)) if base == title);
        if let Some(started_at) = time(row, 2)?.filter(|_| in_lineage) {
            found.push(Titled { id: SessionId::from_stored(row.get::<_, String>(0)?), title: candidate, started_at });
        }
    }
    Ok(found)
}
