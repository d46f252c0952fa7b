//! Titles: clean, set, find and number.

use crate::call::{Answer, Call, NONE, or_nothing, yes};
use crate::fail::Fail;
use crate::row;
use hermes_session::title::split_number;
use hermes_session::{Conflict, Invalid, Json, MAX_TITLE, SessionId, StoreError, Title};

pub(crate) fn sanitize(call: &Call<'_>) -> Answer {
    let title = cleaned(call)?;
    Ok(title.map_or_else(|| NONE.into(), |title| Json::string(title.as_str()).as_str().to_owned()))
}

/// `set_session_title`: returns whether the session exists. A title that another session has is refused even if it does
/// not.
pub(crate) async fn set(call: &Call<'_>) -> Answer {
    let title = cleaned(call)?;
    let Some(id) = call.args.lookup("session_id") else {
        return match &title {
            Some(title) => refuse_taken(call, title, None).await,
            None => yes(false),
        };
    };
    match call.store.set_title(&id, title.as_ref(), &call.request()).await {
        Ok(()) => yes(true),
        Err(StoreError::NotFound(_)) => match &title {
            Some(title) => refuse_taken(call, title, Some(&id)).await,
            None => yes(false),
        },
        Err(StoreError::Conflict(Conflict::TitleTaken { title, holder })) => Err(taken(&title, &holder)),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn get(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return Ok(NONE.into()) };
    let title = call.store.session(&id).await?.and_then(|session| session.title);
    Ok(title.map_or_else(|| NONE.into(), |title| Json::string(&title).as_str().to_owned()))
}

pub(crate) async fn session_of(call: &Call<'_>) -> Answer {
    let Some(title) = call.args.readable("title")? else { return Ok(NONE.into()) };
    match exactly(call, &title).await? {
        Some(id) => {
            let session = call.store.session(&id).await?;
            Ok(session.map_or_else(|| NONE.into(), |session| row::session(&session).finish()))
        }
        None => Ok(NONE.into()),
    }
}

/// `resolve_session_by_title`: the session with the highest number of that title; if there is none, the one with the
/// title itself.
pub(crate) async fn resolve(call: &Call<'_>) -> Answer {
    let Some(title) = call.args.readable("title")? else { return Ok(NONE.into()) };
    let hits = call.store.titled(&title).await?;
    let place = |hit: &hermes_session::Titled| match split_number(&hit.title) {
        (base, Some(number)) if base == title => Some(number),
        _ => (hit.title == title).then_some(0),
    };
    let ranked = hits.into_iter().filter_map(|hit| Some((place(&hit)?, hit.started_at, hit.id)));
    Ok(ranked.max().map_or_else(|| NONE.into(), |(.., id)| Json::string(id.as_str()).as_str().to_owned()))
}

/// `get_next_title_in_lineage`: the title without its number if that is free, else with the highest number plus one.
pub(crate) async fn next(call: &Call<'_>) -> Answer {
    let text = call.args.readable("base_title")?.ok_or_else(|| Fail::wrong_type("expected string, got 'NoneType'"))?;
    // A title that is too long is invalid, so it is cut.
    let short: String = text.chars().take(MAX_TITLE).collect();
    let Some(base) = Title::clean(&short)? else { return Ok(Json::string(&text).as_str().to_owned()) };
    let mut taken = Vec::new();
    for stem in base.stems() {
        taken.extend(call.store.titled(&stem).await?.into_iter().map(|hit| hit.title));
    }
    let next = base.next(taken.iter().map(String::as_str));
    Ok(Json::string(next.as_str()).as_str().to_owned())
}

/// Returns the given title, cleaned; `None` if it is blank.
fn cleaned(call: &Call<'_>) -> Result<Option<Title>, Fail> {
    match call.args.readable("title")? {
        Some(text) => Title::clean(&text).map_err(|invalid| too_long(&invalid)),
        None => Ok(None),
    }
}

fn too_long(invalid: &Invalid) -> Fail {
    let number: String = invalid.why.chars().filter(char::is_ascii_digit).collect();
    // The reason ends with the limit.
    match number.strip_suffix(&MAX_TITLE.to_string()) {
        Some(length) => Fail::value(format!("Title too long ({length} chars, max {MAX_TITLE})")),
        None => Fail::value(invalid.to_string()),
    }
}

fn taken(title: &str, holder: &SessionId) -> Fail {
    Fail::value(format!("Title '{title}' is already in use by session {holder}"))
}

async fn refuse_taken(call: &Call<'_>, title: &Title, id: Option<&SessionId>) -> Answer {
    match exactly(call, title.as_str()).await? {
        Some(holder) if Some(&holder) != id => Err(taken(title.as_str(), &holder)),
        _ => yes(false),
    }
}

async fn exactly(call: &Call<'_>, title: &str) -> Result<Option<SessionId>, Fail> {
    let hits = or_nothing(call.store.titled(title).await)?.unwrap_or_default();
    Ok(hits.into_iter().find(|hit| hit.title == title).map(|hit| hit.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_is_reported_in_the_agents_words() {
        let invalid = Title::clean(&"x".repeat(1234)).unwrap_err();
        assert_eq!(too_long(&invalid).text, "Title too long (1234 chars, max 100)");
    }
}
