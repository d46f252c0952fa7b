//! The fixes of `--fix`. None of them can lose a message.

use crate::context::Context;
use crate::error::CliError;
use crate::reports::Fix;
use hermes_session::{ListRequest, MAX_PAGE, Optimizing, PageRequest, StoreError, View};
use hermes_terminal::figures::plural;
use std::os::unix::fs::PermissionsExt as _;

/// Applies all fixes. Returns each in words, with the reason if it failed.
pub(super) async fn all(context: &Context, fixes: Vec<Fix>) -> Vec<(String, Option<String>)> {
    let mut done = Vec::new();
    for fix in fixes {
        let (what, outcome) = match fix {
            Fix::Mode(path, mode) => {
                // By path, not by descriptor: closing a descriptor on a store that this process has open would drop its
                // locks.
                let outcome = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
                (
                    format!("changed the mode of {} to {mode:o}", path.display()),
                    outcome.map_err(|error| error.to_string()),
                )
            }
            Fix::Remove(path) => {
                let outcome = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
                (format!("removed {}", path.display()), outcome.map_err(|error| error.to_string()))
            }
            Fix::Upkeep => {
                let outcome = upkeep(context, false).await;
                ("finished postponed work".to_owned(), outcome.map_err(|error| error.text()))
            }
            Fix::Rebuild => {
                let outcome = upkeep(context, true).await;
                ("rebuilt the search indexes".to_owned(), outcome.map_err(|error| error.text()))
            }
            Fix::Recount => match recount(context).await {
                Ok(sessions) => (format!("recounted the messages of {}", plural(sessions, "sessions")), Ok(())),
                Err(error) => ("recount messages".to_owned(), Err(error.text())),
            },
        };
        done.push((what, outcome.err()));
    }
    done
}

/// Runs deferred work, or rebuilds the indexes. Closing the store at the end checkpoints the WAL, unless another
/// program has the file open.
async fn upkeep(context: &Context, rebuild: bool) -> Result<(), CliError> {
    let store = context.open_for_writing().await?.store;
    let bar = context.ui.progress();
    if rebuild {
        store.rebuild_indexes().await?;
        while let Optimizing::Building { .. } | Optimizing::Clearing = store.optimize().await? {
            bar.show("building indexes", 0, 0);
        }
    }
    while store.upkeep().await? {
        bar.show("finishing postponed work", 0, 0);
    }
    Ok(())
}

/// Recounts the messages of every session. Returns the number of sessions that were wrong.
async fn recount(context: &Context) -> Result<u64, CliError> {
    let store = context.open_for_writing().await?.store;
    let bar = context.ui.progress();
    let page = PageRequest::first(MAX_PAGE);
    let mut request = ListRequest { view: View::Sessions, page, ..ListRequest::default() };
    let (mut looked_at, mut corrected) = (0, 0);
    loop {
        let listing = store.list(&request).await?;
        for row in &listing.rows {
            looked_at += 1;
            bar.show("counting messages", looked_at, looked_at);
            match store.recount(&row.id).await {
                Ok(was_wrong) => corrected += u64::from(was_wrong),
                // Deleted in the meantime.
                Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match listing.next {
            Some(next) => request.after = Some(next),
            None => return Ok(corrected),
        }
    }
}
