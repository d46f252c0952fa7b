//! Lists and counts.

use super::pins_and_tags::add_tags;
use super::row::Restored;
use super::{Dialect, Fields as _, LIST, Sql, Value, among, list as places};
use crate::{columns, decode, pins_and_tags, scope, values};
use hermes_session::{
    Archived, Counts, Extra, ListCursor, ListRequest, Listing, Order, PageRequest, SessionFilter, SessionId,
    SessionSummary, Timestamp, View,
};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Implements `list` of the contract.
pub async fn list<T: Sql>(transaction: &T, request: &ListRequest) -> Result<Listing, T::Failure> {
    refuse_unrecorded(transaction, &request.filter).await?;
    let rows = match request.order {
        Order::PinnedFirst => pinned_first(transaction, request).await?,
        _ => in_order(transaction, request).await?,
    };
    let limit = request.page.limit() as usize;
    let next = rows.last().filter(|_| limit > 0 && rows.len() == limit).map(|row| row.place.clone());
    Ok(Listing { rows: rows.into_iter().map(|row| row.summary).collect(), unreadable: Vec::new(), next })
}

/// Returns the page of a list with pinned rows first. There are few of these, so all are read, which gives the offset
/// of the others.
async fn pinned_first<T: Sql>(transaction: &T, request: &ListRequest) -> Result<Vec<Placed>, T::Failure> {
    let [pinned, others] = request.pinned_parts();
    let (mut page, mut found) = (request.page.clone(), Vec::new());
    if let Some(pinned) = pinned {
        let mut rows = rows(transaction, &pinned, false).await?;
        rows.retain(|row| pinned.filter.admits(&row.summary));
        let passed = rows.len().min(usize::try_from(page.offset()).unwrap_or(usize::MAX));
        found = rows.into_iter().skip(passed).take(page.limit() as usize).collect();
        found.iter_mut().for_each(|row| row.place.is_pinned = true);
        add_usage(transaction, request.view, &mut found).await?;
        page = page.rest(passed as u64, found.len() as u32);
    }
    if let Some(others) = others.filter(|_| page.limit() > 0) {
        found.extend(in_order(transaction, &ListRequest { page, ..others }).await?);
    }
    Ok(found)
}

/// Returns the page of a list in any other order.
async fn in_order<T: Sql>(transaction: &T, request: &ListRequest) -> Result<Vec<Placed>, T::Failure> {
    let is_by_size = matches!(request.order, Order::Messages | Order::Cost);
    // Pieces of titles and models are compared by the domain's rules, and size is not a column. Such requests read all
    // rows and filter here.
    let is_sifted = is_by_size || is_decided_here(&request.filter);
    let mut rows = rows(transaction, request, !is_sifted).await?;
    if is_by_size || !is_sifted {
        add_usage(transaction, request.view, &mut rows).await?;
    }
    if is_sifted {
        rows.retain(|row| request.filter.admits(&row.summary));
    }
    if is_by_size {
        let key = |row: &Placed| request.order.key(&row.summary) + 0.0;
        let compare = |one: (f64, &SessionId), other: (f64, &SessionId)| {
            other.0.total_cmp(&one.0).then_with(|| other.1.cmp(one.1))
        };
        rows.sort_by(|one, other| compare((key(one), &one.place.id), (key(other), &other.place.id)));
        rows.iter_mut().for_each(|row| row.place.key = request.order.key(&row.summary) + 0.0);
        if let Some(after) = &request.after {
            rows.retain(|row| compare((row.place.key, &row.place.id), (after.key + 0.0, &after.id)).is_gt());
        }
    }
    let limit = request.page.limit() as usize;
    if is_sifted {
        let offset = usize::try_from(request.page.offset()).unwrap_or(usize::MAX);
        rows = rows.into_iter().skip(offset).take(limit).collect();
        if !is_by_size {
            add_usage(transaction, request.view, &mut rows).await?;
        }
    }
    Ok(rows)
}

/// Returns whether only the domain can evaluate the filter: it compares titles, and reads columns of newer agents.
const fn is_decided_here(filter: &SessionFilter) -> bool {
    filter.asks_of_tip() || !filter.recorded.is_empty()
}

