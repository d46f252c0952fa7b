//! What `--fix` does. Nothing of it can lose a message.

use super::Mend;
use crate::context::Context;
use crate::error::CliError;
use hermes_session::Optimizing;
use std::os::unix::fs::PermissionsExt as _;

/// Does all of it; each in words, with why it did not work out if it did not.
pub(super) async fn all(context: &Context, mends: Vec<Mend>) -> Vec<(String, Option<String>)> {
    let mut done = Vec::new();
    for mend in mends {
        let (what, outcome) = match mend {
            Mend::Mode(path, mode) => {
                // By its path: a descriptor on a store that others have open in this process would drop their locks.
                let outcome = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
                (
                    format!("took {} from others (mode {mode:o})", path.display()),
                    outcome.map_err(|error| error.to_string()),
                )
            }
            Mend::Remove(path) => {
                let outcome = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
                (format!("removed {}", path.display()), outcome.map_err(|error| error.to_string()))
            }
            Mend::Upkeep => {
                let outcome = upkeep(context, false).await;
                ("did what had been put off".to_owned(), outcome.map_err(|error| error.text()))
            }
            Mend::Rebuild => {
                let outcome = upkeep(context, true).await;
                ("made the search indexes anew".to_owned(), outcome.map_err(|error| error.text()))
            }
        };
        done.push((what, outcome.err()));
    }
    done
}

/// Closing the store at the end folds its log, if nobody else has it open.
async fn upkeep(context: &Context, rebuild: bool) -> Result<(), CliError> {
    let store = context.open_existing().await?;
    let bar = context.ui.progress();
    if rebuild {
        store.rebuild_indexes().await?;
        while let Optimizing::Building { .. } | Optimizing::Clearing = store.optimize().await? {
            bar.show("building indexes", 0, 0);
        }
    }
    while store.upkeep().await? {
        bar.show("catching up", 0, 0);
    }
    Ok(())
}
