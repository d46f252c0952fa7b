//! Reads our keys out of the file's tree, each as the type it should have.

use crate::file::{Tree, expand};
use crate::{ConfigError, Environment, Origin, Secret, Setting};
use serde_json::Value;
use std::ops::RangeBounds;

/// Reads values and checks their types. Strings are accepted for numbers and booleans too, because `{{ env.NAME }}`
/// yields strings.
pub(crate) struct Reader<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) environment: &'a Environment,
}

impl Reader<'_> {
    /// Reads a text. Returns `None` if the key is missing.
    pub(crate) fn text(&self, key: &'static str) -> Result<Option<Setting<String>>, ConfigError> {
        let Some((value, origin)) = self.tree.value(key) else { return Ok(None) };
        match value {
            Value::String(text) => {
                let expanded = expand(text, self.environment).map_err(|name| ConfigError::Unset {
                    key,
                    name,
                    origin: origin.clone(),
                })?;
                Ok(Some(Setting { value: expanded, origin }))
            }
            other => Err(wrong(key, shown(other), origin, "give a text; put it in quotes if it looks like a number")),
        }
    }

    /// Reads a text that is never printed.
    pub(crate) fn secret(&self, key: &'static str) -> Result<Option<Setting<Secret>>, ConfigError> {
        match self.text(key) {
            Err(ConfigError::Value { key, origin, hint, .. }) => Err(wrong(key, "***".into(), origin, hint)),
            other => Ok(other?.map(|setting| setting.map(Secret::new))),
        }
    }

    pub(crate) fn bool(&self, key: &'static str, default: bool) -> Result<Setting<bool>, ConfigError> {
        self.scalar(key, default, "give true or false", |value| match value {
            Value::Bool(value) => Some(*value),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        })
    }

    /// Reads a whole number within `range`.
    pub(crate) fn count(
        &self,
        key: &'static str,
        default: u64,
        range: impl RangeBounds<u64>,
        hint: &'static str,
    ) -> Result<Setting<u64>, ConfigError> {
        self.scalar(key, default, hint, |value| {
            let number = match value {
                Value::Number(number) => number.as_u64(),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            };
            number.filter(|number| range.contains(number))
        })
    }

    /// Reads a number of seconds, fractions allowed.
    pub(crate) fn seconds(&self, key: &'static str, default: u64) -> Result<Setting<std::time::Duration>, ConfigError> {
        let default = std::time::Duration::from_secs(default);
        self.scalar(key, default, "give the seconds as a number of 0 or more", |value| {
            let seconds = match value {
                Value::Number(number) => number.as_f64(),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            };
            seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok())
        })
    }

    /// Reads one of a few words.
    pub(crate) fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
        default: T,
        hint: &'static str,
    ) -> Result<Setting<T>, ConfigError> {
        self.scalar(key, default, hint, |value| {
            let text = value.as_str()?.trim();
            words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, meaning)| *meaning)
        })
    }

    fn scalar<T>(
        &self,
        key: &'static str,
        default: T,
        hint: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Setting<T>, ConfigError> {
        let Some((value, origin)) = self.tree.value(key) else { return Ok(Setting::default_value(default)) };
        let expanded = match value {
            Value::String(_) => self.text(key)?.map(|setting| Value::String(setting.value)),
            _ => None,
        };
        let value = expanded.as_ref().unwrap_or(value);
        match read(value) {
            Some(value) => Ok(Setting { value, origin }),
            None => Err(wrong(key, shown(value), origin, hint)),
        }
    }
}

fn wrong(key: &'static str, value: String, origin: Origin, hint: &'static str) -> ConfigError {
    ConfigError::Value { key, value, origin, hint }
}

/// Formats a value for an error: shortened, and of a map or list only the kind, because a password may be nested in it.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a map".into(),
        Value::String(text) => format!("{:?}", text.chars().take(60).collect::<String>()),
        other => other.to_string(),
    }
}
