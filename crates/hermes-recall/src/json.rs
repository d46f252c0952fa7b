//! Answers as JSON, as types of `hermes-wire`: the agent's own keys, and additional ones of ours.

use crate::conversation::Conversation;
use crate::hints;
use crate::reader::{MAX_PAGE_CHARACTERS, Page, Statistics};
use crate::recall::{Answered, Match, Recall, Recalled};
use crate::render;
use crate::summary::Summarised;
use hermes_session::{Listing, Message, PageRequest, SessionSummary, StoreError, Timestamp, Usage};
use hermes_wire::recall::{self as wire, ConversationRow};
use hermes_wire::search::Served;
use hermes_wire::to_value;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Returns the answer to a [`RecallRequest`](crate::RecallRequest), with times for people in a zone.
pub fn to_json(query: &str, recall: &Recall, zone: &TimeZone) -> Value {
    match recall {
        Recall::Recent(rows) => to_value(&wire::Recent {
            success: true,
            mode: "recent",
            count: rows.len(),
            results: rows.iter().map(|row| summary(row, zone)).collect(),
            message: format!(
                "Showing {} most recent sessions. Use a keyword query to search specific topics.",
                rows.len()
            ),
        }),
        Recall::Found { results, served } => to_value(&wire::Found {
            success: true,
            mode: "search",
            query,
            count: results.len(),
            sessions_searched: results.len(),
            results: results.iter().map(|result| recalled(result, zone)).collect(),
            served: answered(served),
            message: results.is_empty().then_some("No matching sessions found."),
        }),
    }
}

/// Returns the answer to a search that failed.
pub fn failure(error: &StoreError) -> Value {
    to_value(&wire::Failure { success: false, error: format!("Search failed: {error}"), hint: &hints::of(error) })
}

fn answered(served: &Answered) -> wire::ScopedServed {
    wire::ScopedServed {
        way: Served::way(served.way),
        relaxed: served.is_relaxed,
        partial: served.is_partial,
        unindexed: served.unindexed,
    }
}

fn recalled<'a>(result: &'a Recalled, zone: &TimeZone) -> wire::Recalled<'a> {
    let Recalled { conversation, matches, window, summary, .. } = result;
    wire::Recalled {
        session_id: conversation.id().as_str(),
        when: when(conversation.first().started_at, zone),
        source: conversation.first().source.as_str(),
        model: conversation.tip().model.as_deref(),
        summary: result.text(),
        is_summary: matches!(summary, Summarised::Yes(_)),
        title: conversation.title(),
        user_id: conversation.first().user_id.as_deref(),
        conversation: conversation.first().id.as_str(),
        started_at: conversation.first().started_at.seconds(),
        last_active: conversation.last_active().seconds(),
        message_count: conversation.message_count(),
        matches: matches.iter().map(|place| matched(place, zone)).collect(),
        window: wire::Window {
            characters: window.characters(),
            messages: window.messages,
            left_out: window.left_out,
            first: window.first.map(|id| id.0),
            last: window.last.map(|id| id.0),
        },
        summary_error: match summary {
            Summarised::Failed(why) => Some(why),
            Summarised::Yes(_) | Summarised::No => None,
        },
    }
}

fn matched<'a>(place: &'a Match, zone: &TimeZone) -> wire::Match<'a> {
    wire::Match {
        message_id: place.message.0,
        session_id: place.session.as_str(),
        role: place.role.as_str(),
        said_at: place.said_at.seconds(),
        when: when(place.said_at, zone),
        snippet: &place.snippet,
    }
}

fn summary<'a>(row: &'a SessionSummary, zone: &TimeZone) -> ConversationRow<'a> {
    ConversationRow::new(row, when(row.last_active, zone))
}

/// Returns the requested page of conversations, with a hint if there are none.
pub fn listed(listing: &Listing, page: &PageRequest, zone: &TimeZone, hint: Option<String>) -> Value {
    // Unreadable rows are on the page too, so the next page starts at the requested end of this one.
    let next = page.offset() + u64::from(page.limit());
    to_value(&wire::Conversations {
        count: listing.rows.len(),
        conversations: listing.rows.iter().map(|row| summary(row, zone)).collect(),
        next_offset: listing.next.as_ref().map(|_| next),
        hint,
    })
}

/// Returns a page of a transcript. A message that is longer than a page is cut, and says so.
pub fn page(page: &Page, zone: &TimeZone) -> Value {
    to_value(&wire::TranscriptPage {
        session_id: page.session.as_str(),
        title: page.conversation.title(),
        source: page.conversation.first().source.as_str(),
        count: page.messages.len(),
        messages: page.messages.iter().map(|message| page_message(message, zone)).collect(),
        next: page.next.map(|place| place.to_string()),
    })
}

fn page_message<'a>(message: &'a Message, zone: &TimeZone) -> wire::PageMessage<'a> {
    let tool_calls = message.body.tool_calls.as_ref().and_then(|calls| {
        // Calls that are too long are cut; the rest is not valid JSON, so it is a text.
        let is_long = calls.as_str().len() > MAX_PAGE_CHARACTERS;
        if is_long { Some(render::ends(calls.as_str(), MAX_PAGE_CHARACTERS).into()) } else { calls.to_value() }
    });
    wire::PageMessage {
        id: message.id.0,
        session_id: message.session_id.as_str(),
        role: message.body.role.as_str(),
        content: render::ends(&message.body.plain_text(), MAX_PAGE_CHARACTERS),
        timestamp: message.timestamp.seconds(),
        when: when(message.timestamp, zone),
        state: (!message.state.is_active()).then(|| message.state.as_str()),
        tool_name: message.body.tool_name.as_deref(),
        tool_calls,
        is_cut: render::stored_size(message) > MAX_PAGE_CHARACTERS,
    }
}

/// Returns the counts within the scope.
pub fn statistics(statistics: &Statistics) -> Value {
    let sources = statistics.sources.as_ref();
    to_value(&wire::ScopeCounts {
        counts: (&statistics.counts).into(),
        sources: sources
            .map(|sources| sources.iter().map(|(source, part)| (source.as_str(), (*part).into())).collect()),
    })
}

/// Returns the counts and the usage of one conversation.
pub fn statistics_of(conversation: &Conversation, zone: &TimeZone) -> Value {
    let usage = conversation.members().fold(Usage::default(), |sum, session| sum.plus(&session.usage));
    let mut models: Vec<&str> = conversation.members().filter_map(|session| session.model.as_deref()).collect();
    models.sort_unstable();
    models.dedup();
    to_value(&wire::ConversationStatistics {
        session_id: conversation.id().as_str(),
        title: conversation.title(),
        source: conversation.first().source.as_str(),
        user_id: conversation.first().user_id.as_deref(),
        started_at: conversation.first().started_at.seconds(),
        last_active: conversation.last_active().seconds(),
        when: when(conversation.first().started_at, zone),
        sessions: conversation.members().count(),
        messages: conversation.message_count(),
        tool_calls: conversation.members().map(|session| session.tool_call_count).sum(),
        models,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cost_usd: usage.cost(),
    })
}

/// Returns a time in the agent's format: `November 15, 2026 at 06:38 PM`.
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
    fn times_are_written_as_the_agent_writes_them() {
        let at = Timestamp::from_seconds(1_794_767_912.5).unwrap();
        assert_eq!(when(at, &TimeZone::UTC), "November 15, 2026 at 06:38 PM");
        assert_eq!(when(Timestamp::from_seconds(1e300).unwrap(), &TimeZone::UTC).chars().next(), Some('1'));
    }
}
