//! Settings.

use schemars::JsonSchema;
use serde::Serialize;

/// Every setting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Settings<'a> {
    /// The settings.
    pub settings: Vec<Setting<'a>>,
}

/// A setting and where it comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Setting<'a> {
    /// Its key in `config.yaml`.
    pub key: &'a str,
    /// Its value as a text; passwords are `***`. If there is an `error`, the value as far as it may be printed.
    pub value: &'a str,
    /// `flag`, `environment`, `file` or `default`.
    pub origin: &'a str,
    /// The environment variable that set it; left out if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<&'a str>,
    /// The file that set it; left out if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Why it can't be used; left out if it can. Other commands fail until it is corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
