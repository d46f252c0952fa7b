//! The rules of a strict server, over the JSON that arrives. Shares no code with `hermes_model::conform`.

use serde_json::{Map, Value};
use std::collections::HashSet;

/// Form that a server wants for the ids of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdForm {
    /// At most 40 characters of those that OpenAI and Anthropic both take.
    #[default]
    Any,
    /// Nine letters and digits.
    Nine,
}

/// Fields of a request that every server knows.
const FIELDS: [&str; 10] = [
    "model",
    "messages",
    "tools",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
];

/// Checks a request. `further` are the fields that this server knows besides.
///
/// # Errors
/// Says which rule is broken.
pub fn check(request: &Value, ids: IdForm, further: &[String]) -> Result<(), String> {
    let request = request.as_object().ok_or("the body is not an object")?;
    for key in request.keys() {
        if !FIELDS.contains(&key.as_str()) && !further.contains(key) {
            return Err(format!("unknown field {key:?}"));
        }
    }
    filled(request.get("model")).ok_or("model is missing")?;
    for key in ["max_tokens", "max_completion_tokens"] {
        if request.get(key).is_some_and(|limit| limit.as_u64().is_none_or(|limit| limit == 0)) {
            return Err(format!("{key} must be a positive number"));
        }
    }
    let is_streamed = match request.get("stream") {
        None => false,
        Some(stream) => stream.as_bool().ok_or("stream must be true or false")?,
    };
    if request.contains_key("stream_options") && !is_streamed {
        return Err("stream_options without a stream".into());
    }
    tools(request.get("tools"))?;
    let messages = request.get("messages").and_then(Value::as_array).ok_or("messages is missing")?;
    conversation(messages, ids)
}

fn filled(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn tools(tools: Option<&Value>) -> Result<(), String> {
    let Some(tools) = tools else { return Ok(()) };
    let tools = tools.as_array().filter(|tools| !tools.is_empty()).ok_or("tools must be a list that is not empty")?;
    let mut names = HashSet::new();
    for tool in tools {
        let function = &tool["function"];
        let name = filled(function.get("name")).ok_or("a tool has no name")?;
        if tool["type"] != "function" || !function["parameters"].is_object() || !names.insert(name) {
            return Err(format!("the tool {name:?} is not well described"));
        }
    }
    Ok(())
}

/// Checks roles one after the other: instructions, then user and assistant in turn, results directly after their calls.
fn conversation(messages: &[Value], form: IdForm) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut open: HashSet<String> = HashSet::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let wrong = |why: &str| Err(format!("messages[{at}]: {why}"));
        let Some(message) = message.as_object() else { return wrong("is not an object") };
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let is_after_calls = !open.is_empty();
        if is_after_calls && role != "tool" {
            return wrong("comes before all calls are answered");
        }
        let fits = match role {
            "system" => before.is_empty(),
            "user" => matches!(before, "" | "system" | "assistant"),
            "assistant" => matches!(before, "user" | "tool"),
            "tool" => is_after_calls,
            _ => return wrong("has an unknown role"),
        };
        if !fits {
            return wrong(&format!("role {role:?} after {before:?}"));
        }
        let outcome = match role {
            "assistant" => assistant(message, form, &mut seen, &mut open),
            "tool" => result(message, &mut open),
            "user" => only(message, &["role", "content"]).and_then(|()| user(message)),
            _ => only(message, &["role", "content"]).and_then(|()| text(message)),
        };
        outcome.or_else(|why| wrong(&why))?;
        before = match role {
            "assistant" if !open.is_empty() => "calls",
            "system" => "system",
            "user" => "user",
            "tool" => "tool",
            _ => "assistant",
        };
    }
    match before {
        _ if !open.is_empty() => Err(format!("no result for {open:?}")),
        "user" | "tool" => Ok(()),
        _ => Err("the last message must be the user's or a result".into()),
    }
}

fn only(message: &Map<String, Value>, fields: &[&str]) -> Result<(), String> {
    match message.keys().find(|key| !fields.contains(&key.as_str())) {
        Some(key) => Err(format!("has the field {key:?}")),
        None => Ok(()),
    }
}

fn text(message: &Map<String, Value>) -> Result<(), String> {
    filled(message.get("content")).map(|_| ()).ok_or_else(|| "has no text".to_owned())
}

fn user(message: &Map<String, Value>) -> Result<(), String> {
    let Some(parts) = message.get("content").and_then(Value::as_array) else { return text(message) };
    if parts.is_empty() {
        return Err("has no parts".into());
    }
    for part in parts {
        let is_right = match part["type"].as_str() {
            Some("text") => filled(part.get("text")).is_some(),
            Some("image_url") => {
                let url = part["image_url"]["url"].as_str().unwrap_or_default();
                url.starts_with("data:image/") || url.starts_with("https://") || url.starts_with("http://")
            }
            _ => false,
        };
        if !is_right {
            return Err(format!("has a part that cannot be read: {part}"));
        }
    }
    Ok(())
}

