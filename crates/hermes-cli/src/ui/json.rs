//! Sessions and reports as JSON objects, for programs. Names are those of the table's columns, times are doubles.

pub(crate) mod changes;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod insights;
pub(crate) mod marks;
pub(crate) mod repaired;
pub(crate) mod store;
pub(crate) mod trash;

use crate::reports::Optimized;
use hermes_rescue::BackupRestored;
use hermes_session::json::ObjectWriter;
use hermes_session::search::matching::Tier;
use hermes_session::search::{Hit, Neighbour, SearchAnswer, Way};
use hermes_session::{
    BackupReport, Check, Json, Listing, Report, Room, Session, SessionId, SessionSummary, SourceStatistics,
    StateCounts, Statistics, StoreStatus, Timestamp, Usage,
};
use hermes_store::Shrunk;
use hermes_terminal::highlight::Delimiters;
use hermes_terminal::transcript::Segments;

/// A list that is to be filled, and what is behind its start.
const EMPTY: &str = "[]";
const EMPTY_END: &str = "]}";

/// The version of every object below.
pub(super) const SCHEMA: i64 = 1;

/// A page of a list.
pub(crate) fn listing(listing: &Listing, is_more: bool) -> String {
    let rows: Vec<String> = listing.rows.iter().map(summary).collect();
    let unreadable = listing.unreadable.iter().map(|row| {
        let mut object = ObjectWriter::new();
        object.text("table", Some(row.table)).text("id", Some(&row.id)).text("why", Some(&row.why));
        object.finish()
    });
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("sessions", &array(rows))
        .raw("unreadable", &array(unreadable))
        .raw("more", boolean(is_more));
    object.finish()
}

/// How much a store holds. What was not measured is null.
pub(crate) fn statistics(status: &StoreStatus, statistics: &Statistics, room: Option<&Room>) -> String {
    let sources = statistics.sources.iter().map(|(source, counts)| {
        let mut object = ObjectWriter::new();
        object.text("source", Some(source.as_str()));
        counted(&mut object, *counts);
        object.finish()
    });
    let models = statistics.models.iter().map(|(model, told)| {
        let mut object = ObjectWriter::new();
        object.text("model", model.as_deref()).raw("sessions", &told.sessions.to_string());
        tokens(&mut object, &told.usage);
        object.raw("cost_usd", &double(told.cost_usd));
        object.finish()
    });
    let size = |bytes: Option<u64>| bytes.map_or_else(|| "null".into(), |bytes| bytes.to_string());
    let mut bytes = ObjectWriter::new();
    bytes
        .raw("store", &status.bytes.to_string())
        .raw("free", &status.free_bytes.to_string())
        .raw("messages", &size(room.map(Room::text)))
        .raw("indexes", &size(room.map(|room| room.indexes)))
        .raw("log", &size(room.map(|room| room.log)));
    let total = statistics.total();
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("provider", Some(status.provider))
        .text("location", Some(&status.location));
    counted(&mut object, total);
    object
        .raw("open", &total.sessions.saturating_sub(statistics.ended).to_string())
        .raw("ended", &statistics.ended.to_string())
        .raw("oldest", &time(statistics.oldest))
        .raw("newest", &time(statistics.newest))
        .raw("sources", &array(sources))
        .raw("models", &array(models))
        .raw("bytes", &bytes.finish());
    object.finish()
}

fn counted(object: &mut ObjectWriter, counts: SourceStatistics) {
    object
        .raw("conversations", &counts.conversations.to_string())
        .raw("sessions", &counts.sessions.to_string())
        .raw("messages", &counts.messages.to_string());
}

