//! Titles: unique, and numbered within a lineage under the lineage lock.

use super::requests::once;
use super::row::{existing, require};
use super::{Fields as _, Sql};
use crate::values;
use hermes_session::live::Kinds;
use hermes_session::title::split_number;
use hermes_session::{Conflict, Request, SessionId, Timestamp, Title, Titled, change};

/// Implements `set` of the contract.
pub async fn set<T: Sql>(
    transaction: &T,
    id: &SessionId,
    title: Option<&Title>,
    request: &Request,
) -> Result<(), T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::set_title(id, title), async {
        require(transaction, id).await?;
        write(transaction, id, title).await
    })
    .await
}

/// Implements `allocate` of the contract.
pub async fn allocate<T: Sql>(
    transaction: &T,
    id: &SessionId,
    base: &Title,
    request: &Request,
) -> Result<Title, T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::allocate_title(id, base), async {
        require(transaction, id).await?;
        let title = next(transaction, id, base).await?;
        write(transaction, id, Some(&title)).await?;
        Ok(title)
    })
    .await
}

/// Implements `entitle` of the contract.
pub async fn entitle<T: Sql>(
    transaction: &T,
    id: &SessionId,
    base: &Title,
    request: &Request,
) -> Result<Option<Title>, T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::entitle(id, base), async {
        if existing(transaction, id).await?.title.is_some() {
            return Ok(None);
        }
        let title = next(transaction, id, base).await?;
        write(transaction, id, Some(&title)).await?;
        Ok(Some(title))
    })
    .await
}

/// Returns the next free title in the lineage of `base`, ignoring the title of `id`.
pub async fn next<T: Sql>(transaction: &T, id: &SessionId, base: &Title) -> Result<Title, T::Failure> {
    let mut taken = Vec::new();
    for stem in base.stems() {
        let found = lineage_of(transaction, &stem).await?;
        taken.extend(found.into_iter().filter(|found| found.id != *id).map(|found| found.title));
    }
    Ok(base.next(taken.iter().map(String::as_str)))
}

/// Sets a title. Fails if another session has it.
pub async fn write<T: Sql>(transaction: &T, id: &SessionId, title: Option<&Title>) -> Result<(), T::Failure> {
    if let Some(title) = title
        && let Some(holder) = holder(transaction, id, title.as_str()).await?
    {
        return Err(Conflict::TitleTaken { title: title.as_str().to_owned(), holder }.into());
    }
    let sql = "UPDATE sessions SET title = $1 WHERE id = $2";
    transaction.run(sql, values![title.map(Title::as_str), id.as_str()]).await?;
    transaction.note(id, Kinds::SESSION);
    Ok(())
}

/// Returns the other session that has a title, or `None`.
pub async fn holder<T: Sql>(transaction: &T, own: &SessionId, title: &str) -> Result<Option<SessionId>, T::Failure> {
    let sql = "SELECT id FROM sessions WHERE title = $1 AND id <> $2";
    let found = transaction.row(sql, values![title, own.as_str()]).await?;
    Ok(found.map(|row| row.id(0)).transpose()?)
}

/// Returns the sessions with exactly this title, or with this title and a number.
pub async fn lineage_of<T: Sql>(transaction: &T, title: &str) -> Result<Vec<Titled>, T::Failure> {
    // From ` #0` to ` #:` are all titles that continue with a digit. The index on titles serves both parts.
    let rows = transaction
        .rows(
            "SELECT id, title, started_at FROM sessions WHERE title = $1 \
             UNION ALL SELECT id, title, started_at FROM sessions WHERE title >= $2 AND title < $3",
            values![title, format!("{title} #0"), format!("{title} #:")],
        )
        .await?;
    let mut found = Vec::new();
    for row in &rows {
        let candidate: String = row.try_get(1)?;
        let in_lineage = candidate == title || matches!(split_number(&candidate), (base, Some(_)) if base == title);
        if let Some(started_at) = Timestamp::from_seconds(row.try_get(2)?).ok().filter(|_| in_lineage) {
            found.push(Titled { id: row.id(0)?, title: candidate, started_at });
        }
    }
    Ok(found)
}
