//! `hermes sessions restore-backup`

use crate::commands::beside;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::{checks, json};
use hermes_rescue::restore_backup;
use hermes_store::StoreUrl;
use hermes_terminal::Line;
use std::path::{Path, PathBuf};

/// Puts a backup in the place of the store, once nobody has that open, and keeps the old file
#[derive(clap::Args)]
pub(crate) struct RestoreBackupArgs {
    /// The backup: a file that `backup` made, or another copy of a state.db. It is only read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Does not ask
    #[arg(short, long)]
    yes: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RestoreBackupArgs) -> Result<(), CliError> {
    let url = context.url()?;
    let StoreUrl::Sqlite(path) = &url else {
        let hint = "`hermes sessiondb migrate --from FILE --to URL` copies a backup to a server; an export is taken by `hermes sessions import`";
        return Err(CliError::new(Kind::User, "a backup can only take the place of a file", hint));
    };
    context.workspace.check_writable(&url)?;
    let (path, file) = (absolute(path), absolute(&args.file));
    let about =
        vec![checks::fact(("backup", file.display().to_string())), checks::fact(("store", path.display().to_string()))];
    context.ui.consent(args.yes, about, "Put the backup in the place of the store?")?;
    let kept = beside(&path, &format!(".before-restore-{}", context.now.stamp()));
    let restored = context
        .ui
        .wait("checking and copying the backup", restore_backup(&path, &file, &kept))
        .await
        .map_err(CliError::refused)?;
    if args.json {
        context.ui.json(&json::backup_restored(&restored))
    } else {
        let lines: Vec<Line> = checks::backup_restored(&restored);
        context.ui.print(lines)
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
