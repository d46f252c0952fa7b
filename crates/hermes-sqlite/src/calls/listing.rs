//! Lists and counts.

use crate::calls::hidden::seen;
use crate::calls::pins_and_tags;
use crate::calls::row::{Row, time};
use crate::care::fresh::Decides;
use crate::care::stale::{Stale, place_bit};
use crate::care::{fresh, refresh};
use crate::error::Failure;
use crate::open::shape::Shape;
use crate::write::database::Database;
use hermes_session::extra::Table;
use hermes_session::{
    Archived, Counts, ListCursor, ListRequest, Listing, Order, PageRequest, SessionFilter, SessionId, SessionSummary,
    Source, Timestamp, Unreadable, View,
};
use hermes_sql::{columns, decode, scope};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// Returns a page, and whether stored derived data is stale and should be recomputed by the writer.
pub(crate) fn list(database: &Database, request: &ListRequest) -> Result<(Listing, bool), Failure> {
    let is_stale = refresh::is_needed(database)?;
    Ok((fresh::read(database, Decides::ByPlaceAndTime, |database| rows(database, request))?, is_stale))
}

fn rows(database: &Database, request: &ListRequest) -> Result<Listing, Failure> {
    refuse_unrecorded(database, &request.filter)?;
    let mut listing = Listing::default();
    if request.after.is_none() && request.page.offset() == 0 && request.page.limit() > 0 {
        listing.unreadable = nameless(database)?;
    }
    match request.order {
        Order::Active | Order::Started | Order::Id => {
            let taken = in_order(database, request, request.filter.asks_of_tip(), &mut listing)?;
            listing.next = taken.next(&request.page);
        }
        Order::PinnedFirst => pinned_first(database, request, &mut listing)?,
        Order::Messages | Order::Cost => by_size(database, request, &mut listing)?,
    }
    Ok(listing)
}

/// Fails if the filter asks for a column that the file lacks, or of which no session has a value.
fn refuse_unrecorded(database: &Database, filter: &SessionFilter) -> Result<(), Failure> {
    for asked in &filter.recorded {
        let column = asked.field.column();
        let sql = format!("SELECT 1 FROM sessions s WHERE s.\"{column}\" IS NOT NULL AND {}", seen!());
        if !database.extras().has(Table::Sessions, column) || !database.prepare_cached(&sql)?.exists([])? {
            return Err(asked.field.not_recorded().into());
        }
    }
    Ok(())
}

/// The rows that [`in_order`] took of a list.
#[derive(Default)]
struct Taken {
    /// How many rows of the offset were passed over, if they were counted here.
    passed: u64,
    /// How many rows were taken, unreadable ones included.
    count: u32,
    /// The place of the last one.
    last: Option<ListCursor>,
}

impl Taken {
    /// Returns where the next page starts; `None` if this one is not full.
    fn next(self, page: &PageRequest) -> Option<ListCursor> {
        self.last.filter(|_| page.limit() > 0 && self.count == page.limit())
    }
}

/// Adds the pinned rows of the page, then the others. Both parts come in the order of an index; of the pinned ones,
/// which are few, all up to the end of the page are read, so that the offset of the other part is known.
fn pinned_first(database: &Database, request: &ListRequest, listing: &mut Listing) -> Result<(), Failure> {
    let [pinned, others] = request.pinned_parts();
    let mut taken = Taken::default();
    if let Some(pinned) = pinned.filter(|_| database.shape().pins_and_tags) {
        taken = in_order(database, &pinned, true, listing)?;
        taken.last = taken.last.map(|last| ListCursor { is_pinned: true, ..last });
    }
    let page = request.page.rest(taken.passed, taken.count);
    if let Some(others) = others.filter(|_| page.limit() > 0) {
        let others = ListRequest { page, ..others };
        let more = in_order(database, &others, others.filter.asks_of_tip(), listing)?;
        taken = Taken { passed: 0, count: taken.count + more.count, last: more.last.or(taken.last) };
    }
    listing.next = taken.next(&request.page);
    Ok(())
}

