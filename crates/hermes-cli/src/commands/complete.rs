//! `hermes __complete`: called by the scripts of `hermes completions` for each completion.
//!
//! The words come from the same types as the help.
//!
//! The dynamic completion of `clap_complete` (4.6, feature `unstable-dynamic`) is not used. Its bash script prints
//! candidates unquoted, so that a title with a blank becomes two words. It also passes the typed word with its quotes
//! and backslashes. Our script handles both.

use crate::args;
use crate::context::{Access, Context, OpenStore};
use crate::error::{CliError, Kind};
use crate::ui::changes::conversations;
use clap::builder::ValueHint;
use clap::{Arg, Command};
use hermes_app::listing::default_filter;
use hermes_app::trash;
use hermes_session::{ConversationStore, ListRequest, Maintenance, PageRequest, SessionSummary, StoreError, View};
use hermes_store::OpenOptions;
use std::collections::BTreeSet;
use std::time::Duration;

/// Maximum number of recent conversations considered.
const ROWS: u32 = 200;
/// Maximum number of other ids suggested.
const IDS: u32 = 50;
/// Number of recent sessions whose sources and models are suggested. Bounds the time in a large store.
const RECENT: u32 = 1_000;
/// The roles of messages that agents write.
const ROLES: [(&str, &str); 4] = [
    ("assistant", "The agent's answers"),
    ("system", "System messages"),
    ("tool", "Results of tools"),
    ("user", "What a person wrote"),
];
/// Time limit of a completion, which holds up the shell.
const WAIT: Duration = Duration::from_millis(300);

#[derive(clap::Args)]
pub(crate) struct CompleteArgs {
    /// Take the words as they were typed, with quotes and backslashes
    #[arg(long)]
    quoted: bool,
    /// Fail where a file is expected, so that the shell completes it
    #[arg(long)]
    files: bool,
    /// Words after the program's name; the last one is completed
    #[arg(last = true)]
    words: Vec<String>,
}

/// The kind of word expected at a position.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// One of these words, each with its description.
    Words(Vec<(String, String)>),
    /// A session.
    Session,
    /// A conversation in the trash.
    Deleted,
    /// A tag that some conversation has.
    Tag,
    /// A source of sessions.
    Source,
    /// A model of sessions.
    Model,
    /// A file, which the shell completes.
    File,
    /// A value that can't be suggested.
    Unknown,
}

pub(crate) async fn run(context: &Context, args: &CompleteArgs) -> Result<(), CliError> {
    let words: Vec<String> =
        args.words.iter().map(|word| if args.quoted { unquoted(word) } else { word.clone() }).collect();
    let mut command = args::command();
    command.build();
    let (current, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let (wanted, current, prefix) = at_cursor(&command, before, current);
    let mut candidates = match wanted {
        Wanted::Words(words) => words,
        Wanted::Unknown => Vec::new(),
        Wanted::File if args.files => return Err(CliError::new(Kind::User, "a file is expected here", "name a file")),
        Wanted::File => Vec::new(),
        // A shell can't show an error during a completion.
        stored => of_store(context, &stored, before, current).await.unwrap_or_else(none),
    };
    candidates.retain(|(word, _)| begins(word, current));
    candidates.iter_mut().for_each(|(word, _)| word.insert_str(0, prefix));
    context.ui.candidates(&candidates)
}

/// Returns the kind of word at the cursor, the part of it that is typed, and the text before that part that the shell
/// replaces together with it: `--source=` of `--source=te`.
fn at_cursor<'t>(command: &Command, before: &[String], current: &'t str) -> (Wanted, &'t str, &'t str) {
    // bash makes a word of its own of `=`.
    if current == "=" {
        return (wanted(command, before, ""), "", "");
    }
    if let Some(at) = current.find('=').filter(|_| current.starts_with("--")) {
        let words: Vec<String> = before.iter().cloned().chain([current[..at].to_owned()]).collect();
        return (wanted(command, &words, &current[at + 1..]), &current[at + 1..], &current[..=at]);
    }
    (wanted(command, before, current), current, "")
}

/// Returns the candidates that the store has.
async fn of_store(
    context: &Context,
    wanted: &Wanted,
    before: &[String],
    current: &str,
) -> Result<Vec<(String, String)>, CliError> {
    let Some(store) = open(context, before).await? else { return Ok(Vec::new()) };
    match wanted {
        Wanted::Session => Ok(candidates(&*store, current).await?),
        Wanted::Deleted => Ok(deleted(&*store, current).await?),
        Wanted::Tag => Ok(tags(&*store).await?),
        Wanted::Source => Ok(used(&*store, |row| Some(row.source.to_string())).await?),
        Wanted::Model => Ok(used(&*store, |row| row.model).await?),
        Wanted::Words(_) | Wanted::File | Wanted::Unknown => Ok(Vec::new()),
    }
}

