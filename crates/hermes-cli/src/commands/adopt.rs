//! `hermes sessiondb adopt`

use crate::context::{Access, Context};
use crate::error::CliError;
use crate::reports::Adopted;
use crate::ui::{adopted, json};
use hermes_app::workspace::must_exist;
use hermes_session::StoreError;
use hermes_store::{Adopt, OpenOptions, StoreUrl};

/// Add the search indexes and tables of hermes to an agent's file; the first write also does this
///
/// The agent's rows do not change. If its rows or tables have to be altered, a copy of the file is kept first. On a
/// server the tables are upgraded to the current version.
#[derive(clap::Args)]
pub(crate) struct AdoptArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: AdoptArgs) -> Result<(), CliError> {
    let url = context.url()?;
    context.warn_of_typed_password()?;
    context.workspace.check_writable(&url)?;
    let before = objects(&url)?;
    let options = OpenOptions { adopt: Adopt::AtOpen, ..context.workspace.open_options()? };
    let store = context.open_with(&url, Access::Write, options).await?;
    let notices = store.notices();
    // Does the remaining work, such as indexing old messages, in the foreground, because the process ends afterwards.
    let bar = context.ui.progress();
    while store.upkeep().await.map_err(not_adopted)? {
        bar.show("indexing", 0, 0);
    }
    drop((bar, store));
    let after = objects(&url)?;
    let adopted = Adopted {
        location: url.to_string(),
        was_adopted: before.as_ref().is_some_and(|before| before.is_adopted),
        added: match (before, after) {
            (Some(before), Some(after)) => {
                after.objects.into_iter().filter(|name| !before.objects.contains(name)).collect()
            }
            _ => Vec::new(),
        },
        notices,
        is_file: url.file().is_some(),
    };
    if args.json {
        context.ui.json(&json::store::adopted(&adopted))
    } else {
        context.ui.print_done(adopted::lines(&adopted, &context.place()))
    }
}

/// Names the command in the error for a store that can't be written.
fn not_adopted(error: StoreError) -> StoreError {
    match error {
        StoreError::ReadOnly { location, reason, .. } => {
            let op = if location.is_server() { "update the tables" } else { "adopt the file" };
            StoreError::ReadOnly { op, location, reason }
        }
        other => other,
    }
}

/// Returns the objects of ours that a file holds; `None` for a server.
fn objects(url: &StoreUrl) -> Result<Option<hermes_sqlite::Adoption>, CliError> {
    match url.file() {
        Some(path) => {
            must_exist(path)?;
            Ok(Some(hermes_sqlite::adoption(path)?))
        }
        None => Ok(None),
    }
}
