//! Members of a JSON object in its canonical spelling, read one by one without building a tree.

use crate::json::{parts, split_member};
use crate::{Invalid, Json, JsonKind, Timestamp};

/// The members of an object. Of two with one key the last one counts, as everywhere.
pub(super) struct Fields<'a> {
    members: Vec<(&'a str, &'a str)>,
}

fn wrong(what: &'static str, why: impl Into<std::borrow::Cow<'static, str>>) -> Invalid {
    Invalid::new(what, why.into(), "give a line of an export")
}

impl<'a> Fields<'a> {
    /// Splits an object into its members; `text` is JSON in its canonical spelling.
    pub(super) fn of(what: &'static str, text: &'a str) -> Result<Self, Invalid> {
        if !text.starts_with('{') {
            return Err(wrong(what, "is not an object"));
        }
        let split = |member: &'a str| {
            let (key, value) = split_member(member);
            (&key[1..key.len() - 1], value)
        };
        Ok(Self { members: parts(text).into_iter().map(split).collect() })
    }

    /// Returns the value of a key; `None` if it is missing or null.
    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        self.members
            .iter()
            .rev()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
            .filter(|value| *value != "null")
    }

    /// Returns whether the key is present, even if its value is null.
    pub(super) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|(name, _)| *name == key)
    }

    /// Returns the keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.members.iter().map(|(name, _)| *name)
    }

    /// Returns the keys and their values, including null. Of two members with one key both are returned, the last one
    /// last.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.members.iter().copied()
    }

    pub(super) fn json(&self, key: &str) -> Option<Json> {
        self.raw(key).map(Json::of_spelled)
    }

    pub(super) fn text(&self, key: &'static str) -> Result<Option<String>, Invalid> {
        let Some(json) = self.json(key) else { return Ok(None) };
        match json.to_plain_string() {
            Some(text) => Ok(Some(text)),
            None if json.kind() == JsonKind::String => Err(wrong(key, "holds a lone surrogate")),
            None => Err(wrong(key, "is not a text")),
        }
    }

    pub(super) fn double(&self, key: &'static str) -> Result<Option<f64>, Invalid> {
        let Some(raw) = self.raw(key) else { return Ok(None) };
        let is_number = raw.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        match raw.parse::<f64>() {
            Ok(number) if is_number && number.is_finite() => Ok(Some(number)),
            _ => Err(wrong(key, "is not a finite number")),
        }
    }

    pub(super) fn integer(&self, key: &'static str) -> Result<Option<i64>, Invalid> {
        let Some(raw) = self.raw(key) else { return Ok(None) };
        if let Ok(number) = raw.parse::<i64>() {
            return Ok(Some(number));
        }
        match self.double(key)? {
            Some(number) if number.fract() == 0.0 && number.abs() < 9e18 => Ok(Some(number as i64)),
            _ => Err(wrong(key, "is not a whole number")),
        }
    }

    pub(super) fn time(&self, key: &'static str) -> Result<Option<Timestamp>, Invalid> {
        let number = self.double(key)?;
        number.map(Timestamp::from_seconds).transpose()
    }
}

/// Returns the error for a required value that is missing.
pub(super) fn missing(what: &'static str) -> Invalid {
    wrong(what, "is missing")
}

/// Returns the error for a value outside the permitted ones.
pub(super) fn strange(what: &'static str, value: &str) -> Invalid {
    let shown: String = value.chars().take(40).collect();
    wrong(what, format!("is {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_taken_apart() {
        let object =
            Json::parse(r#"{"a":1,"b\"x":"y: \", z","a":2.0,"n":null,"deep":{"a":[3,{}]}, "big": 1e999}"#).unwrap();
        let fields = Fields::of("line", object.as_str()).unwrap();
        assert_eq!((fields.integer("a").unwrap(), fields.raw("n"), fields.has("n")), (Some(2), None, true));
        assert_eq!((fields.raw("deep"), fields.raw("x")), (Some(r#"{"a": [3, {}]}"#), None));
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["a", "b\\\"x", "a", "n", "deep", "big"]);
        assert_eq!(fields.text("b\\\"x").unwrap().as_deref(), Some("y: \", z"));
        assert!(fields.text("a").is_err() && fields.integer("deep").is_err() && fields.double("big").is_err());
        assert!(Fields::of("line", "[]").is_err());
        assert!(Fields::of("line", "{}").unwrap().keys().next().is_none());
    }
}