/// Adds the page in an order that the side table has. If it `is_sifted`, rows are counted here and not by the
/// statement.
fn in_order(
    database: &Database,
    request: &ListRequest,
    is_sifted: bool,
    listing: &mut Listing,
) -> Result<Taken, Failure> {
    let bounds = if is_sifted { Bounds::All } else { Bounds::Page };
    let mut taken = Taken::default();
    walk(database, request, bounds, |place, row, stale| {
        if is_sifted && taken.count == request.page.limit() {
            return Ok(ControlFlow::Break(()));
        }
        if is_sifted && taken.passed < request.page.offset() {
            taken.passed += 1;
            return Ok(ControlFlow::Continue(()));
        }
        taken.count += 1;
        match row {
            Ok(summary) => listing.rows.push(whole(database, request.view, summary, &place.id, stale)?),
            Err(unreadable) => listing.unreadable.push(unreadable),
        }
        taken.last = Some(place);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(taken)
}

/// Adds the page in an order that no index has: reads every row, keeps its sort key, then reads the rows of the page.
fn by_size(database: &Database, request: &ListRequest, listing: &mut Listing) -> Result<(), Failure> {
    let every = ListRequest { order: Order::Id, after: None, ..request.clone() };
    let mut places = Vec::new();
    walk(database, &every, Bounds::All, |place, row, _| {
        match row {
            Ok(summary) if request.order == Order::Cost => {
                let summary = with_usage(database, summary, &place.id)?;
                places.push((request.order.key(&summary) + 0.0, place.id));
            }
            Ok(mut summary) => {
                count_messages(database, request.view, &mut summary, &place.id)?;
                places.push((request.order.key(&summary), place.id));
            }
            // An unreadable row has no place in the order, so it is reported on the first page.
            Err(unreadable) if request.after.is_none() && request.page.offset() == 0 => {
                listing.unreadable.push(unreadable);
            }
            Err(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let compare =
        |one: &(f64, SessionId), other: &(f64, SessionId)| other.0.total_cmp(&one.0).then_with(|| other.1.cmp(&one.1));
    places.sort_by(compare);
    if let Some(after) = &request.after {
        let after = (after.key + 0.0, after.id.clone());
        places.retain(|place| compare(place, &after).is_gt());
    }
    let (limit, offset) = (request.page.limit() as usize, usize::try_from(request.page.offset()).unwrap_or(usize::MAX));
    let page: Vec<_> = places.into_iter().skip(offset).take(limit).collect();
    for (_, id) in &page {
        walk(database, &every, Bounds::One(id), |place, row, stale| {
            if let Ok(summary) = row {
                listing.rows.push(whole(database, request.view, summary, &place.id, stale)?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let is_full = limit > 0 && page.len() == limit;
    listing.next = page.into_iter().last().filter(|_| is_full).map(|(key, id)| ListCursor::new(key, id));
    Ok(())
}

/// Selects some of the rows that a request matches.
#[derive(Clone, Copy)]
enum Bounds<'a> {
    /// The rows of its page.
    Page,
    /// All rows.
    All,
    /// The row that starts with this session.
    One(&'a SessionId),
}

/// Calls `each` for the rows of a list, with the place of the row and what of it is stale; [`whole`] completes it.
fn walk(
    database: &Database,
    request: &ListRequest,
    bounds: Bounds<'_>,
    mut each: impl FnMut(ListCursor, Result<SessionSummary, Unreadable>, Stale) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let (sql, values) = page(request, bounds, database.shape(), "INDEXED BY hx_sessions_card");
    let mut statement = match database.prepare_cached(&sql) {
        Ok(statement) => statement,
        // A foreign writer dropped the index: the answer is the same, but slower.
        Err(_) => database.prepare_cached(&page(request, bounds, database.shape(), "").0)?,
    };
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        let (first, stale): (String, Stale) = (row.get(AFTER_SUMMARY)?, row.get(AFTER_SUMMARY + 1)?);
        let first = SessionId::from_stored(first);
        let key = time(row, AFTER_SUMMARY + 2)?.map_or(0.0, Timestamp::seconds);
        let read = match decode::summary(&Row(row)) {
            Ok(mut summary) => {
                summary.is_archived = row.get(AFTER_SUMMARY + 3)?;
                let summary = at_tip(database, request.view, summary, &first, stale)?;
                if !request.filter.admits_tip(summary.model.as_deref(), summary.title.as_deref()) {
                    continue;
                }
                Ok(summary)
            }
            Err(unreadable) => Err(unreadable),
        };
        if each(ListCursor::new(key, first), read, stale)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// First column after those of the summary: activity, preview, segments; then the first session, the stale bits, the
/// time of the order, and whether the conversation is archived.
const AFTER_SUMMARY: usize = 30;

/// Returns the statement for a page, or for other rows. `card` names the index that covers all columns of a session
/// that a list shows, or is empty.
fn page(request: &ListRequest, bounds: Bounds<'_>, shape: Shape, card: &str) -> (String, Vec<Value>) {
    let (active, preview, segments, tip) = match request.view {
        View::Conversations => (
            "h.active",
            "CASE WHEN h.preview <> '' THEN h.preview ELSE u.preview END",
            "(SELECT count(*) FROM hx_session x WHERE x.root = h.session_id)",
            "h.tip",
        ),
        View::Sessions => ("h.last_active", "h.preview", "1", "h.session_id"),
    };
    let (key, direction, after) = match request.order {
        Order::Active | Order::PinnedFirst => (active, "DESC", "<"),
        Order::Started => ("h.started_at", "DESC", "<"),
        // Rows in an order that no index has are sorted elsewhere.
        Order::Id | Order::Messages | Order::Cost => (active, "ASC", ">"),
    };
    // The side table has the order; CROSS JOIN keeps it as the outer table.
    let tables = format!("hx_session h CROSS JOIN sessions r {card} ON r.id = h.session_id");
    let mut sql = format!(
        "SELECT {}, {active}, {preview}, {segments}, h.session_id, h.dirty | coalesce(u.dirty, {}), {key}, {} FROM {tables} \
         LEFT JOIN sessions t {card} ON t.id = {tip} LEFT JOIN hx_session u ON u.session_id = {tip} WHERE 1",
        columns::SUMMARY,
        place_bit!(),
        archived(shape, request.view)
    );
    let mut values = Vec::new();
    if request.view == View::Conversations {
        sql.push_str(" AND h.root = h.session_id");
    }
    sql.push_str(&archived_condition(shape, request.view, request.filter.archived));
    condition(shape, &request.filter, active, &mut sql, &mut values);
    if let Some(cursor) = &request.after {
        if request.order == Order::Id {
            sql.push_str(" AND h.session_id > ?");
        } else {
            _ = write!(sql, " AND ({key}, h.session_id) {after} (?, ?)");
            values.push(cursor.key.into());
        }
        values.push(text(cursor.id.as_str()));
    }
    if let Bounds::One(id) = bounds {
        sql.push_str(" AND h.session_id = ?");
        values.push(text(id.as_str()));
    } else if request.order == Order::Id {
        sql.push_str(" ORDER BY h.session_id");
    } else {
        _ = write!(sql, " ORDER BY {key} {direction}, h.session_id {direction}");
    }
    if let Bounds::Page = bounds {
        sql.push_str(" LIMIT ? OFFSET ?");
        values.push(i64::from(request.page.limit()).into());
        values.push(i64::try_from(request.page.offset()).unwrap_or(i64::MAX).into());
    }
    (sql, values)
}

/// Returns the expression that the conversation of a row is archived: that of its first session.
fn archived(shape: Shape, view: View) -> String {
    match (shape.archived || shape.archived_beside, view) {
        (false, _) => "0".to_owned(),
        (true, View::Conversations) => shape.is_archived("r"),
        (true, View::Sessions) => {
            format!("coalesce((SELECT {} FROM sessions f WHERE f.id = h.root), 0)", shape.is_archived("f"))
        }
    }
}

/// Returns the condition that a filter has on that, with an `AND` before it.
fn archived_condition(shape: Shape, view: View, asked: Archived) -> String {
    match [false, true].map(|is_archived| asked.admits(view, is_archived)) {
        [true, false] => format!(" AND NOT {}", archived(shape, view)),
        [false, true] => format!(" AND {}", archived(shape, view)),
        [true, true] | [false, false] => String::new(),
    }
}

/// Adds the conditions of a filter on the first session `r` and on the activity.
fn condition(shape: Shape, filter: &SessionFilter, active: &str, sql: &mut String, values: &mut Vec<Value>) {
    let mut among = |sql: &mut String, not: &str, sources: &[Source]| {
        let places = vec!["?"; sources.len()].join(", ");
        _ = write!(sql, " AND r.source {not} IN ({places})");
        values.extend(sources.iter().map(|source| text(source.as_str())));
    };
    if let Some(sources) = &filter.sources {
        among(sql, "", sources);
    }
    if !filter.exclude_sources.is_empty() {
        among(sql, "NOT", &filter.exclude_sources);
    }
    if let Some(user) = &filter.user_id {
        sql.push_str(" AND r.user_id = ?");
        values.push(text(user));
    }
    for (bound, comparison) in [(filter.active_since, ">="), (filter.active_before, "<")] {
        if let Some(bound) = bound {
            _ = write!(sql, " AND {active} {comparison} ?");
            values.push(bound.seconds().into());
        }
    }
    for asked in &filter.recorded {
        let column = format!("r.\"{}\"", asked.field.column());
        match asked.prefix() {
            None => _ = write!(sql, " AND {column} = ?"),
            Some(prefix) => {
                _ = write!(sql, " AND (substr({column}, 1, {}) = ? OR {column} = ?)", prefix.chars().count());
                values.push(text(&prefix));
            }
        }
        values.push(text(&asked.value));
    }
    let mut bind = |value: &str| {
        values.push(text(value));
        "?".to_owned()
    };
    sql.push_str(&scope::condition(&filter.scope, "h.root", ToOwned::to_owned, &mut bind));
    sql.push_str(&pins_and_tags::condition(shape, filter, &mut bind));
    if let Some(sessions) = &filter.conversations {
        sql.push_str(&scope::part_of(sessions, "h.root", bind));
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Looks up the tip of a conversation if its stored place is stale.
fn at_tip(
    database: &Database,
    view: View,
    mut summary: SessionSummary,
    first: &SessionId,
    stale: Stale,
) -> Result<SessionSummary, Failure> {
    if stale.place && view == View::Conversations {
        let tip = refresh::tip(database, first)?;
        if let Some(tip) = crate::calls::row::session(database, &tip)? {
            summary.id = tip.id;
            summary.model = tip.model;
            summary.title = tip.title;
            (summary.ended_at, summary.end_reason) = (tip.ended_at, tip.end_reason);
            (summary.message_count, summary.tool_call_count) = (tip.message_count, tip.tool_call_count);
        }
    }
    Ok(summary)
}

/// Looks up the preview if it is stale, and the pins and tags, and sums the usage. Times are fresh here.
fn whole(
    database: &Database,
    view: View,
    mut summary: SessionSummary,
    first: &SessionId,
    stale: Stale,
) -> Result<SessionSummary, Failure> {
    if stale.preview {
        summary.preview = refresh::first_preview(database, first)?;
        if summary.preview.is_empty() && summary.id != *first {
            summary.preview = refresh::first_preview(database, &summary.id)?;
        }
    }
    pins_and_tags::fill(database, &mut summary)?;
    count_messages(database, view, &mut summary, first)?;
    with_usage(database, summary, first)
}

/// Counts the active messages and the tool calls of the sessions that a row stands for.
fn count_messages(
    database: &Database,
    view: View,
    summary: &mut SessionSummary,
    first: &SessionId,
) -> Result<(), Failure> {
    let (members, is_active) = (
        match view {
            View::Conversations => "SELECT session_id FROM hx_session WHERE root = ?1",
            View::Sessions => "SELECT ?1",
        },
        database.shape().in_transcript(),
    );
    // total() and not sum(): a foreign writer may have left numbers whose sum overflows.
    if summary.segments > 1 {
        let sql = format!(
            "SELECT CAST(total(message_count) AS INTEGER), CAST(total(tool_call_count) AS INTEGER) FROM sessions \
             WHERE id IN ({members})"
        );
        (summary.messages, summary.tool_calls) =
            database.prepare_cached(&sql)?.query_row([first.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    } else {
        (summary.messages, summary.tool_calls) = (summary.message_count, summary.tool_call_count);
    }
    if is_active != "1" {
        let sql = format!("SELECT count(*) FROM messages WHERE session_id IN ({members}) AND {is_active}");
        summary.messages = database.prepare_cached(&sql)?.query_row([first.as_str()], |row| row.get(0))?;
    }
    Ok(())
}

/// Sums the usage of the sessions that a row stands for.
fn with_usage(database: &Database, mut summary: SessionSummary, first: &SessionId) -> Result<SessionSummary, Failure> {
    if summary.segments > 1 {
        static MEMBERS: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {} FROM hx_session h JOIN sessions s ON s.id = h.session_id WHERE h.root = ?1 AND h.session_id <> ?1 \
                 ORDER BY h.session_id",
                columns::USAGE
            )
        });
        let mut statement = database.prepare_cached(&MEMBERS)?;
        let mut rows = statement.query(params![first.as_str()])?;
        while let Some(row) = rows.next()? {
            summary.usage = summary.usage.plus(&decode::usage(&Row(row)));
        }
    }
    Ok(summary)
}

/// Returns rows that a foreign writer left without an id. They can only be reported, neither read nor opened.
fn nameless(database: &Database) -> Result<Vec<Unreadable>, Failure> {
    let mut statement = database.prepare_cached("SELECT rowid FROM sessions WHERE id IS NULL LIMIT 100")?;
    let rows = statement.query_map([], |row| row.get::<_, i64>(0))?;
    let tell = |rowid: i64| Unreadable {
        table: "sessions",
        id: format!("rowid {rowid}"),
        why: "the id is missing".to_owned(),
    };
    Ok(rows.map(|rowid| rowid.map(tell)).collect::<Result<_, _>>()?)
}

pub(crate) fn counts(database: &Database, filter: &SessionFilter) -> Result<Counts, Failure> {
    fresh::read(database, Decides::ByPlaceAndTime, |database| count(database, filter))
}

fn count(database: &Database, filter: &SessionFilter) -> Result<Counts, Failure> {
    refuse_unrecorded(database, filter)?;
    if filter.asks_of_tip() {
        return counts_of_rows(database, filter);
    }
    let count = |start: &str, active: &str, end: &str| -> Result<u64, Failure> {
        let (mut sql, mut values) = (start.to_owned(), Vec::new());
        condition(database.shape(), filter, active, &mut sql, &mut values);
        sql.push_str(end);
        let number: i64 = database.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?;
        Ok(u64::try_from(number).unwrap_or(0))
    };
    const JOINED: &str = "FROM hx_session h JOIN sessions r ON r.id = h.session_id";
    let of = |view| archived_condition(database.shape(), view, filter.archived);
    let sessions = format!("{JOINED} WHERE 1{}", of(View::Sessions));
    let every = database.shape().every_message();
    let messages = if *filter == SessionFilter::default() {
        let hidden = format!("SELECT count(*) FROM {every} WHERE session_id IN (SELECT session_id FROM hx_hidden)");
        count(&format!("SELECT (SELECT count(*) FROM {every}) - ({hidden})"), "", "")?
    } else {
        count(
            &format!("SELECT count(*) FROM {every} WHERE session_id IN (SELECT h.session_id {sessions}"),
            "h.last_active",
            ")",
        )?
    };
    Ok(Counts {
        conversations: count(
            &format!("SELECT count(*) {JOINED} WHERE h.root = h.session_id{}", of(View::Conversations)),
            "h.active",
            "",
        )?,
        sessions: count(&format!("SELECT count(*) {sessions}"), "h.last_active", "")?,
        messages,
    })
}

/// Counts row by row, for a filter that depends on the tip of a conversation.
fn counts_of_rows(database: &Database, filter: &SessionFilter) -> Result<Counts, Failure> {
    let mut counts = Counts::default();
    let request = |view| ListRequest { view, order: Order::Id, filter: filter.clone(), ..ListRequest::default() };
    walk(database, &request(View::Conversations), Bounds::All, |_, _, _| {
        counts.conversations += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    let every = database.shape().every_message();
    let mut messages = database.prepare_cached(&format!("SELECT count(*) FROM {every} WHERE session_id = ?"))?;
    walk(database, &request(View::Sessions), Bounds::All, |place, _, _| {
        counts.sessions += 1;
        counts.messages += messages.query_row([place.id.as_str()], |row| row.get::<_, i64>(0))?.unsigned_abs();
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(counts)
}

#[cfg(test)]
mod tests;
