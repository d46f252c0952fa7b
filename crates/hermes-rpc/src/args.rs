//! Arguments by their names, converted to the types that a method needs, in the same way as the columns of the agent's
//! tables convert values.

use crate::fail::{ErrorType, Fail};
use crate::request_line::{RequestLine, elements, members, plain};
use crate::wire;
use hermes_session::json::Json;
use hermes_session::{Content, SessionId};

/// A value as received: JSON text in the canonical format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a>(pub(crate) &'a str);

impl<'a> Value<'a> {
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Returns whether the value is truthy in Python.
    pub(crate) fn is_truthy(self) -> bool {
        !matches!(self.0, "null" | "false" | "\"\"" | "[]" | "{}" | "0" | "-0" | "0.0" | "-0.0" | "{\"$b\": \"\"}")
    }

    /// Returns the name of its Python type.
    fn kind(self) -> &'static str {
        match self.0.as_bytes()[0] {
            b'{' if wire::as_bytes(self.0).is_some() => "bytes",
            b'{' if wire::as_odd_number(self.0).is_some() => "float",
            b'{' => "dict",
            b'[' => "list",
            b'"' => "str",
            b'n' => "NoneType",
            b't' | b'f' => "bool",
            _ if self.is_float() => "float",
            _ => "int",
        }
    }

    fn is_float(self) -> bool {
        self.0.contains(['.', 'e', 'E', 'N', 'I'])
    }

    /// Converts to text like a text column: numbers become text, null stays `None`.
    pub(crate) fn text(self) -> Result<Option<String>, Fail> {
        match self.kind() {
            "NoneType" => Ok(None),
            "str" => plain(self.0).map(Some).ok_or_else(surrogates),
            "bool" => Ok(Some(u8::from(self.0 == "true").to_string())),
            "int" => Ok(Some(self.integer()?.unwrap_or_default().to_string())),
            "float" => Ok(self.double()?.and_then(shown)),
            kind => Err(unbindable(kind)),
        }
    }

    /// Converts to text for searching or printing. A lone surrogate, which no store can keep in a text column, is read
    /// as U+FFFD; stored text that holds one is indexed in the same way.
    pub(crate) fn readable(self) -> Result<Option<String>, Fail> {
        match self.text() {
            Err(_) if self.kind() == "str" => {
                Ok(self.json()?.and_then(|json| json.to_value()).and_then(|value| value.as_str().map(str::to_owned)))
            }
            text => text,
        }
    }

    /// Converts to a whole number. A string that contains one is accepted.
    pub(crate) fn integer(self) -> Result<Option<i64>, Fail> {
        let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 9.2e18).then_some(number as i64);
        match self.kind() {
            "NoneType" => Ok(None),
            "bool" => Ok(Some(i64::from(self.0 == "true"))),
            "int" => self.0.parse().map(Some).map_err(|_| too_large()),
            "float" => self.double()?.and_then(whole).map(Some).ok_or_else(|| self.no("a whole number")),
            "str" => plain(self.0)
                .and_then(|text| text.trim().parse().ok())
                .map(Some)
                .ok_or_else(|| self.no("a whole number")),
            kind => Err(unbindable(kind)),
        }
    }

    /// Converts to a number.
    pub(crate) fn double(self) -> Result<Option<f64>, Fail> {
        match self.kind() {
            "NoneType" => Ok(None),
            "bool" => Ok(Some(f64::from(u8::from(self.0 == "true")))),
            "int" | "float" => match wire::as_odd_number(self.0) {
                Some(number) => Ok(Some(number)),
                None => self.0.parse().map(Some).map_err(|_| self.no("a number")),
            },
            "str" => {
                plain(self.0).and_then(|text| text.trim().parse().ok()).map(Some).ok_or_else(|| self.no("a number"))
            }
            kind => Err(unbindable(kind)),
        }
    }

    /// Converts to JSON. Returns `None` if it is null.
    pub(crate) fn json(self) -> Result<Option<Json>, Fail> {
        if self.is_null() { Ok(None) } else { Ok(Some(Json::parse(&wire::decode(self.0)?)?)) }
    }

    /// Converts to the content of a message.
    pub(crate) fn content(self) -> Result<Option<Content>, Fail> {
        match self.kind() {
            "dict" | "list" => Ok(self.json()?.map(Content::Json)),
            "bytes" => Ok(wire::as_bytes(self.0).map(Content::Bytes)),
            // A text with a lone surrogate is kept as JSON.
            "str" => Ok(Some(plain(self.0).map_or(Content::Json(Json::parse(self.0)?), Content::Text))),
            _ => Ok(self.text()?.map(Content::Text)),
        }
    }

    /// Returns the texts of a list. A single text yields its characters, as iterating over a `str` does in Python.
    pub(crate) fn texts(self) -> Result<Option<Vec<String>>, Fail> {
        match self.kind() {
            "NoneType" => Ok(None),
            "str" => Ok(self.text()?.map(|text| text.chars().map(String::from).collect())),
            "list" => self
                .elements()?
                .into_iter()
                .filter_map(|value| value.text().transpose())
                .collect::<Result<_, _>>()
                .map(Some),
            kind => Err(Fail::wrong_type(format!("'{kind}' object is not iterable"))),
        }
    }

    /// Returns the elements of a list.
    pub(crate) fn elements(self) -> Result<Vec<Value<'a>>, Fail> {
        match self.kind() {
            "list" => Ok(elements(self.0, 0..self.0.len()).into_iter().map(|range| Value(&self.0[range])).collect()),
            kind => Err(Fail::wrong_type(format!("'{kind}' object is not a list"))),
        }
    }

    /// Returns the members of an object.
    pub(crate) fn members(self) -> Result<Vec<(String, Value<'a>)>, Fail> {
        match self.kind() {
            "dict" => {
                let (text, object) = match self.0.strip_prefix("{\"$o\": ").and_then(|rest| rest.strip_suffix('}')) {
                    Some(inner) if inner.starts_with('{') => (inner, 0..inner.len()),
                    _ => (self.0, 0..self.0.len()),
                };
                let found = members(text, object);
                Ok(found.into_iter().map(|(key, range)| (key, Value(&text[range]))).collect())
            }
            kind => Err(Fail::wrong_type(format!("'{kind}' object is not a mapping"))),
        }
    }

    fn no(self, what: &str) -> Fail {
        let shown: String = self.0.chars().take(60).collect();
        Fail::value(format!("{shown} is not {what}"))
    }
}

