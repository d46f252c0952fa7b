//! Reads lines with data of live clients.

use super::fields::{Fields, missing, strange};
use crate::export::LIVE_FORMAT;
use crate::live::{Account, LiveRecord, Origin, ResetCause, Route, RouteKey};
use crate::{Invalid, SessionId};

/// Data of live clients on a line.
#[derive(Debug, PartialEq)]
pub(super) enum Live {
    /// A record to be imported.
    Record(Box<LiveRecord>),
    /// An undone message of a session. It stays in the file: an import changes no session that exists.
    Undone(SessionId),
}

/// Reads a line; `None` if it is of another format.
pub(super) fn read(fields: &Fields<'_>) -> Result<Option<Live>, Invalid> {
    if fields.text("format").ok().flatten().as_deref() != Some(LIVE_FORMAT) {
        return Ok(None);
    }
    let session = || SessionId::parse(fields.text("session")?.ok_or_else(|| missing("session"))?);
    let record = if fields.has("undone") {
        return Ok(Some(Live::Undone(session()?)));
    } else if let Some(old) = fields.text("alias")? {
        LiveRecord::Alias { old: key("alias", &old)?, key: Box::new(route_key(fields)?) }
    } else if let Some(account) = fields.text("account")? {
        let value = fields.text("cursor")?.ok_or_else(|| missing("cursor"))?;
        LiveRecord::Cursor { account: Account::parse(account)?, value }
    } else if let Some(word) = fields.text("cause")? {
        let cause = ResetCause::from_stored(&word).ok_or_else(|| strange("cause", &word))?;
        LiveRecord::Cause { session: session()?, cause }
    } else {
        LiveRecord::Route(Box::new(route(fields, session()?)?))
    };
    Ok(Some(Live::Record(Box::new(record))))
}

fn route(fields: &Fields<'_>, session: SessionId) -> Result<Route, Invalid> {
    let origin = Origin {
        session_key: fields.text("session_key")?.unwrap_or_default(),
        source: fields.text("source")?,
        display_name: fields.text("display_name")?,
    };
    origin.check()?;
    Ok(Route {
        key: route_key(fields)?,
        session,
        generation: fields.integer("generation")?.unwrap_or(1),
        origin,
        created_at: fields.time("created_at")?.ok_or_else(|| missing("created_at"))?,
        touched_at: fields.time("touched_at")?.ok_or_else(|| missing("touched_at"))?,
        suspended: fields.integer("suspended")? == Some(1),
        notice: fields.text("notice")?,
        last_prompt_tokens: fields.integer("last_prompt_tokens")?,
    })
}

fn route_key(fields: &Fields<'_>) -> Result<RouteKey, Invalid> {
    key("route", &fields.text("route")?.ok_or_else(|| missing("route"))?)
}

fn key(what: &'static str, text: &str) -> Result<RouteKey, Invalid> {
    RouteKey::from_stored(text).ok_or_else(|| strange(what, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::export::live_line;

    #[test]
    fn lines_are_read_back() {
        let key = |chat: &str| RouteKey {
            platform: "telegram".into(),
            account: "telegram:1".into(),
            chat_type: "dm".into(),
            chat: chat.into(),
            thread: None,
            participant: Some("9".into()),
        };
        let at = |seconds| Timestamp::from_seconds(seconds).unwrap();
        let session = SessionId::from_stored("s \"1\"");
        let origin = Origin { session_key: "agent:main".into(), source: Some("{}".into()), display_name: None };
        let route = Route {
            key: key("大"),
            session: session.clone(),
            generation: 3,
            origin,
            created_at: at(1.5),
            touched_at: at(2.25),
            suspended: true,
            notice: Some("a\nb".into()),
            last_prompt_tokens: Some(7),
        };
        for record in [
            LiveRecord::Route(Box::new(route)),
            LiveRecord::Alias { old: key("1"), key: Box::new(key("大")) },
            LiveRecord::Cursor { account: Account::parse("telegram:1").unwrap(), value: "41".into() },
            LiveRecord::Cause { session, cause: ResetCause::Daily },
        ] {
            let line = live_line(&record).unwrap();
            let fields = Fields::of("line", line.trim_end()).unwrap();
            assert_eq!(read(&fields).unwrap(), Some(Live::Record(Box::new(record))));
        }
    }
}
