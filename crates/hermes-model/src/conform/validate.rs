//! Checks a list as the strictest provider does. Shares no rule with the code that builds it.

use crate::{AssistantMessage, Call, Part, Quirks, ReturnedReasoning, WireMessage};
use std::collections::BTreeSet;

/// Reason why a provider may reject a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("message {at} {why}")]
pub struct Violation {
    /// Index of the message, from 0. The length of the list if something is missing at its end.
    pub at: usize,
    /// Reason, as the rest of the sentence.
    pub why: String,
}

/// The message that may come next.
#[derive(Debug, Clone, PartialEq)]
enum Next {
    /// Instructions, or the user.
    First,
    User,
    Assistant,
    /// Results of these calls.
    Results(Vec<String>),
}

/// Checks that a provider accepts a list.
///
/// # Errors
/// Names the first message that breaks a rule of [`conform`](crate::conform).
pub fn validate(list: &[WireMessage], quirks: &Quirks) -> Result<(), Violation> {
    let mut next = Next::First;
    let mut ids = BTreeSet::new();
    for (at, message) in list.iter().enumerate() {
        next = step(next, message, &mut ids, quirks).map_err(|why| Violation { at, why })?;
    }
    let why = match (next, list.last()) {
        (Next::Assistant, Some(_)) => return Ok(()),
        (Next::Results(open), _) => format!("is missing: the result of {:?}", open.first()),
        _ => "is missing: the list does not end with the user or with results".to_owned(),
    };
    Err(Violation { at: list.len(), why })
}

fn step(next: Next, message: &WireMessage, ids: &mut BTreeSet<String>, quirks: &Quirks) -> Result<Next, String> {
    match (next, message) {
        (Next::First, WireMessage::System(text)) => written(text).map(|()| Next::User),
        (Next::First | Next::User, WireMessage::User(parts)) => asked(parts, quirks).map(|()| Next::Assistant),
        (Next::Assistant, WireMessage::Assistant(message)) => answered(message, ids, quirks),
        (Next::Results(mut open), WireMessage::Result(result)) => {
            written(&result.text)?;
            let place = open.iter().position(|id| *id == result.call_id);
            open.remove(place.ok_or_else(|| format!("is a result of {:?}, which is not open", result.call_id))?);
            Ok(if open.is_empty() { Next::Assistant } else { Next::Results(open) })
        }
        (next, message) => Err(format!("is {}, after which comes {next:?}", role(message))),
    }
}

const fn role(message: &WireMessage) -> &'static str {
    match message {
        WireMessage::System(_) => "an instruction",
        WireMessage::User(_) => "the user's",
        WireMessage::Assistant(_) => "the model's",
        WireMessage::Result(_) => "a result",
    }
}

fn written(text: &str) -> Result<(), String> {
    if text.chars().all(char::is_whitespace) { Err("has an empty text".to_owned()) } else { Ok(()) }
}

fn asked(parts: &[Part], quirks: &Quirks) -> Result<(), String> {
    if parts.is_empty() {
        return Err("has no parts".to_owned());
    }
    let is_text = |part: &Part| matches!(part, Part::Text(_));
    if parts.windows(2).any(|pair| pair.iter().all(is_text)) {
        return Err("has two texts in a row".to_owned());
    }
    for part in parts {
        match part {
            Part::Text(text) => written(text)?,
            Part::Image(_) if !quirks.images => return Err("has an image".to_owned()),
            Part::Image(image) => {
                let (scheme, _) = image.url.split_once(':').unwrap_or_default();
                if !["data", "http", "https"].contains(&scheme) {
                    return Err("has an image that cannot be fetched".to_owned());
                }
            }
        }
    }
    Ok(())
}

fn answered(message: &AssistantMessage, ids: &mut BTreeSet<String>, quirks: &Quirks) -> Result<Next, String> {
    let reasoning = &message.reasoning;
    let has_extra = match quirks.reasoning {
        ReturnedReasoning::None => reasoning.text.is_some() || reasoning.details.is_some(),
        ReturnedReasoning::Content => reasoning.details.is_some(),
        ReturnedReasoning::Details => reasoning.text.is_some(),
    };
    if has_extra {
        return Err("has reasoning that the provider does not take".to_owned());
    }
    if quirks.reasoning == ReturnedReasoning::Content && !message.calls.is_empty() && reasoning.text.is_none() {
        return Err("calls tools without the reasoning that the provider requires".to_owned());
    }
    if message.calls.is_empty() || !message.text.is_empty() {
        written(&message.text)?;
    }
    if message.calls.is_empty() {
        return Ok(Next::User);
    }
    let mut open = Vec::with_capacity(message.calls.len());
    for call in &message.calls {
        called(call, quirks)?;
        if !ids.insert(call.id.clone()) {
            return Err(format!("reuses the call id {:?}", call.id));
        }
        open.push(call.id.clone());
    }
    Ok(Next::Results(open))
}

fn called(call: &Call, quirks: &Quirks) -> Result<(), String> {
    if !quirks.call_ids.allows(&call.id) {
        return Err(format!("has a call id in the wrong form: {:?}", call.id));
    }
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !(1..=64).contains(&call.name.len()) || !is_word(&call.name) {
        return Err(format!("calls a tool with the name {:?}", call.name));
    }
    match serde_json::from_str(&call.arguments) {
        Ok(serde_json::Value::Object(_)) => Ok(()),
        _ => Err(format!("calls {} with arguments that are not a JSON object", call.name)),
    }
}
