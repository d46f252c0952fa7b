//! Lists for people: which sources they show, and pages that say whether there is more.

use hermes_session::{
    Invalid, ListRequest, Listing, MAX_PAGE, Order, PageRequest, SessionFilter, SessionStore, SessionSummary, Source,
    StoreError, Tag, View,
};

/// The source of sessions that tools create for themselves.
const TOOL: &str = "tool";

/// Returns the filter of a list for which no source was named: sessions of tools are left out.
pub fn default_filter() -> SessionFilter {
    SessionFilter { exclude_sources: vec![Source::from_stored(TOOL)], ..SessionFilter::default() }
}

/// Returns the filter for the sources a person named. Sessions of tools are shown only if a source is named.
///
/// # Errors
/// If a source can't be parsed.
pub fn source_filter(only: &[String], never: &[String]) -> Result<SessionFilter, Invalid> {
    let parsed = |tags: &[String]| tags.iter().map(Source::parse).collect::<Result<Vec<_>, _>>();
    let mut exclude_sources = parsed(never)?;
    if only.is_empty() {
        exclude_sources.push(Source::from_stored(TOOL));
    }
    let sources = if only.is_empty() { None } else { Some(parsed(only)?) };
    Ok(SessionFilter { sources, exclude_sources, ..SessionFilter::default() })
}

/// Parses the tags a person named.
///
/// # Errors
/// If one of them is no tag.
pub fn tags(texts: &[String]) -> Result<Vec<Tag>, Invalid> {
    texts.iter().map(|text| Tag::parse(text)).collect()
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPage {
    /// Its rows, and those that can't be read.
    pub listing: Listing,
    /// Whether there are rows behind it.
    pub has_more: bool,
}

/// Returns a page of a list. In the default order of conversations, pinned ones come first.
///
/// There are few pinned conversations, so they are read as a whole; the others follow in their own order.
///
/// # Errors
/// If the store fails.
pub async fn page(store: &dyn SessionStore, request: &ListRequest) -> Result<ListPage, StoreError> {
    let filter = &request.filter;
    let is_plain = request.order == Order::Active && request.view == View::Conversations && filter.pinned.is_none();
    if !is_plain || request.page.limit() == 0 {
        return plain_page(store, request).await;
    }
    let only = |pinned| SessionFilter { pinned: Some(pinned), ..filter.clone() };
    let page = PageRequest::first(MAX_PAGE);
    let pinned = store.list(&ListRequest { filter: only(true), page, ..request.clone() }).await?;
    if pinned.rows.is_empty() {
        return plain_page(store, request).await;
    }
    let (limit, offset) = (i64::from(request.page.limit()), i64::try_from(request.page.offset()).unwrap_or(i64::MAX));
    let count = pinned.rows.len() as i64;
    let rows = pinned.rows.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
    let rows: Vec<SessionSummary> = rows.take(request.page.limit() as usize).collect();
    let page = PageRequest::new(limit - rows.len() as i64, (offset - count).max(0))?;
    let rest = ListRequest { filter: only(false), page, ..request.clone() };
    // A full page asks for one row more, to know whether there is one.
    let is_full = rest.page.limit() == 0;
    let asked = if is_full { ListRequest { page: PageRequest::first(1), ..rest } } else { rest };
    let ListPage { listing: others, has_more } = plain_page(store, &asked).await?;
    let has_more = if is_full { offset + limit < count || !others.rows.is_empty() } else { has_more };
    let mut listing = Listing { rows, unreadable: pinned.unreadable, next: None };
    listing.rows.extend(others.rows.into_iter().filter(|_| !is_full));
    for row in others.unreadable {
        if !listing.unreadable.contains(&row) {
            listing.unreadable.push(row);
        }
    }
    Ok(ListPage { listing, has_more })
}

/// Returns a page in the order of the request. One row more is read, so that the last page is known to be the last.
async fn plain_page(store: &dyn SessionStore, request: &ListRequest) -> Result<ListPage, StoreError> {
    let limit = request.page.limit() as usize;
    let more = i64::from(request.page.limit()) + i64::from(limit > 0);
    let offset = i64::try_from(request.page.offset()).unwrap_or(i64::MAX);
    let page = PageRequest::new(more, offset)?;
    let mut listing = store.list(&ListRequest { page, ..request.clone() }).await?;
    let has_more = listing.rows.len() > limit || listing.next.is_some();
    listing.rows.truncate(limit);
    Ok(ListPage { listing, has_more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_hidden_until_a_source_is_named() {
        let source = |text: &str| Source::from_stored(text);
        let texts = |sources: &[&str]| sources.iter().map(ToString::to_string).collect::<Vec<_>>();
        let none = source_filter(&[], &texts(&["cron"])).unwrap();
        assert_eq!((none.sources, none.exclude_sources), (None, vec![source("cron"), source("tool")]));
        let named = source_filter(&texts(&["api-server", "tool"]), &[]).unwrap();
        assert_eq!((named.sources, named.exclude_sources), (Some(vec![source("api_server"), source("tool")]), vec![]));
        assert!(source_filter(&texts(&[""]), &[]).is_err());
    }
}
