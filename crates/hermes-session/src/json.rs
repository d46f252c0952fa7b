//! JSON carried as text, so that nothing of it is lost.
//!
//! Values come from a Python program: numbers of any size, `NaN`, escapes of lone surrogates. A tree of Rust values can
//! hold none of these, so the text is the value, and a tree is only made for inspection.

mod scan;

use crate::Invalid;
use serde_json::Value;
use std::fmt;

/// One JSON value as text in its canonical spelling: `, ` and `: ` as separators, real characters instead of escapes
/// wherever JSON allows them.
///
/// Two values are equal if their spelling is equal, including the order of keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json(String);

/// Type of a JSON value at the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, including `NaN` and the infinities.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Json {
    /// Parses JSON as Python writes it, including `NaN`, `Infinity` and escapes of lone surrogates.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        scan::respell(text).map(Self).map_err(|fault| {
            Invalid::new(
                "JSON",
                format!("is broken at byte {}: {}", fault.at, fault.why),
                "give one complete JSON value",
            )
        })
    }

    /// Converts a tree of Rust values.
    pub fn from_value(value: &Value) -> Self {
        Self(scan::respell(&value.to_string()).expect("serde_json prints JSON"))
    }

    /// Returns `text` as a JSON string.
    pub fn string(text: &str) -> Self {
        let mut out = String::with_capacity(text.len() + 2);
        scan::quote(text, &mut out);
        Self(out)
    }

    /// Takes text that is in its canonical spelling already, as part of a value that was parsed.
    pub(crate) fn of_spelled(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the text in its canonical spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the type of the value at the top level.
    pub fn kind(&self) -> JsonKind {
        match self.0.as_bytes()[0] {
            b'{' => JsonKind::Object,
            b'[' => JsonKind::Array,
            b'"' => JsonKind::String,
            b'n' => JsonKind::Null,
            b't' | b'f' => JsonKind::Bool,
            _ => JsonKind::Number,
        }
    }

    /// Returns whether the value is falsy in Python. Falsy values are stored as NULL.
    pub fn is_falsy(&self) -> bool {
        matches!(self.0.as_str(), "null" | "false" | "\"\"" | "[]" | "{}" | "0" | "-0" | "0.0" | "-0.0")
    }

    /// Returns the number of elements of a list; 1 for any other value.
    pub fn element_count(&self) -> usize {
        if self.kind() == JsonKind::Array { scan::parts(&self.0).len() } else { 1 }
    }

    /// Returns the object with this member, replacing any of that name; `None` if the value is not an object.
    #[must_use]
    pub fn with_member(&self, key: &str, value: &Self) -> Option<Self> {
        let without = self.without_member(key)?;
        let comma = if without.0 == "{}" { "" } else { ", " };
        Some(Self(format!("{}{comma}{}: {value}}}", &without.0[..without.0.len() - 1], Self::string(key))))
    }

    /// Returns the object without the members of this name; `None` if the value is not an object.
    #[must_use]
    pub fn without_member(&self, key: &str) -> Option<Self> {
        if self.kind() != JsonKind::Object {
            return None;
        }
        let named = format!("{}: ", Self::string(key));
        let members: Vec<&str> = parts(&self.0).into_iter().filter(|member| !member.starts_with(&named)).collect();
        Some(Self(format!("{{{}}}", members.join(", "))))
    }

    /// Converts to a tree for inspection. Values that Rust can't hold are replaced: a lone surrogate by U+FFFD, `NaN`
    /// by null.
    ///
    /// Returns `None` if the value is nested more than 127 levels deep.
    pub fn to_value(&self) -> Option<Value> {
        serde_json::from_str(&self.0).ok().or_else(|| serde_json::from_str(&scan::tame(&self.0)).ok())
    }

    /// Returns the string; `None` if the value is not a string or has lone surrogates.
    pub fn to_plain_string(&self) -> Option<String> {
        if self.kind() == JsonKind::String { serde_json::from_str(&self.0).ok() } else { None }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the elements of a list, or the members of an object with their keys, as slices of text in its canonical
/// spelling.
pub fn parts(container: &str) -> Vec<&str> {
    scan::parts(container)
}

/// Splits a member of an object, as [`parts`] returns it, into its key with the quotes and its value.
pub(crate) fn split_member(member: &str) -> (&str, &str) {
    let mut bytes = member.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b'"' => return (&member[..=at], member.get(at + "\": ".len()..).unwrap_or_default()),
            _ => {}
        }
    }
    (member, "")
}

/// Writes one JSON object field by field, without a tree.
#[derive(Debug, Default)]
pub struct ObjectWriter {
    out: String,
}

impl ObjectWriter {
    /// Starts an empty object.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts an empty object with the given capacity in bytes, which avoids reallocation while it grows.
    pub fn with_room(bytes: usize) -> Self {
        Self { out: String::with_capacity(bytes) }
    }

