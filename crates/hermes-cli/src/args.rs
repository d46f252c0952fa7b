//! The command line. Each command's own arguments are in its file.

use crate::commands::{
    adopt::AdoptArgs, archive::ArchiveArgs, backup::BackupArgs, browse::BrowseArgs, complete::CompleteArgs,
    completions::CompletionsArgs, config::ConfigCommand, delete::DeleteArgs, demo::DemoArgs, detach::DetachArgs,
    doctor::DoctorArgs, erase::EraseArgs, export::ExportArgs, import::ImportArgs, insights::InsightsArgs,
    list::ListArgs, man::ManArgs, mcp::McpArgs, migrate::MigrateArgs, optimize::OptimizeArgs, owners::OwnersArgs,
    pin::PinArgs, prune::PruneArgs, rename::RenameArgs, repair::RepairArgs, restore::RestoreArgs,
    restore_backup::RestoreBackupArgs, rpc::RpcArgs, search::SearchArgs, show::ShowArgs, stats::StatsArgs,
    status::StatusArgs, tag::TagArgs, trash::TrashCommand, verify::VerifyArgs,
};
use crate::help;
use crate::program::{self, called};
use clap::builder::StyledStr;
use clap::{CommandFactory as _, FromArgMatches as _, ValueEnum as _};
use hermes_config::{Flags, Secret};
use hermes_terminal::Color;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::LazyLock;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (SQLite {})", env!("CARGO_PKG_VERSION"), hermes_sqlite::sqlite_version()));

/// List, search and read the conversations of your agents.
#[derive(clap::Parser)]
#[command(name = "hermes", version = VERSION.as_str(), max_term_width = help::MAX_COLUMNS)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Log to stderr: -v for info, -vv for debug, -vvv for trace [default: $HERMES_LOG]
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    pub(crate) verbose: u8,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Parses the words after the name of the program. Help is laid out in at most `columns`.
///
/// # Errors
/// If they are wrong; also for help and version, which are printed.
pub(crate) fn parse(words: &[OsString], columns: usize) -> Result<Args, clap::Error> {
    let words = std::iter::once(program::name().into()).chain(words.iter().cloned());
    Args::from_arg_matches_mut(&mut with_groups(columns).try_get_matches_from(words)?)
}

/// Returns the last value of `--color` among the words: help and usage errors are printed before the words are parsed.
pub(crate) fn typed_color(words: &[OsString]) -> Option<When> {
    let words: Vec<&str> =
        words.iter().take_while(|word| *word != OsStr::new("--")).filter_map(|word| word.to_str()).collect();
    let given = |at: usize| match words[at].strip_prefix("--color") {
        Some("") => words.get(at + 1).copied(),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    };
    (0..words.len()).rev().find_map(given).and_then(|word| When::from_str(word, false).ok())
}

/// Returns the command line, with help that groups commands by task.
pub(crate) fn with_groups(columns: usize) -> clap::Command {
    let sessions = |command| help::grouped(command, help::SESSIONS, help::SESSIONS_EXAMPLES, columns);
    help::grouped(command().mut_subcommand("sessions", sessions), help::TOP, help::TOP_EXAMPLES, columns)
}

/// Returns the command line under the name of the program.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    if program::name() == program::IN_SOURCES { command } else { renamed(command.name(program::name())) }
}

/// Puts the name of the program into the descriptions of a command and those below it.
fn renamed(mut command: clap::Command) -> clap::Command {
    let text = |text: &StyledStr| StyledStr::from(called(&text.to_string()).into_owned());
    if let Some(about) = command.get_about().map(text) {
        command = command.about(about);
    }
    if let Some(about) = command.get_long_about().map(text) {
        command = command.long_about(about);
    }
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, renamed))
}

