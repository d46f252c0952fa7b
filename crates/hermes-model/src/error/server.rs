//! Classifies the errors of servers, each of which has its own form and words.

use super::{ErrorKind, ModelError, one_line};
use crate::chat::{parsed, some_text};
use serde_json::Value;
use std::time::Duration;

/// Words in the code or type of an error that say that the context is too long.
const TOO_LONG_CODES: [&str; 3] = ["context_length_exceeded", "exceed_context_size", "context_exceeded"];

/// Phrases of messages that say it: OpenAI and vLLM, llama.cpp, Ollama, Anthropic, Mistral, DeepSeek, LM Studio.
const TOO_LONG_PHRASES: [&str; 17] = [
    "maximum context length",
    "maximum model length",
    "max context length",
    "max_model_len",
    "context length exceeded",
    "exceeds the available context size",
    "context size has been exceeded",
    "exceeds context size",
    "exceed context window",
    "exceeds the context window",
    "exceed context limit",
    "exceeds the model's context",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too large for model with",
    // vLLM, where the prompt alone fills the context.
    "max_tokens must be at least 1, got -",
];

/// Phrases that say that the account must be paid.
const NO_CREDIT: [&str; 8] = [
    "insufficient_quota",
    "insufficient credit",
    "insufficient balance",
    "insufficient funds",
    "credit balance is too low",
    "requires more credits",
    "billing_hard_limit",
    "exceeded your current quota",
];

/// Phrases that say that there is no such model.
const UNKNOWN_MODEL: [&str; 6] =
    ["model_not_found", "is not a valid model", "invalid model", "unknown model", "model not exist", "no such model"];

/// An HTTP answer that is not a success, or whose body is an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawAnswer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
    /// The pause that its headers ask for.
    pub(crate) retry_after: Option<Duration>,
}

/// Returns the error in an HTTP answer.
pub(crate) fn from_answer(answer: RawAnswer<'_>) -> ModelError {
    let mut error = match parsed(answer.body) {
        Some(value) => from_value(&value, answer.status),
        None if is_page(answer.body) => page(answer.status, answer.body),
        None => classified(answer.status, "", &String::from_utf8_lossy(answer.body), None),
    };
    error.retry_after = answer.retry_after;
    error
}

/// Returns whether a value is an error in one of the forms that servers use with status 200.
pub(crate) fn looks_like_error(value: &Value) -> bool {
    let has_error = |error: &Value| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    value.get("error").is_some_and(has_error) || some_text(value, "object") == Some("error")
}

/// Returns the error in a JSON value that came with a status. Of an error in a stream that is 200.
pub(crate) fn from_value(value: &Value, status: u16) -> ModelError {
    let inner = match value.get("error") {
        Some(inner @ Value::Object(_)) => inner,
        _ => value,
    };
    // Some servers send every error with status 200, and the true one inside.
    let code = inner.get("code").or_else(|| inner.get("status"));
    let coded = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let coded = coded.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
    let status = if (400..600).contains(&status) { status } else { coded.unwrap_or(status) };
    let words: Vec<&str> = ["code", "type", "status"].iter().filter_map(|key| some_text(inner, key)).collect();
    classified(status, &words.join(" "), &message(value, inner), window(inner))
}

