//! Reads tool calls of a message: the tools they name, and the skills they load or edit. Arguments of other tools are
//! not parsed.

use crate::tool_calls::tool_calls;
use crate::{Json, JsonKind};
use serde::Deserialize;
use std::borrow::Cow;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call<'a> {
    /// The tool; `None` if the call names none, which counts as a call all the same.
    pub(super) tool: Option<Cow<'a, str>>,
    /// The skill that it loads or edits.
    pub(super) skill: Option<(SkillAction, String)>,
}

/// Kind of use of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillAction {
    Load,
    Edit,
}

impl SkillAction {
    fn of(tool: &str) -> Option<Self> {
        match tool {
            "skill_view" => Some(Self::Load),
            "skill_manage" => Some(Self::Edit),
            _ => None,
        }
    }
}

/// Form of nearly all calls.
#[derive(Deserialize)]
struct Usual<'a> {
    #[serde(borrow)]
    function: UsualFunction<'a>,
}

#[derive(Deserialize)]
struct UsualFunction<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// Returns the calls in `tool_calls` as stored. Text that is not JSON, and elements that are not objects, are no calls.
pub(super) fn calls(text: &str) -> Vec<Call<'_>> {
    match serde_json::from_str::<Vec<Usual<'_>>>(text) {
        Ok(usual) if usual.iter().all(|call| SkillAction::of(&call.function.name).is_none()) => {
            let tools = usual.into_iter().map(|call| Some(call.function.name).filter(|name| !name.is_empty()));
            tools.map(|tool| Call { tool, skill: None }).collect()
        }
        _ => any(text),
    }
}

/// Parses calls of any form, and those whose arguments matter.
fn any(text: &str) -> Vec<Call<'static>> {
    let Ok(json) = Json::parse(text) else { return Vec::new() };
    tool_calls(&json)
        .into_iter()
        .map(|call| {
            let action = call.name.as_deref().and_then(SkillAction::of);
            let skill = action.and_then(|action| Some((action, skill(call.text())?)));
            Call { tool: call.name.map(Cow::Owned), skill }
        })
        .collect()
}

/// Returns the skill that the arguments of a call name. The arguments are an object, or a text that holds one.
fn skill(call: &str) -> Option<String> {
    let call = Json::parse(call).ok()?.to_value()?;
    let arguments = call.get("function").map_or_else(|| call.get("arguments"), |function| function.get("arguments"))?;
    let given = match arguments.as_str() {
        Some(text) => Json::parse(text).ok().filter(|json| json.kind() == JsonKind::Object)?.to_value()?,
        None => arguments.clone(),
    };
    given.get("name")?.as_str().filter(|name| !name.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool and a skill.
    type Named<'a> = (Option<&'a str>, Option<(SkillAction, &'a str)>);

    #[track_caller]
    fn check(text: &str, expect: &[Named<'_>]) {
        let found = calls(text);
        let found: Vec<Named<'_>> = found
            .iter()
            .map(|call| (call.tool.as_deref(), call.skill.as_ref().map(|(action, name)| (*action, name.as_str()))))
            .collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn every_form_of_a_call_is_a_call() {
        check(
            r#"[{"id": "a", "function": {"name": "ls", "arguments": "{}"}}, {"function": {"name": "\u00e9t\u00e9"}}]"#,
            &[(Some("ls"), None), (Some("été"), None)],
        );
        check(r#"[{"name": "cat", "call_id": "x"}]"#, &[(Some("cat"), None)]);
        check(r#"{"function": {"name": "ls"}}"#, &[(Some("ls"), None)]);
        check(r#"[{"function": {"name": ""}}, 5, null, {"function": {"name": 7}}]"#, &[(None, None), (None, None)]);
        check(r#"[{"function": {"name": "f"}, "x": NaN}]"#, &[(Some("f"), None)]);
        for none in ["", "null", "[]", "[1]", "\"calls\"", "{not json", "[{\"function\": "] {
            check(none, &[]);
        }
    }

    #[test]
    fn skills_are_named_by_their_arguments() {
        let (load, edit) = (SkillAction::Load, SkillAction::Edit);
        check(
            r#"[{"function": {"name": "skill_view", "arguments": "{\"name\": \"pdf\"}"}},
                {"function": {"name": "skill_manage", "arguments": {"action": "patch", "name": "größe"}}},
                {"name": "skill_view", "arguments": "{\"name\": \"flat\"}"},
                {"function": {"name": "ls", "arguments": "{\"name\": \"no skill\"}"}}]"#,
            &[
                (Some("skill_view"), Some((load, "pdf"))),
                (Some("skill_manage"), Some((edit, "größe"))),
                (Some("skill_view"), Some((load, "flat"))),
                (Some("ls"), None),
            ],
        );
        for nameless in [r#""not json""#, r#""[1]""#, "[1]", "null", r#"{"name": " "}"#, r#"{"name": 5}"#, "{}"] {
            let text = format!(r#"[{{"function": {{"name": "skill_view", "arguments": {nameless}}}}}]"#);
            check(&text, &[(Some("skill_view"), None)]);
        }
    }
}
