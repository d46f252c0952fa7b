//! `hermes sessions search`

use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::resolve::{self, resolve};
use crate::searching::print_hits;
use crate::ui::hits;
use crate::ui::json;
use crate::when;
use hermes_app::last_list::LastList;
use hermes_app::listing;
use hermes_session::search::{Query, SearchAnswer, SearchCursor, SearchFilter, SearchOrder, SearchRequest, Served};
use hermes_session::{ConversationStore, Invalid, PageRequest, Role, SessionId, Store};
use hermes_terminal::figures::number;
use hermes_terminal::highlight::Delimiters;
use hermes_terminal::shell::shell_word;
use hermes_terminal::time::Now;
use std::time::Duration;

/// How many characters of a message a program gets.
const LENGTH_FOR_PROGRAMS: usize = 200;

/// Searches what was said: words, "exact phrases", beginnings*, OR, NOT and parentheses
///
/// A word is found wherever it occurs, whatever its case and accents. Whole words come first. The shell takes quotes away: type '"disk full"' for a
/// phrase.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct SearchArgs {
    /// What to look for; all words of it. Behind -- it may begin with a dash
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Only this source, such as cli or telegram; may be given several times
    #[arg(long, value_name = "SOURCE")]
    source: Vec<String>,
    /// Not this source; may be given several times
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// Only what this role said: user, assistant, tool or system; may be given several times
    #[arg(long, value_name = "ROLE")]
    role: Vec<String>,
    /// Only what was said then or later: 2026-01-31, 2026-01-31T10:00, today, yesterday, 2h, 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what was said then or before
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only conversations with this user
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Only this conversation: its id, the start of its id, its title, @last, or @3 for row 3 of the last list
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only sessions with this in their titles
    #[arg(long, value_name = "PIECE")]
    title: Option<String>,
    /// Only sessions with this model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only conversations with this tag; may be given several times, for all of them
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// The newest first, not the best
    #[arg(long)]
    newest: bool,
    /// Nothing rather than messages with only some of the words
    #[arg(long)]
    exact: bool,
    /// How many hits at most
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true)]
    limit: i64,
    /// How many hits to pass over first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    offset: i64,
    /// Goes on where a page ended: what `next` says with --json. Pages neither skip nor repeat a hit that way, while others write
    #[arg(long, value_name = "NEXT", conflicts_with = "offset")]
    after: Option<String>,
    /// Shows the messages before and after each hit
    #[arg(long)]
    context: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

impl SearchArgs {
    fn text(&self) -> String {
        self.query.join(" ")
    }

    fn request(&self, now: &Now) -> Result<SearchRequest, Invalid> {
        let query = Query::parse(&self.text());
        if query.is_empty() {
            return Err(Invalid::new("QUERY", "is blank", "give a word, several words, or a \"phrase\" in quotes"));
        }
        let mut request = SearchRequest {
            filter: self.filter(now)?,
            order: if self.newest { SearchOrder::Newest } else { SearchOrder::Best },
            page: PageRequest::new(self.limit, self.offset)?,
            relax: !self.exact,
            ..SearchRequest::new(query)
        };
        request.after = self.after.as_deref().map(|place| SearchCursor::parse(place, &request)).transpose()?;
        Ok(request)
    }

    fn filter(&self, now: &Now) -> Result<SearchFilter, Invalid> {
        let mut sources = listing::source_filter(&self.source, &self.exclude_source)?;
        if self.session.is_some() && self.source.is_empty() {
            // A session named explicitly is searched even if a tool created it.
            sources.exclude_sources.pop();
        }
        let roles: Vec<Role> = self.role.iter().map(|role| Role::parse(role)).collect::<Result<_, _>>()?;
        let (since, before) = when::range(self.since.as_deref(), self.until.as_deref(), now)?;
        Ok(SearchFilter {
            sources: sources.sources,
            exclude_sources: sources.exclude_sources,
            roles: Some(roles).filter(|roles| !roles.is_empty()),
            since,
            before,
            user_id: self.user.clone(),
            title: self.title.clone(),
            model: self.model.clone(),
            tags: listing::tags(&self.tag)?,
            ..SearchFilter::default()
        })
    }

    /// The command for the page that an option names.
    fn command(&self, (page, value): (&str, String), place: &str) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut option = |name: &str, value: &str| words.extend([name.to_owned(), shell_word(value)]);
        self.source.iter().for_each(|source| option("--source", source));
        self.exclude_source.iter().for_each(|source| option("--exclude-source", source));
        self.role.iter().for_each(|role| option("--role", role));
        self.tag.iter().for_each(|tag| option("--tag", tag));
        let given = [
            ("--since", &self.since),
            ("--until", &self.until),
            ("--user", &self.user),
            ("--session", &self.session),
            ("--title", &self.title),
            ("--model", &self.model),
        ];
        given
            .iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)))
            .for_each(|(name, value)| option(name, value));
        if self.limit != i64::from(PageRequest::default().limit()) {
            option("--limit", &self.limit.to_string());
        }
        option(page, &value);
        let flags = [("--newest", self.newest), ("--exact", self.exact), ("--context", self.context)];
        words.extend(flags.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| (*name).to_owned()));
        words.extend(self.query.iter().any(|word| word.starts_with('-')).then(|| "--".to_owned()));
        words.extend(self.query.iter().map(|word| shell_word(word)));
        format!("hermes sessions search{place} {}", words.join(" "))
    }
}

