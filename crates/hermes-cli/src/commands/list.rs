//! `hermes sessions list`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::{Line, json, sessions};
use hermes_session::{Invalid, ListRequest, Order, PageRequest, SessionFilter, Source, Unreadable, View};

/// The source of sessions that tools make for themselves.
const TOOL: &str = "tool";

/// Lists conversations, the one used last first
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Only this source, such as cli or telegram; may be given several times
    #[arg(long, value_name = "SOURCE")]
    source: Vec<String>,
    /// Not this source; may be given several times
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// How many rows at most
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true)]
    limit: i64,
    /// How many rows to pass over first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    offset: i64,
    /// Every session by itself: also those that were compressed, and delegates
    #[arg(long)]
    all: bool,
    /// What comes first
    #[arg(long, value_enum, default_value_t = ListOrder::Active)]
    order: ListOrder,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ListOrder {
    /// The newest activity
    Active,
    /// The newest start
    Started,
}

impl ListArgs {
    fn request(&self) -> Result<ListRequest, Invalid> {
        Ok(ListRequest {
            view: if self.all { View::Sessions } else { View::Conversations },
            filter: filter(&self.source, &self.exclude_source)?,
            order: match self.order {
                ListOrder::Active => Order::Active,
                ListOrder::Started => Order::Started,
            },
            page: PageRequest::new(self.limit, self.offset)?,
            after: None,
        })
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
    let request = args.request().map_err(CliError::usage)?;
    let store = context.open_existing()?;
    let listing = store.list(&request).await?;
    warn_unreadable(context, &listing.unreadable);
    if args.json {
        return context.ui.json(&json::listing(&listing));
    }
    if listing.rows.is_empty() {
        return context.ui.print(nothing(&request));
    }
    context.ui.print(sessions::list(&listing.rows, &context.now, context.ui.width()))
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
