//! Lists for people: which sources they show, and pages that say whether there is more.

use hermes_session::{
    ConversationStore, Invalid, ListRequest, Listing, PageRequest, SessionFilter, Source, StoreError, Tag,
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

/// Returns a page of a list. One row more is read, so that the last page is known to be the last.
///
/// # Errors
/// If the store fails.
pub async fn page(store: &dyn ConversationStore, request: &ListRequest) -> Result<ListPage, StoreError> {
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
