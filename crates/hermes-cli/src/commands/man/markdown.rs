//! The page of a command as Markdown.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use std::fmt::Write as _;

/// Returns the page of a command: its description, its usage and its arguments.
pub(super) fn page(words: &[String], command: &Command) -> String {
    let mut out = format!("# `{}`\n\n", words.join(" "));
    let about = command.get_long_about().or_else(|| command.get_about()).map(plain).unwrap_or_default();
    _ = write!(out, "{about}\n\n```text\n{}\n```\n", usage(words, command));
    let mut below = command.get_subcommands().filter(|below| !below.is_hide_set()).peekable();
    if below.peek().is_some() {
        out.push_str("\n| command | |\n|---|---|\n");
        for below in below {
            let name = format!("{}-{}", words.join("-"), below.get_name());
            let about = below.get_about().map(plain).unwrap_or_default();
            _ = writeln!(out, "| [`{}`]({name}.md) | {} |", below.get_name(), cell(&about));
        }
    }
    let mut headings: Vec<Option<&str>> = Vec::new();
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
    for argument in &arguments {
        let heading = argument.get_help_heading();
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        _ = write!(out, "\n## {}\n\n| | |\n|---|---|\n", heading.unwrap_or("Arguments and options"));
        for argument in arguments.iter().filter(|argument| argument.get_help_heading() == heading) {
            let help = argument.get_long_help().or_else(|| argument.get_help()).map(plain).unwrap_or_default();
            _ = writeln!(out, "| `{}` | {}{} |", cell(&shape(argument)), cell(&help), cell(&more(argument)));
        }
    }
    if words.len() > 1 {
        let above = &words[..words.len() - 1];
        _ = write!(out, "\nPart of [`{}`]({}.md).\n", above.join(" "), above.join("-"));
    }
    out
}

fn plain(text: &StyledStr) -> String {
    text.to_string()
}

fn usage(words: &[String], command: &Command) -> String {
    let text = command.clone().bin_name(words.join(" ")).render_usage().to_string();
    text.strip_prefix("Usage: ").unwrap_or(&text).to_owned()
}

/// Returns an argument as it is typed.
fn shape(argument: &Arg) -> String {
    let names: Vec<String> =
        argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
    let takes = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let value = if takes { names.join(" ") } else { String::new() };
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let options: Vec<String> = short.into_iter().chain(long).collect();
    match (options.is_empty(), value.is_empty()) {
        (true, _) => value,
        (false, true) => options.join(", "),
        (false, false) => format!("{} {value}", options.join(", ")),
    }
}

/// Returns the possible values and the default of an argument.
fn more(argument: &Arg) -> String {
    let takes = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let mut out = String::new();
    let values: Vec<String> = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if takes && !values.is_empty() {
        _ = write!(out, " [{}]", values.join(", "));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        _ = write!(out, " [default: {}]", defaults.join(" "));
    }
    out
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("\n\n", "<br>").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_tells_each_argument_as_it_is_typed() {
        let command = Command::new("list")
            .about("Lists things")
            .arg(Arg::new("name").value_name("NAME").required(true).help("Which | one"))
            .arg(
                Arg::new("order")
                    .short('o')
                    .long("order")
                    .value_name("BY")
                    .value_parser(["new", "old"])
                    .default_value("new"),
            )
            .arg(Arg::new("quiet").long("quiet").action(ArgAction::SetTrue).help("Says little").help_heading("Output"))
            .arg(Arg::new("secret").long("secret").hide(true));
        let words = ["tool", "list"].map(str::to_owned);
        assert_eq!(
            page(&words, &command),
            "# `tool list`\n\nLists things\n\n```text\ntool list [OPTIONS] <NAME>\n```\n\n## Arguments and options\n\n| | |\n|---|---|\n\
             | `<NAME>` | Which \\| one |\n| `-o, --order <BY>` |  [new, old] [default: new] |\n\n## Output\n\n| | |\n|---|---|\n\
             | `--quiet` | Says little |\n\nPart of [`tool`](tool.md).\n"
        );
    }
}
