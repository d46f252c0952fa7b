//! The work of each tool.

use crate::arguments::Arguments;
use crate::server::Options;
use crate::tools::{BUDGET, Call};
use hermes_recall::when::Reference;
use hermes_recall::{Reader, RecallRequest, failure, listed, page, statistics, statistics_of, to_json};
use hermes_session::{
    Extent, Invalid, ListRequest, PageRequest, Request, SessionFilter, SessionId, Source, SourceStatistics, StoreError,
    Title, quoted,
};
use hermes_wire::recall::{ConversationRenamed, Failure, NoteAppended};
use hermes_wire::to_value;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Runs a tool. Returns the failure to report to the model if it can't be done.
pub(crate) async fn run(
    options: &Options,
    reader: &Reader,
    call: Call,
    given: Option<Map<String, Value>>,
) -> Result<Value, Value> {
    let told = |error: StoreError| {
        tracing::debug!(tool = call.name(), error = error.kind(), "tool failed");
        let refused = |hint: &str| to_value(&Failure { success: false, error: error.to_string(), hint });
        match (call, &error) {
            (Call::Search, _) => failure(&error),
            (_, StoreError::NotFound(_)) => refused("list_conversations and session_search return ids"),
            _ => refused(&hermes_recall::hints::of(&error)),
        }
    };
    work(options, reader, call, given).await.map_err(told)
}

async fn work(
    options: &Options,
    reader: &Reader,
    call: Call,
    given: Option<Map<String, Value>>,
) -> Result<Value, StoreError> {
    let arguments = Arguments::new(given, &call.arguments())?;
    let zone = &options.zone;
    let now = &Reference { at: (options.clock)(), zone };
    let request = || Request::at((options.clock)());
    match call {
        Call::Search => {
            let asked = RecallRequest {
                current: arguments.text("current_session_id")?.map(SessionId::parse).transpose()?,
                limit: arguments.number("limit", 3, 1, 10)? as usize,
                budget: arguments.number("budget", BUDGET, 1_000, 100_000)? as usize,
                filter: arguments.filter(now)?,
                timeout: options.timeout,
                ..RecallRequest::new(arguments.text("query")?.unwrap_or_default())
            };
            let recall = reader.search(&asked, None).await?;
            Ok(to_json(&asked.query, &recall, zone))
        }
        Call::List => {
            let (limit, offset) =
                (arguments.number("limit", 20, 1, 100)?, arguments.number("offset", 0, 0, 1_000_000)?);
            let filter = SessionFilter {
                sources: arguments.sources()?,
                title: arguments.text("title")?.map(str::to_owned),
                active_since: arguments.time("since", now)?,
                active_before: arguments.time("before", now)?,
                ..SessionFilter::default()
            };
            let page = PageRequest::new(limit as i64, offset as i64)?;
            let request = ListRequest { filter, page, ..ListRequest::default() };
            let listing = reader.list(&request).await?;
            let asked = request.filter.sources.as_deref().filter(|_| listing.rows.is_empty());
            let hint = match asked {
                Some(asked) => missing_source(asked, reader.statistics().await?.sources),
                None => None,
            };
            Ok(listed(&listing, &request.page, zone, hint))
        }
        Call::Read => {
            let after = arguments.text("cursor")?.map(str::parse).transpose()?;
            let limit = arguments.number("limit", 50, 1, 200)? as u32;
            let extent = if arguments.flag("include_undone")? { Extent::Every } else { Extent::Said };
            Ok(page(&reader.read_extent(&arguments.session()?, after, limit, extent).await?, zone))
        }
        Call::Statistics if arguments.text("session_id")?.is_some() => {
            Ok(statistics_of(&reader.conversation(&arguments.session()?).await?, zone))
        }
        Call::Statistics => Ok(statistics(&reader.statistics().await?)),
        Call::Rename => {
            let missing = || Invalid::new("title", "is missing", "give a title of at most 100 characters");
            let title = Title::parse(arguments.text("title")?.ok_or_else(missing)?)?;
            let conversation = reader.rename(&arguments.session()?, &title, &request()).await?;
            let session_id = conversation.id().as_str();
            Ok(to_value(&ConversationRenamed { success: true, session_id, title: title.as_str() }))
        }
        Call::Note => {
            let note = arguments.text("note")?.unwrap_or_default();
            let message = reader.append_note(&arguments.session()?, note, &request()).await?;
            Ok(to_value(&NoteAppended { success: true, message_id: message.0 }))
        }
    }
}

/// Returns a hint about a source that no session has. `None` if all have some, or if the scope does not tell its
/// sources.
fn missing_source(asked: &[Source], sources: Option<BTreeMap<Source, SourceStatistics>>) -> Option<String> {
    let sources = sources?;
    let missing = asked.iter().find(|source| !sources.contains_key(*source))?;
    let names: Vec<&str> = sources.keys().map(Source::as_str).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Some(format!("no session has the source {}; sources: {names}", quoted(missing.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_no_session_has_is_named_with_those_that_are_within_the_scope() {
        let source = Source::from_stored;
        let sources = || Some(["cli", "telegram"].map(|name| (source(name), SourceStatistics::default())).into());
        let hint = missing_source(&[source("CLI")], sources());
        assert_eq!(hint.as_deref(), Some("no session has the source \"CLI\"; sources: cli, telegram"));
        assert_eq!(missing_source(&[source("cli")], sources()), None);
        assert_eq!(missing_source(&[source("CLI")], None), None, "the scope is limited");
    }
}
