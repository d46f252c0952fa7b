//! Lists for people: which sources they show, and pages that say whether there is more.

use hermes_session::{
    Archived, ConversationStore, Invalid, ListRequest, Listing, MAX_PAGE, Order, PageRequest, Recorded, SessionFilter,
    Source, StoreError, Tag, View,
};
use std::path::{Component, Path, PathBuf};

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

/// Returns the conditions for the working directory and the Git branch that a person named. A relative path is one from
/// the folder of this process.
///
/// # Errors
/// If the path is empty, or not UTF-8, which no agent records.
pub fn recorded(cwd: Option<&Path>, branch: Option<&str>) -> Result<Vec<Recorded>, Invalid> {
    let refused = |why: &str| Invalid::new("directory", why, "give the path of a folder");
    let mut recorded = Vec::new();
    if let Some(cwd) = cwd {
        let absolute = std::path::absolute(cwd).map_err(|error| refused(&format!("can't be used: {error}")))?;
        recorded.push(Recorded::cwd(without_dots(&absolute).to_str().ok_or_else(|| refused("is not UTF-8"))?));
    }
    recorded.extend(branch.map(Recorded::branch));
    Ok(recorded)
}

/// Returns an absolute path without `..`, as a shell resolves it: the folder may be gone, so links are not looked at.
fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => _ = path.pop(),
            part => path.push(part),
        }
        path
    })
}

/// Returns how many archived conversations a list leaves out that its filter admits otherwise.
///
/// # Errors
/// If the store fails.
pub async fn left_out(store: &dyn ConversationStore, request: &ListRequest) -> Result<u64, StoreError> {
    if request.view == View::Sessions || request.filter.archived != Archived::Unlisted {
        return Ok(0);
    }
    let filter = SessionFilter { archived: Archived::Only, ..request.filter.clone() };
    let one = ListRequest { filter, order: Order::Active, page: PageRequest::first(1), ..ListRequest::default() };
    // Most people archive nothing, and a count reads more than one row.
    if store.list(&one).await?.rows.is_empty() { Ok(0) } else { Ok(store.counts(&one.filter).await?.conversations) }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPage {
    /// Its rows, and those that can't be read.
    pub listing: Listing,
    /// Whether more rows follow.
    pub has_more: bool,
}

/// Returns a page of a list. Reads one extra row to find out whether this is the last page.
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

/// Returns all rows of a list from the offset of its page on.
///
/// # Errors
/// If the store fails.
pub async fn every(store: &dyn ConversationStore, request: &ListRequest) -> Result<Listing, StoreError> {
    let mut request = request.clone();
    request.page = PageRequest::new(i64::from(MAX_PAGE), i64::try_from(request.page.offset()).unwrap_or(i64::MAX))?;
    let mut all = Listing::default();
    loop {
        let listing = store.list(&request).await?;
        all.rows.extend(listing.rows);
        all.unreadable.extend(listing.unreadable);
        let Some(next) = listing.next else { return Ok(all) };
        request.page = PageRequest::first(MAX_PAGE);
        request.after = Some(next);
    }
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
