//! `hermes man`: the manual, generated from the types that parse the arguments.

mod markdown;

use crate::args;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::program;
use clap::Command;
use hermes_session::quoted;
use hermes_terminal::{Line, Visible, show_manual};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Show the manual page of a command, or write all pages to a folder
///
/// At a terminal the page is shown with `man`, or as plain text in $PAGER if there is no `man`. In a pipe it is printed
/// as roff. To install the pages: hermes man --into ~/.local/share/man/man1
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// Command, such as sessions list or sessions-list [default: hermes itself]
    #[arg(value_name = "COMMAND", conflicts_with = "into")]
    command: Vec<String>,
    /// Write the page of every command to this folder, as hermes-sessions-list.1
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Print Markdown instead of roff
    #[arg(long)]
    markdown: bool,
}

/// A page, with the words of its command.
struct Page {
    words: Vec<String>,
    command: Command,
}

pub(crate) fn run(context: &Context, args: &ManArgs) -> Result<(), CliError> {
    let pages = pages();
    let text = |page: &Page| if args.markdown { Ok(markdown::page(&page.words, &page.command)) } else { roff(page) };
    let Some(folder) = &args.into else {
        let page = find(&pages, &args.command)?;
        let text = text(page)?;
        let is_read = std::io::stdout().is_terminal() && !args.markdown;
        return if is_read { show(context, page, &text) } else { context.ui.script(&text) };
    };
    let extension = if args.markdown { "md" } else { "1" };
    std::fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
    for page in &pages {
        let file = folder.join(format!("{}.{extension}", page.words.join("-")));
        std::fs::write(&file, text(page)?).map_err(|error| refused(&file, &error))?;
    }
    context.ui.note(&format!("{} pages in {}", pages.len(), folder.display()));
    Ok(())
}

/// Returns the page of a command, given by its words or by the name of its page: `sessions list`, `sessions-list` or
/// `hermes-sessions-list`. A command that is also known without `sessions` has the page of the whole command.
fn find<'a>(pages: &'a [Page], typed: &[String]) -> Result<&'a Page, CliError> {
    let typed_name = typed.join("-");
    let whole = args::command();
    let short = whole.find_subcommand(&typed_name).filter(|command| command.is_hide_set());
    let name = short.map_or(typed_name, |command| format!("sessions-{}", command.get_name()));
    let is_named = |page: &&Page| page.words[1..].join("-") == name || page.words.join("-") == name;
    pages.iter().find(is_named).ok_or_else(|| {
        let text = format!("no command is called {}", quoted(&typed.join(" ")));
        CliError::new(Kind::User, text, "`hermes help` lists all of them")
    })
}

/// Shows a page at a terminal: with `man`, or its help text in the pager.
fn show(context: &Context, page: &Page, roff: &str) -> Result<(), CliError> {
    if show_manual(roff) {
        return Ok(());
    }
    let help = page.command.clone().bin_name(page.words.join(" ")).render_long_help().to_string();
    let mut output = context.paged();
    output.lines(Visible::lines(help.trim_end()).into_iter().map(Line::plain_text))?;
    Ok(output.finish()?)
}

fn refused(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(Kind::User, format!("{} can't be written: {error}", path.display()), "choose another folder")
}

/// Returns every visible command, parents before children.
fn pages() -> Vec<Page> {
    let mut whole = args::command().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    let mut open = vec![Page { words: vec![whole.get_name().to_owned()], command: whole }];
    while let Some(page) = open.pop() {
        let below = page.command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut below: Vec<Page> = below
            .map(|command| Page {
                words: page.words.iter().cloned().chain([command.get_name().to_owned()]).collect(),
                command: command.clone(),
            })
            .collect();
        below.reverse();
        open.append(&mut below);
        pages.push(page);
    }
    pages
}

fn roff(page: &Page) -> Result<String, CliError> {
    let mut out = Vec::new();
    let name = page.words.join("-");
    let man = clap_mangen::Man::new(page.command.clone())
        .title(name.to_uppercase())
        .source(program::name())
        .manual(program::name());
    man.render(&mut out).map_err(CliError::output)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
