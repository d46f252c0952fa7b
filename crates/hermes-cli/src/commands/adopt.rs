//! `hermes sessiondb adopt`

use crate::context::{Access, Context};
use crate::error::CliError;
use crate::reports::Adopted;
use crate::ui::{adopted, json};
use hermes_app::workspace::must_exist;
use hermes_store::{Adopt, OpenOptions, StoreUrl};

/// Add the search indexes and side tables of hermes to an agent's file, which the first write does as well
///
/// Rows of the agent stay as they are. A copy of the file is kept before rows or objects of the agent are altered. On a server the tables are
/// brought up to date.
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
    // The rest of the work, such as indexing old messages, in the foreground: the process ends afterwards.
    let bar = context.ui.progress();
    while store.upkeep().await? {
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
        context.ui.print(adopted::lines(&adopted, &context.place()))
    }
}

/// Returns what a file holds of ours; `None` for a server.
fn objects(url: &StoreUrl) -> Result<Option<hermes_sqlite::Adoption>, CliError> {
    match url.file() {
        Some(path) => {
            must_exist(path)?;
            Ok(Some(hermes_sqlite::adoption(path)?))
        }
        None => Ok(None),
    }
}