/// Fails if the filter asks for a column of which no session has a value.
async fn refuse_unrecorded<T: Sql>(transaction: &T, filter: &SessionFilter) -> Result<(), T::Failure> {
    for asked in &filter.recorded {
        // The stored JSON has one spelling, in which a quotation mark within a value is escaped.
        let member = format!("%\"{}\": %", asked.field.column());
        if transaction
            .row("SELECT 1 FROM sessions WHERE extra LIKE $1 LIMIT 1", values![member.as_str()])
            .await?
            .is_none()
        {
            return Err(asked.field.not_recorded().into());
        }
    }
    Ok(())
}

/// A row and its position in the list.
struct Placed {
    summary: SessionSummary,
    place: ListCursor,
}

/// Index of the columns after the summary's (which end with activity, preview and segments): the first session, the
/// time that orders the list, the time of the pin, whether there are tags, whether it is archived, and the columns of
/// newer agents if the filter asks for them.
const AFTER_SUMMARY: usize = 30;

/// Returns the rows of a page, or all rows that the filter may admit. Usage is that of the first session only.
async fn rows<T: Sql>(transaction: &T, request: &ListRequest, is_page: bool) -> Result<Vec<Placed>, T::Failure> {
    let (sql, values) = page(transaction.dialect(), request, is_page);
    let (mut placed, mut are_tagged) = (Vec::new(), Vec::new());
    for row in transaction.rows(&sql, values).await? {
        let place = ListCursor::new(row.try_get(AFTER_SUMMARY + 1)?, row.id(AFTER_SUMMARY)?);
        let mut summary = decode::summary(&Restored::new(&row))?;
        summary.pinned_at = row.try_get::<Option<f64>>(AFTER_SUMMARY + 2)?.map(Timestamp::from_seconds).transpose()?;
        summary.is_archived = row.try_get(AFTER_SUMMARY + 4)?;
        if !request.filter.recorded.is_empty() {
            let extra = row.try_get::<Option<String>>(AFTER_SUMMARY + 5)?.map(|text| Extra::from_json(&text));
            let extra = extra.and_then(Result::ok).unwrap_or_default();
            if !request.filter.recorded.iter().all(|asked| asked.admits(&extra)) {
                continue;
            }
        }
        are_tagged.push(row.try_get::<bool>(AFTER_SUMMARY + 3)?);
        placed.push(Placed { summary, place });
    }
    if are_tagged.contains(&true) {
        let tagged = placed.iter_mut().zip(are_tagged).filter(|(_, is_tagged)| *is_tagged);
        add_tags(transaction, tagged.map(|(row, _)| &mut row.summary).collect()).await?;
    }
    Ok(placed)
}

fn page(dialect: &Dialect, request: &ListRequest, is_page: bool) -> (String, Vec<Value>) {
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
        Order::Id | Order::Messages | Order::Cost => (active, "ASC", ">"),
    };
    let archived = archived(request.view);
    let extra = if request.filter.recorded.is_empty() { "" } else { ", r.extra" };
    let mut sql = format!(
        "SELECT {}, {active}, {preview}, {segments}, h.session_id, {key}, \
         (SELECT hp.pinned_at FROM hx_pin hp WHERE hp.session_id = h.root), \
         EXISTS (SELECT 1 FROM hx_tag ht WHERE ht.session_id = h.root), {archived} <> 0{extra} FROM hx_session h JOIN sessions r ON r.id = h.session_id \
         JOIN sessions t ON t.id = {tip} JOIN hx_session u ON u.session_id = {tip} WHERE true",
        columns::SUMMARY
    );
    let mut values = Vec::new();
    if request.view == View::Conversations {
        _ = write!(sql, " AND {}", dialect.is_root);
    }
    sql.push_str(&archived_condition(request.view, request.filter.archived));
    condition(dialect, &request.filter, active, &mut sql, &mut values);
    if let Some(cursor) = request.after.as_ref().filter(|_| !matches!(request.order, Order::Messages | Order::Cost)) {
        if request.order == Order::Id {
            _ = write!(sql, " AND h.session_id > ${}", values.len() + 1);
        } else {
            // Not a comparison of row values, which not every server answers from an index.
            let (time, id) = (values.len() + 1, values.len() + 2);
            _ = write!(sql, " AND {key} {after}= ${time} AND ({key} {after} ${time} OR h.session_id {after} ${id})");
            values.push(cursor.key.into());
        }
        values.push(cursor.id.as_str().into());
    }
    if request.order == Order::Id {
        sql.push_str(" ORDER BY h.session_id");
    } else {
        _ = write!(sql, " ORDER BY {key} {direction}, h.session_id {direction}");
    }
    if is_page {
        _ = write!(sql, " LIMIT ${} OFFSET ${}", values.len() + 1, values.len() + 2);
        values.push(request.page.limit().into());
        values.push(i64::try_from(request.page.offset()).unwrap_or(i64::MAX).into());
    }
    (sql, values)
}

