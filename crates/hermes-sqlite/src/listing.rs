//! Lists and counts.

use crate::database::Database;
use crate::error::Failure;
use crate::mend;
use crate::row::{Row, time};
use crate::shape::Shape;
use hermes_session::{
    Counts, ListCursor, ListRequest, Listing, Order, SessionFilter, SessionId, SessionSummary, Source, Unreadable, View,
};
use hermes_sql::{columns, decode};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// A page, and whether something in the store should be mended.
pub(crate) fn list(database: &Database, request: &ListRequest) -> Result<(Listing, bool), Failure> {
    let mut listing = Listing::default();
    let limit = request.page.limit();
    if request.after.is_none() && request.page.offset() == 0 && limit > 0 {
        listing.unreadable = nameless(database)?;
    }
    let (sql, values) = page(request, database.shape(), "INDEXED BY hx_sessions_card");
    let mut statement = match database.prepare_cached(&sql) {
        Ok(statement) => statement,
        // Somebody dropped the index: slower, and right.
        Err(_) => database.prepare_cached(&page(request, database.shape(), "").0)?,
    };
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = 0;
    let mut last = None;
    while let Some(row) = rows.next()? {
        found += 1;
        let (first, dirty): (String, i64) = (row.get(MARKS)?, row.get(MARKS + 1)?);
        let first = SessionId::from_stored(first);
        last = time(row, MARKS + 2)?.map(|time| ListCursor { time, id: first.clone() });
        match decode::summary(&Row(row)) {
            Ok(summary) => listing.rows.push(freshen(database, request.view, summary, &first, dirty)?),
            Err(unreadable) => listing.unreadable.push(unreadable),
        }
    }
    listing.next = last.filter(|_| limit > 0 && found == limit);
    Ok((listing, mend::is_needed(database)?))
}

/// Behind the columns of the summary: activity, preview, segments; then the first session, its mark, the time of the order.
const MARKS: usize = 30;

/// The statement of a page. `card` names the index that has all columns of a session that a list shows, or nothing.
fn page(request: &ListRequest, shape: Shape, card: &str) -> (String, Vec<Value>) {
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
        Order::Active => (active, "DESC", "<"),
        Order::Started => ("h.started_at", "DESC", "<"),
        Order::Id => (active, "ASC", ">"),
    };
    // The side table has the order; CROSS JOIN keeps it in front.
    let tables = format!("hx_session h CROSS JOIN sessions r {card} ON r.id = h.session_id");
    let mut sql = format!(
        "SELECT {}, {active}, {preview}, {segments}, h.session_id, h.dirty | coalesce(u.dirty, 2), {key} FROM {tables} \
         LEFT JOIN sessions t {card} ON t.id = {tip} LEFT JOIN hx_session u ON u.session_id = {tip} WHERE 1",
        columns::SUMMARY
    );
    let mut values = Vec::new();
    if request.view == View::Conversations {
        _ = write!(sql, " AND h.root = h.session_id AND {}", shape.is_listed());
    }
    condition(&request.filter, active, &mut sql, &mut values);
    if let Some(cursor) = &request.after {
        if request.order == Order::Id {
            sql.push_str(" AND h.session_id > ?");
        } else {
            _ = write!(sql, " AND ({key}, h.session_id) {after} (?, ?)");
            values.push(cursor.time.seconds().into());
        }
        values.push(text(cursor.id.as_str()));
    }
    if request.order == Order::Id {
        sql.push_str(" ORDER BY h.session_id LIMIT ? OFFSET ?");
    } else {
        _ = write!(sql, " ORDER BY {key} {direction}, h.session_id {direction} LIMIT ? OFFSET ?");
    }
    values.push(i64::from(request.page.limit()).into());
    values.push(i64::try_from(request.page.offset()).unwrap_or(i64::MAX).into());
    (sql, values)
}

/// Adds what a filter asks of the first session `r` and of the activity.
fn condition(filter: &SessionFilter, active: &str, sql: &mut String, values: &mut Vec<Value>) {
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
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Looks up what the row's side row may not know yet, and sums the usage of a conversation.
fn freshen(
    database: &Database,
    view: View,
    mut summary: SessionSummary,
    first: &SessionId,
    dirty: i64,
) -> Result<SessionSummary, Failure> {
    if dirty & 2 != 0 && view == View::Conversations {
        let tip = mend::tip(database, first)?;
        if let Some(tip) = crate::row::session(database, &tip)? {
            summary.id = tip.id;
            summary.model = tip.model;
            summary.title = tip.title;
            (summary.ended_at, summary.end_reason) = (tip.ended_at, tip.end_reason);
            (summary.message_count, summary.tool_call_count) = (tip.message_count, tip.tool_call_count);
        }
    }
    if dirty & 1 != 0 {
        summary.preview = mend::first_preview(database, first)?;
        if summary.preview.is_empty() && summary.id != *first {
            summary.preview = mend::first_preview(database, &summary.id)?;
        }
        summary.last_active =
            summary.last_active.max(mend::last_active(database, first)?.unwrap_or(summary.started_at));
    }
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

/// Rows that a foreign writer left without an id: they can be neither read nor opened, only told of.
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
    let count = |start: &str, active: &str, end: &str| -> Result<u64, Failure> {
        let (mut sql, mut values) = (start.to_owned(), Vec::new());
        condition(filter, active, &mut sql, &mut values);
        sql.push_str(end);
        let number: i64 = database.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?;
        Ok(u64::try_from(number).unwrap_or(0))
    };
    const JOINED: &str = "FROM hx_session h JOIN sessions r ON r.id = h.session_id";
    let sessions = format!("{JOINED} WHERE 1");
    let messages = if *filter == SessionFilter::default() {
        const HIDDEN: &str = "SELECT count(*) FROM messages WHERE session_id IN (SELECT session_id FROM hx_hidden)";
        count(&format!("SELECT (SELECT count(*) FROM messages) - ({HIDDEN})"), "", "")?
    } else {
        count(
            &format!("SELECT count(*) FROM messages WHERE session_id IN (SELECT h.session_id {sessions}"),
            "h.last_active",
            ")",
        )?
    };
    Ok(Counts {
        conversations: count(
            &format!(
                "SELECT count(*) {JOINED} LEFT JOIN sessions t ON t.id = h.tip WHERE h.root = h.session_id AND {}",
                database.shape().is_listed()
            ),
            "h.active",
            "",
        )?,
        sessions: count(&format!("SELECT count(*) {sessions}"), "h.last_active", "")?,
        messages,
    })
}