fn surrogates() -> Fail {
    Fail::value("'utf-8' codec can't encode the text: surrogates not allowed")
}

fn too_large() -> Fail {
    Fail::value("Python int too large to convert to SQLite INTEGER")
}

fn unbindable(kind: &str) -> Fail {
    Fail::new(ErrorType::Database, format!("Error binding parameter: type '{kind}' is not supported"))
}

/// Returns a double as text. NaN becomes `None`, as in a text column.
fn shown(number: f64) -> Option<String> {
    match number {
        number if number.is_nan() => None,
        f64::INFINITY => Some("Inf".into()),
        f64::NEG_INFINITY => Some("-Inf".into()),
        number => Some(format!("{number:?}")),
    }
}

/// The arguments of a call.
#[derive(Debug)]
pub(crate) struct Args<'a>(pub(crate) &'a RequestLine);

impl Args<'_> {
    /// Returns the argument, or the default.
    pub(crate) fn value(&self, name: &str) -> Value<'_> {
        let signature = &self.0.method.signature;
        let place = signature.place(name).expect("a method asks for its own parameters");
        match &self.0.bound[place] {
            Some(range) => Value(&self.0.json.as_str()[range.clone()]),
            None => Value(match signature.parameters[place].default {
                None | Some("None") => "null",
                Some("True") => "true",
                Some("False") => "false",
                Some("'unknown'") => "\"unknown\"",
                Some("'auto'") => "\"auto\"",
                Some("'best'") => "\"best\"",
                Some(number) => number,
            }),
        }
    }

    /// Returns whether it was given and is not null.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.0.method.signature.place(name).is_some_and(|place| self.0.bound[place].is_some())
            && !self.value(name).is_null()
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Fail> {
        self.value(name).text()
    }

    /// Returns a text in which a lone surrogate is read as U+FFFD ([`Value::readable`]).
    pub(crate) fn readable(&self, name: &str) -> Result<Option<String>, Fail> {
        self.value(name).readable()
    }

    /// Returns a text, or `None` if it is empty.
    pub(crate) fn filled(&self, name: &str) -> Result<Option<String>, Fail> {
        Ok(self.text(name)?.filter(|text| !text.is_empty()))
    }

    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, Fail> {
        self.value(name).integer()
    }

    pub(crate) fn double(&self, name: &str) -> Result<Option<f64>, Fail> {
        self.value(name).double()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.value(name).is_truthy()
    }

    pub(crate) fn json(&self, name: &str) -> Result<Option<Json>, Fail> {
        self.value(name).json()
    }

    /// Returns the session to look up, or `None` if the value is not a valid id.
    pub(crate) fn lookup(&self, name: &str) -> Option<SessionId> {
        self.value(name).text().ok().flatten().and_then(|text| SessionId::parse(text).ok())
    }

    /// Returns the session to write to.
    pub(crate) fn session(&self, name: &str) -> Result<SessionId, Fail> {
        let text = self.text(name)?.ok_or_else(|| Fail::missing("sessions.id"))?;
        Ok(SessionId::parse(text)?)
    }

    /// Returns the session to append messages to. An invalid id fails like a session that does not exist.
    pub(crate) fn reference(&self, name: &str) -> Result<SessionId, Fail> {
        let text = self.text(name)?.ok_or_else(|| Fail::missing("messages.session_id"))?;
        SessionId::parse(text).map_err(|_| Fail::no_such_reference())
    }

    /// Returns a limit. A negative number means no limit.
    pub(crate) fn limit(&self, name: &str) -> Result<u64, Fail> {
        let number = self.integer(name)?.ok_or_else(|| Fail::new(ErrorType::Integrity, "datatype mismatch"))?;
        Ok(u64::try_from(number).unwrap_or(u64::MAX))
    }

    /// Returns an offset. A negative number means 0.
    pub(crate) fn offset(&self, name: &str) -> Result<u64, Fail> {
        let number = self.integer(name)?.ok_or_else(|| Fail::new(ErrorType::Integrity, "datatype mismatch"))?;
        Ok(u64::try_from(number).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_make_of_a_value_what_they_hold() {
        for (value, expect) in [
            ("5", Some("5")),
            ("1.5", Some("1.5")),
            ("5.0", Some("5.0")),
            ("true", Some("1")),
            ("{\"$f\": \"nan\"}", None),
            ("{\"$f\": \"-inf\"}", Some("-Inf")),
            ("null", None),
        ] {
            assert_eq!(Value(value).text().unwrap().as_deref(), expect, "{value}");
        }
        assert_eq!(Value("9223372036854775807").integer().unwrap(), Some(i64::MAX));
        for (value, error) in [
            ("9223372036854775808", ErrorType::Value),
            ("1.5", ErrorType::Value),
            ("[1]", ErrorType::Database),
            ("\"x\"", ErrorType::Value),
        ] {
            assert_eq!(Value(value).integer().unwrap_err().error, error, "{value}");
        }
        assert_eq!(Value("\"\\ud800\"").text().unwrap_err().error, ErrorType::Value);
        assert_eq!(Value("\"a\\ud800b\"").readable().unwrap().as_deref(), Some("a\u{fffd}b"));
        assert_eq!(Value("\"\\ud83d\\ude80\"").readable().unwrap().as_deref(), Some("🚀"));
        assert_eq!(Value("{}").text().unwrap_err().error, ErrorType::Database);
        assert_eq!(Value("{}").readable().unwrap_err().error, ErrorType::Database);
    }

    #[test]
    fn content_is_kept_whatever_it_is() {
        let json = |text: &str| Some(Content::Json(Json::parse(text).unwrap()));
        assert_eq!(Value("\"a\\ud800\"").content().unwrap(), json("\"a\\ud800\""));
        assert_eq!(Value("[{\"$f\": \"nan\"}, {\"$o\": {\"$f\": 1}}]").content().unwrap(), json("[NaN, {\"$f\": 1}]"));
        assert_eq!(Value("{\"$b\": \"/w==\"}").content().unwrap(), Some(Content::Bytes(vec![0xff])));
        assert_eq!(Value("[]").content().unwrap(), json("[]"));
        assert_eq!(Value("7").content().unwrap(), Some(Content::from("7")));
    }

    #[test]
    fn a_text_is_gone_through_by_character() {
        assert_eq!(Value("\"ab\"").texts().unwrap(), Some(vec!["a".into(), "b".into()]));
        assert_eq!(Value("[\"ab\", null, 1]").texts().unwrap(), Some(vec!["ab".into(), "1".into()]));
        assert_eq!(Value("1").texts().unwrap_err().error, ErrorType::Type);
    }
}
