//! `hermes sessions backup`

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::{checks, json};
use hermes_session::StoreError;
use std::path::PathBuf;

/// Copies the store to a new file, while agents go on writing, and verifies the copy
#[derive(clap::Args)]
pub(crate) struct BackupArgs {
    /// The file to make; one that is there is never overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: BackupArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let target = std::path::absolute(&args.file).unwrap_or(args.file);
    let report = store.backup(&target).await.map_err(refused)?;
    if args.json { context.ui.json(&json::backup(&report)) } else { context.ui.print(checks::backup(&report)) }
}

/// A target that is refused is a matter of what was typed, not of the store.
fn refused(error: StoreError) -> CliError {
    match error {
        StoreError::Refused { .. } => {
            let hint = crate::hints::of_store(&error).into_owned();
            CliError::new(Kind::User, error, hint)
        }
        other => other.into(),
    }
}
