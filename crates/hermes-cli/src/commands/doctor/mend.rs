//! What `--fix` does. Nothing of it can lose a message.

use crate::context::Context;
use crate::error::CliError;
use crate::reports::Mend;
use hermes_session::{ListRequest, MAX_PAGE, Optimizing, PageRequest, StoreError, View};
use hermes_terminal::figures::plural;
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
            Mend::Recount => match recount(context).await {
                Ok(sessions) => (format!("counted the messages of {} anew", plural(sessions, "sessions")), Ok(())),
                Err(error) => ("count messages anew".to_owned(), Err(error.text())),
            },
        };
        done.push((what, outcome.err()));
    }
    done
}

/// Closing the store at the end folds its log, if nobody else has it open.
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
        bar.show("catching up", 0, 0);
    }
    Ok(())
}

/// Looks at every session; how many had counted otherwise.
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
                // It went meanwhile.
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