/// Returns no candidates, because the store failed.
fn none(error: CliError) -> Vec<(String, String)> {
    tracing::debug!(error = error.of_store().map(StoreError::kind), "no candidates: the store can't be read");
    Vec::new()
}

/// Returns the kind of word expected after `before`, for the word begun as `current`.
fn wanted(root: &Command, before: &[String], current: &str) -> Wanted {
    let (mut command, mut place, mut option, mut is_words_only) = (root, 0, None, false);
    for word in before {
        if option.is_some() {
            // bash makes a word of its own of `=`.
            option = option.filter(|_| word == "=");
            continue;
        }
        match word.as_str() {
            "--" if !is_words_only => is_words_only = true,
            word if word.starts_with('-') && word.len() > 1 && !is_words_only => option = open_option(command, word),
            word => match command.find_subcommand(word) {
                Some(next) => (command, place) = (next, 0),
                None => place += 1,
            },
        }
    }
    if let Some(option) = option {
        return value(option);
    }
    if current.starts_with('-') && !is_words_only {
        return Wanted::Words(options(command));
    }
    if command.has_subcommands() {
        // The short forms of some commands are left out of the lists of commands, not of completion.
        let shown = command.get_subcommands().filter(|command| !command.get_name().starts_with("__"));
        return Wanted::Words(shown.map(|command| described(command.get_name(), command.get_about())).collect());
    }
    let positionals: Vec<&Arg> = command.get_positionals().collect();
    // A last positional that repeats takes all the words that follow.
    let last = positionals.last().filter(|last| is_many(last));
    positionals.get(place).or(last).map_or(Wanted::Unknown, |argument| value(argument))
}

/// Returns the option that expects its value after this word.
fn open_option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    if word.contains('=') {
        return None;
    }
    let found = command.get_arguments().find(|option| match word.strip_prefix("--") {
        Some(long) => {
            option.get_long() == Some(long) || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
        }
        None => option.get_short().is_some_and(|short| word.ends_with(short)),
    });
    found.filter(|option| option.get_action().takes_values())
}

fn value(argument: &Arg) -> Wanted {
    let words = argument.get_possible_values();
    if !words.is_empty() && argument.get_action().takes_values() {
        return Wanted::Words(words.iter().map(|word| described(word.get_name(), word.get_help())).collect());
    }
    let is =
        |what: &str| argument.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == what));
    match () {
        () if is("SESSION") => Wanted::Session,
        () if is("DELETED") => Wanted::Deleted,
        () if is("TAG") => Wanted::Tag,
        () if is("SOURCE") => Wanted::Source,
        () if is("MODEL") => Wanted::Model,
        () if is("ROLE") => Wanted::Words(ROLES.map(|(role, what)| (role.to_owned(), what.to_owned())).into()),
        // A store may be named by its path.
        () if is("URL") || argument.get_value_hint() == ValueHint::AnyPath => Wanted::File,
        () => Wanted::Unknown,
    }
}

fn options(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_arguments().filter(|option| !option.is_hide_set());
    shown.filter_map(|option| Some(described(&format!("--{}", option.get_long()?), option.get_help()))).collect()
}

fn is_many(argument: &Arg) -> bool {
    argument.get_num_args().is_some_and(|count| count.max_values() > 1)
}

fn described(word: &str, what: Option<&clap::builder::StyledStr>) -> (String, String) {
    let text = what.map(ToString::to_string).unwrap_or_default();
    (word.to_owned(), text.lines().next().unwrap_or_default().to_owned())
}

/// Returns every tag in use, sorted, with the number of its conversations.
async fn tags(store: &dyn ConversationStore) -> Result<Vec<(String, String)>, StoreError> {
    let tags = store.tags().await?.into_iter();
    let mut tags: Vec<_> = tags.map(|(tag, count)| (tag.to_string(), conversations(count))).collect();
    tags.sort_unstable();
    Ok(tags)
}

/// Returns a value of the sessions that were active last, each once, sorted.
async fn used(
    store: &dyn ConversationStore,
    value: impl Fn(SessionSummary) -> Option<String>,
) -> Result<Vec<(String, String)>, StoreError> {
    let request = ListRequest { view: View::Sessions, page: PageRequest::first(RECENT), ..ListRequest::default() };
    let values: BTreeSet<String> = store.list(&request).await?.rows.into_iter().filter_map(value).collect();
    Ok(values.into_iter().map(|value| (value, String::new())).collect())
}

/// Returns the ids of the conversations in the trash, and the titles that start with what was typed.
async fn deleted(store: &dyn Maintenance, current: &str) -> Result<Vec<(String, String)>, StoreError> {
    let entries = trash::entries(store).await?;
    let ids = entries.iter().map(|entry| (entry.id.to_string(), entry.title.clone().unwrap_or_default()));
    let titles = entries.iter().filter_map(|entry| Some((entry.title.clone()?, entry.id.to_string())));
    Ok(ids.chain(titles.filter(|_| !current.is_empty())).collect())
}

