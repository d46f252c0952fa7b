//! `hermes sessions search`

use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::narrowing::{self, Asked, Existing};
use crate::program;
use crate::resolve::{self, resolve_to_read};
use crate::searching::{Printed, print_hits};
use crate::ui::json;
use crate::when;
use hermes_app::last_list::LastList;
use hermes_app::listing;
use hermes_session::search::{Query, SearchAnswer, SearchCursor, SearchFilter, SearchOrder, SearchRequest, Served};
use hermes_session::{ConversationStore, Invalid, MAX_PAGE, PageRequest, Role, SessionId, Store, quoted};
use hermes_terminal::figures::number;
use hermes_terminal::highlight::Delimiters;
use hermes_terminal::shell::shell_word;
use hermes_terminal::time::Now;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Length of a snippet for programs, in characters.
const LENGTH_FOR_PROGRAMS: usize = 200;

/// A search without hits that takes longer is slow enough to suggest adopting the file.
const SLOW: Duration = Duration::from_millis(300);

/// Search messages: words, "exact phrases", prefix*, OR, NOT and parentheses
///
/// At most three hits of a conversation are shown, with the number of the others; --session SESSION shows all of one
/// conversation. The number after # is the message id: `hermes sessions show SESSION --around MESSAGE` opens the hit in
/// its place.
///
/// Words are also found inside longer words; case and accents are ignored, and whole words rank first. Quote phrases
/// for the shell: '"disk full"'.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct SearchArgs {
    /// Search query; all words have to match. After --, it may begin with a dash
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Only conversations from this source, such as cli or telegram; may be repeated
    #[arg(short, long, value_name = "SOURCE")]
    source: Vec<String>,
    /// Leave out this source; may be repeated
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// Only messages of this role: user, assistant, tool or system; may be repeated
    #[arg(long, value_name = "ROLE")]
    role: Vec<String>,
    /// Only messages at or after TIME: 2026-01-31, 2026-01-31T10:00, today, yesterday, 2h, 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only messages at or before TIME
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only conversations with this user
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Only this conversation: session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only conversations with TEXT in the title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Only conversations that used a model with MODEL in its name; ignores case
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only conversations with this tag; if repeated, with all of the tags
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Sort by time, newest first, instead of by relevance
    #[arg(long)]
    newest: bool,
    /// Only messages that match the whole query; no partial matches
    #[arg(long)]
    exact: bool,
    /// Show at most N hits; 0 for as many as fit on a page (10,000)
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, allow_negative_numbers = true)]
    limit: i64,
    /// Skip the first N hits
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    offset: i64,
    /// Continue after a page: the value of `next` in its --json output. Unlike --offset, skips and repeats no hit while
    /// others write
    #[arg(long, value_name = "CURSOR", conflicts_with = "offset")]
    after: Option<String>,
    /// Show the messages before and after each hit
    #[arg(long)]
    context: bool,
    /// Print one JSON object
    #[arg(short, long)]
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
            page: PageRequest::new(if self.limit == 0 { i64::from(MAX_PAGE) } else { self.limit }, self.offset)?,
            relax: !self.exact,
            with_neighbours: self.context || self.json,
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

    /// Returns the command for the page that an option names.
    fn command(&self, (page, value): (&str, String), place: &str) -> String {
        let mut words = Vec::new();
        if self.limit != i64::from(PageRequest::default().limit()) {
            words.extend(["--limit".to_owned(), self.limit.to_string()]);
        }
        words.extend([page.to_owned(), shell_word(&value)]);
        self.repeated(self.session.as_deref(), words, place)
    }

    /// Returns the command that shows every hit of a conversation.
    fn command_of(&self, conversation: &SessionId, place: &str) -> String {
        self.repeated(Some(conversation.as_str()), Vec::new(), place)
    }

    /// Returns the command for the same search in `session`, with the options about the page.
    fn repeated(&self, session: Option<&str>, page: Vec<String>, place: &str) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut option = |name: &str, value: &str| words.extend([name.to_owned(), shell_word(value)]);
        self.source.iter().for_each(|source| option("--source", source));
        self.exclude_source.iter().for_each(|source| option("--exclude-source", source));
        self.role.iter().for_each(|role| option("--role", role));
        self.tag.iter().for_each(|tag| option("--tag", tag));
        let given = [
            ("--since", self.since.as_deref()),
            ("--until", self.until.as_deref()),
            ("--user", self.user.as_deref()),
            ("--session", session),
            ("--title", self.title.as_deref()),
            ("--model", self.model.as_deref()),
        ];
        given.iter().filter_map(|(name, value)| Some((name, (*value)?))).for_each(|(name, value)| option(name, value));
        words.extend(page);
        let flags = [("--newest", self.newest), ("--exact", self.exact), ("--context", self.context)];
        words.extend(flags.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| (*name).to_owned()));
        words.extend(self.query.iter().any(|word| word.starts_with('-')).then(|| "--".to_owned()));
        words.extend(self.query.iter().map(|word| shell_word(word)));
        format!("{} sessions search{place} {}", program::name(), words.join(" "))
    }
}

