//! `hermes sessions restore-backup`

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::{Line, checks, json};
use hermes_session::StoreError;
use hermes_sqlite::restore_backup;
use hermes_store::StoreUrl;
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
    let settings = context.settings()?;
    let url = context.configured_url(&settings)?;
    let StoreUrl::Sqlite(path) = &url else {
        let hint = "`hermes sessiondb migrate --from FILE --to URL` copies a backup to a server; an export is taken by `hermes sessions import`";
        return Err(CliError::new(Kind::User, "a backup can only take the place of a file", hint));
    };
    context.check_writable(&settings, &url)?;
    let (path, file) = (absolute(path), absolute(&args.file));
    let about =
        vec![checks::fact(("backup", file.display().to_string())), checks::fact(("store", path.display().to_string()))];
    context.ui.consent(args.yes, about, "Put the backup in the place of the store?")?;
    let kept = kept_name(&path, &context.now.stamp());
    let restored = context
        .ui
        .wait("checking and copying the backup", restore_backup(&path, &file, &kept))
        .await
        .map_err(refused)?;
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

/// The name that the old file gets.
fn kept_name(path: &Path, stamp: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".before-restore-{stamp}"));
    name.into()
}

/// What is refused is a matter of what was typed, or of who has the store open.
fn refused(error: StoreError) -> CliError {
    match error {
        StoreError::Refused { .. } => {
            let hint = crate::hints::of_store(&error).into_owned();
            CliError::new(Kind::User, error, hint)
        }
        other => other.into(),
    }
}
