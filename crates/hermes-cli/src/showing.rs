//! Prints a session: its head, its transcript, or where it stopped.

pub(crate) mod around;

use crate::context::Context;
use crate::error::CliError;
use hermes_app::messages;
use hermes_session::recap::{RecapLimits, recap as recap_of};
use hermes_session::{Extent, Maintenance, Message, Session, SessionId, SessionStore, StateCounts, StoreError, replay};
use hermes_terminal::output::Output;
use hermes_terminal::transcript::{Detail, Segments, Transcript};
use hermes_terminal::{Line, recap, transcript};

/// Prints a session's head and transcript.
pub(crate) async fn show(
    context: &Context,
    store: &dyn Maintenance,
    id: &SessionId,
    detail: Detail,
) -> Result<(), CliError> {
    let mut output = Output::plain(&context.ui);
    write(context, store, id, detail, false, &mut output).await?;
    Ok(output.finish()?)
}

/// Prints the panel that shows where a session stopped.
pub(crate) async fn show_recap(context: &Context, store: &dyn Maintenance, id: &SessionId) -> Result<(), CliError> {
    let messages = replay::transcript(store, id).await?;
    context.ui.print(recap::panel(&recap_of(&messages, RecapLimits::default()), context.ui.width()))
}

/// Writes the head of a session and its transcript; with `is_every`, also messages that were compacted or undone.
pub(crate) async fn write(
    context: &Context,
    store: &dyn Maintenance,
    id: &SessionId,
    detail: Detail,
    is_every: bool,
    output: &mut Output,
) -> Result<(), CliError> {
    let (session, segments) = session(store, id).await?;
    let states = states(store, id).await?;
    output.lines(transcript::head(&session, states, &segments, &context.now, context.ui.width()))?;
    if !is_every {
        output.lines(transcript::other_parts(&segments))?;
    }
    let mut transcript = Transcript::new(detail, context.ui.is_styled(), context.ui.width());
    let extent = if is_every { Extent::Every } else { Extent::Transcript };
    pages(store, id, extent, |messages| {
        Ok(messages.iter().try_for_each(|message| output.lines(transcript.message(message, &context.now)))?)
    })
    .await?;
    match transcript::not_shown(states).filter(|_| !is_every) {
        Some(line) => Ok(output.lines(vec![Line::default(), line])?),
        None => Ok(()),
    }
}

/// Counts the messages of a session by state.
pub(crate) async fn states(store: &dyn SessionStore, id: &SessionId) -> Result<StateCounts, CliError> {
    Ok(messages::states(store, id).await?)
}

/// Calls `each` with the messages of a session, a page at a time.
pub(crate) async fn pages(
    store: &dyn SessionStore,
    id: &SessionId,
    extent: Extent,
    each: impl FnMut(&[Message]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    messages::pages(store, id, extent, each).await
}

/// Returns a session and the others of its conversation.
pub(crate) async fn session(store: &dyn Maintenance, id: &SessionId) -> Result<(Session, Segments), CliError> {
    let session = store.session(id).await?.ok_or_else(|| StoreError::no_session(id))?;
    let lineage = store.lineage(id).await?;
    let tip = lineage.tip(id);
    let mut continued_in = lineage.compressed_into(&tip);
    continued_in.push(tip);
    // The sessions after this one on the way to the tip.
    let own = continued_in.iter().position(|one| one == id).map_or(continued_in.len(), |place| place + 1);
    continued_in.drain(..own);
    Ok((session, Segments { compressed: lineage.compressed_into(id), continued_in }))
}
