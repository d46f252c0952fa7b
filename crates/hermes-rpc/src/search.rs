//! Search, as the agent calls it and with all options of ours.

use crate::call::{Answer, Call};
use crate::fail::Fail;
use crate::listing::{ids_of, source_of};
use hermes_session::search::{Hit, Query, SearchFilter, SearchOrder, SearchRequest, Served};
use hermes_session::{Content, MAX_PAGE, Message, PageRequest, Role, Timestamp};
use hermes_wire::{rpc, to_string};
use std::time::Duration;

/// Timeout of a search whose answer can't report that it is partial.
const PATIENCE: Duration = Duration::from_secs(30);

/// Maximum length of a message in the context of a hit, in characters.
const CONTEXT: usize = 200;

/// `search_messages`: matches of the whole query, best first. If there are none, partial matches, each marked as
/// relaxed.
pub(crate) async fn messages(call: &Call<'_>) -> Answer {
    let request = SearchRequest { relax: true, timeout: PATIENCE, ..asked(call)? };
    let (hits, served) = hits(call, request).await?;
    let is_relaxed = served.is_some_and(|served| served.is_relaxed);
    let contexts = contexts(call, &hits).await?;
    let found = hits.iter().zip(&contexts).map(|(hit, context)| rpc::MessageHit {
        hit: rpc::Hit::new(hit, context.iter().map(beside).collect()),
        relaxed: is_relaxed,
    });
    Ok(to_string(&found.collect::<Vec<_>>()))
}

/// `search`: hits, each with its conversation, and how the answer was found.
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
        timeout: Duration::try_from_secs_f64(seconds).map_err(|_| Fail::value("timeout is not a number of seconds"))?,
        ..asked
    };
    let (hits, served) = hits(call, request).await?;
    let contexts = contexts(call, &hits).await?;
    let found = hits.iter().zip(&contexts).map(|(hit, context)| rpc::SearchHit {
        hit: rpc::Hit::new(hit, context.iter().map(beside).collect()),
        conversation: hit.conversation.as_str(),
        title: hit.title.as_deref(),
        score: hit.score,
    });
    Ok(to_string(&rpc::SearchAnswer { hits: found.collect(), served: served.as_ref().map(Into::into) }))
}

/// Parses the arguments that both methods have in common.
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

/// Returns the hits from the offset on, reading page after page.
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

/// Returns for each hit the message before it, itself, and the one after it, in the order of the transcript.
async fn contexts(call: &Call<'_>, hits: &[Hit]) -> Result<Vec<Vec<Message>>, Fail> {
    let places: Vec<_> = hits.iter().map(|hit| (hit.session.clone(), hit.message)).collect();
    Ok(call.store.around(&places).await?)
}

fn beside(message: &Message) -> rpc::ContextMessage<'_> {
    rpc::ContextMessage { role: message.body.role.as_str(), content: said(message) }
}

/// Returns the first characters of a message's text.
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
