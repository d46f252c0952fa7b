//! Numbers of tokens, as servers report them.

use serde_json::Value;

/// Tokens of one call. The four kinds do not overlap, except that reasoning is part of the output.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tokens {
    /// Tokens sent that were in no cache.
    pub input: u64,
    /// Tokens received, reasoning included.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Reasoning tokens.
    pub reasoning: u64,
    /// Cost in USD as billed, if the server reports it.
    pub billed: Option<f64>,
}

impl Tokens {
    /// Returns all tokens that were sent: the size of the context.
    pub const fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Reads a `usage` object in the forms of OpenAI, OpenRouter, DeepSeek and Anthropic. `None` if it counts nothing.
    pub(crate) fn from_wire(usage: &Value) -> Option<Self> {
        let count = |object: &Value, keys: &[&str]| {
            keys.iter().filter_map(|key| object.get(key)).find_map(Value::as_u64).unwrap_or_default()
        };
        let details = |key: &str| usage.get(key).cloned().unwrap_or_default();
        let (of_prompt, of_answer) = (details("prompt_tokens_details"), details("completion_tokens_details"));
        let cache_read = count(&of_prompt, &["cached_tokens"])
            .max(count(usage, &["prompt_cache_hit_tokens", "cache_read_input_tokens"]));
        let cache_write = count(&of_prompt, &["cache_write_tokens", "cache_creation_tokens"])
            .max(count(usage, &["cache_creation_input_tokens"]));
        // Anthropic's own count leaves the cache out, the others include it.
        let input = match usage.get("prompt_tokens").and_then(Value::as_u64) {
            Some(prompt) => prompt.saturating_sub(cache_read).saturating_sub(cache_write),
            None => count(usage, &["input_tokens"]),
        };
        let tokens = Self {
            input,
            output: count(usage, &["completion_tokens", "output_tokens"]),
            cache_read,
            cache_write,
            reasoning: count(&of_answer, &["reasoning_tokens"]).max(count(usage, &["reasoning_tokens"])),
            billed: usage.get("cost").and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0),
        };
        (tokens != Self::default()).then_some(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_in_every_form() {
        for (usage, [input, output, read, write, reasoning], billed) in [
            (r#"{"prompt_tokens": 10, "completion_tokens": 5}"#, [10, 5, 0, 0, 0], None),
            (
                r#"{"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25, "completion_tokens_details": {"reasoning_tokens": 3},
                    "prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 1}}"#,
                [3, 5, 6, 1, 3],
                Some(0.25),
            ),
            (r#"{"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}"#, [6, 1, 4, 0, 0], None),
            (
                r#"{"input_tokens": 2, "output_tokens": 1, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 5}"#,
                [2, 1, 4, 5, 0],
                None,
            ),
            (
                r#"{"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}, "cost": -1}"#,
                [0, 0, 4, 0, 0],
                None,
            ),
        ] {
            let tokens = Tokens::from_wire(&serde_json::from_str(usage).unwrap());
            let expect = Tokens { input, output, cache_read: read, cache_write: write, reasoning, billed };
            assert_eq!(tokens, Some(expect), "{usage}");
        }
        for nothing in ["null", "{}", r#"{"prompt_tokens": "x"}"#, r#"{"prompt_tokens": 0}"#] {
            assert_eq!(Tokens::from_wire(&serde_json::from_str(nothing).unwrap()), None, "{nothing}");
        }
    }
}
