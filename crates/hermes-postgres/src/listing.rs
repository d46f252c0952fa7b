//! Lists and counts.

use crate::database::Transaction;
use crate::error::Failure;
use crate::row::{Row, id};
use hermes_session::{
    Counts, ListCursor, ListRequest, Listing, Order, PageRequest, SessionFilter, SessionId, SessionSummary, Source,
    View,
};
use hermes_sql::{columns, decode};
use std::collections::HashMap;
use std::fmt::Write as _;
use tokio_postgres::types::ToSql;

/// Values of a statement that is put together.
type Values = Vec<Box<dyn ToSql + Sync + Send>>;

pub(crate) async fn list(transaction: &Transaction, request: &ListRequest) -> Result<Listing, Failure> {
    let is_by_size = matches!(request.order, Order::Messages | Order::Cost);
    // A title is compared as the domain compares it, and size is no column: such rows are told from all of them.
    let is_sifted = is_by_size || request.filter.title.is_some();
    let mut rows = rows(transaction, request, !is_sifted).await?;
    if request.order == Order::Cost || !is_sifted {
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
        if request.order != Order::Cost {
            add_usage(transaction, request.view, &mut rows).await?;
        }
    }
    let next = rows.last().filter(|_| limit > 0 && rows.len() == limit).map(|row| row.place.clone());
    Ok(Listing { rows: rows.into_iter().map(|row| row.summary).collect(), unreadable: Vec::new(), next })
}

/// A row and its place in the list.
struct Placed {
    summary: SessionSummary,
    place: ListCursor,
}

/// Behind the columns of the summary: activity, preview, segments; then the first session and the time of the order.
const MARKS: usize = 30;

/// The rows of a page, or all that the filter may admit; usage that of the first session alone.
async fn rows(transaction: &Transaction, request: &ListRequest, is_page: bool) -> Result<Vec<Placed>, Failure> {
    let (sql, values) = page(request, is_page);
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    let mut placed = Vec::new();
    for row in transaction.rows(&sql, &values).await? {
        let place = ListCursor { id: id(&row, MARKS)?, key: row.try_get(MARKS + 1)? };
        placed.push(Placed { summary: decode::summary(&Row::new(&row))?, place });
    }
    Ok(placed)
}

fn page(request: &ListRequest, is_page: bool) -> (String, Values) {
    let (active, preview, segments, tip) = match request.view {
        View::Conversations => (
            "h.active",
            "CASE WHEN h.preview <> '' THEN h.preview ELSE u.preview END",
            "(SELECT count(*) FROM hx_session x WHERE x.root = h.session_id)",
            "h.tip",
        ),
        View::Sessions => ("h.last_active", "h.preview", "1::int8", "h.session_id"),
    };
    let (key, direction, after) = match request.order {
        Order::Active => (active, "DESC", "<"),
        Order::Started => ("h.started_at", "DESC", "<"),
        Order::Id | Order::Messages | Order::Cost => (active, "ASC", ">"),
    };
    let mut sql = format!(
        "SELECT {}, {active}, {preview}, {segments}, h.session_id, {key} FROM hx_session h JOIN sessions r ON r.id = h.session_id \
         JOIN sessions t ON t.id = {tip} JOIN hx_session u ON u.session_id = {tip} WHERE true",
        columns::SUMMARY
    );
    let mut values = Values::new();
    if request.view == View::Conversations {
        sql.push_str(" AND h.root = h.session_id");
    }
    condition(&request.filter, active, &mut sql, &mut values);
    if let Some(cursor) = request.after.as_ref().filter(|_| !matches!(request.order, Order::Messages | Order::Cost)) {
        if request.order == Order::Id {
            _ = write!(sql, " AND h.session_id > ${}", values.len() + 1);
        } else {
            _ = write!(sql, " AND ({key}, h.session_id) {after} (${}, ${})", values.len() + 1, values.len() + 2);
            values.push(Box::new(cursor.key));
        }
        values.push(Box::new(cursor.id.as_str().to_owned()));
    }
    if request.order == Order::Id {
        sql.push_str(" ORDER BY h.session_id");
    } else {
        _ = write!(sql, " ORDER BY {key} {direction}, h.session_id {direction}");
    }
    if is_page {
        _ = write!(sql, " LIMIT ${} OFFSET ${}", values.len() + 1, values.len() + 2);
        values.push(Box::new(i64::from(request.page.limit())));
        values.push(Box::new(i64::try_from(request.page.offset()).unwrap_or(i64::MAX)));
    }
    (sql, values)
}

