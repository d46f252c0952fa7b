//! `hermes sessions backup`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::{checks, json};
use std::path::PathBuf;

/// Back up the store to a new file and verify the copy; agents can keep writing
#[derive(clap::Args)]
pub(crate) struct BackupArgs {
    /// File to create; an existing file is never overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: BackupArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let target = std::path::absolute(&args.file).unwrap_or(args.file);
    let report = store.backup(&target).await.map_err(CliError::refused)?;
    if args.json { context.ui.json(&json::backup(&report)) } else { context.ui.print_done(checks::backup(&report)) }
}
