//! `hermes sessions restore-backup`

use crate::commands::beside;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::{checks, json};
use hermes_rescue::restore_backup;
use hermes_store::StoreUrl;
use hermes_terminal::Line;
use std::path::{Path, PathBuf};

/// Replace the store with a backup and keep the old file; no other program may have the store open
#[derive(clap::Args)]
pub(crate) struct RestoreBackupArgs {
    /// Backup: a file made by `backup`, or another copy of a state.db; it is only read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RestoreBackupArgs) -> Result<(), CliError> {
    let url = context.url()?;
    let StoreUrl::Sqlite(path) = &url else {
        let hint = "`hermes sessiondb migrate --from FILE --to URL` copies a backup to a server; `hermes sessions import` reads an export";
        return Err(CliError::new(Kind::User, "only a file can be replaced by a backup", hint));
    };
    context.workspace.check_writable(&url)?;
    let (path, file) = (absolute(path), absolute(&args.file));
    let about =
        vec![checks::fact(("backup", file.display().to_string())), checks::fact(("store", path.display().to_string()))];
    context.ui.consent(args.yes, about, "Replace the store with the backup?")?;
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
        context.ui.print_done(lines)
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