/// Returns the expression that the conversation of a row is archived: that of its first session.
const fn archived(view: View) -> &'static str {
    match view {
        View::Conversations => "r.archived",
        View::Sessions => "coalesce((SELECT f.archived FROM sessions f WHERE f.id = h.root), r.archived)",
    }
}

/// Returns the condition that a filter has on that, preceded by `AND`.
fn archived_condition(view: View, asked: Archived) -> String {
    match [false, true].map(|is_archived| asked.admits(view, is_archived)) {
        [true, false] => format!(" AND {} = 0", archived(view)),
        [false, true] => format!(" AND {} <> 0", archived(view)),
        [true, true] | [false, false] => String::new(),
    }
}

/// Adds the conditions of a filter on the first session `r` and the activity. Those on title and model of the tip are
/// left to [`SessionFilter::admits`].
fn condition(dialect: &Dialect, filter: &SessionFilter, active: &str, sql: &mut String, values: &mut Vec<Value>) {
    for (sources, is_in) in [(filter.sources.as_deref(), "IN"), (Some(&*filter.exclude_sources), "NOT IN")] {
        match sources {
            None => {}
            Some([]) if is_in == "IN" => sql.push_str(" AND FALSE"),
            Some([]) => {}
            Some(sources) => {
                // Compared as bytes: a text comparison may ignore trailing blanks.
                let list = places(values.len() + 1, sources.len());
                _ = write!(sql, " AND {} {is_in} ({list})", (dialect.exact)("r.source"));
                values.extend(sources.iter().map(|source| Value::from(source.as_str())));
            }
        }
    }
    if let Some(user) = &filter.user_id {
        values.push(crate::stored::without_nul(user).as_ref().into());
        _ = write!(sql, " AND {} = ${}", (dialect.exact)("r.user_id"), values.len());
    }
    for (bound, comparison) in [(filter.active_since, ">="), (filter.active_before, "<")] {
        if let Some(bound) = bound {
            values.push(bound.seconds().into());
            _ = write!(sql, " AND {active} {comparison} ${}", values.len());
        }
    }
    let mut bind = |value: &str| {
        values.push(crate::stored::without_nul(value).as_ref().into());
        format!("${}", values.len())
    };
    sql.push_str(&scope::condition(&filter.scope, "h.root", dialect.exact, &mut bind));
    sql.push_str(&pins_and_tags::condition(filter, "h.root", &mut bind));
    if let Some(sessions) = &filter.conversations {
        sql.push_str(&scope::part_of(sessions, "h.root", bind));
    }
}

/// Counts the active messages of the sessions of each row.
async fn count_messages<T: Sql>(transaction: &T, view: View, rows: &mut [Placed]) -> Result<(), T::Failure> {
    let place = match view {
        View::Conversations => "h.root",
        View::Sessions => "h.session_id",
    };
    let ids: Vec<String> = rows.iter().map(|row| row.place.id.as_str().to_owned()).collect();
    let mut counts: HashMap<String, i64> = HashMap::new();
    for some in ids.chunks(LIST) {
        let (condition, values) = among(place, 1, some.iter().map(String::as_str));
        let sql = format!(
            "SELECT {place}, count(*) FROM hx_session h JOIN messages m ON m.session_id = h.session_id \
             WHERE {condition} AND m.active <> 0 GROUP BY {place}"
        );
        for row in transaction.rows(&sql, values).await? {
            counts.insert(row.try_get(0)?, row.try_get(1)?);
        }
    }
    for row in rows {
        row.summary.messages = counts.get(row.place.id.as_str()).copied().unwrap_or(0);
    }
    Ok(())
}

