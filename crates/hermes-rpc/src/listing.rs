//! Lists and counts.

use crate::call::{Answer, Call, list};
use crate::fail::Fail;
use crate::row;
use hermes_session::{
    Archived, ListRequest, MAX_PAGE, Order, PageRequest, Session, SessionFilter, SessionId, SessionSummary, Source,
    Timestamp, View,
};
use std::collections::{HashMap, HashSet};

/// `list_sessions_rich`: conversations, with a compressed one as one row; or single sessions.
pub(crate) async fn rich(call: &Call<'_>) -> Answer {
    let args = &call.args;
    let exclude = args.value("exclude_sources").texts()?.unwrap_or_default();
    let filter = SessionFilter {
        exclude_sources: exclude.iter().map(|source| source_of(source)).collect(),
        // The agent whose methods these are does not know archiving, so its list hides nothing.
        archived: Archived::Included,
        ..from_source(args.filled("source")?)
    };
    let (with_children, is_projected) = (args.flag("include_children"), args.flag("project_compression_tips"));
    let request = ListRequest {
        view: if with_children || !is_projected { View::Sessions } else { View::Conversations },
        filter,
        order: if args.flag("order_by_last_active") { Order::Active } else { Order::Started },
        ..ListRequest::default()
    };
    // Without projection, a conversation is shown as its first session.
    let is_meant = |row: &SessionSummary| with_children || row.conversation == row.id || is_projected;
    let is_filtered = !with_children && !is_projected;
    let rows =
        page(call, request, args.offset("offset")?, args.limit("limit")?, is_filtered.then_some(&is_meant)).await?;
    Ok(list(rich_rows(call, &rows).await?))
}

/// Returns the rows with the columns that a list adds, without sessions that were deleted meanwhile.
pub(crate) async fn rich_rows(call: &Call<'_>, summaries: &[SessionSummary]) -> Result<Vec<String>, Fail> {
    let ids: Vec<SessionId> =
        summaries.iter().flat_map(|row| [Some(&row.id), root_of(row)]).flatten().cloned().collect();
    let sessions: HashMap<SessionId, Session> =
        call.store.sessions(&ids).await?.into_iter().map(|session| (session.id.clone(), session)).collect();
    let shared = summaries.iter().filter(|row| row.segments > 1).map(|row| row.id.clone()).collect();
    let alone = by_themselves(call, shared).await?;
    Ok(summaries.iter().filter_map(|row| rich_row(row, alone.get(&row.id).unwrap_or(row), &sessions)).collect())
}

