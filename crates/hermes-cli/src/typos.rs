//! Suggestions for commands that do not exist.

use crate::agent;
use crate::program::{self, called};
use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use hermes_config::Environment;
use std::ffi::{OsStr, OsString};

/// Commands that remove or replace data. They are never suggested before another one.
const DESTRUCTIVE: [&str; 7] = ["delete", "detach", "erase", "prune", "repair", "restore-backup", "trash"];

/// Words of other programs, and the command that does the same here.
const SYNONYMS: [(&str, &str); 7] = [
    ("cat", "show"),
    ("find", "search"),
    ("grep", "search"),
    ("info", "show"),
    ("read", "show"),
    ("version", "--version"),
    ("view", "show"),
];

/// Words of the agent's program that nothing here does. Commands spelled alike do something else.
const OF_AGENT: [&str; 1] = ["resume"];

/// Minimum similarity of a suggestion, from 0 to 1. One wrong, missing or swapped letter of three passes.
const LEAST: f64 = 0.6;

/// Replaces the suggestions of `clap` in an error about an unknown command, and names the agent's program, which is
/// also called `hermes`. `words` are the arguments after the name of the program.
pub(crate) fn explain(error: &mut clap::Error, command: &Command, words: &[OsString], environment: &Environment) {
    let typed = match (error.kind(), error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word)), _) => word.clone(),
        (ErrorKind::UnknownArgument, _, Some(ContextValue::String(word))) => word.clone(),
        _ => return,
    };
    let path = parents(command, words, &typed);
    let is_top = path.is_empty();
    if error.kind() == ErrorKind::InvalidSubcommand {
        let parent = path.iter().fold(command, |at, name| at.find_subcommand(name).unwrap_or(at));
        let found = suggestions(parent, is_top.then(|| command.find_subcommand("sessions")).flatten(), &typed);
        error.remove(ContextKind::SuggestedSubcommand);
        if !found.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(found));
        }
    }
    if let Some(ContextValue::String(option)) = error.get(ContextKind::SuggestedArg)
        && strsim::normalized_damerau_levenshtein(option.trim_start_matches('-'), typed.trim_start_matches('-')) < LEAST
    {
        error.remove(ContextKind::SuggestedArg);
        // `clap` names the suggested option in the usage as well.
        let found = path.iter().fold(command, |at, name| at.find_subcommand(name).unwrap_or(at));
        let words: Vec<&str> = [program::name()].into_iter().chain(path.iter().copied()).collect();
        let usage = found.clone().bin_name(words.join(" ")).render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    let takes_session = |at: &Command| at.get_positionals().any(names_session);
    if error.kind() == ErrorKind::UnknownArgument
        && !typed.starts_with('-')
        && path.iter().try_fold(command, |at, name| at.find_subcommand(name)).is_some_and(takes_session)
    {
        let tip = StyledStr::from("quote a title that has spaces");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    let agent = match agent::program(environment) {
        Some(agent) => Some(format!("the agent is another program: {}", agent.display())),
        None if agent::ARGUMENTS.contains(&typed.as_str()) => {
            Some(format!("{typed} is a command of {}", agent::ABSENT))
        }
        None => None,
    };
    if is_top && let Some(agent) = agent {
        let tip = called("`hermes --help` lists the commands of this program");
        let tips = [tip.into_owned(), agent];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips.map(StyledStr::from).into()));
    }
}

fn names_session(argument: &clap::Arg) -> bool {
    argument.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == "SESSION"))
}

/// Returns the commands typed before a word.
fn parents<'c>(command: &'c Command, words: &[OsString], typed: &str) -> Vec<&'c str> {
    let mut at = command;
    let mut path = Vec::new();
    for word in words.iter().take_while(|word| word.as_os_str() != OsStr::new(typed)) {
        if let Some(below) = at.find_subcommand(word) {
            path.push(below.get_name());
            at = below;
        }
    }
    path
}

/// Returns the commands that a word may stand for, the most similar first and destructive ones last.
fn suggestions(parent: &Command, sessions: Option<&Command>, typed: &str) -> Vec<String> {
    let word = typed.to_lowercase();
    if OF_AGENT.contains(&&*word) {
        return Vec::new();
    }
    let meant = SYNONYMS.iter().find(|(synonym, _)| *synonym == word).map(|(_, meant)| *meant);
    let mut found: Vec<(bool, f64, String)> = Vec::new();
    for (prefix, command) in [("", Some(parent)), ("sessions ", sessions)] {
        for below in command.into_iter().flat_map(Command::get_subcommands).filter(|below| !below.is_hide_set()) {
            let names = below.get_visible_aliases().chain([below.get_name()]);
            let alike = names.map(|name| similarity(&word, name, meant)).fold(0.0, f64::max);
            if alike >= LEAST {
                let is_destructive = DESTRUCTIVE.contains(&below.get_name());
                found.push((is_destructive, alike, format!("{prefix}{}", below.get_name())));
            }
        }
    }
    if sessions.is_some() && meant.is_some_and(|meant| meant.starts_with('-')) {
        found.extend(meant.map(|meant| (false, 1.0, meant.to_owned())));
    }
    // The command itself, typed without `sessions`, is no guess: the others are left out.
    if let Some(exact) = found.iter().position(|(_, alike, _)| *alike >= 1.0) {
        return vec![found.swap_remove(exact).2];
    }
    found.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    found.into_iter().map(|(.., name)| name).collect()
}

fn similarity(word: &str, name: &str, meant: Option<&str>) -> f64 {
    let is_start = word.len() >= 3 && name.starts_with(word);
    match () {
        () if word == name || meant == Some(name) => 1.0,
        () if is_start => 0.9,
        () => strsim::normalized_damerau_levenshtein(word, name).min(0.99),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;

    #[track_caller]
    fn check(parent: &str, typed: &str, expect: &[&str]) {
        let command = command();
        let sessions = command.find_subcommand("sessions");
        let found = match parent {
            "" => suggestions(&command, sessions, typed),
            _ => suggestions(command.find_subcommand(parent).unwrap(), None, typed),
        };
        assert_eq!(found, expect, "{parent} {typed}");
    }

    #[test]
    fn the_nearest_comes_first_and_destructive_ones_last() {
        check("sessions", "serach", &["search"]);
        check("sessions", "lst", &["list"]);
        check("sessions", "shwo", &["show"]);
        check("sessions", "info", &["show"]);
        check("sessions", "restor", &["restore", "restore-backup"]);
        check("sessions", "delet", &["delete"]);
        check("sessiondb", "statsu", &["status"]);
        check("sessions", "frobnicate", &[]);
    }

    #[test]
    fn commands_of_sessions_are_found_without_their_parent() {
        check("", "delete", &["sessions delete"]);
        check("", "serach", &["sessions search"]);
        check("", "docter", &["doctor"]);
        check("", "version", &["--version"]);
        check("", "sesions", &["sessions", "sessiondb"]);
        check("", "chat", &[]);
        check("", "resume", &[]);
    }

    #[test]
    fn every_destructive_command_exists() {
        let command = command();
        let exists = |name: &str| command.get_subcommands().any(|parent| parent.find_subcommand(name).is_some());
        assert!(DESTRUCTIVE.iter().all(|name| exists(name)));
    }

    #[test]
    fn values_of_options_are_no_parents() {
        let words = ["--home", "/x", "sessions", "lst"].map(OsString::from);
        assert_eq!(parents(&command(), &words, "lst"), ["sessions"]);
        assert_eq!(parents(&command(), &["--resume".into(), "sessions".into()], "--resume"), Vec::<&str>::new());
    }
}