    /// Adds a field whose value is JSON text in its canonical spelling.
    pub fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        self.out.push_str(value);
        self
    }

    fn key(&mut self, key: &str) {
        self.out.push_str(if self.out.is_empty() { "{" } else { ", " });
        scan::quote(key, &mut self.out);
        self.out.push_str(": ");
    }

    /// Adds a JSON value, or null.
    pub fn json(&mut self, key: &str, value: Option<&Json>) -> &mut Self {
        self.raw(key, value.map_or("null", Json::as_str))
    }

    /// Adds a text, or null.
    pub fn text(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        let Some(text) = value else { return self.raw(key, "null") };
        self.key(key);
        scan::quote(text, &mut self.out);
        self
    }

    /// Adds a whole number, or null.
    pub fn integer(&mut self, key: &str, value: Option<i64>) -> &mut Self {
        match value {
            Some(number) => self.raw(key, &number.to_string()),
            None => self.raw(key, "null"),
        }
    }

    /// Adds a finite double so that it reads back with the same bits, or null.
    pub fn double(&mut self, key: &str, value: Option<f64>) -> &mut Self {
        match value {
            Some(number) => self.raw(key, &Value::from(number).to_string()),
            None => self.raw(key, "null"),
        }
    }

    /// Returns the object's text.
    pub fn finish(mut self) -> String {
        self.out.push_str(if self.out.is_empty() { "{}" } else { "}" });
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(input: &str, expect: &str) {
        assert_eq!(Json::parse(input).unwrap().as_str(), expect);
        assert_eq!(Json::parse(expect).unwrap().as_str(), expect, "the spelling is stable");
    }

    #[test]
    fn one_spelling() {
        check(r#" {"a":1,"b" : [ ] , "c":{ }} "#, r#"{"a": 1, "b": [], "c": {}}"#);
        check(r#"["\u5927\u522b\ud83d\ude80", "\/", "\u0041"]"#, r#"["大别🚀", "/", "A"]"#);
        check(r#""\n\t\u0000\u001f\"\\\u007f""#, "\"\\n\\t\\u0000\\u001f\\\"\\\\\u{7f}\"");
    }

    #[test]
    fn a_text_is_escaped_wherever_it_has_to_be() {
        for (text, spelled) in [
            ("", r#""""#),
            ("plain é大🚀", r#""plain é大🚀""#),
            ("\"both\\ends\"", r#""\"both\\ends\"""#),
            ("\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}x", "\"\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}x\""),
        ] {
            assert_eq!(Json::string(text).as_str(), spelled);
            let mut object = ObjectWriter::with_room(1);
            object.text(text, Some(text));
            assert_eq!(object.finish(), format!("{{{spelled}: {spelled}}}"));
        }
    }

    #[test]
    fn what_rust_cannot_hold_is_kept() {
        check(r#"["\uD800", "a\udc00b"]"#, r#"["\ud800", "a\udc00b"]"#);
        check("[NaN, Infinity, -Infinity]", "[NaN, Infinity, -Infinity]");
        check("123456789012345678901234567890.5e-7", "123456789012345678901234567890.5e-7");
        assert_eq!(
            Json::parse(r#"["\ud800x", NaN]"#).unwrap().to_value(),
            Some(serde_json::json!(["\u{fffd}x", null]))
        );
    }

    #[test]
    fn broken_json_says_where() {
        for (text, at) in [
            ("", 0),
            ("[1,]", 3),
            ("{\"a\" 1}", 5),
            ("[1", 2),
            ("01", 1),
            ("\"\n\"", 1),
            ("1 2", 2),
            ("{1:2}", 1),
            ("nul", 0),
        ] {
            let error = Json::parse(text).unwrap_err();
            assert!(error.why.contains(&format!("byte {at}:")), "{text:?}: {error}");
        }
    }

    #[test]
    fn members_come_and_go_and_leave_the_others_alone() {
        let object =
            Json::parse(r#"{"a": 123456789012345678901234567890, "b": {"a": "\ud800, \"a\": 1"}, "a": NaN}"#).unwrap();
        let without = object.without_member("a").unwrap();
        assert_eq!(without.as_str(), r#"{"b": {"a": "\ud800, \"a\": 1"}}"#);
        let with = without.with_member("x\"", &Json::string("y")).unwrap();
        assert_eq!(with.as_str(), r#"{"b": {"a": "\ud800, \"a\": 1"}, "x\"": "y"}"#);
        assert_eq!(Json::parse(with.as_str()).unwrap(), with);
        assert_eq!(Json::parse("{}").unwrap().with_member("k", &Json::string("v")).unwrap().as_str(), r#"{"k": "v"}"#);
        assert_eq!(Json::parse("[]").unwrap().with_member("k", &Json::string("v")), None);
    }

    #[test]
    fn nesting_is_no_danger() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(Json::parse(&deep).unwrap().as_str(), deep);
        assert_eq!(Json::parse(&deep).unwrap().to_value(), None);
    }

    #[test]
    fn elements_are_counted_at_the_top() {
        for (text, count) in [("[]", 0), ("[1]", 1), (r#"[{"a": [1, 2]}, "x, y", [3]]"#, 3), ("{}", 1), ("\"\"", 1)] {
            assert_eq!(Json::parse(text).unwrap().element_count(), count, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_as_a_string(text: String) {
            prop_assert_eq!(Json::string(&text).to_plain_string(), Some(text.clone()));
            prop_assert_eq!(Json::parse(&serde_json::to_string(&text).unwrap()).unwrap(), Json::string(&text));
        }

        #[test]
        fn any_input_is_read_or_refused(text in r#"[\[\]{}",:\\u0-9a-fN eE.+-]{0,40}"#) {
            if let Ok(json) = Json::parse(&text) {
                prop_assert_eq!(Json::parse(json.as_str()).unwrap(), json);
            } else {
                prop_assert!(serde_json::from_str::<Value>(&text).is_err());
            }
        }
    }
}
