//! `hermes __complete`: what the scripts of `hermes completions` ask for each time somebody presses the key.
//!
//! The words come from the same types as the help.
//!
//! Why not the dynamic completion of `clap_complete` (4.6, feature `unstable-dynamic`): its script for bash prints candidates unquoted, so that a
//! title with a blank becomes two words, and hands over the typed word with its quotes and backslashes. The script of ours does both.

use crate::args::Args;
use crate::context::{Access, Context, OpenStore};
use crate::error::CliError;
use crate::ui::changes::conversations;
use clap::{Arg, Command, CommandFactory as _};
use hermes_app::listing::default_filter;
use hermes_session::{ConversationStore, ListRequest, PageRequest, StoreError};
use hermes_store::OpenOptions;
use std::time::Duration;

/// How many conversations are looked at.
const ROWS: u32 = 200;
/// How many ids are named beyond those.
const IDS: u32 = 50;
/// Nobody waits longer for a completion.
const WAIT: Duration = Duration::from_millis(300);

#[derive(clap::Args)]
pub(crate) struct CompleteArgs {
    /// Words are as they were typed, with quotes and backslashes
    #[arg(long)]
    quoted: bool,
    /// The words behind the program's name; the last one is to be completed
    #[arg(last = true)]
    words: Vec<String>,
}

/// What may stand in a place.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// One of these words, each with what it is.
    Words(Vec<(String, String)>),
    /// A session.
    Session,
    /// A tag that some conversation has.
    Tag,
    /// Something that only the person knows, or a file.
    Anything,
}

pub(crate) async fn run(context: &Context, args: &CompleteArgs) -> Result<(), CliError> {
    let words: Vec<String> =
        args.words.iter().map(|word| if args.quoted { unquoted(word) } else { word.clone() }).collect();
    let mut command = Args::command();
    command.build();
    let (current, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let mut candidates = match wanted(&command, before, current) {
        Wanted::Words(words) => words,
        // A shell that completes a word has no place for an error.
        Wanted::Session => sessions(context, before, current).await.unwrap_or_else(none),
        Wanted::Tag => tags(context, before).await.unwrap_or_else(none),
        Wanted::Anything => Vec::new(),
    };
    candidates.retain(|(word, _)| word.starts_with(current));
    context.ui.candidates(&candidates)
}

/// Returns no candidates, because the store failed.
fn none(error: CliError) -> Vec<(String, String)> {
    tracing::debug!(error = error.of_store().map(StoreError::kind), "no candidates: the store can't be read");
    Vec::new()
}

/// What may come behind these words, in the place where `current` was begun.
fn wanted(root: &Command, before: &[String], current: &str) -> Wanted {
    let (mut command, mut place, mut option, mut is_words_only) = (root, 0, None, false);
    for word in before {
        if option.take().is_some() {
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
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        return Wanted::Words(shown.map(|command| described(command.get_name(), command.get_about())).collect());
    }
    let positionals: Vec<&Arg> = command.get_positionals().collect();
    // A last word that may come several times takes all that follow.
    let last = positionals.last().filter(|last| is_many(last));
    positionals.get(place).or(last).map_or(Wanted::Anything, |argument| value(argument))
}

/// The option that waits for its value behind this word.
fn open_option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    if word.contains('=') {
        return None;
    }
    let found = command.get_arguments().find(|option| match word.strip_prefix("--") {
        Some(long) => option.get_long() == Some(long),
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
    match (is("SESSION"), is("TAG")) {
        (true, _) => Wanted::Session,
        (_, true) => Wanted::Tag,
        _ => Wanted::Anything,
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

/// Ids and titles that begin so, of the conversations used last; if none does, any id.
async fn sessions(context: &Context, before: &[String], current: &str) -> Result<Vec<(String, String)>, CliError> {
    match open(context, before).await? {
        Some(store) => Ok(candidates(&*store, current).await?),
        None => Ok(Vec::new()),
    }
}

/// Every tag in use, with how many conversations have it.
async fn tags(context: &Context, before: &[String]) -> Result<Vec<(String, String)>, CliError> {
    let Some(store) = open(context, before).await? else { return Ok(Vec::new()) };
    let tags = store.tags().await?;
    Ok(tags.into_iter().map(|(tag, count)| (tag.to_string(), conversations(count))).collect())
}

/// Opens the store that the typed words mean. Returns `None` if it is not a file on this machine: a server may take long to answer.
async fn open(context: &Context, before: &[String]) -> Result<Option<OpenStore>, CliError> {
    let context = context.with_flags(flags(before));
    let url = context.url()?;
    if url.file().is_none() {
        return Ok(None);
    }
    let options = OpenOptions { wait: WAIT, ..OpenOptions::default() };
    Ok(Some(context.open_with(&url, Access::Read, options).await?))
}

async fn candidates(store: &dyn ConversationStore, current: &str) -> Result<Vec<(String, String)>, StoreError> {
    let request = ListRequest { filter: default_filter(), page: PageRequest::first(ROWS), ..ListRequest::default() };
    let rows = store.list(&request).await?.rows;
    let ids = rows.iter().map(|row| {
        let what = row.title.clone().unwrap_or_else(|| row.preview.clone());
        (row.id.as_str().to_owned(), what)
    });
    let titles = rows.iter().filter_map(|row| Some((row.title.clone()?, row.id.to_string())));
    // Where nothing was typed yet, each session is named once.
    let titles = titles.filter(|_| !current.is_empty());
    let found: Vec<_> = ids.chain(titles).filter(|(word, _)| word.starts_with(current)).collect();
    if !found.is_empty() || current.is_empty() {
        return Ok(found);
    }
    let ids = store.ids_with_prefix(current, IDS).await?;
    Ok(ids.into_iter().map(|id| (id.as_str().to_owned(), String::new())).collect())
}

/// Where the typed words say that sessions are.
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

/// A word as a shell would hand it over, as far as it was typed.
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
        let mut command = Args::command();
        command.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (current, before) = words.split_last().unwrap();
        let found = match wanted(&command, before, current) {
            Wanted::Words(words) => {
                words.into_iter().map(|(word, _)| word).filter(|word| word.starts_with(current)).collect()
            }
            Wanted::Session => vec!["SESSION".to_owned()],
            Wanted::Tag => vec!["TAG".to_owned()],
            Wanted::Anything => vec![],
        };
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn each_place_has_its_words() {
        check("sess", &["sessions", "sessiondb"]);
        check("sessiondb mi", &["migrate"]);
        check("sessions ex", &["export"]);
        check("sessions export --fo", &["--format"]);
        check("sessions export --format m", &["markdown"]);
        check("sessions export --session-id ", &["SESSION"]);
        check("sessions export ", &[]);
        check("sessions show ", &["SESSION"]);
        check("sessions --home /x show --json ", &["SESSION"]);
        check("sessions delete x ", &[]);
        check("sessions list --tag ", &["TAG"]);
        check("sessions tag x --remove ", &["TAG"]);
        check("sessions tag x ", &["SESSION"]);
        check("completions z", &["zsh"]);
        check("config sho", &["show"]);
        check("__", &[]);
        check("sessions show -- --json", &["SESSION"]);
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