/// Returns the message of an error, with what the provider behind a router said.
fn message(value: &Value, inner: &Value) -> String {
    let from_list = |list: &Value| {
        let items = list.as_array()?.iter().filter_map(|item| some_text(item, "msg"));
        Some(items.collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
    };
    let detail = value.get("detail");
    let said = some_text(value, "error")
        .or_else(|| some_text(inner, "message"))
        .or_else(|| some_text(value, "message"))
        .or_else(|| detail.and_then(Value::as_str))
        .map(str::to_owned)
        .or_else(|| detail.and_then(from_list))
        .unwrap_or_else(|| value.to_string());
    let behind = inner.get("metadata").and_then(|metadata| some_text(metadata, "raw"));
    match behind {
        Some(raw) => {
            let raw = parsed(raw.as_bytes()).map_or_else(
                || raw.to_owned(),
                |value| message(&value, value.get("error").filter(|error| error.is_object()).unwrap_or(&value)),
            );
            format!("{said}: {raw}")
        }
        None => said,
    }
}

fn classified(status: u16, words: &str, message: &str, window: Option<u64>) -> ModelError {
    let message = one_line(message);
    let text = format!("{words} {message}").to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    // A request for more tokens than a minute allows is a matter of the rate, whatever its words.
    let is_too_long = status == 413 || (status != 429 && (has(&TOO_LONG_CODES) || has(&TOO_LONG_PHRASES)));
    let names_model =
        text.contains("model") && ["not found", "not exist", "not available"].iter().any(|no| text.contains(no));
    let kind = if is_too_long {
        ErrorKind::ContextTooLong { window: window.or_else(|| window_in(&text)) }
    } else if status == 402 || has(&NO_CREDIT) {
        ErrorKind::NoCredit
    } else if status == 401 || words.contains("authentication_error") || words.contains("invalid_api_key") {
        ErrorKind::WrongKey
    } else if has(&UNKNOWN_MODEL) || (matches!(status, 400 | 404) && names_model) {
        ErrorKind::UnknownModel
    } else {
        match status {
            403 => ErrorKind::Forbidden,
            404 | 405 => ErrorKind::NotFound,
            429 => ErrorKind::RateLimited,
            408 | 425 | 503 | 529 => ErrorKind::Overloaded,
            400..=499 => ErrorKind::BadRequest,
            // A redirect that was not followed.
            300..=399 => ErrorKind::NotFound,
            _ if text.contains("overloaded") => ErrorKind::Overloaded,
            _ if text.contains("rate limit") || text.contains("rate_limit") => ErrorKind::RateLimited,
            _ => ErrorKind::ServerFault,
        }
    };
    ModelError { kind, message, status: Some(status), retry_after: None }
}

fn window(error: &Value) -> Option<u64> {
    error.get("n_ctx").and_then(Value::as_u64).filter(|window| *window > 0)
}

/// Finds the context in a message such as "maximum context length is 8192 tokens".
fn window_in(text: &str) -> Option<u64> {
    let starts =
        ["maximum context length is ", "maximum context length of ", "maximum model length of ", "context size ("];
    starts.iter().find_map(|start| {
        let digits = text.split_once(start)?.1;
        let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok().filter(|window| *window > 0)
    })
}

fn is_page(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

/// Returns the error for a web page. Its status decides if it has one; its title is the message.
fn page(status: u16, body: &[u8]) -> ModelError {
    let text = String::from_utf8_lossy(&body[..body.len().min(1 << 16)]);
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).map(|(title, _)| title);
    let kind = match classified(status, "", "", None).kind {
        ErrorKind::ServerFault if status < 500 => ErrorKind::WebPage,
        kind => kind,
    };
    let message = title.map_or_else(|| "a web page".to_owned(), |title| format!("a web page with the title {title:?}"));
    ModelError { kind, message: one_line(&message), status: Some(status), retry_after: None }
}

/// Returns the pause that headers ask for: `retry-after-ms`, or `Retry-After` in seconds or as a date, which is
/// compared with the server's own `Date`.
pub(crate) fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let seconds = |text: &str, unit: f64| {
        let number: f64 = text.trim().parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok()
    };
    if let Some(pause) = header("retry-after-ms").and_then(|text| seconds(text, 0.001)) {
        return Some(pause);
    }
    let text = header("retry-after")?;
    seconds(text, 1.0).or_else(|| {
        let date = |text: &str| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok();
        let pause = date(text)?.duration_since(date(header("date")?)?);
        Some(Duration::try_from(pause).unwrap_or_default())
    })
}
