//! `hermes sessions list`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::json;
use crate::ui::sessions::{self, Look};
use crate::{warnings, when};
use hermes_app::last_list::LastList;
use hermes_app::listing::{ListPage, default_filter, page, source_filter, tags};
use hermes_session::{Invalid, ListRequest, Order, PageRequest, SessionFilter, View};
use hermes_terminal::Line;
use hermes_terminal::shell::shell_word;
use hermes_terminal::time::Now;

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
                tags: tags(&self.tag)?,
                ..source_filter(&self.source, &self.exclude_source)?
            },
            order: match self.order {
                // A list of single sessions stands in the order that was asked for.
                ListOrder::Active if self.all => Order::Active,
                ListOrder::Active => Order::PinnedFirst,
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

pub(crate) async fn run(context: &Context, args: ListArgs) -> Result<(), CliError> {
    let request = args.request(&context.now).map_err(CliError::usage)?;
    let store = context.open_for_reading().await?.store;
    let ListPage { listing, has_more } = page(&*store, &request).await?;
    warnings::unreadable(context, &listing.unreadable);
    if args.json {
        return context.ui.json(&json::listing(&listing, has_more));
    }
    if listing.rows.is_empty() {
        return context.ui.print(nothing(&request));
    }
    let first = request.page.offset().saturating_add(1);
    let ids = listing.rows.iter().map(|row| row.id.clone());
    LastList::new(first, request.view == View::Sessions, ids).keep(&context.workspace, context.now.at);
    let look = Look { first, with_cost: args.order == ListOrder::Cost, columns: context.ui.width() };
    context.ui.print(sessions::list(&listing.rows, &context.now, look))?;
    if has_more {
        let offset = request.page.offset() + listing.rows.len() as u64;
        context.ui.note(&format!("there are more: {}", args.command(offset, &context.place())));
    }
    Ok(())
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
