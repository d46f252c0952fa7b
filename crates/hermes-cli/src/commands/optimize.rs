//! `hermes sessions optimize`

use crate::context::{Access, Context, Opened};
use crate::error::CliError;
use crate::reports::Optimized;
use crate::stop::Stop;
use crate::ui::{checks, json};
use hermes_session::{Maintenance, Optimizing};

/// Reduce the size of the store and speed up writes; agents can keep writing
#[derive(clap::Args)]
pub(crate) struct OptimizeArgs {
    /// Rebuild the search indexes even if they look healthy
    #[arg(long)]
    rebuild: bool,
    /// Print one JSON object
    #[arg(short, long)]
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
    // Freed space leaves the file only when nobody has it open, so this process closes it too.
    drop(store);
    let shrunk = context.ui.wait("returning free space to the disk", hermes_store::shrink(&url)).await?;
    let after = context.open_quietly(&url, Access::Read).await?.status().await?;
    let optimized = Optimized { before, after, shrunk };
    if args.json {
        context.ui.json(&json::optimized(&optimized))
    } else {
        context.ui.print_done(checks::optimized(&optimized))
    }
}

/// Optimizes step by step, until nothing is left to do.
async fn optimize(context: &Context, store: &dyn Maintenance, stop: &Stop) -> Result<(), CliError> {
    let bar = context.ui.progress();
    loop {
        stopped(stop, "new indexes were built")?;
        match store.optimize().await? {
            Optimizing::Building { done, total } => bar.show("building indexes", done, total),
            Optimizing::Clearing => bar.show("removing old indexes", 0, 0),
            Optimizing::Done => break,
        }
    }
    while store.upkeep().await? {
        bar.show("indexing", 0, 0);
        stopped(stop, "all messages were indexed")?;
    }
    Ok(())
}

/// Returns an error between two steps if a signal asked to stop.
fn stopped(stop: &Stop, before: &str) -> Result<(), CliError> {
    stop.asked().map_or(Ok(()), |signal| {
        let hint = "the store can be used as it is; run optimize again to continue";
        Err(CliError::stopped(signal, format!("stopped before {before}"), hint))
    })
}