/// Counts the messages and sums usage and tool calls of the sessions of each row.
async fn add_usage<T: Sql>(transaction: &T, view: View, rows: &mut [Placed]) -> Result<(), T::Failure> {
    count_messages(transaction, view, rows).await?;
    let roots: Vec<String> = match view {
        View::Sessions => return Ok(()),
        View::Conversations => {
            rows.iter().filter(|row| row.summary.segments > 1).map(|row| row.place.id.as_str().to_owned()).collect()
        }
    };
    let mut members: HashMap<String, Vec<T::Row>> = HashMap::new();
    for some in roots.chunks(LIST) {
        let (condition, values) = among("h.root", 1, some.iter().map(String::as_str));
        let sql = format!(
            "SELECT {}, h.root, s.tool_call_count, h.session_id FROM hx_session h JOIN sessions s ON s.id = h.session_id \
             WHERE {condition} ORDER BY h.session_id",
            columns::USAGE
        );
        for row in transaction.rows(&sql, values).await? {
            members.entry(row.try_get(14)?).or_default().push(row);
        }
    }
    for row in rows {
        let Some(members) = members.remove(row.place.id.as_str()) else { continue };
        row.summary.tool_calls = 0;
        for member in members {
            row.summary.tool_calls += member.try_get::<i64>(15)?;
            // The row already has the usage of the first session.
            if member.id(16)? != row.place.id {
                row.summary.usage = row.summary.usage.clone().plus(&decode::usage(&Restored::new(&member)));
            }
        }
    }
    Ok(())
}

/// Implements `counts` of the contract.
pub async fn counts<T: Sql>(transaction: &T, filter: &SessionFilter) -> Result<Counts, T::Failure> {
    refuse_unrecorded(transaction, filter).await?;
    if is_decided_here(filter) {
        return counts_of_rows(transaction, filter).await;
    }
    let mut counts = [0_u64; 3];
    let conversations =
        format!("{}{}", transaction.dialect().is_root, archived_condition(View::Conversations, filter.archived));
    let sessions = format!("true{}", archived_condition(View::Sessions, filter.archived));
    let parts = [
        ("", "h.tip", conversations.as_str(), "h.active"),
        ("", "h.session_id", sessions.as_str(), "h.last_active"),
        (" JOIN messages m ON m.session_id = h.session_id", "h.session_id", sessions.as_str(), "h.last_active"),
    ];
    for (count, (more, tip, which, active)) in counts.iter_mut().zip(parts) {
        let mut sql = format!(
            "SELECT count(*) FROM hx_session h JOIN sessions r ON r.id = h.session_id JOIN sessions t ON t.id = {tip}{more} WHERE {which}"
        );
        let mut values = Vec::new();
        condition(transaction.dialect(), filter, active, &mut sql, &mut values);
        *count = transaction.one(&sql, values).await?.try_get::<i64>(0)?.unsigned_abs();
    }
    let [conversations, sessions, messages] = counts;
    Ok(Counts { conversations, sessions, messages })
}

/// Counts by reading rows, for filters that only the domain can evaluate.
async fn counts_of_rows<T: Sql>(transaction: &T, filter: &SessionFilter) -> Result<Counts, T::Failure> {
    let request = |view| ListRequest {
        view,
        order: Order::Id,
        filter: filter.clone(),
        page: PageRequest::default(),
        after: None,
    };
    let admitted = |mut rows: Vec<Placed>| {
        rows.retain(|row| filter.admits(&row.summary));
        rows
    };
    let conversations = admitted(rows(transaction, &request(View::Conversations), false).await?).len() as u64;
    let sessions = admitted(rows(transaction, &request(View::Sessions), false).await?);
    let ids: Vec<&str> = sessions.iter().map(|row| row.place.id.as_str()).collect();
    let mut messages = 0;
    for some in ids.chunks(LIST) {
        let (condition, values) = among("session_id", 1, some.iter().copied());
        let row = transaction.one(&format!("SELECT count(*) FROM messages WHERE {condition}"), values).await?;
        messages += row.try_get::<i64>(0)?.unsigned_abs();
    }
    Ok(Counts { conversations, sessions: sessions.len() as u64, messages })
}
