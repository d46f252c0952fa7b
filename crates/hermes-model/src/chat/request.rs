//! Requests as JSON.

use crate::{LengthField, Part, Quirks, Request, ReturnedReasoning, ToolSpec, WireMessage};
use serde_json::{Map, Value, json};

/// Returns the body of a request for `model`. The messages are those that [`conform`](crate::conform) returned.
///
/// Extra fields of the request win over those that it sets itself, except the messages.
pub fn body(model: &str, request: &Request, quirks: &Quirks) -> String {
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    // Its place; the list comes last, because it is moved in.
    body.insert("messages".to_owned(), Value::Null);
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    body.insert("stream".to_owned(), request.is_streamed.into());
    if request.is_streamed && quirks.stream_options {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if let Some(tokens) = request.max_tokens {
        let field = match quirks.length_field {
            LengthField::MaxTokens => "max_tokens",
            LengthField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.to_owned(), tokens.into());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), temperature.into());
    }
    body.extend(request.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
    let messages = request.messages.iter().map(|message| wire(message, quirks.reasoning)).collect();
    body.insert("messages".to_owned(), messages);
    Value::Object(body).to_string()
}

fn tool(tool: &ToolSpec) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
    json!({"type": "function", "function": function})
}

fn wire(message: &WireMessage, reasoning: ReturnedReasoning) -> Value {
    match message {
        WireMessage::System(text) => json!({"role": "system", "content": text}),
        WireMessage::User(parts) => json!({"role": "user", "content": content(parts)}),
        WireMessage::Result(result) => {
            json!({"role": "tool", "tool_call_id": result.call_id, "content": result.text})
        }
        WireMessage::Assistant(message) => {
            let mut out = Map::new();
            out.insert("role".to_owned(), "assistant".into());
            let text = if message.text.is_empty() { Value::Null } else { message.text.as_str().into() };
            out.insert("content".to_owned(), text);
            match reasoning {
                ReturnedReasoning::None => {}
                ReturnedReasoning::Content => {
                    if let Some(text) = &message.reasoning.text {
                        out.insert("reasoning_content".to_owned(), text.as_str().into());
                    }
                }
                ReturnedReasoning::Details => {
                    if let Some(details) = message.reasoning.details.as_ref().and_then(|details| details.to_value()) {
                        out.insert("reasoning_details".to_owned(), details);
                    }
                }
            }
            if !message.calls.is_empty() {
                let call = |call: &crate::Call| {
                    let function = json!({"name": call.name, "arguments": call.arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                };
                out.insert("tool_calls".to_owned(), message.calls.iter().map(call).collect());
            }
            Value::Object(out)
        }
    }
}

/// Returns a plain text where there is only one, because not every server takes a list of parts.
fn content(parts: &[Part]) -> Value {
    if let [Part::Text(text)] = parts {
        return text.as_str().into();
    }
    let part = |part: &Part| match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(image) => {
            let mut url = json!({"url": image.url});
            if let Some(detail) = &image.detail {
                url["detail"] = detail.as_str().into();
            }
            json!({"type": "image_url", "image_url": url})
        }
    };
    parts.iter().map(part).collect()
}
