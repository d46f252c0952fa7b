//! What each tool does.

use crate::arguments::Arguments;
use crate::server::Options;
use crate::tools::{BUDGET, Call};
use hermes_recall::{Reader, RecallRequest, failure, listed, page, statistics, statistics_of, to_json};
use hermes_session::{Extent, Invalid, ListRequest, PageRequest, Request, SessionFilter, SessionId, StoreError, Title};
use hermes_wire::recall::{ConversationRenamed, Failure, NoteAppended};
use hermes_wire::to_value;
use serde_json::{Map, Value};

/// Does the work of a tool; what is told if it can't be done.
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
            (_, StoreError::NotFound(_)) => refused("list_conversations and session_search tell the ids there are"),
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
    let request = || Request::at((options.clock)());
    match call {
        Call::Search => {
            let asked = RecallRequest {
                current: arguments.text("current_session_id")?.map(SessionId::parse).transpose()?,
                limit: arguments.number("limit", 3, 1, 10)? as usize,
                budget: arguments.number("budget", BUDGET, 1_000, 100_000)? as usize,
                filter: arguments.filter(zone)?,
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
                active_since: arguments.time("since", zone)?,
                active_before: arguments.time("before", zone)?,
                ..SessionFilter::default()
            };
            let page = PageRequest::new(limit as i64, offset as i64)?;
            let request = ListRequest { filter, page, ..ListRequest::default() };
            Ok(listed(&reader.list(&request).await?, &request.page, zone))
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
