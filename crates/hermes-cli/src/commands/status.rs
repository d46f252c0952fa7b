//! `hermes sessiondb status`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::{json, store};
use hermes_session::SessionFilter;

/// Show the kind and place of the store, its size, and the state of its search indexes
#[derive(clap::Args)]
pub(crate) struct StatusArgs {
    /// Print one JSON object
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
