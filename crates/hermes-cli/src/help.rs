//! Help of the commands that have subcommands: these are grouped by task, with examples.
//!
//! `clap` prints all subcommands under one heading, so the groups are part of a help template.

use crate::program::called;
use clap::Command;
use clap::builder::Styles;
use hermes_terminal::Visible;
use hermes_terminal::layout::wrap;
use std::fmt::Write as _;

/// Maximum width of help.
pub(crate) const MAX_COLUMNS: usize = 100;

/// A heading with the names of its commands.
type Group = (&'static str, &'static [&'static str]);

/// Groups of `hermes --help`.
pub(crate) const TOP: &[Group] = &[
    ("Conversations", &["sessions", SHORT.0, "insights"]),
    ("Agents", &["mcp"]),
    ("Store and settings", &["sessiondb", "doctor", "config"]),
    ("Help", &["demo", "man", "completions", "help"]),
];

/// Groups of `hermes sessions --help`.
pub(crate) const SESSIONS: &[Group] = &[
    ("Find and read", &["list", "browse", "search", "show", "stats"]),
    ("Organize", &["rename", "pin", "unpin", "tag", "archive", "unarchive"]),
    ("Delete and restore", &["delete", "restore", "trash", "erase", "prune"]),
    ("Export and import", &["export", "import"]),
    ("Maintain the store", &["verify", "backup", "restore-backup", "optimize", "repair"]),
    ("Help", &["help"]),
];

pub(crate) const TOP_EXAMPLES: &[(&str, &str)] = &[
    ("hermes sessions list", "List conversations"),
    ("hermes sessions search deploy error", "Find messages"),
    ("hermes sessions show @1", "Read the first conversation of the list"),
    ("hermes doctor", "Check the store; changes nothing"),
];

pub(crate) const SESSIONS_EXAMPLES: &[(&str, &str)] = &[
    ("hermes sessions list --since 7d", "List the conversations of the last week"),
    ("hermes sessions browse", "Pick a conversation in the terminal"),
    ("hermes sessions rename @1 Flaky login", "Rename the first conversation of the list"),
    ("hermes sessions export all.jsonl", "Export everything"),
];

/// The commands that are also known without `sessions`.
const SHORT: (&str, &str) = ("list, search, show, browse", "Short for sessions list, sessions search and so on");

/// The help subcommand, which `clap` adds.
const HELP: (&str, &str) = ("help", "Print this message or the help of a command");

/// Returns the command with its subcommands in groups, laid out in at most `columns`.
pub(crate) fn grouped(
    command: Command,
    groups: &'static [Group],
    examples: &[(&str, &str)],
    columns: usize,
) -> Command {
    let header = Styles::styled();
    let header = header.get_header();
    let columns = columns.min(MAX_COLUMNS);
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (heading, names) in groups {
        _ = writeln!(text, "\n{}{heading}:{}", header.render(), header.render_reset());
        let rows: Vec<(&str, String)> = names.iter().filter_map(|name| row(&command, name)).collect();
        write_rows(&mut text, &rows, longest(names_of(groups)), columns);
    }
    _ = write!(text, "\n{}Options:{}\n{{options}}\n", header.render(), header.render_reset());
    _ = writeln!(text, "\n{}Examples:{}", header.render(), header.render_reset());
    let examples: Vec<_> = examples.iter().map(|(command, what)| (called(command), (*what).to_owned())).collect();
    let rows: Vec<(&str, String)> = examples.iter().map(|(command, what)| (&**command, what.clone())).collect();
    write_rows(&mut text, &rows, longest(rows.iter().map(|(command, _)| command)), columns);
    command.term_width(columns).help_template(text.trim_end().to_owned())
}

/// Returns the name of a subcommand and its description, with the aliases.
fn row<'n>(command: &Command, name: &'n str) -> Option<(&'n str, String)> {
    if let Some((_, about)) = [HELP, SHORT].into_iter().find(|(given, _)| *given == name) {
        return Some((name, about.to_owned()));
    }
    let found = command.find_subcommand(name)?;
    let aliases: Vec<&str> = found.get_visible_aliases().collect();
    let about = found.get_about().map(ToString::to_string).unwrap_or_default();
    let aliases = if aliases.is_empty() { String::new() } else { format!(" [alias: {}]", aliases.join(", ")) };
    Some((name, format!("{about}{aliases}")))
}

/// Returns the names that decide where descriptions start. The row of the short commands is longer than any of them.
fn names_of(groups: &'static [Group]) -> impl Iterator<Item = &'static &'static str> {
    groups.iter().flat_map(|(_, names)| *names).filter(|name| **name != SHORT.0)
}

fn longest<'t>(texts: impl Iterator<Item = &'t &'t str>) -> usize {
    texts.map(|text| text.len()).max().unwrap_or(0)
}

/// Writes names with their descriptions in two columns, or below each other where there is no room.
fn write_rows(out: &mut String, rows: &[(&str, String)], names: usize, columns: usize) {
    const LEAST: usize = 20;
    let literal = Styles::styled();
    let literal = literal.get_literal();
    for (name, text) in rows {
        let margin = names.max(name.len()) + 4;
        let is_wide = margin + LEAST <= columns;
        let indent = if is_wide { margin } else { 6 };
        let mut lines = wrap(&Visible::line(text), columns.saturating_sub(indent)).into_iter();
        _ = write!(out, "  {}{name}{}", literal.render(), literal.render_reset());
        if is_wide && let Some(first) = lines.next() {
            _ = write!(out, "{:room$}{first}", "", room = margin - name.len() - 2);
        }
        out.push('\n');
        for line in lines {
            _ = writeln!(out, "{:indent$}{line}", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, command};
    use clap::Parser as _;

    #[track_caller]
    fn check(command: &Command, groups: &[Group]) {
        let mut grouped: Vec<&str> = groups.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.retain(|name| *name != SHORT.0);
        let visible = command.get_subcommands().filter(|below| !below.is_hide_set()).map(Command::get_name);
        let mut visible: Vec<&str> = visible.filter(|name| *name != "help").chain(["help"]).collect();
        grouped.sort_unstable();
        visible.sort_unstable();
        assert_eq!(grouped, visible, "each visible command of {} is in one group", command.get_name());
    }

    #[test]
    fn every_visible_command_is_in_one_group() {
        let command = command();
        check(&command, TOP);
        check(command.find_subcommand("sessions").unwrap(), SESSIONS);
    }

    #[test]
    fn the_short_commands_are_those_that_work_without_sessions() {
        let command = command();
        let hidden = command.get_subcommands().filter(|below| below.is_hide_set()).map(Command::get_name);
        let mut hidden: Vec<&str> = hidden.filter(|name| !name.starts_with("__")).collect();
        let mut named: Vec<&str> = SHORT.0.split(", ").collect();
        hidden.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, hidden);
    }

    #[test]
    fn every_example_can_be_parsed() {
        for (line, _) in TOP_EXAMPLES.iter().chain(SESSIONS_EXAMPLES) {
            assert!(Args::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
    }

    #[test]
    fn descriptions_are_below_names_where_there_is_no_room() {
        let text = |columns| {
            let mut out = String::new();
            write_rows(&mut out, &[("list", "List conversations by time".to_owned())], 10, columns);
            anstream::adapter::strip_str(&out).to_string()
        };
        assert_eq!(text(60), "  list        List conversations by time\n");
        assert_eq!(text(34), "  list        List conversations\n              by time\n");
        assert_eq!(text(30), "  list\n      List conversations by\n      time\n");
    }
}