pub(crate) async fn run(context: &Context, args: SearchArgs) -> Result<(), CliError> {
    let mut request = args.request(&context.now).map_err(CliError::usage)?;
    let Opened { store, settings, .. } = context.open_for_reading().await?;
    request.timeout = Duration::from_millis(settings.search.timeout_ms.value);
    if let Some(text) = &args.session {
        request.filter.sessions = Some(conversation(context, &*store, text).await?);
    }
    narrowing::check_roles(&*store, request.filter.roles.iter().flatten(), request.timeout).await?;
    let start = Instant::now();
    let answer = search(context, &*store, &args, request.clone()).await?;
    let adopting = adopting(&answer.served, &context.place());
    if !answer.hits.is_empty() || answer.next.is_some() {
        adopting.iter().for_each(|text| context.ui.note(text));
        return Ok(());
    }
    let adopting = adopting.filter(|_| start.elapsed() > SLOW);
    let (tags, has_roles) = (&args.tag[..], !args.role.is_empty());
    let asked = Asked { sources: &args.source, tags, model: args.model.as_deref(), has_roles };
    let error = nothing(&args, &request, &answer.served, asked.existing(&*store).await?);
    Err(adopting.into_iter().fold(error, CliError::with_hint))
}

/// Returns a suggestion to adopt the file if that makes searches faster: without our indexes, every message is read.
fn adopting(served: &Served, place: &str) -> Option<String> {
    let text =
        format!("searched by reading every message; `hermes sessiondb adopt{place}` adds indexes that make it quicker");
    served.needs_adoption.then_some(text)
}

/// Searches a store and prints the hits.
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
    let rest = |id: &SessionId| args.command_of(id, &context.place());
    let Printed { answer, covered, has_more, conversations } =
        print_hits(context, store, &request, args.context, rest).await?;
    if let Some(first) = answer.hits.first() {
        let (id, place) = (shell_word(first.conversation.as_str()), context.place());
        let around = format!("{} sessions show{place} {id} --around {}", program::name(), first.message);
        context.ui.note_command("open a hit by its number", &around);
        let list = LastList::new(1, false, conversations).on_terminal(std::io::stdout().is_terminal());
        list.keep(&context.workspace, context.now.at);
    }
    // Offsets are easier to type. A search that was continued by `--after` continues by `--after`.
    let next = match request.after {
        None => Some(("--offset", (request.page.offset() + covered as u64).to_string())),
        Some(_) => next_place(&request, &answer).map(|place| ("--after", place)),
    };
    if let Some(next) = next.filter(|_| has_more && covered > 0) {
        context.ui.note_command("there are more", &args.command(next, &context.place()));
    }
    Ok(answer)
}

/// Returns every session of the conversation that a person names.
async fn conversation(
    context: &Context,
    store: &dyn ConversationStore,
    text: &str,
) -> Result<Vec<SessionId>, CliError> {
    if text.is_empty() {
        return Err(CliError::new(Kind::Usage, "--session is empty", resolve::FORMS));
    }
    let found = resolve_to_read(context, store, text).await?;
    Ok(store.lineage(&found.asked).await?.conversation(&found.asked))
}

/// Returns the position of the next page, for `--after`.
fn next_place(request: &SearchRequest, answer: &SearchAnswer) -> Option<String> {
    answer.next.as_ref().map(|next| next.to_text(request))
}

/// Returns the number of hits before the next page. `None` after `--after`, because the hits before it were not
/// counted.
fn next_offset(request: &SearchRequest, answer: &SearchAnswer) -> Option<u64> {
    answer.next.as_ref().filter(|_| request.after.is_none())?;
    Some(request.page.offset() + answer.hits.len() as u64)
}

/// Returns the error for a search without hits. Its exit code says so, as in other search programs. `existing` are
/// hints about what the store has.
fn nothing(args: &SearchArgs, request: &SearchRequest, served: &Served, existing: Existing) -> CliError {
    let text = quoted(&args.text());
    if served.is_partial {
        let text = format!("found nothing that matches {text} within {} s", request.timeout.as_secs_f64());
        let hint = "narrow the search with --since or --source, or raise search.timeout_ms in config.yaml";
        // It is unknown whether anything matches.
        return CliError::new(Kind::Store, text, hint);
    }
    if request.after.is_some() {
        return CliError::new(
            Kind::User,
            format!("nothing more matches {text}"),
            "without --after, the search starts with the first hit",
        );
    }
    if request.page.offset() > 0 {
        let text = format!("no hits after the first {}", number(request.page.offset()));
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
    let text = format!("no message matches {text}");
    let hint = Some(hint.to_owned()).filter(|_| !existing.is_cause_named);
    let mut hints = existing.hints.into_iter().chain(hint);
    let error = CliError::new(Kind::User, text, hints.next().unwrap_or_default());
    hints.fold(error, CliError::with_hint)
}

#[cfg(test)]
mod tests;
