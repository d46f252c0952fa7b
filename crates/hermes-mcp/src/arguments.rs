//! The arguments of a tool, each checked by its kind.

use hermes_session::search::SearchFilter;
use hermes_session::{Invalid, Role, SessionId, Source, Timestamp};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

/// The arguments of one call. A value of null is none.
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Takes the arguments of a tool that knows these names.
    pub(crate) fn new(given: Option<Map<String, Value>>, names: &[&str]) -> Result<Self, Invalid> {
        let given = given.unwrap_or_default();
        if let Some(unknown) = given.keys().find(|name| !names.contains(&name.as_str())) {
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Invalid::new("argument", format!("{unknown:?} is unknown"), format!("known are: {known}")));
        }
        Ok(Self(given))
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text; nothing if it is blank.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<&str>, Invalid> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.trim().is_empty())),
            Some(_) => Err(Invalid::new(name, "is no text", "give a string")),
        }
    }

    /// A number within bounds, or what it is if none is given. Models write numbers as texts now and then.
    pub(crate) fn number(&self, name: &'static str, default: u64, least: u64, most: u64) -> Result<u64, Invalid> {
        let odd = || Invalid::new(name, "is no whole number", format!("give a number from {least} to {most}"));
        let number = match self.value(name) {
            None => return Ok(default),
            Some(Value::String(text)) => text.trim().parse::<f64>().map_err(|_| odd())?,
            Some(value) => value.as_f64().ok_or_else(odd)?,
        };
        if !number.is_finite() || number.fract() != 0.0 {
            return Err(odd());
        }
        Ok((number.max(0.0) as u64).clamp(least, most))
    }

    /// Returns whether something is asked for; `false` if it is not given. Models write truth values as texts now and then.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, Invalid> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(Invalid::new(name, "is neither true nor false", "give true or false")),
        }
    }

    /// The session that has to be named.
    pub(crate) fn session(&self) -> Result<SessionId, Invalid> {
        let hint = "give the session_id of a conversation, as session_search and list_conversations tell it";
        let text = self.text("session_id")?.ok_or_else(|| Invalid::new("session_id", "is missing", hint))?;
        SessionId::parse(text)
    }

    /// A time: seconds since 1970, or a date or a moment as ISO 8601 writes it, in a zone if it has none of its own.
    pub(crate) fn time(&self, name: &'static str, zone: &TimeZone) -> Result<Option<Timestamp>, Invalid> {
        let odd = || Invalid::new(name, "is no time", "give 2026-05-01, 2026-05-01T10:00, or seconds since 1970");
        match self.value(name) {
            None => Ok(None),
            Some(Value::Number(seconds)) => Timestamp::from_seconds(seconds.as_f64().ok_or_else(odd)?).map(Some),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => parsed(text.trim(), zone).map(Some).ok_or_else(odd),
            Some(_) => Err(odd()),
        }
    }

    /// What is said of the messages that are looked at.
    pub(crate) fn filter(&self, zone: &TimeZone) -> Result<SearchFilter, Invalid> {
        let roles = self.text("role_filter")?.map(|list| {
            list.split(',').map(str::trim).filter(|role| !role.is_empty()).map(Role::parse).collect::<Result<_, _>>()
        });
        Ok(SearchFilter {
            sources: self.sources()?,
            roles: roles.transpose()?,
            since: self.time("since", zone)?,
            before: self.time("before", zone)?,
            ..SearchFilter::default()
        })
    }

    /// The source that is asked for.
    pub(crate) fn sources(&self) -> Result<Option<Vec<Source>>, Invalid> {
        Ok(self.text("source")?.map(Source::parse).transpose()?.map(|source| vec![source]))
    }
}

fn parsed(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp::from_calendar(at));
    }
    let at =
        text.parse::<jiff::civil::DateTime>().or_else(|_| text.parse::<jiff::civil::Date>().map(Into::into)).ok()?;
    Some(Timestamp::from_calendar(at.to_zoned(zone.clone()).ok()?.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(value: Value) -> Result<Arguments, Invalid> {
        Arguments::new(value.as_object().cloned(), &["n", "since", "role_filter", "source", "session_id"])
    }

    #[test]
    fn each_kind_is_checked() {
        let number = |value: Value| given(json!({"n": value})).and_then(|given| given.number("n", 3, 1, 10));
        assert_eq!(
            [json!(null), json!(5), json!("7"), json!(99), json!(-4), json!(2.0)].map(|value| number(value).unwrap()),
            [3, 5, 7, 10, 1, 2]
        );
        assert!(number(json!("many")).is_err() && number(json!([1])).is_err() && number(json!(2.5)).is_err());
        let time = |value: Value| given(json!({"since": value})).and_then(|given| given.time("since", &TimeZone::UTC));
        for text in ["2026-05-01", "2026-05-01T00:00", "2026-05-01T02:00:00+02:00"] {
            assert_eq!(time(json!(text)).unwrap().unwrap().seconds(), 1_777_593_600.0, "{text}");
        }
        assert_eq!(time(json!(1.5)).unwrap().unwrap().seconds(), 1.5);
        assert!(time(json!("soon")).is_err() && time(json!("")).unwrap().is_none());
        let roles = given(json!({"role_filter": "user, tool,"})).unwrap().filter(&TimeZone::UTC).unwrap().roles;
        assert_eq!(roles, Some(vec![Role::User, Role::Tool]));
        assert!(given(json!({"session_id": " "})).unwrap().session().is_err());
        assert!(given(json!({"scope": "all"})).is_err(), "no argument widens anything");
    }
}
