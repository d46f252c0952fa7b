//! Searching: as the agent asks, and with all that our search can tell.

use crate::call::{Answer, Call, list};
use crate::fail::Fail;
use crate::listing::{ids_of, source_of};
use crate::row;
use hermes_session::json::ObjectWriter;
use hermes_session::search::{Hit, Query, SearchFilter, SearchOrder, SearchRequest, Served, Way};
use hermes_session::{Content, MAX_PAGE, Message, PageRequest, Role, Timestamp};
use std::time::Duration;

/// How long a search may take whose answer can't say that it is not all.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of a message beside a hit is shown.
const CONTEXT: usize = 200;

/// `search_messages`: what matches as a whole, the best first. If nothing does, what matches in part, each hit marked as relaxed.
pub(crate) async fn messages(call: &Call<'_>) -> Answer {
    let request = SearchRequest { relax: true, timeout: PATIENCE, ..asked(call)? };
    let (hits, served) = hits(call, request).await?;
    let is_relaxed = served.is_some_and(|served| served.is_relaxed);
    let contexts = contexts(call, &hits).await?;
    Ok(list(hits.iter().zip(contexts).map(|(hit, context)| {
        let mut map = shown(hit);
        map.raw("context", &context);
        if is_relaxed {
            map.raw("relaxed", "true");
        }
        map.finish()
    })))
}

/// `search`: hits, each with its conversation, and how the answer came about.
pub(crate) async fn search(call: &Call<'_>) -> Answer {
    let args = &call.args;
    let seconds = args.double("timeout")?.unwrap_or(0.0);
    let time = |name: &str| args.double(name)?.map(Timestamp::from_seconds).transpose().map_err(Fail::from);
    let asked = asked(call)?;
    let filter = SearchFilter {
        since: time("since")?,
        before: time("before")?,
        user_id: args.text("user_id")?,
        sessions: args.value("sessions").texts()?.map(ids_of),
        title: args.readable("title")?,
        model: args.text("model")?,
        ..asked.filter.clone()
    };
    let order = match args.text("order")?.as_deref() {
        Some("best") => SearchOrder::Best,
        Some("newest") => SearchOrder::Newest,
        _ => return Err(Fail::value("order is 'best' or 'newest'")),
    };
    let request = SearchRequest {
        filter,
        order,
        relax: args.flag("relax"),
        timeout: Duration::try_from_secs_f64(seconds).map_err(|_| Fail::value("timeout is no number of seconds"))?,
        ..asked
    };
    let (hits, served) = hits(call, request).await?;
    let contexts = contexts(call, &hits).await?;
    let out = hits.iter().zip(contexts).map(|(hit, context)| {
        let mut map = shown(hit);
        map.raw("context", &context)
            .text("conversation", Some(hit.conversation.as_str()))
            .text("title", hit.title.as_deref());
        row::double(&mut map, "score", Some(hit.score));
        map.finish()
    });
    let mut answer = ObjectWriter::new();
    answer.raw("hits", &list(out));
    if let Some(served) = served {
        answer
            .text("way", Some(if served.way == Way::Index { "index" } else { "scan" }))
            .raw("relaxed", &served.is_relaxed.to_string())
            .raw("partial", &served.is_partial.to_string())
            .raw("unindexed", &served.unindexed.to_string());
    }
    Ok(answer.finish())
}

/// What both ask alike.
fn asked(call: &Call<'_>) -> Result<SearchRequest, Fail> {
    let args = &call.args;
    let sources = |texts: Vec<String>| texts.iter().map(|text| source_of(text)).collect::<Vec<_>>();
    let roles = args.value("role_filter").texts()?.filter(|roles| !roles.is_empty());
    let filter = SearchFilter {
        sources: args.value("source_filter").texts()?.map(sources),
        exclude_sources: args.value("exclude_sources").texts()?.map(sources).unwrap_or_default(),
        roles: roles.map(|roles| roles.iter().map(|role| Role::from_stored(role)).collect()),
        ..SearchFilter::default()
    };
    let query = args.readable("query")?.unwrap_or_default();
    Ok(SearchRequest { filter, ..SearchRequest::new(Query::parse(&query)) })
}

/// The hits from the offset on, page after page.
async fn hits(call: &Call<'_>, mut request: SearchRequest) -> Result<(Vec<Hit>, Option<Served>), Fail> {
    let (mut offset, limit) = (call.args.offset("offset")?, call.args.limit("limit")?);
    let (mut hits, mut served) = (Vec::new(), None);
    if call.args.readable("query")?.is_none_or(|query| query.trim().is_empty()) {
        return Ok((hits, served));
    }
    while (hits.len() as u64) < limit {
        let size = (limit - hits.len() as u64).min(u64::from(MAX_PAGE));
        request.page = PageRequest::new(
            i64::try_from(size).unwrap_or(i64::MAX),
            i64::try_from(std::mem::take(&mut offset)).unwrap_or(i64::MAX),
        )?;
        let answer = call.store.search(&request).await?;
        hits.extend(answer.hits);
        served = Some(answer.served);
        match answer.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    Ok((hits, served))
}

fn shown(hit: &Hit) -> ObjectWriter {
    let mut map = ObjectWriter::new();
    map.integer("id", Some(hit.message.0))
        .text("session_id", Some(hit.session.as_str()))
        .text("role", Some(hit.role.as_str()))
        .text("snippet", Some(&hit.snippet));
    row::double(&mut map, "timestamp", Some(hit.said_at.seconds()));
    map.text("tool_name", hit.tool_name.as_deref())
        .text("source", Some(hit.source.as_str()))
        .text("model", hit.model.as_deref());
    row::double(&mut map, "session_started", Some(hit.started_at.seconds()));
    map
}

/// Of each hit the message before it, itself, and the one behind it, in the order of the transcript.
async fn contexts(call: &Call<'_>, hits: &[Hit]) -> Result<Vec<String>, Fail> {
    let places: Vec<_> = hits.iter().map(|hit| (hit.session.clone(), hit.message)).collect();
    let around = call.store.around(&places).await?;
    Ok(around.iter().map(|messages| list(messages.iter().map(beside))).collect())
}

fn beside(message: &Message) -> String {
    let mut map = ObjectWriter::new();
    map.text("role", Some(message.body.role.as_str())).text("content", Some(&said(message)));
    map.finish()
}

/// The first characters of what a message says.
fn said(message: &Message) -> String {
    let head = |text: &str| text.chars().take(CONTEXT).collect::<String>();
    match &message.body.content {
        Some(Content::Text(text)) => head(text),
        Some(Content::Json(json)) => match json.to_value() {
            Some(serde_json::Value::String(text)) => head(&text),
            Some(serde_json::Value::Array(parts)) => {
                let is_text = |part: &&serde_json::Value| part["type"] == "text";
                let texts = parts.iter().filter(is_text).filter_map(|part| part["text"].as_str());
                let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
                let joined = texts.join(" ");
                if joined.trim().is_empty() { "[multimodal content]".into() } else { head(joined.trim()) }
            }
            _ => String::new(),
        },
        _ => String::new(),
    }
}
