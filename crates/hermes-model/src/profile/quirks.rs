//! Differences between servers that speak the same protocol, and how settings override them.

use serde_json::{Map, Value};

/// Form of the ids of tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallIds {
    /// Up to 40 letters, digits, `_` and `-`: what OpenAI and Anthropic both take.
    #[default]
    Any,
    /// Nine letters and digits, as Mistral asks.
    NineAlphanumeric,
}

impl CallIds {
    /// Returns whether an id has the form.
    pub fn allows(self, id: &str) -> bool {
        match self {
            Self::Any => {
                (1..=40).contains(&id.len())
                    && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
            }
            Self::NineAlphanumeric => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }
}

/// Reasoning of earlier answers that is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReturnedReasoning {
    /// Nothing.
    #[default]
    None,
    /// The text, in `reasoning_content`.
    Content,
    /// The blocks, in `reasoning_details`.
    Details,
}

/// Field that limits the length of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthField {
    /// `max_tokens`
    #[default]
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// Differences between servers that speak chat-completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// Form of the ids of tool calls.
    pub call_ids: CallIds,
    /// Reasoning that is sent back.
    pub reasoning: ReturnedReasoning,
    /// Whether images may be sent. Otherwise the text `[image]` stands for each.
    pub images: bool,
    /// Whether `stream_options` may be sent, by which a stream reports its usage.
    pub stream_options: bool,
    /// Field that limits the length of an answer.
    pub length_field: LengthField,
}

impl Default for Quirks {
    /// Returns what most servers take.
    fn default() -> Self {
        Self {
            call_ids: CallIds::Any,
            reasoning: ReturnedReasoning::None,
            images: true,
            stream_options: true,
            length_field: LengthField::MaxTokens,
        }
    }
}

/// A setting of a quirk that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {value}")]
pub struct WrongQuirk {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// Hint that names the allowed values.
    pub hint: &'static str,
}

impl Quirks {
    /// Returns the quirks with those that settings name: `call_ids` (`any`, `nine_alphanumeric`), `reasoning` (`none`,
    /// `reasoning_content`, `reasoning_details`), `images`, `stream_options` (`true`, `false`), `length_field`
    /// (`max_tokens`, `max_completion_tokens`).
    ///
    /// # Errors
    /// If a key is unknown, or a value is not one of these.
    pub fn overridden(mut self, settings: &Map<String, Value>) -> Result<Self, WrongQuirk> {
        for (key, value) in settings {
            let hint = self.set(key, value);
            if let Err(hint) = hint {
                return Err(WrongQuirk { key: key.clone(), value: value.to_string(), hint });
            }
        }
        Ok(self)
    }

    /// Sets one quirk. Returns a hint if that is not possible.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), &'static str> {
        const SWITCH: &str = "use true or false";
        let word = value.as_str().unwrap_or_default();
        match key {
            "call_ids" => {
                self.call_ids = match word {
                    "any" => CallIds::Any,
                    "nine_alphanumeric" => CallIds::NineAlphanumeric,
                    _ => return Err("use any or nine_alphanumeric"),
                }
            }
            "reasoning" => {
                self.reasoning = match word {
                    "none" => ReturnedReasoning::None,
                    "reasoning_content" => ReturnedReasoning::Content,
                    "reasoning_details" => ReturnedReasoning::Details,
                    _ => return Err("use none, reasoning_content or reasoning_details"),
                }
            }
            "length_field" => {
                self.length_field = match word {
                    "max_tokens" => LengthField::MaxTokens,
                    "max_completion_tokens" => LengthField::MaxCompletionTokens,
                    _ => return Err("use max_tokens or max_completion_tokens"),
                }
            }
            "images" => self.images = value.as_bool().ok_or(SWITCH)?,
            "stream_options" => self.stream_options = value.as_bool().ok_or(SWITCH)?,
            _ => return Err("use call_ids, reasoning, images, stream_options or length_field"),
        }
        Ok(())
    }
}
