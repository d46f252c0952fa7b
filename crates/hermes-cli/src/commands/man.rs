//! `hermes man`: the manual, made of the same types that arguments are read with.

mod markdown;

use crate::args::Args;
use crate::context::Context;
use crate::error::{CliError, Kind};
use clap::{Command, CommandFactory as _};
use std::path::{Path, PathBuf};

/// Prints the manual page of a command, or writes all of them into a folder
///
/// To read one: hermes man sessions list | man -l -. To install them: hermes man --into ~/.local/share/man/man1
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// The command, such as sessions list; hermes itself without one
    #[arg(value_name = "COMMAND", conflicts_with = "into")]
    command: Vec<String>,
    /// Writes the page of every command into this folder, as hermes-sessions-list.1
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// As Markdown, not for man
    #[arg(long)]
    markdown: bool,
}

/// A page, by the words of its command.
struct Page {
    words: Vec<String>,
    command: Command,
}

pub(crate) fn run(context: &Context, args: &ManArgs) -> Result<(), CliError> {
    let pages = pages();
    let text = |page: &Page| if args.markdown { Ok(markdown::page(&page.words, &page.command)) } else { roff(page) };
    let Some(folder) = &args.into else {
        let page = pages.iter().find(|page| page.words[1..] == args.command).ok_or_else(|| {
            let typed = args.command.join(" ");
            CliError::new(Kind::User, format!("no command is called {typed}"), "hermes help lists all of them")
        })?;
        return context.ui.script(&text(page)?);
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

fn refused(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(Kind::User, format!("{} can't be written: {error}", path.display()), "choose another folder")
}

/// Every command that is not hidden, those above before those below.
fn pages() -> Vec<Page> {
    let mut whole = Args::command().disable_help_subcommand(true);
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
    let man = clap_mangen::Man::new(page.command.clone()).title(name.to_uppercase()).source("hermes").manual("hermes");
    man.render(&mut out).map_err(CliError::output)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