/// What stands before and behind the messages in the object of a session.
pub(crate) fn around_messages(session: &Session, states: StateCounts, segments: &Segments) -> (String, &'static str) {
    let mut row = ObjectWriter::new();
    row.text("id", Some(session.id.as_str()))
        .text("source", Some(session.source.as_str()))
        .text("user_id", session.user_id.as_deref())
        .text("model", session.model.as_deref())
        .json("model_config", session.model_config.as_ref())
        .text("system_prompt", session.system_prompt.as_deref())
        .text("parent_session_id", session.parent_session_id.as_ref().map(SessionId::as_str))
        .text("relation", Some(session.relation.as_str()))
        .raw("started_at", &time(Some(session.started_at)))
        .raw("ended_at", &time(session.ended_at))
        .text("end_reason", session.end_reason.as_ref().map(|reason| reason.as_str()))
        .raw("message_count", &states.active.to_string())
        .raw("compacted_count", &states.compacted.to_string())
        .raw("undone_count", &states.undone.to_string())
        .raw("tool_call_count", &session.tool_call_count.to_string())
        .text("title", session.title.as_deref());
    usage(&mut row, &session.usage);
    let ids = segments.compressed.iter().map(|id| Json::string(id.as_str()).to_string());
    let faults = session.faults.iter().map(|fault| {
        let mut object = ObjectWriter::new();
        object.text("column", Some(fault.column)).text("why", Some(&fault.why));
        object.finish()
    });
    row.raw("compressed", &array(ids))
        .text("continued_in", segments.continued_in.as_ref().map(SessionId::as_str))
        .raw("unreadable", &array(faults));
    let mut object = ObjectWriter::new();
    object.raw("schema", &SCHEMA.to_string()).raw("session", &row.finish()).raw("messages", EMPTY);
    let mut before = object.finish();
    before.truncate(before.len() - EMPTY_END.len());
    (before, EMPTY_END)
}

/// What verifying a store found.
pub(crate) fn report(report: &Report) -> String {
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("sound", boolean(report.is_sound()))
        .raw("checks", &array(report.checks.iter().map(check)));
    object.finish()
}

fn check(check: &Check) -> String {
    let findings = check.findings.iter().map(|finding| {
        let mut object = ObjectWriter::new();
        object
            .text("severity", Some(finding.severity.as_str()))
            .text("object", Some(&finding.object))
            .text("what", Some(&finding.what));
        object.finish()
    });
    let mut object = ObjectWriter::new();
    object
        .text("name", Some(check.name))
        .raw("looked_at", &check.looked_at.to_string())
        .text("things", Some(check.things))
        .raw("problems", &check.problems.to_string())
        .raw("notes", &check.notes.to_string())
        .raw("findings", &array(findings));
    object.finish()
}

/// What a copy of a store holds.
pub(crate) fn backup(report: &BackupReport) -> String {
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("path", Some(&report.path.display().to_string()))
        .raw("sessions", &report.sessions.to_string())
        .raw("messages", &report.messages.to_string())
        .raw("bytes", &report.bytes.to_string());
    object.finish()
}

/// What is in the place of a store now.
pub(crate) fn backup_restored(restored: &BackupRestored) -> String {
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("sessions", &restored.sessions.to_string())
        .raw("messages", &restored.messages.to_string())
        .raw("bytes", &restored.bytes.to_string())
        .text("kept", restored.kept.as_ref().map(|kept| kept.display().to_string()).as_deref());
    object.finish()
}

/// What optimizing did to a store.
pub(crate) fn optimized(optimized: &Optimized) -> String {
    let shrunk = match optimized.shrunk {
        Shrunk::NotNeeded => "not needed",
        Shrunk::Done => "done",
        Shrunk::InUse => "in use",
        Shrunk::NoRoom => "no room",
    };
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("bytes_before", &optimized.before.bytes.to_string())
        .raw("bytes_after", &optimized.after.bytes.to_string())
        .raw("free_bytes", &optimized.after.free_bytes.to_string())
        .text("shrunk", Some(shrunk));
    object.finish()
}

/// Where the next page of a search starts: behind so many hits, and at which place.
#[derive(Debug, Default)]
pub(crate) struct Next {
    pub(crate) offset: Option<u64>,
    pub(crate) place: Option<String>,
}

/// What a search found.
pub(crate) fn search(query: &str, answer: &SearchAnswer, next: &Next, delimiters: &Delimiters) -> String {
    let way = match answer.served.way {
        Way::Index => "index",
        Way::Scan => "scan",
    };
    let mut served = ObjectWriter::new();
    served
        .text("way", Some(way))
        .raw("relaxed", boolean(answer.served.is_relaxed))
        .raw("partial", boolean(answer.served.is_partial))
        .raw("unindexed", &answer.served.unindexed.to_string());
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("query", Some(query))
        .raw("served", &served.finish())
        .raw("hits", &array(answer.hits.iter().map(|found| hit(found, delimiters))))
        .raw("next_offset", &next.offset.map_or_else(|| "null".into(), |offset| offset.to_string()))
        .text("next", next.place.as_deref());
    object.finish()
}

