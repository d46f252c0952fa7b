//! What can be typed behind `hermes`. Each command's own arguments are in its file.

use crate::commands::{
    adopt::AdoptArgs, backup::BackupArgs, browse::BrowseArgs, complete::CompleteArgs, completions::CompletionsArgs,
    config::ConfigCommand, delete::DeleteArgs, demo::DemoArgs, detach::DetachArgs, doctor::DoctorArgs,
    erase::EraseArgs, export::ExportArgs, import::ImportArgs, insights::InsightsArgs, list::ListArgs, man::ManArgs,
    mcp::McpArgs, migrate::MigrateArgs, optimize::OptimizeArgs, pin::PinArgs, prune::PruneArgs, rename::RenameArgs,
    repair::RepairArgs, restore::RestoreArgs, restore_backup::RestoreBackupArgs, rpc::RpcArgs, search::SearchArgs,
    show::ShowArgs, stats::StatsArgs, status::StatusArgs, tag::TagArgs, trash::TrashCommand, verify::VerifyArgs,
};
use hermes_config::{Flags, Secret};
use std::path::PathBuf;
use std::sync::LazyLock;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (SQLite {})", env!("CARGO_PKG_VERSION"), hermes_sqlite::sqlite_version()));

/// The sessions of your agents: list, search and read them.
#[derive(clap::Parser)]
#[command(name = "hermes", version = VERSION.as_str(), max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Log to stderr what the store does: -v for info, -vv for debug, -vvv for trace [default: $HERMES_LOG]
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Where sessions are.
#[derive(clap::Args)]
pub(crate) struct PlaceArgs {
    /// The folder of state.db and config.yaml [default: $HERMES_HOME, or ~/.hermes]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Where sessions are")]
    home: Option<PathBuf>,
    /// The store: sqlite:PATH, postgresql://…, mysql://…, or a path [default: $HERMES_SESSIONDB_URL, or what config.yaml says]
    #[arg(long, global = true, value_name = "URL", help_heading = "Where sessions are")]
    url: Option<String>,
    /// Do not write to the store: commands that would change it refuse
    #[arg(long, global = true, help_heading = "Where sessions are")]
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
    /// Shows what is configured, and where
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Shows what this program does, on sample conversations in a folder of their own
    Demo(DemoArgs),
    Doctor(DoctorArgs),
    Insights(InsightsArgs),
    Man(ManArgs),
    Mcp(McpArgs),
    /// Lists, searches, reads and changes sessions; exports and imports them; verifies, backs up, optimizes and repairs their store
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Tells what the store is, copies everything from one store to another, and takes everything of hermes out of a file
    #[command(subcommand)]
    Sessiondb(SessiondbCommand),
}

#[derive(clap::Subcommand)]
pub(crate) enum SessiondbCommand {
    Adopt(AdoptArgs),
    Detach(DetachArgs),
    Migrate(MigrateArgs),
    Rpc(RpcArgs),
    Status(StatusArgs),
}

#[derive(clap::Subcommand)]
pub(crate) enum SessionsCommand {
    List(ListArgs),
    Browse(BrowseArgs),
    Search(Box<SearchArgs>),
    Show(ShowArgs),
    Rename(RenameArgs),
    Pin(PinArgs),
    /// Takes the pin from conversations
    ///
    /// They stand in lists by their last activity again, and pruning may take them once they are old.
    Unpin(PinArgs),
    Tag(TagArgs),
    Delete(DeleteArgs),
    Restore(RestoreArgs),
    /// Shows what was deleted and can come back, and empties the trash
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