/// Opens the store that the typed words name. Returns `None` if it is not a file on this machine: a server may take
/// long to answer.
async fn open(context: &Context, before: &[String]) -> Result<Option<OpenStore>, CliError> {
    let context = context.with_flags(flags(before));
    let url = context.url()?;
    if url.file().is_none() {
        return Ok(None);
    }
    let options = OpenOptions { wait: WAIT, ..OpenOptions::default() };
    Ok(Some(context.open_with(&url, Access::Read, options).await?))
}

/// Returns ids and titles of recent conversations that start with `current`; if there are none, any ids that do.
async fn candidates(store: &dyn ConversationStore, current: &str) -> Result<Vec<(String, String)>, StoreError> {
    let request = ListRequest { filter: default_filter(), page: PageRequest::first(ROWS), ..ListRequest::default() };
    let rows = store.list(&request).await?.rows;
    let ids = rows.iter().map(|row| {
        let what = row.title.clone().unwrap_or_else(|| row.preview.clone());
        (row.id.as_str().to_owned(), what)
    });
    let titles = rows.iter().filter_map(|row| Some((row.title.clone()?, row.id.to_string())));
    // Before anything is typed, each session is suggested once.
    let titles = titles.filter(|_| !current.is_empty());
    let found: Vec<_> = ids.chain(titles).filter(|(word, _)| begins(word, current)).collect();
    if !found.is_empty() || current.is_empty() {
        return Ok(found);
    }
    let ids = store.ids_with_prefix(current, IDS).await?;
    Ok(ids.into_iter().map(|id| (id.as_str().to_owned(), String::new())).collect())
}

/// Returns whether a word begins with what was typed, whatever the case, as `show` takes titles.
fn begins(word: &str, typed: &str) -> bool {
    word.starts_with(typed) || word.to_lowercase().starts_with(&typed.to_lowercase())
}

/// Returns the location of the store that the typed words name.
fn flags(before: &[String]) -> hermes_config::Flags {
    let given = |name: &str| {
        let pair = before.windows(2).rev().find(|pair| pair[0] == name).map(|pair| pair[1].clone());
        pair.or_else(|| {
            before.iter().rev().find_map(|word| Some(word.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
        })
    };
    hermes_config::Flags {
        home: given("--home").map(Into::into),
        url: given("--url").map(hermes_config::Secret::new),
        ..hermes_config::Flags::default()
    }
}

/// Removes quotes and backslashes from a word as a shell does, even if a quote is still open.
fn unquoted(word: &str) -> String {
    let (mut out, mut quote, mut characters) = (String::new(), None, word.chars());
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None | Some('"'), '\\') => out.extend(characters.next()),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        let mut command = args::command();
        command.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (current, before) = words.split_last().unwrap();
        let found = match at_cursor(&command, before, current) {
            (Wanted::Words(words), current, _) => {
                words.into_iter().map(|(word, _)| word).filter(|word| word.starts_with(current)).collect()
            }
            (Wanted::Unknown, ..) => vec![],
            (other, ..) => vec![format!("{other:?}")],
        };
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn each_place_has_its_words() {
        check("sess", &["sessions", "sessiondb"]);
        check("li", &["list"]);
        check("sho", &["show"]);
        check("sessiondb mi", &["migrate"]);
        check("sessions ex", &["export"]);
        check("sessions export --fo", &["--format"]);
        check("sessions export --format m", &["markdown"]);
        check("sessions export --session ", &["Session"]);
        check("sessions export --session-id ", &["Session"]);
        check("sessions export ", &["File"]);
        check("sessions list --home ", &["File"]);
        check("sessions --url ", &["File"]);
        check("sessions list --since ", &[]);
        check("sessions show ", &["Session"]);
        check("sessions --home /x show --json ", &["Session"]);
        check("sessions delete x ", &["Session"]);
        check("sessions restore x ", &["Deleted"]);
        check("sessions list --tag ", &["Tag"]);
        check("sessions tag x --remove ", &["Tag"]);
        check("sessions tag x ", &["Session"]);
        check("sessions list --source ", &["Source"]);
        check("sessions list -s ", &["Source"]);
        check("sessions list --source=t", &["Source"]);
        check("sessions list --source =", &["Source"]);
        check("sessions list --source = t", &["Source"]);
        check("sessions list --source=cli ", &[]);
        check("sessions search x --model ", &["Model"]);
        check("sessions search x --role ", &["assistant", "system", "tool", "user"]);
        check("sessions search x --role=t", &["tool"]);
        check("sessions list --color ", &["auto", "always", "never"]);
        check("completions z", &["zsh"]);
        check("config sho", &["show"]);
        check("__", &[]);
        check("sessions show -- --json", &["Session"]);
    }

    #[test]
    fn words_lose_their_quotes() {
        for (typed, word) in
            [(r"a\ b", "a b"), ("'a b", "a b"), (r#""a \"b"#, "a \"b"), (r"it\'s", "it's"), (r"a\", "a")]
        {
            assert_eq!(unquoted(typed), word);
        }
    }
}
