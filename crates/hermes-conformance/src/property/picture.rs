//! Everything that a store shows, split into parts that can be compared one by one.

use super::live;
use super::strategy::{SESSIONS, TITLES};
use crate::fixture::{at, id, source};
use crate::ordering::ORDERS;
use hermes_session::{
    Archived, Finding, InsightsRequest, ListRequest, Maintenance, MessageRequest, Order, PageRequest, SessionFilter,
    Severity, Store, StoreError, Tag, Trashed, View, Window,
};
use std::fmt::Debug;
use std::iter::repeat;

/// Compares two stores. Fails with the first difference.
pub(super) async fn compare(model: &dyn Store, store: &dyn Store) -> Result<(), String> {
    let fail = |error: StoreError| format!("the store could not be read: {error:?}");
    let (mut expected, mut found) = (take(model).await.map_err(fail)?, take(store).await.map_err(fail)?);
    expected.extend(live::picture::take(model).await.map_err(fail)?);
    found.extend(live::picture::take(store).await.map_err(fail)?);
    let (should, does) = (expected.iter().map(Some).chain(repeat(None)), found.iter().map(Some).chain(repeat(None)));
    let parts = expected.len().max(found.len());
    match std::iter::zip(should, does).take(parts).find(|(should, does)| should != does) {
        Some((should, does)) => Err(format!("the store should show\n  {should:?}\nbut shows\n  {does:?}")),
        None => Ok(()),
    }
}

async fn take(store: &dyn Maintenance) -> Result<Vec<String>, StoreError> {
    let mut picture = Vec::new();
    let mut show = |what: String, thing: &dyn Debug| picture.push(format!("{what}: {thing:?}"));
    // A note concerns deferred work; when it is done is up to the store.
    let mut found: Vec<Finding> = store.verify().await?.checks.into_iter().flat_map(|check| check.findings).collect();
    found.retain(|finding| finding.severity == Severity::Problem);
    show("what verifying finds".into(), &found);
    for name in SESSIONS {
        let session = id(name);
        show(format!("session {name}"), &store.session(&session).await?);
        let window = |window| MessageRequest::new(window, 1_000);
        match store.messages(&session, &window(Window::After(None))).await {
            Ok(messages) => {
                let said: Vec<_> =
                    messages.iter().map(|message| (&message.body, message.timestamp, &message.faults)).collect();
                show(format!("messages of {name}"), &said);
                let edge = messages.get(messages.len() / 2).map(|message| message.id);
                show(
                    format!("later messages of {name}"),
                    &store.messages(&session, &window(Window::After(edge))).await?.len(),
                );
                show(
                    format!("earlier messages of {name}"),
                    &store.messages(&session, &window(Window::Before(edge))).await?.len(),
                );
                show(format!("lineage of {name}"), &store.lineage(&session).await?);
            }
            Err(error) => show(format!("messages of {name}"), &error.to_string()),
        }
    }
    for title in TITLES {
        let mut titled = store.titled(title).await?;
        titled.sort_by(|a, b| a.id.cmp(&b.id));
        show(format!("titled {title}"), &titled);
    }
    let trash = store.trash(None, u32::MAX).await?.into_iter().map(|entry| Trashed { number: 0, ..entry });
    show("trash".into(), &trash.collect::<Vec<_>>());
    show("ids with a".into(), &store.ids_with_prefix("a", 10).await?);
    for filter in filters() {
        show(format!("counts of {filter:?}"), &store.counts(&filter).await?);
        for (view, order) in
            [View::Conversations, View::Sessions].into_iter().flat_map(|view| ORDERS.map(|order| (view, order)))
        {
            let limit = if filter == SessionFilter::default() { 2 } else { 20 };
            show(format!("{view:?} by {order:?} of {filter:?}"), &pages(store, &filter, view, order, limit).await?);
        }
    }
    show("tags".into(), &store.tags().await?);
    let all = InsightsRequest::since(at(-1e6));
    let some = InsightsRequest { source: Some(source("cli")), ..all.clone() };
    let others = InsightsRequest { exclude_sources: vec![source("cli")], ..all.clone() };
    for request in [all, InsightsRequest::since(at(3)), some, others] {
        show(format!("insights of {request:?}"), &store.insights(&request).await?);
    }
    Ok(picture)
}

/// Returns a list, page by page. The key of a cursor is ignored in the order of ids.
async fn pages(
    store: &dyn Maintenance,
    filter: &SessionFilter,
    view: View,
    order: Order,
    limit: u32,
) -> Result<Vec<String>, StoreError> {
    let page = PageRequest::first(limit);
    let mut request = ListRequest { view, order, page, filter: filter.clone(), after: None };
    let mut pages = Vec::new();
    loop {
        let listing = store.list(&request).await?;
        let key = listing.next.as_ref().filter(|_| order != Order::Id).map(|next| next.key + 0.0);
        let place = listing.next.as_ref().map(|next| (&next.id, next.is_pinned));
        pages.push(format!("{:?} {:?} {key:?} {place:?}", listing.rows, listing.unreadable));
        request.after = listing.next;
        // Pages that repeat rows would never end; this many are already a difference.
        if request.after.is_none() || pages.len() > SESSIONS.len() {
            return Ok(pages);
        }
    }
}

fn filters() -> [SessionFilter; 8] {
    let plain = SessionFilter::default;
    [
        plain(),
        SessionFilter { sources: Some(vec![source("cli"), source("unknown")]), ..plain() },
        SessionFilter { user_id: Some("u".into()), active_since: Some(at(0)), ..plain() },
        SessionFilter { exclude_sources: vec![source("cli")], active_before: Some(at(10)), ..plain() },
        SessionFilter { title: Some("T".into()), ..plain() },
        SessionFilter { pinned: Some(true), ..plain() },
        SessionFilter { archived: Archived::Only, ..plain() },
        SessionFilter { pinned: Some(false), tags: vec![Tag::from_stored("x")], ..plain() },
    ]
}