/// Returns the summaries of these sessions, each of the session alone and not of its conversation.
async fn by_themselves(
    call: &Call<'_>,
    mut ids: HashSet<SessionId>,
) -> Result<HashMap<SessionId, SessionSummary>, Fail> {
    const PAGE: u32 = 1_000;
    let mut found = HashMap::new();
    let mut request = ListRequest {
        view: View::Sessions,
        order: Order::Id,
        filter: SessionFilter { conversations: Some(ids.iter().cloned().collect()), ..SessionFilter::default() },
        page: PageRequest::first(PAGE),
        after: None,
    };
    while !ids.is_empty() {
        let page = call.store.list(&request).await?;
        for row in page.rows {
            if ids.remove(&row.id) {
                found.insert(row.id.clone(), row);
            }
        }
        match page.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    Ok(found)
}

/// Returns the first session of a conversation, if it continues in another one.
fn root_of(row: &SessionSummary) -> Option<&SessionId> {
    (row.conversation != row.id && row.segments > 1).then_some(&row.conversation)
}

/// Returns a row of the list. `alone` is the summary of the session that the row shows, without the rest of its
/// conversation.
fn rich_row(
    summary: &SessionSummary,
    alone: &SessionSummary,
    sessions: &HashMap<SessionId, Session>,
) -> Option<String> {
    let tip = sessions.get(&summary.id)?;
    let root = root_of(summary);
    let mut out = match root {
        Some(root) => row::session(&projected(sessions.get(root)?.clone(), tip.clone())),
        None => row::session(tip),
    };
    row::double(&mut out, "last_active", Some(alone.last_active.seconds()));
    out.text("preview", Some(&row::preview(&alone.preview)));
    if let Some(root) = root {
        out.text("_lineage_root_id", Some(root.as_str()));
    }
    Some(out.finish())
}

/// Returns a compressed conversation as the agent's list shows it: its first session, with the columns of its last one
/// that describe the current state.
fn projected(root: Session, tip: Session) -> Session {
    Session {
        id: tip.id,
        model: tip.model,
        system_prompt: tip.system_prompt,
        ended_at: tip.ended_at,
        end_reason: tip.end_reason,
        message_count: tip.message_count,
        tool_call_count: tip.tool_call_count,
        title: tip.title,
        ..root
    }
}

/// `search_sessions`: single sessions, most recently active first.
pub(crate) async fn sessions(call: &Call<'_>) -> Answer {
    let source = call.args.filled("source")?;
    let (offset, limit) = (call.args.offset("offset")?, call.args.limit("limit")?);
    let rows = by_activity(call, source, offset, limit).await?.into_iter().map(|(session, last_active)| {
        let mut out = row::session(&session);
        row::double(&mut out, "last_active", Some(last_active.seconds()));
        out.finish()
    });
    Ok(list(rows))
}

/// Returns sessions and their last activity, newest first.
pub(crate) async fn by_activity(
    call: &Call<'_>,
    source: Option<String>,
    offset: u64,
    limit: u64,
) -> Result<Vec<(Session, Timestamp)>, Fail> {
    let request = ListRequest {
        view: View::Sessions,
        filter: from_source(source),
        order: Order::Active,
        ..ListRequest::default()
    };
    let rows = page(call, request, offset, limit, None).await?;
    let ids: Vec<SessionId> = rows.iter().map(|row| row.id.clone()).collect();
    let mut sessions = call.store.sessions(&ids).await?.into_iter().peekable();
    // Both are in the same order. A session that was deleted meanwhile is in one of them only.
    let still = |row: SessionSummary| Some((sessions.next_if(|session| session.id == row.id)?, row.last_active));
    Ok(rows.into_iter().filter_map(still).collect())
}

pub(crate) async fn session_count(call: &Call<'_>) -> Answer {
    let filter = from_source(call.args.filled("source")?);
    Ok(call.store.counts(&filter).await?.sessions.to_string())
}

pub(crate) async fn message_count(call: &Call<'_>) -> Answer {
    if !call.args.flag("session_id") {
        return Ok(call.store.counts(&SessionFilter::default()).await?.messages.to_string());
    }
    let session = match call.args.lookup("session_id") {
        Some(id) => call.store.session(&id).await?,
        None => None,
    };
    Ok(session.map_or(0, |session| session.message_count).to_string())
}

/// Returns rows of a list, reading page after page. Rows that are filtered out here do not count towards the offset.
pub(crate) async fn page(
    call: &Call<'_>,
    mut request: ListRequest,
    offset: u64,
    limit: u64,
    is_meant: Option<&(dyn Fn(&SessionSummary) -> bool + Sync)>,
) -> Result<Vec<SessionSummary>, Fail> {
    let mut rows: Vec<SessionSummary> = Vec::new();
    let mut to_skip = if is_meant.is_some() { offset } else { 0 };
    let mut first_offset = if is_meant.is_some() { 0 } else { offset };
    while (rows.len() as u64) < limit {
        let size = if is_meant.is_some() { u64::from(MAX_PAGE) } else { limit - rows.len() as u64 };
        request.page = PageRequest::new(
            i64::try_from(size).unwrap_or(i64::MAX),
            i64::try_from(std::mem::take(&mut first_offset)).unwrap_or(i64::MAX),
        )?;
        let found = call.store.list(&request).await?;
        for row in found.rows {
            if !is_meant.is_none_or(|is_meant| is_meant(&row)) {
                continue;
            }
            if to_skip > 0 {
                to_skip -= 1;
            } else if (rows.len() as u64) < limit {
                rows.push(row);
            }
        }
        match found.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    Ok(rows)
}

fn from_source(source: Option<String>) -> SessionFilter {
    SessionFilter { sources: source.map(|source| vec![source_of(&source)]), ..SessionFilter::default() }
}

/// Returns the source. An invalid one is used as it is, and matches no session.
pub(crate) fn source_of(text: &str) -> Source {
    Source::parse(text).unwrap_or_else(|_| Source::from_stored(text))
}

/// Returns the valid ids among the texts.
pub(crate) fn ids_of(texts: Vec<String>) -> Vec<SessionId> {
    texts.into_iter().filter_map(|text| SessionId::parse(text).ok()).collect()
}
