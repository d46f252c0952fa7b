//! `hermes sessiondb status`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::{json, store};
use hermes_session::SessionFilter;

/// Tells what the store is, where, how much it holds, and what its indexes are good for
#[derive(clap::Args)]
pub(crate) struct StatusArgs {
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: StatusArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let status = store.status().await?;
    let counts = store.counts(&SessionFilter::default()).await?;
    if args.json {
        context.ui.json(&json::store::status(&status, &counts))
    } else {
        context.ui.print(store::status(&status, &counts))
    }
}