fn hit(hit: &Hit, delimiters: &Delimiters) -> String {
    let found = delimiters.read(&hit.snippet);
    let places = found.in_characters().into_iter().map(|mark| format!("[{}, {}]", mark.start, mark.end));
    let tier = match hit.tier {
        Tier::Words => "words",
        Tier::Pieces => "pieces",
    };
    let mut object = ObjectWriter::new();
    object
        .raw("id", &hit.message.0.to_string())
        .text("session_id", Some(hit.session.as_str()))
        .text("conversation_id", Some(hit.conversation.as_str()))
        .text("role", Some(hit.role.as_str()))
        .raw("timestamp", &time(Some(hit.said_at)))
        .text("tool_name", hit.tool_name.as_deref())
        .text("source", Some(hit.source.as_str()))
        .text("model", hit.model.as_deref())
        .text("title", hit.title.as_deref())
        .raw("started_at", &time(Some(hit.started_at)))
        .text("tier", Some(tier))
        .raw("score", &double(Some(hit.score)))
        .text("snippet", Some(&found.text))
        .raw("marks", &array(places))
        .raw("before", &neighbour(hit.before.as_ref()))
        .raw("after", &neighbour(hit.after.as_ref()));
    object.finish()
}

fn neighbour(neighbour: Option<&Neighbour>) -> String {
    let Some(neighbour) = neighbour else { return "null".into() };
    let mut object = ObjectWriter::new();
    object.text("role", Some(neighbour.role.as_str())).text("text", Some(&neighbour.text));
    object.finish()
}

fn summary(row: &SessionSummary) -> String {
    let mut object = ObjectWriter::new();
    object
        .text("id", Some(row.id.as_str()))
        .text("conversation", Some(row.conversation.as_str()))
        .raw("segments", &row.segments.to_string())
        .text("source", Some(row.source.as_str()))
        .text("user_id", row.user_id.as_deref())
        .text("model", row.model.as_deref())
        .text("parent_session_id", row.parent_session_id.as_ref().map(SessionId::as_str))
        .text("relation", Some(row.relation.as_str()))
        .raw("started_at", &time(Some(row.started_at)))
        .raw("ended_at", &time(row.ended_at))
        .text("end_reason", row.end_reason.as_ref().map(|reason| reason.as_str()))
        .raw("message_count", &row.messages.to_string())
        .raw("tool_call_count", &row.tool_calls.to_string())
        .text("title", row.title.as_deref());
    usage(&mut object, &row.usage);
    object
        .raw("last_active", &time(Some(row.last_active)))
        .text("preview", Some(&row.preview))
        .raw("pinned_at", &time(row.pinned_at))
        .raw("tags", &marks::list(&row.tags));
    object.finish()
}

fn usage(object: &mut ObjectWriter, usage: &Usage) {
    tokens(object, usage);
    object
        .raw("estimated_cost_usd", &double(usage.estimated_cost_usd))
        .raw("actual_cost_usd", &double(usage.actual_cost_usd))
        .text("cost_status", usage.cost_status.as_deref())
        .text("cost_source", usage.cost_source.as_deref())
        .text("pricing_version", usage.pricing_version.as_deref())
        .text("billing_provider", usage.billing_provider.as_deref())
        .text("billing_base_url", usage.billing_base_url.as_deref())
        .text("billing_mode", usage.billing_mode.as_deref());
}

fn tokens(object: &mut ObjectWriter, usage: &Usage) {
    object
        .raw("input_tokens", &usage.input_tokens.to_string())
        .raw("output_tokens", &usage.output_tokens.to_string())
        .raw("cache_read_tokens", &usage.cache_read_tokens.to_string())
        .raw("cache_write_tokens", &usage.cache_write_tokens.to_string())
        .raw("reasoning_tokens", &usage.reasoning_tokens.to_string())
        .raw("api_call_count", &usage.api_call_count.to_string());
}

const fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn time(at: Option<Timestamp>) -> String {
    double(at.map(Timestamp::seconds))
}

/// A double in the shortest form that reads back bit for bit.
fn double(number: Option<f64>) -> String {
    number.map_or_else(|| "null".into(), |number| serde_json::Value::from(number).to_string())
}

fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}
