//! `hermes sessions list`

use crate::context::Context;
use crate::error::CliError;
use crate::narrowing::{Asked, Existing};
use crate::program::{self, called};
use crate::ui::json;
use crate::ui::sessions::{self, Look};
use crate::{warnings, when};
use hermes_app::last_list::LastList;
use hermes_app::listing::{ListPage, default_filter, every, left_out, page, recorded, source_filter, tags};
use hermes_session::{Archived, Invalid, ListRequest, Order, PageRequest, SessionFilter, View};
use hermes_terminal::Line;
use hermes_terminal::figures::{number, plural};
use hermes_terminal::shell::shell_word;
use hermes_terminal::time::Now;
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// List conversations: pinned ones first, then by last activity
///
/// Rows are numbered for later commands: `hermes sessions show @3`. Each terminal has its own numbers. In a terminal
/// without a list, commands that only read take the newest list of another terminal and say so; commands that change
/// something refuse. At a terminal, they also refuse the numbers of a list whose output went to a file or a pipe. A
/// star marks pinned conversations. With another --order, or with --all, they are sorted like all others.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ListArgs {
    /// Only conversations from this source, such as cli or telegram; may be repeated
    #[arg(short, long, value_name = "SOURCE")]
    source: Vec<String>,
    /// Leave out this source; may be repeated
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// Only conversations active at or after TIME: 2026-01-31, 2026-01-31T10:00, today, yesterday, 2h, 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only conversations last active at or before TIME
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only conversations on a model with MODEL in its name; ignores case
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only conversations with TEXT in the title; ignores case and accents
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Only pinned conversations
    #[arg(long)]
    pinned: bool,
    /// Only conversations with this tag; if repeated, with all of the tags
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only archived conversations
    #[arg(long)]
    archived: bool,
    /// Only conversations that ran in DIR or below it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Only conversations that ran on this Git branch
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// List every session separately, including compressed sessions and delegates
    #[arg(long)]
    all: bool,
    /// Sort order
    #[arg(long, value_enum, default_value_t = ListOrder::Active)]
    order: ListOrder,
    /// Show at most N rows; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, allow_negative_numbers = true)]
    limit: i64,
    /// Skip the first N rows
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    offset: i64,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ListOrder {
    /// Newest activity first
    Active,
    /// Newest start first
    Started,
    /// Most messages first
    Messages,
    /// Highest cost first
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
                archived: if self.archived { Archived::Only } else { Archived::default() },
                recorded: recorded(self.cwd.as_deref(), self.branch.as_deref())?,
                ..source_filter(&self.source, &self.exclude_source)?
            },
            order: match self.order {
                // A list of single sessions does not put pinned ones first.
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

    /// Returns the command for the page that starts after `offset` rows.
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
        self.cwd.iter().for_each(|cwd| option("--cwd", &cwd.to_string_lossy()));
        self.branch.iter().for_each(|branch| option("--branch", branch));
        if self.order != ListOrder::Active {
            option("--order", self.order.name());
        }
        if self.limit != i64::from(PageRequest::default().limit()) {
            option("--limit", &self.limit.to_string());
        }
        option("--offset", &offset.to_string());
        let flags = [("--pinned", self.pinned), ("--archived", self.archived), ("--all", self.all)];
        words.extend(flags.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| (*name).to_owned()));
        format!("{} sessions list{place} {}", program::name(), words.join(" "))
    }
}

pub(crate) async fn run(context: &Context, args: ListArgs) -> Result<(), CliError> {
    let request = args.request(&context.now).map_err(CliError::usage)?;
    let store = context.open_for_reading().await?.store;
    let ListPage { listing, has_more } = match args.limit {
        0 => ListPage { listing: every(&*store, &request).await?, has_more: false },
        _ => page(&*store, &request).await?,
    };
    warnings::unreadable(context, &listing.unreadable);
    if args.json {
        return context.ui.json(&json::listing(&listing, has_more));
    }
    // Only where the list ends: a person who looks for an archived conversation reads that far.
    let archived = if has_more { 0 } else { left_out(&*store, &request).await? };
    if listing.rows.is_empty() {
        let asked = Asked { sources: &args.source, tags: &args.tag, model: args.model.as_deref(), has_roles: false };
        let existing = asked.existing(&*store).await?;
        let counts = store.counts(&request.filter).await?;
        let count = if args.all { counts.sessions } else { counts.conversations };
        context.ui.print(nothing(&request, count, existing))?;
        note_archived(context, archived);
        return Ok(());
    }
    let first = request.page.offset().saturating_add(1);
    let ids = listing.rows.iter().map(|row| row.id.clone());
    let list = LastList::new(first, request.view == View::Sessions, ids);
    list.on_terminal(std::io::stdout().is_terminal()).keep(&context.workspace, context.now.at);
    let look = Look { first, with_cost: args.order == ListOrder::Cost, columns: context.ui.table_width() };
    context.ui.print(sessions::list(&listing.rows, &context.now, look))?;
    if has_more {
        let offset = request.page.offset() + listing.rows.len() as u64;
        context.ui.note_command("there are more", &args.command(offset, &context.place()));
    }
    note_archived(context, archived);
    Ok(())
}

/// Notes how many matching conversations are left out because they are archived.
fn note_archived(context: &Context, count: u64) {
    let (are, them) = if count == 1 { ("is", "it") } else { ("are", "them") };
    if count > 0 {
        let which = plural(count, "archived conversations");
        context.ui.note(&format!("{which} {are} not listed; --archived lists {them}"));
    }
}

/// Returns the lines for an empty page. `count` rows match without the offset.
fn nothing(request: &ListRequest, count: u64, existing: Existing) -> Vec<Line> {
    let is_filtered = request.filter != default_filter();
    let offset = request.page.offset();
    if offset > 0 && count > 0 {
        let what = if request.view == View::Sessions { "sessions" } else { "conversations" };
        let count = match is_filtered {
            true => format!("{} match", number(count)),
            false => format!("the store has {}", number(count)),
        };
        return vec![Line::plain_text(format!("No {what} after the first {} ({count}).", number(offset)))];
    }
    let hint = if is_filtered {
        "Other options may find some: see `hermes sessions list --help`."
    } else {
        "Sessions appear here after the first conversation with an agent."
    };
    let hint = Some(hint.to_owned()).filter(|_| !existing.is_cause_named);
    let hints = existing.hints.iter().map(|text| sentence(text)).chain(hint);
    let hints = hints.map(|hint| Line::plain_text(&*called(&hint)));
    [Line::plain_text("No sessions found.")].into_iter().chain(hints).collect()
}

/// Returns a hint as a sentence.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}
