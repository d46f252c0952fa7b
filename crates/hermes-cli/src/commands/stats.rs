//! `hermes sessions stats`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::{json, statistics};

/// Size in bytes up to which the parts of a store are measured by default. It takes a second at most.
const QUICK: u64 = 1 << 30;

/// Show totals: conversations and messages by source, tokens and cost by model, disk usage
#[derive(clap::Args)]
pub(crate) struct StatsArgs {
    /// Measure the size of texts and indexes even if the store is larger than 1 GiB
    #[arg(long)]
    sizes: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: StatsArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let status = store.status().await?;
    let counted = store.statistics().await?;
    let room = if args.sizes || status.bytes <= QUICK { Some(store.room().await?) } else { None };
    if args.json {
        return context.ui.json(&json::statistics(&status, &counted, room.as_ref()));
    }
    context.ui.print(statistics::lines(&status, &counted, room.as_ref(), &context.now, context.ui.table_width()))
}
