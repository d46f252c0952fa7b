//! `hermes sessions optimize`

use crate::context::{Access, Context, Opened};
use crate::error::CliError;
use crate::reports::Optimized;
use crate::stop::Stop;
use crate::ui::{checks, json};
use hermes_session::{Maintenance, Optimizing};

/// Makes the store smaller and its writers quicker, while agents go on writing
#[derive(clap::Args)]
pub(crate) struct OptimizeArgs {
    /// Makes the search indexes anew, also if nothing seems to be wrong with them
    #[arg(long)]
    rebuild: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: OptimizeArgs) -> Result<(), CliError> {
    let Opened { store, url, .. } = context.open_for_writing().await?;
    let before = store.status().await?;
    if args.rebuild {
        store.rebuild_indexes().await?;
    }
    let stop = Stop::watch();
    optimize(context, &*store, &stop).await?;
    // What was given back so far shows in the file only when nobody has it open any more; so we close it too.
    drop(store);
    let shrunk = context.ui.wait("giving room back to the disk", hermes_store::shrink(&url)).await?;
    let after = context.open_quietly(&url, Access::Read).await?.status().await?;
    let optimized = Optimized { before, after, shrunk };
    if args.json {
        context.ui.json(&json::optimized(&optimized))
    } else {
        context.ui.print(checks::optimized(&optimized))
    }
}

/// Does it step by step, until nothing is left to do.
async fn optimize(context: &Context, store: &dyn Maintenance, stop: &Stop) -> Result<(), CliError> {
    let bar = context.ui.progress();
    loop {
        stopped(stop, "new indexes were built")?;
        match store.optimize().await? {
            Optimizing::Building { done, total } => bar.show("building indexes", done, total),
            Optimizing::Clearing => bar.show("clearing the old ones away", 0, 0),
            Optimizing::Done => break,
        }
    }
    while store.upkeep().await? {
        bar.show("indexing", 0, 0);
        stopped(stop, "all messages were indexed")?;
    }
    Ok(())
}

/// Ends the work between two steps if somebody asked for it.
fn stopped(stop: &Stop, before: &str) -> Result<(), CliError> {
    stop.asked().map_or(Ok(()), |signal| {
        let hint = "the store can be used as it is; optimize goes on from here when it is run again";
        Err(CliError::stopped(signal, format!("stopped before {before}"), hint))
    })
}
