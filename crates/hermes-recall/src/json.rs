//! Answers as JSON: the agent's own keys, and ours beside them.

use crate::conversation::Conversation;
use crate::hints;
use crate::reader::{MAX_PAGE_CHARACTERS, Page, Statistics};
use crate::recall::{Match, Recall, Recalled};
use crate::render;
use crate::summary::Summarised;
use hermes_session::search::Way;
use hermes_session::{Listing, PageRequest, SessionSummary, StoreError, Timestamp, Usage};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// The answer to a [`RecallRequest`](crate::RecallRequest), with times told in a zone.
pub fn to_json(query: &str, recall: &Recall, zone: &TimeZone) -> Value {
    match recall {
        Recall::Recent(rows) => json!({
            "success": true,
            "mode": "recent",
            "count": rows.len(),
            "results": rows.iter().map(|row| summary(row, zone)).collect::<Vec<_>>(),
            "message": format!("Showing {} most recent sessions. Use a keyword query to search specific topics.", rows.len()),
        }),
        Recall::Found { results, served } => {
            let mut answer = json!({
                "success": true,
                "mode": "search",
                "query": query,
                "count": results.len(),
                "sessions_searched": results.len(),
                "results": results.iter().map(|result| recalled(result, zone)).collect::<Vec<_>>(),
                "served": {
                    "way": if served.way == Way::Index { "index" } else { "scan" },
                    "relaxed": served.is_relaxed,
                    "partial": served.is_partial,
                    "unindexed": served.unindexed,
                },
            });
            if results.is_empty() {
                answer["message"] = "No matching sessions found.".into();
            }
            answer
        }
    }
}

/// What is answered when a search could not be made.
pub fn failure(error: &StoreError) -> Value {
    json!({"success": false, "error": format!("Search failed: {error}"), "hint": hints::of(error)})
}

fn recalled(result: &Recalled, zone: &TimeZone) -> Value {
    let Recalled { conversation, matches, window, summary, .. } = result;
    let mut value = json!({
        "session_id": conversation.id().as_str(),
        "when": when(conversation.first().started_at, zone),
        "source": conversation.first().source.as_str(),
        "model": conversation.tip().model,
        "summary": result.text(),
        "is_summary": matches!(summary, Summarised::Yes(_)),
        "title": conversation.title(),
        "user_id": conversation.first().user_id,
        "conversation": conversation.first().id.as_str(),
        "started_at": conversation.first().started_at.seconds(),
        "last_active": conversation.last_active().seconds(),
        "message_count": conversation.message_count(),
        "matches": matches.iter().map(|place| matched(place, zone)).collect::<Vec<_>>(),
        "window": {
            "characters": window.characters(),
            "messages": window.messages,
            "left_out": window.left_out,
            "first": window.first.map(|id| id.0),
            "last": window.last.map(|id| id.0),
        },
    });
    if let Summarised::Failed(why) = summary {
        value["summary_error"] = why.as_str().into();
    }
    value
}

fn matched(place: &Match, zone: &TimeZone) -> Value {
    json!({
        "message_id": place.message.0,
        "session_id": place.session.as_str(),
        "role": place.role.as_str(),
        "said_at": place.said_at.seconds(),
        "when": when(place.said_at, zone),
        "snippet": place.snippet,
    })
}

fn summary(row: &SessionSummary, zone: &TimeZone) -> Value {
    json!({
        "session_id": row.id.as_str(),
        "title": row.title,
        "source": row.source.as_str(),
        "started_at": row.started_at.seconds(),
        "last_active": row.last_active.seconds(),
        "message_count": row.messages,
        "preview": row.preview,
        "when": when(row.last_active, zone),
        "conversation": row.conversation.as_str(),
        "user_id": row.user_id,
        "model": row.model,
    })
}

