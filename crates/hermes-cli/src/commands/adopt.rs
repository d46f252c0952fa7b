//! `hermes sessiondb adopt`

use crate::context::{Access, Context};
use crate::error::CliError;
use crate::ui::{adopted, json};
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

/// What adopting a store did.
pub(crate) struct Adopted {
    pub(crate) location: String,
    /// Whether there was nothing to do.
    pub(crate) was_adopted: bool,
    /// The tables, indexes, views and triggers that were added; none on a server.
    pub(crate) added: Vec<String>,
    /// What there is to report, such as where a copy is kept.
    pub(crate) notices: Vec<String>,
    /// Whether `detach` can undo it.
    pub(crate) is_file: bool,
}

pub(crate) async fn run(context: &Context, args: AdoptArgs) -> Result<(), CliError> {
    let settings = context.settings()?;
    let url = context.configured_url(&settings)?;
    context.warn_of_password(&url, &settings.store()?.origin);
    context.check_writable(&settings, &url)?;
    let before = objects(&url)?;
    let options = OpenOptions { adopt: Adopt::AtOpen, ..context.open_options(&settings)? };
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
            crate::context::must_be_there(path)?;
            Ok(Some(hermes_sqlite::adoption(path)?))
        }
        None => Ok(None),
    }
}