fn assistant(
    message: &Map<String, Value>,
    form: IdForm,
    seen: &mut HashSet<String>,
    open: &mut HashSet<String>,
) -> Result<(), String> {
    only(message, &["role", "content", "tool_calls", "reasoning_content", "reasoning_details"])?;
    let Some(calls) = message.get("tool_calls") else { return text(message) };
    if !message.get("content").is_none_or(Value::is_null) {
        text(message)?;
    }
    let calls = calls.as_array().filter(|calls| !calls.is_empty()).ok_or("has no list of calls")?;
    for call in calls {
        let id = call["id"].as_str().unwrap_or_default();
        let (length, is_nine) = (id.chars().count(), form == IdForm::Nine);
        let is_plain = id.chars().all(|letter| letter.is_ascii_alphanumeric() || (!is_nine && "_-".contains(letter)));
        if !is_plain || (is_nine && length != 9) || !(1..=40).contains(&length) {
            return Err(format!("has a call with the id {id:?}"));
        }
        if !seen.insert(id.to_owned()) {
            return Err(format!("uses the call id {id:?} again"));
        }
        open.insert(id.to_owned());
        let name = call["function"]["name"].as_str().unwrap_or_default();
        let is_word = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
        if call["type"] != "function" || name.is_empty() || name.len() > 64 || !is_word {
            return Err(format!("has a call of {name:?}"));
        }
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
            return Err(format!("has arguments that are not a JSON object: {arguments:?}"));
        }
    }
    Ok(())
}

fn result(message: &Map<String, Value>, open: &mut HashSet<String>) -> Result<(), String> {
    only(message, &["role", "content", "tool_call_id"])?;
    text(message)?;
    let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
    if open.remove(id) { Ok(()) } else { Err(format!("answers {id:?}, which is not open")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(messages: Value) -> Result<(), String> {
        check(&json!({"model": "m", "messages": messages}), IdForm::Any, &[])
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    fn calls(ids: &[&str]) -> Value {
        let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "r"})
    }

    #[test]
    fn good_requests_pass() {
        of(json!([{"role": "system", "content": "s"}, user("a")])).unwrap();
        of(json!([user("a"), calls(&["x", "y"]), result("y"), result("x"), calls(&["z"]), result("z")])).unwrap();
        of(json!([user("a"), {"role": "assistant", "content": "b"}, user("c")])).unwrap();
    }

    #[test]
    fn each_rule_can_be_broken() {
        for (messages, why) in [
            (json!([]), "the last message must be the user's or a result"),
            (json!([user(" ")]), "messages[0]: has no text"),
            (json!([user("a"), user("b")]), "messages[1]: role \"user\" after \"user\""),
            (json!([calls(&["x"])]), "messages[0]: role \"assistant\" after \"\""),
            (json!([user("a"), {"role": "system", "content": "s"}]), "messages[1]: role \"system\" after \"user\""),
            (
                json!([user("a"), {"role": "assistant", "content": "b"}]),
                "the last message must be the user's or a result",
            ),
            (json!([user("a"), calls(&["x"])]), "no result for {\"x\"}"),
            (json!([user("a"), calls(&["x"]), user("b")]), "messages[2]: comes before all calls are answered"),
            (json!([user("a"), calls(&["x"]), result("x"), user("b")]), "messages[3]: role \"user\" after \"tool\""),
            (json!([user("a"), calls(&["x"]), result("y")]), "messages[2]: answers \"y\", which is not open"),
            (json!([user("a"), calls(&["x", "x"])]), "messages[1]: uses the call id \"x\" again"),
            (json!([user("a"), calls(&[""])]), "messages[1]: has a call with the id \"\""),
            (json!([{"role": "user", "content": "a", "name": "n"}]), "messages[0]: has the field \"name\""),
            (
                json!([{"role": "user", "content": [{"type": "input_image"}]}]),
                "messages[0]: has a part that cannot be read: {\"type\":\"input_image\"}",
            ),
        ] {
            assert_eq!(of(messages.clone()).unwrap_err(), why, "{messages}");
        }
        let request = json!({"model": "m", "messages": [user("a")], "colour": 1});
        assert_eq!(check(&request, IdForm::Any, &[]).unwrap_err(), "unknown field \"colour\"");
        assert!(check(&request, IdForm::Any, &["colour".into()]).is_ok());
        let long_id = json!({"model": "m", "messages": [user("a"), calls(&["abcdefghij"]), result("abcdefghij")]});
        assert!(check(&long_id, IdForm::Nine, &[]).is_err() && check(&long_id, IdForm::Any, &[]).is_ok());
    }
}
