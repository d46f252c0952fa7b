//! `hermes sessions stats`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::{json, statistics};

/// Up to this size the parts of a store are measured unasked: it takes a second at most.
const QUICK: u64 = 1 << 30;

/// Tells how much there is: conversations and messages by source, tokens and cost by model, and where the room goes
#[derive(clap::Args)]
pub(crate) struct StatsArgs {
    /// Measures what texts and indexes take, also of a store over 1 GiB
    #[arg(long)]
    sizes: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: StatsArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let status = store.status().await?;
    let told = store.statistics().await?;
    let room = if args.sizes || status.bytes <= QUICK { Some(store.room().await?) } else { None };
    if args.json {
        return context.ui.json(&json::statistics(&status, &told, room.as_ref()));
    }
    context.ui.print(statistics::lines(&status, &told, room.as_ref(), &context.now, context.ui.width()))
}
