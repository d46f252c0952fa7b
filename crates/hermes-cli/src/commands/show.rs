//! `hermes sessions show`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::ui::transcript::{Detail, Segments};
use crate::ui::{json, recap, transcript};
use hermes_session::recap::{RecapLimits, recap as recap_of};
use hermes_session::{Maintenance, Session, SessionId, StoreError, replay};

/// Shows a session: what it is and what was said in it
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION")]
    session: String,
    /// Shows tool calls and results in full
    #[arg(long)]
    full: bool,
    /// Shows only where it stopped, as resuming it would
    #[arg(long, conflicts_with_all = ["full", "json"])]
    recap: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ShowArgs) -> Result<(), CliError> {
    let store = context.open_existing()?;
    let found = resolve(context, &*store, &args.session).await?;
    let meant = found.meant();
    if args.recap {
        return show_recap(context, &*store, &found.session).await;
    }
    if args.json {
        let (session, segments) = session(&*store, meant).await?;
        let messages = replay::transcript(&*store, meant).await?;
        return context.ui.json(&json::transcript(&session, &segments, &messages));
    }
    let detail = if args.full { Detail::Full } else { Detail::Folded };
    show(context, &*store, meant, detail).await
}

/// Prints a session's head and transcript.
pub(crate) async fn show(
    context: &Context,
    store: &dyn Maintenance,
    id: &SessionId,
    detail: Detail,
) -> Result<(), CliError> {
    let (session, segments) = session(store, id).await?;
    let messages = replay::transcript(store, id).await?;
    let columns = context.ui.width();
    let mut lines = transcript::head(&session, &segments, &context.now, columns);
    lines.extend(transcript::messages(&messages, detail, &context.now, columns));
    context.ui.print(lines)
}

/// Prints the panel that tells where a session stopped.
pub(crate) async fn show_recap(context: &Context, store: &dyn Maintenance, id: &SessionId) -> Result<(), CliError> {
    let messages = replay::transcript(store, id).await?;
    context.ui.print(recap::panel(&recap_of(&messages, RecapLimits::default()), context.ui.width()))
}

/// The session, and the others of its conversation.
async fn session(store: &dyn Maintenance, id: &SessionId) -> Result<(Session, Segments), CliError> {
    let session = store.session(id).await?.ok_or_else(|| StoreError::no_session(id))?;
    let lineage = store.lineage(id).await?;
    let continued_in = Some(lineage.tip(id)).filter(|tip| tip != id);
    Ok((session, Segments { compressed: lineage.compressed_into(id), continued_in }))
}
