//! Prints a session: its head, its transcript, or where it stopped.

use crate::context::Context;
use crate::error::CliError;
use hermes_session::recap::{RecapLimits, recap as recap_of};
use hermes_session::{
    Extent, Maintenance, Message, MessageRequest, Session, SessionId, SessionStore, StateCounts, StoreError, replay,
};
use hermes_terminal::output::Output;
use hermes_terminal::transcript::{Detail, Segments, Transcript};
use hermes_terminal::{Line, recap, transcript};

/// How many messages are in memory at once. Each page reads all ids of the session, so small pages cost more than they save.
const PAGE: u32 = 1_000;

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
    let mut states = StateCounts::default();
    pages(store, id, Extent::Every, |messages| {
        messages.iter().for_each(|message| states.add(message.state));
        Ok(())
    })
    .await?;
    Ok(states)
}

/// Calls `each` with the messages of a session, a page at a time.
pub(crate) async fn pages(
    store: &dyn SessionStore,
    id: &SessionId,
    extent: Extent,
    mut each: impl FnMut(&[Message]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut request = MessageRequest { extent, ..MessageRequest::first(PAGE) };
    loop {
        let messages = store.messages(id, &request).await?;
        each(&messages)?;
        match messages.last().filter(|_| messages.len() == PAGE as usize) {
            Some(last) => request = MessageRequest { extent, ..MessageRequest::after(last.id, PAGE) },
            None => return Ok(()),
        }
    }
}

/// Returns a session and the others of its conversation.
pub(crate) async fn session(store: &dyn Maintenance, id: &SessionId) -> Result<(Session, Segments), CliError> {
    let session = store.session(id).await?.ok_or_else(|| StoreError::no_session(id))?;
    let lineage = store.lineage(id).await?;
    let continued_in = Some(lineage.tip(id)).filter(|tip| tip != id);
    Ok((session, Segments { compressed: lineage.compressed_into(id), continued_in }))
}