/// Adds what a filter asks of the first session `r`, of the tip `t` and of the activity.
fn condition(filter: &SessionFilter, active: &str, sql: &mut String, values: &mut Values) {
    let names = |sources: &[Source]| sources.iter().map(|source| source.as_str().to_owned()).collect::<Vec<String>>();
    if let Some(sources) = &filter.sources {
        values.push(Box::new(names(sources)));
        _ = write!(sql, " AND r.source = ANY(${})", values.len());
    }
    if !filter.exclude_sources.is_empty() {
        values.push(Box::new(names(&filter.exclude_sources)));
        _ = write!(sql, " AND r.source <> ALL(${})", values.len());
    }
    for (column, text) in [("r.user_id", &filter.user_id), ("t.model", &filter.model)] {
        if let Some(text) = text {
            values.push(Box::new(hermes_sql::stored::without_nul(text).into_owned()));
            _ = write!(sql, " AND {column} = ${}", values.len());
        }
    }
    for (bound, comparison) in [(filter.active_since, ">="), (filter.active_before, "<")] {
        if let Some(bound) = bound {
            values.push(Box::new(bound.seconds()));
            _ = write!(sql, " AND {active} {comparison} ${}", values.len());
        }
    }
}

/// Sums the usage of the sessions that each row stands for.
async fn add_usage(transaction: &Transaction, view: View, rows: &mut [Placed]) -> Result<(), Failure> {
    let roots: Vec<String> = match view {
        View::Sessions => return Ok(()),
        View::Conversations => {
            rows.iter().filter(|row| row.summary.segments > 1).map(|row| row.place.id.as_str().to_owned()).collect()
        }
    };
    if roots.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "SELECT {}, h.root FROM hx_session h JOIN sessions s ON s.id = h.session_id \
         WHERE h.root = ANY($1) AND h.session_id <> h.root ORDER BY h.session_id",
        columns::USAGE
    );
    let mut members: HashMap<String, Vec<tokio_postgres::Row>> = HashMap::new();
    for row in transaction.rows(&sql, &[&roots]).await? {
        members.entry(row.try_get(14)?).or_default().push(row);
    }
    for row in rows {
        for member in members.remove(row.place.id.as_str()).into_iter().flatten() {
            row.summary.usage = row.summary.usage.clone().plus(&decode::usage(&Row::new(&member)));
        }
    }
    Ok(())
}

pub(crate) async fn counts(transaction: &Transaction, filter: &SessionFilter) -> Result<Counts, Failure> {
    if filter.title.is_some() {
        return counts_of_rows(transaction, filter).await;
    }
    let mut counts = [0_u64; 3];
    let parts = [
        ("count(*)", "h.tip", "h.root = h.session_id", "h.active"),
        ("count(*)", "h.session_id", "true", "h.last_active"),
        (
            "coalesce(sum((SELECT count(*) FROM messages m WHERE m.session_id = h.session_id)), 0)::int8",
            "h.session_id",
            "true",
            "h.last_active",
        ),
    ];
    for (count, (what, tip, which, active)) in counts.iter_mut().zip(parts) {
        let mut sql = format!(
            "SELECT {what} FROM hx_session h JOIN sessions r ON r.id = h.session_id JOIN sessions t ON t.id = {tip} WHERE {which}"
        );
        let mut values = Values::new();
        condition(filter, active, &mut sql, &mut values);
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        *count = transaction.one(&sql, &values).await?.try_get::<_, i64>(0)?.unsigned_abs();
    }
    let [conversations, sessions, messages] = counts;
    Ok(Counts { conversations, sessions, messages })
}

/// The counts of what can only be told row by row.
async fn counts_of_rows(transaction: &Transaction, filter: &SessionFilter) -> Result<Counts, Failure> {
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
    let row = transaction.one("SELECT count(*) FROM messages WHERE session_id = ANY($1)", &[&ids]).await?;
    let messages = row.try_get::<_, i64>(0)?.unsigned_abs();
    Ok(Counts { conversations, sessions: sessions.len() as u64, messages })
}
