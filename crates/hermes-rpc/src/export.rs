//! Sessions with their messages.

use crate::call::{Answer, Call, NONE, list};
use crate::{listing, messages, row};

pub(crate) async fn session(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return Ok(NONE.into()) };
    let Some(session) = call.store.session(&id).await? else { return Ok(NONE.into()) };
    let mut out = row::session(&session);
    out.raw("messages", &messages::rows(&messages::read(call, &id).await?));
    Ok(out.finish())
}

/// `export_all`: every session, most recently active first.
pub(crate) async fn all(call: &Call<'_>) -> Answer {
    let source = call.args.filled("source")?;
    let mut out = Vec::new();
    for (session, last_active) in listing::by_activity(call, source, 0, u64::MAX).await? {
        let mut map = row::session(&session);
        row::double(&mut map, "last_active", Some(last_active.seconds()));
        map.raw("messages", &messages::rows(&messages::read(call, &session.id).await?));
        out.push(map.finish());
    }
    Ok(list(out))
}