pub(crate) async fn run(context: &Context, args: SearchArgs) -> Result<(), CliError> {
    let mut request = args.request(&context.now).map_err(CliError::usage)?;
    let Opened { store, settings, .. } = context.open_for_reading().await?;
    request.timeout = Duration::from_millis(settings.search.timeout_ms.value);
    if let Some(text) = &args.session {
        request.filter.sessions = Some(conversation(context, &*store, text).await?);
    }
    let answer = search(context, &*store, &args, request.clone()).await?;
    suggest_adopting(context, &answer.served);
    if answer.hits.is_empty() && answer.next.is_none() {
        return Err(nothing(&args, &request, &answer.served));
    }
    if !args.json {
        LastList::new(1, false, hits::ids(&answer.hits)).keep(&context.workspace, context.now.at);
    }
    Ok(())
}

/// Says how to make searches quicker if the file is not adopted: the agent's index knows no pieces of words, so that much is scanned.
fn suggest_adopting(context: &Context, served: &Served) {
    if served.needs_adoption {
        let command = format!("hermes sessiondb adopt{}", context.place());
        context
            .ui
            .note(&format!("searched by the agent's index and a scan; `{command}` adds indexes that make it quicker"));
    }
}

/// Searches a store and prints what is found.
async fn search(
    context: &Context,
    store: &dyn Store,
    args: &SearchArgs,
    mut request: SearchRequest,
) -> Result<SearchAnswer, CliError> {
    if args.json {
        let delimiters = Delimiters::random();
        request.snippet = delimiters.style(LENGTH_FOR_PROGRAMS);
        let answer = store.search(&request).await?;
        let next = json::Next { offset: next_offset(&request, &answer), place: next_place(&request, &answer) };
        context.ui.json(&json::search(&args.text(), &answer, &next, &delimiters))?;
        return Ok(answer);
    }
    let answer = print_hits(context, store, &request, args.context).await?;
    // Offsets are easier to type; a search that was continued by --after goes on by --after.
    let next = match next_offset(&request, &answer) {
        Some(offset) => Some(("--offset", offset.to_string())),
        None => next_place(&request, &answer).map(|place| ("--after", place)),
    };
    if let Some(next) = next.filter(|_| !answer.hits.is_empty()) {
        context.ui.note(&format!("there are more: {}", args.command(next, &context.place())));
    }
    Ok(answer)
}

/// Every session of the conversation that a person names.
async fn conversation(
    context: &Context,
    store: &dyn ConversationStore,
    text: &str,
) -> Result<Vec<SessionId>, CliError> {
    if text.is_empty() {
        return Err(CliError::new(Kind::Usage, "--session is empty", resolve::FORMS));
    }
    let found = resolve(context, store, text).await?;
    Ok(store.lineage(&found.asked).await?.conversation(&found.asked))
}

/// Where the next page starts, for `--after`.
fn next_place(request: &SearchRequest, answer: &SearchAnswer) -> Option<String> {
    answer.next.as_ref().map(|next| next.to_text(request))
}

/// How many hits come before the next page; who came here by a place has not counted them.
fn next_offset(request: &SearchRequest, answer: &SearchAnswer) -> Option<u64> {
    answer.next.as_ref().filter(|_| request.after.is_none())?;
    Some(request.page.offset() + answer.hits.len() as u64)
}

/// Nothing was found: that is what the exit code tells, as it does for other programs that search.
fn nothing(args: &SearchArgs, request: &SearchRequest, served: &Served) -> CliError {
    let text = args.text();
    if served.is_partial {
        let text = format!("found nothing that matches {text:?} within {} s", request.timeout.as_secs_f64());
        let hint = "narrow the search with --since or --source, or raise search.timeout_ms in config.yaml";
        // Nobody knows whether there is something.
        return CliError::new(Kind::Store, text, hint);
    }
    if request.after.is_some() {
        return CliError::new(Kind::User, format!("nothing more matches {text:?}"), "without --after it begins anew");
    }
    if request.page.offset() > 0 {
        let text = format!("nothing more matches {text:?} behind the first {}", number(request.page.offset()));
        return CliError::new(Kind::User, text, "a smaller --offset shows what there is");
    }
    let is_narrowed = SearchFilter { exclude_sources: Vec::new(), ..request.filter.clone() } != SearchFilter::default();
    let hint = if is_narrowed || !args.exclude_source.is_empty() {
        "other options may find some: see `hermes sessions search --help`"
    } else if args.exact {
        "without --exact, messages with some of the words are found as well"
    } else {
        "try another word, or only the beginning of it"
    };
    CliError::new(Kind::User, format!("no message matches {text:?}"), hint)
}

#[cfg(test)]
mod tests;
