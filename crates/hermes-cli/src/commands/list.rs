//! `hermes sessions list`

use super::tag;
use crate::context::Context;
use crate::error::CliError;
use crate::resolve::last_list::LastList;
use crate::ui::sessions::{self, Look};
use crate::ui::shell::shell_word;
use crate::ui::time::Now;
use crate::ui::{Line, json};
use crate::when;
use hermes_session::{
    ConversationStore, Invalid, ListRequest, Listing, MAX_PAGE, Order, PageRequest, SessionFilter, SessionSummary,
    Source, Unreadable, View,
};

/// The source of sessions that tools make for themselves.
const TOOL: &str = "tool";

/// Lists conversations, the pinned ones first, then the one used last
///
/// A row can be named by its number afterwards: `hermes sessions show @3`. With another order, or with --all, pinned ones stand where that
/// puts them. A star stands before their titles.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ListArgs {
    /// Only this source, such as cli or telegram; may be given several times
    #[arg(long, value_name = "SOURCE")]
    source: Vec<String>,
    /// Not this source; may be given several times
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// Only what was active then or later: 2026-01-31, 2026-01-31T10:00, today, yesterday, 2h, 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what was active last then or before
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only sessions with this model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only sessions with this in their titles, whatever its case and accents
    #[arg(long, value_name = "PIECE")]
    title: Option<String>,
    /// Only what is pinned
    #[arg(long)]
    pinned: bool,
    /// Only what has this tag; may be given several times, for all of them
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Every session by itself: also those that were compressed, and delegates
    #[arg(long)]
    all: bool,
    /// What comes first
    #[arg(long, value_enum, default_value_t = ListOrder::Active)]
    order: ListOrder,
    /// How many rows at most
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true)]
    limit: i64,
    /// How many rows to pass over first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    offset: i64,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ListOrder {
    /// The newest activity
    Active,
    /// The newest start
    Started,
    /// The most messages
    Messages,
    /// The highest cost
    Cost,
}

impl ListOrder {
    const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Started => "started",
            Self::Messages => "messages",
            Self::Cost => "cost",
        }
    }
}

impl ListArgs {
    fn request(&self, now: &Now) -> Result<ListRequest, Invalid> {
        let (active_since, active_before) = when::range(self.since.as_deref(), self.until.as_deref(), now)?;
        Ok(ListRequest {
            view: if self.all { View::Sessions } else { View::Conversations },
            filter: SessionFilter {
                active_since,
                active_before,
                model: self.model.clone(),
                title: self.title.clone(),
                pinned: self.pinned.then_some(true),
                tags: tag::parsed(&self.tag)?,
                ..filter(&self.source, &self.exclude_source)?
            },
            order: match self.order {
                ListOrder::Active => Order::Active,
                ListOrder::Started => Order::Started,
                ListOrder::Messages => Order::Messages,
                ListOrder::Cost => Order::Cost,
            },
            page: PageRequest::new(self.limit, self.offset)?,
            after: None,
        })
    }

    /// The command for the page that begins behind so many rows.
    fn command(&self, offset: u64, place: &str) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut option = |name: &str, value: &str| words.extend([name.to_owned(), shell_word(value)]);
        self.source.iter().for_each(|source| option("--source", source));
        self.exclude_source.iter().for_each(|source| option("--exclude-source", source));
        let given =
            [("--since", &self.since), ("--until", &self.until), ("--model", &self.model), ("--title", &self.title)];
        for (name, value) in given {
            value.iter().for_each(|value| option(name, value));
        }
        self.tag.iter().for_each(|tag| option("--tag", tag));
        if self.order != ListOrder::Active {
            option("--order", self.order.name());
        }
        if self.limit != i64::from(PageRequest::default().limit()) {
            option("--limit", &self.limit.to_string());
        }
        option("--offset", &offset.to_string());
        let flags = [("--pinned", self.pinned), ("--all", self.all)];
        words.extend(flags.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| (*name).to_owned()));
        format!("hermes sessions list{place} {}", words.join(" "))
    }
}

/// The sources somebody asked for. What tools made for themselves is shown only to who names a source.
pub(crate) fn filter(only: &[String], never: &[String]) -> Result<SessionFilter, Invalid> {
    let parsed = |tags: &[String]| tags.iter().map(Source::parse).collect::<Result<Vec<_>, _>>();
    let mut exclude_sources = parsed(never)?;
    if only.is_empty() {
        exclude_sources.push(Source::from_stored(TOOL));
    }
    let sources = if only.is_empty() { None } else { Some(parsed(only)?) };
    Ok(SessionFilter { sources, exclude_sources, ..SessionFilter::default() })
}

/// What is shown when nobody names a source.
pub(crate) fn default_filter() -> SessionFilter {
    SessionFilter { exclude_sources: vec![Source::from_stored(TOOL)], ..SessionFilter::default() }
}