/// A page of conversations, as it was asked for.
pub fn listed(listing: &Listing, page: &PageRequest, zone: &TimeZone) -> Value {
    // Rows that can't be read are on the page as well, so that the next one begins where this one was asked to end.
    let next = page.offset() + u64::from(page.limit());
    json!({
        "count": listing.rows.len(),
        "conversations": listing.rows.iter().map(|row| summary(row, zone)).collect::<Vec<_>>(),
        "next_offset": listing.next.as_ref().map(|_| next),
    })
}

/// A page of a transcript. A message that is longer than a page is cut, and says so.
pub fn page(page: &Page, zone: &TimeZone) -> Value {
    let message = |message: &hermes_session::Message| {
        let mut value = json!({
            "id": message.id.0,
            "session_id": message.session_id.as_str(),
            "role": message.body.role.as_str(),
            "content": render::ends(&message.body.plain_text(), MAX_PAGE_CHARACTERS),
            "timestamp": message.timestamp.seconds(),
            "when": when(message.timestamp, zone),
        });
        if !message.state.is_active() {
            value["state"] = message.state.as_str().into();
        }
        if let Some(tool) = &message.body.tool_name {
            value["tool_name"] = tool.as_str().into();
        }
        if let Some(calls) = &message.body.tool_calls {
            // Calls that are too long are no JSON any more.
            let cut = || Some(render::ends(calls.as_str(), MAX_PAGE_CHARACTERS).into());
            let is_long = calls.as_str().len() > MAX_PAGE_CHARACTERS;
            if let Some(calls) = if is_long { cut() } else { calls.to_value() } {
                value["tool_calls"] = calls;
            }
        }
        if render::stored_size(message) > MAX_PAGE_CHARACTERS {
            value["is_cut"] = true.into();
        }
        value
    };
    json!({
        "session_id": page.session.as_str(),
        "title": page.conversation.title(),
        "source": page.conversation.first().source.as_str(),
        "count": page.messages.len(),
        "messages": page.messages.iter().map(message).collect::<Vec<_>>(),
        "next": page.next.map(|place| place.to_string()),
    })
}

/// How much there is.
pub fn statistics(statistics: &Statistics) -> Value {
    let counts = &statistics.counts;
    let mut value =
        json!({"conversations": counts.conversations, "sessions": counts.sessions, "messages": counts.messages});
    if let Some(sources) = &statistics.sources {
        value["sources"] = sources
            .iter()
            .map(|(source, part)| {
                let part =
                    json!({"conversations": part.conversations, "sessions": part.sessions, "messages": part.messages});
                (source.to_string(), part)
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
    }
    value
}

/// How much one conversation has and used.
pub fn statistics_of(conversation: &Conversation, zone: &TimeZone) -> Value {
    let usage = conversation.members().fold(Usage::default(), |sum, session| sum.plus(&session.usage));
    let mut models: Vec<&str> = conversation.members().filter_map(|session| session.model.as_deref()).collect();
    models.sort_unstable();
    models.dedup();
    json!({
        "session_id": conversation.id().as_str(),
        "title": conversation.title(),
        "source": conversation.first().source.as_str(),
        "user_id": conversation.first().user_id,
        "started_at": conversation.first().started_at.seconds(),
        "last_active": conversation.last_active().seconds(),
        "when": when(conversation.first().started_at, zone),
        "sessions": conversation.members().count(),
        "messages": conversation.message_count(),
        "tool_calls": conversation.members().map(|session| session.tool_call_count).sum::<i64>(),
        "models": models,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost(),
    })
}

/// A time as the agent tells it: `November 15, 2026 at 06:38 PM`.
fn when(at: Timestamp, zone: &TimeZone) -> String {
    match at.to_calendar() {
        Some(at) => at.to_zoned(zone.clone()).strftime("%B %d, %Y at %I:%M %p").to_string(),
        None => at.seconds().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_the_agent_tells_them() {
        let at = Timestamp::from_seconds(1_794_767_912.5).unwrap();
        assert_eq!(when(at, &TimeZone::UTC), "November 15, 2026 at 06:38 PM");
        assert_eq!(when(Timestamp::from_seconds(1e300).unwrap(), &TimeZone::UTC).chars().next(), Some('1'));
    }
}