/// Options about what is printed.
#[derive(clap::Args)]
pub(crate) struct OutputArgs {
    /// Use colours: auto (at a terminal), always or never [default: auto]
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true, display_order = 901)]
    pub(crate) color: Option<When>,
    /// Print no notes, no progress and no confirmation of what was done; errors and warnings are printed
    #[arg(long, global = true, display_order = 902)]
    pub(crate) quiet: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// At a terminal
    Auto,
    /// Also in a pipe or a file
    Always,
    /// Never
    Never,
}

impl From<When> for Color {
    fn from(when: When) -> Self {
        match when {
            When::Auto => Self::Auto,
            When::Always => Self::Always,
            When::Never => Self::Never,
        }
    }
}

/// Options that select the store.
#[derive(clap::Args)]
pub(crate) struct PlaceArgs {
    /// Folder of state.db and config.yaml [default: $HERMES_HOME, or ~/.hermes]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Store options")]
    home: Option<PathBuf>,
    /// Store to use: sqlite:PATH, postgresql://…, mysql://… or a path [default: $HERMES_SESSIONDB_URL, or config.yaml]
    #[arg(long, global = true, value_name = "URL", help_heading = "Store options")]
    url: Option<String>,
    /// Open the store read-only; commands that change it fail
    #[arg(long, global = true, help_heading = "Store options")]
    read_only: bool,
}

impl PlaceArgs {
    pub(crate) fn flags(self) -> Flags {
        Flags { home: self.home, url: self.url.map(Secret::new), read_only: self.read_only }
    }
}

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
    Completions(CompletionsArgs),
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Try hermes on sample conversations in a separate folder
    Demo(DemoArgs),
    Doctor(DoctorArgs),
    Insights(InsightsArgs),
    Man(ManArgs),
    Mcp(McpArgs),
    // Also known without `sessions`.
    #[command(hide = true, alias = "ls")]
    List(ListArgs),
    #[command(hide = true)]
    Search(Box<SearchArgs>),
    #[command(hide = true)]
    Show(ShowArgs),
    #[command(hide = true)]
    Browse(BrowseArgs),
    /// List, search, read, change, export and import sessions; verify, back up, optimize and repair the store
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Show the status and the owners of the store, migrate it, or remove what hermes added to a state.db
    #[command(subcommand)]
    Sessiondb(SessiondbCommand),
}

#[derive(clap::Subcommand)]
pub(crate) enum SessiondbCommand {
    Adopt(AdoptArgs),
    Detach(DetachArgs),
    Migrate(MigrateArgs),
    Owners(OwnersArgs),
    Rpc(RpcArgs),
    Status(StatusArgs),
}

#[derive(clap::Subcommand)]
pub(crate) enum SessionsCommand {
    #[command(visible_alias = "ls")]
    List(ListArgs),
    Browse(BrowseArgs),
    Search(Box<SearchArgs>),
    Show(ShowArgs),
    Rename(RenameArgs),
    Pin(PinArgs),
    /// Unpin conversations
    ///
    /// Lists sort them by last activity again, and `prune` may delete them.
    Unpin(PinArgs),
    Tag(TagArgs),
    Archive(ArchiveArgs),
    /// Unarchive conversations: list them again
    Unarchive(ArchiveArgs),
    #[command(visible_alias = "rm")]
    Delete(DeleteArgs),
    Restore(RestoreArgs),
    /// List deleted conversations that can be restored, or empty the trash
    #[command(subcommand)]
    Trash(TrashCommand),
    Erase(EraseArgs),
    Prune(PruneArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Stats(StatsArgs),
    Verify(VerifyArgs),
    Backup(BackupArgs),
    RestoreBackup(RestoreBackupArgs),
    Optimize(OptimizeArgs),
    Repair(RepairArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_known_before_the_words_are_parsed() {
        for (line, expect) in [
            ("sessions list", None),
            ("--color never sessions", Some(When::Never)),
            ("sessions list --color=always --help", Some(When::Always)),
            ("--color auto --color=never", Some(When::Never)),
            ("--color", None),
            ("--color blue", None),
            ("--colors never", None),
            ("search -- --color never", None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(typed_color(&words), expect, "{line}");
        }
    }
}
