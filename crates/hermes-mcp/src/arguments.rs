//! The arguments of a tool, each checked by its kind.

use hermes_recall::when::Reference;
use hermes_session::search::SearchFilter;
use hermes_session::{Invalid, Role, SessionId, Source, Timestamp, quoted};
use serde_json::{Map, Value};

/// The arguments of one call. Null counts as not given.
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Takes the arguments of a tool that accepts these names. Refuses unknown ones.
    pub(crate) fn new(given: Option<Map<String, Value>>, names: &[&str]) -> Result<Self, Invalid> {
        let given = given.unwrap_or_default();
        if let Some(unknown) = given.keys().find(|name| !names.contains(&name.as_str())) {
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Invalid::new(
                "argument",
                format!("{} is unknown", quoted(unknown)),
                format!("known are: {known}"),
            ));
        }
        Ok(Self(given))
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a text, or `None` if it is blank.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<&str>, Invalid> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.trim().is_empty())),
            Some(_) => Err(Invalid::new(name, "is not a text", "give a string")),
        }
    }

    /// Returns a whole number, or the default if none is given. One above the bounds is clamped to them, as is 0; a
    /// negative one is refused. Models sometimes send numbers as strings.
    pub(crate) fn number(&self, name: &'static str, default: u64, least: u64, most: u64) -> Result<u64, Invalid> {
        let odd = || Invalid::new(name, "is not a whole number", format!("give a number from {least} to {most}"));
        let number = match self.value(name) {
            None => return Ok(default),
            Some(Value::String(text)) => text.trim().parse::<f64>().map_err(|_| odd())?,
            Some(value) => value.as_f64().ok_or_else(odd)?,
        };
        if !number.is_finite() || number.fract() != 0.0 {
            return Err(odd());
        }
        if number < 0.0 {
            return Err(Invalid::new(name, "is negative", format!("give a number from {least} to {most}")));
        }
        Ok((number as u64).clamp(least, most))
    }

    /// Returns a boolean; `false` if it is not given. Models sometimes send booleans as strings.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, Invalid> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(Invalid::new(name, "is neither true nor false", "give true or false")),
        }
    }

    /// Returns the session, which is required.
    pub(crate) fn session(&self) -> Result<SessionId, Invalid> {
        let hint = "give the session_id of a conversation, as session_search and list_conversations tell it";
        let text = self.text("session_id")?.ok_or_else(|| Invalid::new("session_id", "is missing", hint))?;
        SessionId::parse(text)
    }

    /// Returns a time: seconds since 1970, or a text as `--since` takes it. A day stands for its start.
    pub(crate) fn time(&self, name: &'static str, now: &Reference<'_>) -> Result<Option<Timestamp>, Invalid> {
        let odd = || {
            Invalid::new(
                name,
                "is not a time",
                "give yesterday, 3d, 2026-05-01, 2026-05-01T10:00, or seconds since 1970",
            )
        };
        match self.value(name) {
            None => Ok(None),
            Some(Value::Number(seconds)) => Timestamp::from_seconds(seconds.as_f64().ok_or_else(odd)?).map(Some),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => now.since(name, text).map(Some),
            Some(_) => Err(odd()),
        }
    }

    /// Returns the filter for the messages to search.
    pub(crate) fn filter(&self, now: &Reference<'_>) -> Result<SearchFilter, Invalid> {
        let roles = self.text("role_filter")?.map(|list| {
            list.split(',').map(str::trim).filter(|role| !role.is_empty()).map(Role::parse).collect::<Result<_, _>>()
        });
        Ok(SearchFilter {
            sources: self.sources()?,
            roles: roles.transpose()?,
            since: self.time("since", now)?,
            before: self.time("before", now)?,
            ..SearchFilter::default()
        })
    }

    /// Returns the requested source.
    pub(crate) fn sources(&self) -> Result<Option<Vec<Source>>, Invalid> {
        Ok(self.text("source")?.map(Source::parse).transpose()?.map(|source| vec![source]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;
    use serde_json::json;

    const NOW: Reference<'_> = Reference { at: Timestamp::EPOCH, zone: &TimeZone::UTC };

    fn given(value: Value) -> Result<Arguments, Invalid> {
        Arguments::new(value.as_object().cloned(), &["n", "since", "role_filter", "source", "session_id"])
    }

    #[test]
    fn each_kind_is_checked() {
        let number = |value: Value| given(json!({"n": value})).and_then(|given| given.number("n", 3, 1, 10));
        assert_eq!(
            [json!(null), json!(5), json!("7"), json!(99), json!(0), json!(2.0)].map(|value| number(value).unwrap()),
            [3, 5, 7, 10, 1, 2]
        );
        for negative in [json!(-1), json!("-4"), json!(-2.0)] {
            assert_eq!(number(negative).unwrap_err().to_string(), "n is negative");
        }
        assert!(number(json!("many")).is_err() && number(json!([1])).is_err() && number(json!(2.5)).is_err());
        let time = |value: Value| given(json!({"since": value})).and_then(|given| given.time("since", &NOW));
        for text in ["2026-05-01", "2026-05-01T00:00", "2026-05-01T02:00:00+02:00"] {
            assert_eq!(time(json!(text)).unwrap().unwrap().seconds(), 1_777_593_600.0, "{text}");
        }
        for (text, seconds) in [("yesterday", -86_400.0), ("2h", -7_200.0), ("today", 0.0)] {
            assert_eq!(time(json!(text)).unwrap().unwrap().seconds(), seconds, "{text}");
        }
        assert_eq!(time(json!(1.5)).unwrap().unwrap().seconds(), 1.5);
        assert!(time(json!("soon")).is_err() && time(json!("")).unwrap().is_none());
        let roles = given(json!({"role_filter": "user, tool,"})).unwrap().filter(&NOW).unwrap().roles;
        assert_eq!(roles, Some(vec![Role::User, Role::Tool]));
        assert!(given(json!({"session_id": " "})).unwrap().session().is_err());
        assert!(given(json!({"scope": "all"})).is_err(), "no argument widens anything");
    }
}
