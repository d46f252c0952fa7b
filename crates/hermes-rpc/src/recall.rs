//! Recall: the best conversations of a search, each with the passage around its matches.

use crate::args::Value;
use crate::call::{Answer, Call};
use crate::fail::Fail;
use crate::listing::{ids_of, source_of};
use hermes_recall::{DEFAULT_BUDGET, DEFAULT_LIMIT, RecallRequest, to_json};
use hermes_session::search::SearchFilter;
use hermes_session::{Role, Scope};
use jiff::tz::TimeZone;

/// The largest number of conversations in an answer, the same as in the tool of the agent.
const MAX_CONVERSATIONS: usize = 5;

/// `session_search`, with times for people in `zone`.
pub(crate) async fn session_search(call: &Call<'_>, zone: &TimeZone) -> Answer {
    let args = &call.args;
    let scope = scope(args.value("scope"))?;
    let asked = RecallRequest {
        current: args.lookup("current_session_id"),
        limit: limit(args.value("limit")),
        budget: args.integer("budget")?.map_or(DEFAULT_BUDGET, |budget| usize::try_from(budget).unwrap_or(0)),
        filter: SearchFilter { roles: roles(args.value("role_filter"))?, ..SearchFilter::default() },
        ..RecallRequest::new(args.readable("query")?.unwrap_or_default())
    };
    let recall = hermes_recall::session_search(call.store, &scope, &asked, None).await?;
    Ok(to_json(&asked.query, &recall, zone).to_string())
}

/// Returns the number of conversations, like the agent's tool. A value that is not a number counts as not given.
fn limit(value: Value<'_>) -> usize {
    match value.double() {
        Ok(Some(number)) if number.is_finite() => (number.max(1.0) as usize).min(MAX_CONVERSATIONS),
        _ => DEFAULT_LIMIT,
    }
}

/// Returns the scope: `'all'`, or a mapping with a `source`, a `user_id`, both, or `sessions`. It is required: leaving
/// it out never means everything.
fn scope(value: Value<'_>) -> Result<Scope, Fail> {
    let odd = || Fail::value("scope is 'all', or a mapping with source, user_id, both, or sessions");
    if let Ok(Some(text)) = value.text() {
        return if text == "all" { Ok(Scope::All) } else { Err(odd()) };
    }
    let (mut source, mut user_id, mut sessions) = (None, None, None);
    for (key, value) in value.members().map_err(|_| odd())? {
        // A member that is null was meant to limit the scope and does not say to what, so it is refused.
        match key.as_str() {
            "source" => source = Some(source_of(&value.text()?.ok_or_else(odd)?)),
            "user_id" => user_id = Some(value.text()?.ok_or_else(odd)?),
            "sessions" => sessions = Some(ids_of(value.texts()?.ok_or_else(odd)?)),
            _ => return Err(odd()),
        }
    }
    match (source, user_id, sessions) {
        (Some(source), None, None) => Ok(Scope::Source(source)),
        (source, Some(user_id), None) => Ok(Scope::User { user_id, source }),
        (None, None, Some(sessions)) => Ok(Scope::Chat(sessions)),
        _ => Err(odd()),
    }
}

/// Returns the roles of a list or of a text with commas; `None`, for every role, if it is blank.
fn roles(value: Value<'_>) -> Result<Option<Vec<Role>>, Fail> {
    let names = match value.text() {
        Ok(text) => text.unwrap_or_default().split(',').map(|name| name.trim().to_owned()).collect(),
        Err(_) => value.texts()?.unwrap_or_default(),
    };
    let roles: Vec<Role> = names.iter().filter(|name| !name.is_empty()).map(|name| Role::from_stored(name)).collect();
    Ok((!roles.is_empty()).then_some(roles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::{SessionId, Source};

    #[test]
    fn a_scope_is_said_or_refused() {
        let source = Source::from_stored("telegram");
        let id = |text: &str| SessionId::parse(text).unwrap();
        for (text, expected) in [
            ("\"all\"", Scope::All),
            ("{\"source\": \"telegram\"}", Scope::Source(source.clone())),
            ("{\"user_id\": \"anna\"}", Scope::User { user_id: "anna".into(), source: None }),
            (
                "{\"source\": \"telegram\", \"user_id\": \"anna\"}",
                Scope::User { user_id: "anna".into(), source: Some(source) },
            ),
            ("{\"sessions\": [\"a\", \"b\"]}", Scope::Chat(vec![id("a"), id("b")])),
            ("{\"sessions\": []}", Scope::Chat(Vec::new())),
        ] {
            assert_eq!(scope(Value(text)).unwrap(), expected, "{text}");
        }
        for text in [
            "null",
            "\"\"",
            "\"mine\"",
            "{}",
            "[]",
            "{\"user_id\": null}",
            "{\"source\": null, \"user_id\": \"anna\"}",
            "{\"user\": \"anna\"}",
            "{\"source\": \"cli\", \"sessions\": [\"a\"]}",
        ] {
            assert!(scope(Value(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn roles_come_as_a_list_or_with_commas() {
        let both = Some(vec![Role::User, Role::Tool]);
        assert_eq!(roles(Value("\"user, tool\"")).unwrap(), both);
        assert_eq!(roles(Value("[\"user\", \"tool\"]")).unwrap(), both);
        assert_eq!(roles(Value("\" , \"")).unwrap(), None);
        assert_eq!(roles(Value("null")).unwrap(), None);
    }
}
