//! `hermes sessiondb owners`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::{json, owners as shown};
use hermes_app::owners;

/// Show which processes hold conversations and accounts, since when and until when
///
/// A conversation has one owner at a time: a chat in a terminal, or a gateway while it answers. An account of a platform
/// belongs to one gateway. A hold prevents the reset of a conversation while a command runs. Expired ones may be taken by
/// anybody, and so may those of a process that is gone.
#[derive(clap::Args)]
pub(crate) struct OwnersArgs {
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: OwnersArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let owners = owners::all(&*store, context.now.at).await?;
    if args.json {
        context.ui.json(&json::owners::owners(&owners))
    } else {
        context.ui.print(shown::owners(&owners, &context.now, context.ui.table_width()))
    }
}