pub(crate) async fn run(context: &Context, args: ListArgs) -> Result<(), CliError> {
    let request = args.request(&context.now).map_err(CliError::usage)?;
    let store = context.open_for_reading().await?.store;
    let (listing, is_more) = pinned_first(&*store, &request).await?;
    warn_unreadable(context, &listing.unreadable);
    if args.json {
        return context.ui.json(&json::listing(&listing, is_more));
    }
    if listing.rows.is_empty() {
        return context.ui.print(nothing(&request));
    }
    let first = request.page.offset().saturating_add(1);
    let ids = listing.rows.iter().map(|row| row.id.clone());
    LastList::new(first, request.view == View::Sessions, ids).keep(context);
    let look = Look { first, with_cost: args.order == ListOrder::Cost, columns: context.ui.width() };
    context.ui.print(sessions::list(&listing.rows, &context.now, look))?;
    if is_more {
        let offset = request.page.offset() + listing.rows.len() as u64;
        context.ui.note(&format!("there are more: {}", args.command(offset, &context.place())));
    }
    Ok(())
}

/// A page of a list in which pinned conversations come first, and whether there is more behind it.
///
/// There are few of them, so they are read as a whole; the others follow in their own order. Where somebody asked for an order, that holds.
async fn pinned_first(store: &dyn ConversationStore, request: &ListRequest) -> Result<(Listing, bool), CliError> {
    let filter = &request.filter;
    let is_plain = request.order == Order::Active && request.view == View::Conversations && filter.pinned.is_none();
    if !is_plain || request.page.limit() == 0 {
        return list(store, request).await;
    }
    let only = |pinned| SessionFilter { pinned: Some(pinned), ..filter.clone() };
    let page = PageRequest::first(MAX_PAGE);
    let pinned = store.list(&ListRequest { filter: only(true), page, ..request.clone() }).await?;
    if pinned.rows.is_empty() {
        return list(store, request).await;
    }
    let (limit, offset) = (i64::from(request.page.limit()), i64::try_from(request.page.offset()).unwrap_or(i64::MAX));
    let count = pinned.rows.len() as i64;
    let rows = pinned.rows.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
    let rows: Vec<SessionSummary> = rows.take(request.page.limit() as usize).collect();
    let page = PageRequest::new(limit - rows.len() as i64, (offset - count).max(0)).map_err(CliError::usage)?;
    let rest = ListRequest { filter: only(false), page, ..request.clone() };
    // A page that is full asks for one row more, to know whether there is one.
    let is_full = rest.page.limit() == 0;
    let asked = if is_full { ListRequest { page: PageRequest::first(1), ..rest } } else { rest };
    let (others, is_more) = list(store, &asked).await?;
    let is_more = if is_full { offset + limit < count || !others.rows.is_empty() } else { is_more };
    let mut listing = Listing { rows, unreadable: pinned.unreadable, next: None };
    listing.rows.extend(others.rows.into_iter().filter(|_| !is_full));
    for row in others.unreadable {
        if !listing.unreadable.contains(&row) {
            listing.unreadable.push(row);
        }
    }
    Ok((listing, is_more))
}

/// A page, and whether there is more behind it. One row more than asked for is looked at, so that the last page is known to be the last.
async fn list(store: &dyn ConversationStore, request: &ListRequest) -> Result<(Listing, bool), CliError> {
    let limit = request.page.limit() as usize;
    let more = i64::from(request.page.limit()) + i64::from(limit > 0);
    let offset = i64::try_from(request.page.offset()).unwrap_or(i64::MAX);
    let page = PageRequest::new(more, offset).map_err(CliError::usage)?;
    let mut listing = store.list(&ListRequest { page, ..request.clone() }).await?;
    let is_more = listing.rows.len() > limit || listing.next.is_some();
    listing.rows.truncate(limit);
    Ok((listing, is_more))
}

fn nothing(request: &ListRequest) -> Vec<Line> {
    let narrowed = request.filter != default_filter() || request.page != PageRequest::default();
    let hint = if narrowed {
        "Other options may find some: see `hermes sessions list --help`."
    } else {
        "Sessions appear here once an agent has talked to somebody."
    };
    vec![Line::plain_text("No sessions found."), Line::plain_text(hint)]
}

/// Tells which rows are missing from what is shown, and that the others are not.
pub(crate) fn warn_unreadable(context: &Context, rows: &[Unreadable]) {
    for row in rows {
        let text = format!("{} {:?} can't be read: {}", row.table, row.id, row.why);
        context.ui.warn(&text, "the other rows are complete; the row is left as it is");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_hidden_until_a_source_is_named() {
        let tag = |text: &str| Source::from_stored(text);
        let texts = |tags: &[&str]| tags.iter().map(ToString::to_string).collect::<Vec<_>>();
        let none = filter(&[], &texts(&["cron"])).unwrap();
        assert_eq!((none.sources, none.exclude_sources), (None, vec![tag("cron"), tag("tool")]));
        let named = filter(&texts(&["api-server", "tool"]), &[]).unwrap();
        assert_eq!((named.sources, named.exclude_sources), (Some(vec![tag("api_server"), tag("tool")]), vec![]));
        assert!(filter(&texts(&[""]), &[]).is_err());
    }
}
